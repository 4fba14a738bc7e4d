"""Counters that cover a longer time than fio's own results."""

from collections.abc import Sequence

from poolproof.rules.flow import Flow, account, cold_reads, writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source
from poolproof.rules.reported import parts, ran_s
from poolproof.units import format_duration

_LESS = "; without the ramp, the disks moved too few bytes"
_PLAUSIBLE = "; the ratio is within bounds even without the ramp"


def _in_result(case: Case) -> Findings:
    yield from _of_whole_run(case)
    yield from _of_later_jobs(case)


def _of_later_jobs(case: Case) -> Findings:
    """Yield a finding if the counters include the ramp of a job that starts to measure later than other jobs.

    fio does not report the I/O during a ramp, so it is estimated from the job's rate after the ramp.
    """
    included = _included_ramps_s(case)
    if not included:
        return
    moved = {"read": 0.0, "write": 0.0}
    for part in parts(case.outcome):
        if part.kind in moved:
            moved[part.kind] += (part.figures.bandwidth_bytes or 0.0) * included.get(part.job.name, 0.0)
    flows = [(flow, moved[kind]) for kind, flow in (("read", cold_reads(case)), ("write", writes(case))) if flow]
    hides = any(flow.in_order and flow.counted_bytes - ramp < flow.least * flow.expected_bytes for flow, ramp in flows)
    yield finding(
        "leaves-unproven" if hides else "notes",
        f"the counters include the ramp of {case.who([job for job in case.jobs if job.name in included])}, because "
        "other sections start to measure earlier" + _conclusion([flow for flow, _ in flows], hides=hides),
        weight=70,
        fix="give all sections the same ramp_time",
    )


def _included_ramps_s(case: Case) -> dict[str, float]:
    """Return the part of each job's ramp that falls into the counters' window, in seconds, keyed by job name.

    The counters' window starts when the first job's ramp ends.
    """
    delays = {
        part.name: part.delay_ms / 1000
        for part in (case.outcome.parts if case.outcome else ())
        if part.delay_ms is not None
    }
    first_s = min(delays.values(), default=0.0)
    included = {job.name: min(job.ramp_s, delays.get(job.name, first_s) - first_s) for job in case.jobs}
    return {name: seconds for name, seconds in included.items() if seconds > 0}


def _of_whole_run(case: Case) -> Findings:
    found, ran, ramp = account(case), ran_s(case.outcome), case.load.ramp_s
    if found is None or not ran or not ramp or found.window_s < ran + 0.8 * ramp:
        return
    flows = [flow for flow in (cold_reads(case), writes(case)) if flow]
    hides = any(flow.in_order and flow.ratio * ran / found.window_s < flow.least for flow in flows)
    yield finding(
        "suspects" if hides else "notes",
        f"the counters cover {format_duration(found.window_s)}, but {case.generator}'s results cover "
        f"{format_duration(ran)}: the counters include the ramp of {format_duration(ramp)}, and the results do not"
        + _conclusion(flows, hides=hides),
        weight=70,
    )


def _conclusion(flows: Sequence[Flow], *, hides: bool) -> str:
    """Return what the ratios without the ramp show. Empty if a ratio is out of bounds even with the ramp."""
    if hides:
        return _LESS
    return _PLAUSIBLE if flows and all(flow.in_order for flow in flows) else ""


RULE = Rule(
    title="The counters include the ramp",
    wrong="fio's results exclude ramp_time and file layout; the disk's counters include both. If fio's results are "
    "compared with counters of the whole run, the ramp's I/O can hide a cache.",
    shows="In the evidence: the window of the counters is as long as the run and the ramp together. poolproof's own "
    "window begins when the first ramp ends, and ends when fio ends. Therefore, this applies only to counters that "
    "other tools read, and to job sections with ramps of different lengths.",
    error="The counters are too high by the ratio of ramp time to runtime. Measured: 8829 reads on the disk, but only "
    "4000 reported by fio.",
    fix="read the counters when the ramp ends, not when fio starts",
    sources=(
        "measured case L17",
        fio_source("3.42", "libfio.c", "reset_all_stats"),
        fio_source("3.42", "time.c", "in_ramp_period"),
    ),
    in_result=_in_result,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=2000 --time_based --ramp_time=2 --runtime=2",
)
