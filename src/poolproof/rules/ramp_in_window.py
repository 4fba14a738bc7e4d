"""Counters that cover more than fio's own measurement window."""

from poolproof.rules.flow import account, cold_reads, writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source
from poolproof.rules.reported import ran_s
from poolproof.units import format_duration


def _in_result(case: Case) -> Findings:
    found, ran, ramp = account(case), ran_s(case.outcome), case.load.ramp_s
    if found is None or not ran or not ramp or found.window_s < ran + 0.8 * ramp:
        return
    flows = (cold_reads(case), writes(case))
    hides = any(flow and flow.in_order and flow.ratio * ran / found.window_s < flow.least for flow in flows)
    less = "; without the ramp, the disks moved too few bytes"
    plausible = "; the ratio is within bounds even without the ramp"
    yield finding(
        "suspects" if hides else "notes",
        f"the counters cover {format_duration(found.window_s)}, {case.generator}'s results {format_duration(ran)}: "
        f"the counters include the ramp of {format_duration(ramp)}, and {case.generator}'s results do not"
        + (less if hides else plausible),
        weight=70,
    )


RULE = Rule(
    title="The counters include the ramp",
    wrong="fio's results exclude ramp_time and file layout; the disk's counters include both. If fio's results are "
    "compared with counters of the whole run, the ramp's I/O can hide a cache.",
    shows="In the evidence: the window of the counters is as long as the run and the ramp together. poolproof opens "
    "its window when the ramp ends and closes it when fio ends, so this applies only to counters taken with other "
    "tools.",
    error="The counters are too high by ramp / runtime. Measured: 8829 reads on the disk, but only 4000 reported by "
    "fio.",
    fix="read the counters when the ramp ends, not when fio starts",
    sources=(
        "measured case L17",
        fio_source("3.42", "libfio.c", "reset_all_stats"),
        fio_source("3.42", "time.c", "in_ramp_period"),
    ),
    in_result=_in_result,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=2000 --time_based --ramp_time=2 --runtime=2",
)
