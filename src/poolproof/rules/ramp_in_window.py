"""Counters that cover more than fio's own measurement window."""

from collections.abc import Iterable

from poolproof.rules.flow import account, cold_reads, writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import ran_s
from poolproof.rules.reproduction import script
from poolproof.units import format_duration

_MOST_OF_IT = 0.8


def _in_result(case: Case) -> Iterable[Finding]:
    found, ran = account(case), ran_s(case.outcome)
    ramp = max((job.ramp_s for job in case.load.parts), default=0.0)
    if found is None or not ran or not ramp or found.window_s < ran + _MOST_OF_IT * ramp:
        return
    share = ran / found.window_s
    hides = [
        flow for flow in (cold_reads(case), writes(case)) if flow and flow.in_order and flow.ratio * share < flow.least
    ]
    yield Finding(
        rule="ramp-in-window",
        effect="suspects" if hides else "notes",
        message=f"the counters cover {format_duration(found.window_s)}, fio's figures {format_duration(ran)}: the ramp "
        f"of {format_duration(ramp)} is in the counters but not in fio's figures"
        + (
            ", and without the ramp the disks did less than fio reports"
            if hides
            else "; the byte count is plausible without it"
        ),
        fix="start reading the counters when the ramp ends, not when fio starts",
        weight=70,
    )


RULE = Rule(
    id="ramp-in-window",
    title="The counters include the ramp",
    wrong="fio's figures exclude ramp_time and file layout; the disk's counters include both. If fio's figures are "
    "compared with counters of the whole run, the ramp's I/O can hide a cache.",
    shows="In evidence: the window of the counters is as long as run and ramp together. poolproof itself starts the "
    "window when the ramp ends and stops it when fio ends, so this applies only to counters taken by others.",
    error="The counters are too high by the ratio of ramp to runtime. Measured: 8829 reads on the disk, 4000 reported "
    "by fio.",
    fix="Take the counters after the ramp.",
    sources=("measured case L17",),
    pitfall_numbers="A12, #32",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=2000 --time_based "
        "--ramp_time=2 --runtime=2"
    ),
)
