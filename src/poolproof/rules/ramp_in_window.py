"""Counters that cover a longer time than fio's own results."""

from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.metrics import rates_of
from poolproof.rules.flow import Flow, account, cold_reads, writes, writes_at_end
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, notes, suspects
from poolproof.rules.path import is_zfs, may_end_in_ram, writes_are_synchronous
from poolproof.rules.reported import parts, ran_s
from poolproof.units import format_count, format_duration, format_number_of, format_size

_MORE, _MANY = 1.3, 0.02
_LARGE_BYTES = 128 * 1024  # trees and records add little to larger writes
_LESS = "; without the ramp, the disks moved too few bytes"
_PLAUSIBLE = "; the ratio is within bounds even without the ramp"


def _in_result(case: Case) -> Findings:
    yield from _of_whole_run(case)
    yield from _of_later_jobs(case)
    yield from _of_dirty_data(case)
    yield from _of_ios_in_flight(case)


def _of_ios_in_flight(case: Case) -> Findings:
    """Yield a note if fio's own IOPS leave out many of the I/Os that were in flight when the ramp ended."""
    found = list(parts(case.outcome))
    more = sum(part.figures.ramp_ios for part in found)
    ios = more + sum(part.figures.ios or 0 for part in found)
    if ios and more >= _MANY * ios:
        yield notes(
            f"{format_number_of(more, 'I/O')} of {format_count(ios)} began during the ramp and ended after it. "
            f"{case.generator} counts their bytes and latencies, but not the I/Os, so the IOPS that it prints are "
            f"{100 * more / ios:.0f}% lower than the result, which includes them",
            weight=40,
            fix="use a longer runtime, so that few of the I/Os begin during the ramp",
        )


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


def _of_dirty_data(case: Case) -> Findings:
    """Yield a finding if the disks also wrote data that the ramp had left in RAM.

    fio's rate includes the time that this takes, but not the data.
    """
    flow = writes_at_end(case)
    jobs = [job for job in case.jobs if job.ramp_s and _leaves_dirty(case, job)]
    if not jobs or flow is None or case.quoted is not None or flow.counted_bytes < _MORE * flow.expected_bytes:
        return
    yield suspects(
        f"{case.generator} wrote {flow.moved} after the ramp, but the disks wrote {format_size(flow.counted_bytes)}: "
        "the rest was written during the ramp and was still in RAM when it ended, so the rate is too low",
        weight=70,
        metrics=rates_of("all", "write"),
        fix="remove ramp_time, or use direct=1, or sync during the run (fsync)",
    )


def _leaves_dirty(case: Case, job: LoadPart) -> bool:
    """True if the job's data stays in RAM, and if the disks do not write much other data for the job."""
    syncs = job.sync_every or writes_are_synchronous(case, job)
    is_copied = is_zfs(case.target) or (case.target is not None and case.target.file_system == "btrfs")
    return (
        job.writes
        and not syncs
        and may_end_in_ram(job, case.target)
        and (not is_copied or job.block_bytes >= _LARGE_BYTES)
        and job.block_bytes % 4096 == 0
    )


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
    "other tools read, and to job sections with ramps of different lengths. The rule also applies to writes through "
    "the page cache without syncs: if the disks wrote more than 1.3 times as much as fio reports, they also wrote data "
    "that the ramp had left in RAM. The rates of the writes are then suspect. A note reports I/Os that began during "
    "the ramp and ended after it, if they are at least 2% of all I/Os: fio leaves them out of its IOPS. poolproof adds "
    "them.",
    error="The counters are too high by the ratio of ramp time to runtime. Measured: 8,829 reads on the disk, but only "
    "4,000 reported by fio. With data that the ramp left in RAM, the rate is too low. Measured: 119 MB/s by fio, while "
    "the disk wrote 630 MB/s.",
    fix="read the counters when the ramp ends, not when fio starts",
    sources=(
        "measured case L17",
        fio_source("3.42", "libfio.c", "reset_all_stats"),
        fio_source("3.42", "time.c", "in_ramp_period"),
        fio_source("3.42", "ioengines.c", "td_io_queue (counts an I/O when it is issued)"),
    ),
    in_result=_in_result,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=2000 --time_based --ramp_time=2 --runtime=2",
)
