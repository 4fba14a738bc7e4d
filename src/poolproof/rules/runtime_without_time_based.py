"""A run that ends when its size is done, long before its runtime."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_issue, suspects
from poolproof.rules.reported import asked_s, moved_bytes, ran_s
from poolproof.units import format_duration, format_rate, format_size

_FAST_BYTES_PER_S = 2e9
_DIRECT_IOPS = 20_000  # per direct I/O in flight: 50 µs each, as on fast NVMe disks
_LONG_ENOUGH_S = 10.0


def _may_end_early(case: Case) -> list[LoadPart]:
    """Return the jobs that end when their size is done.

    Jobs with `steadystate` are meant to end early, so they are left out.
    """
    jobs = [job for job in case.jobs if job.runtime_s and not job.time_based]
    return [job for job in jobs if "steadystate" not in fio_job(job).options]


def _in_job(case: Case) -> Findings:
    for job in _may_end_early(case) if case.outcome is None else ():
        size, rate, runtime_s = (job.io_size_bytes or job.size_bytes), _fastest_bytes_per_s(job), job.runtime_s or 0.0
        if size is not None and size * job.clones < runtime_s * rate:
            total = size * job.clones
            yield suspects(
                f"{case.who([job])} has a runtime of {format_duration(runtime_s)} but ends when its "
                f"{format_size(total)} are done: at {format_rate(rate)} that takes {format_duration(total / rate)}",
                weight=70,
            )


def _fastest_bytes_per_s(job: LoadPart) -> float:
    """Return the highest plausible rate: 2 GB/s, or less for direct I/O with small blocks and a low queue depth."""
    if not job.direct:
        return _FAST_BYTES_PER_S
    return min(_FAST_BYTES_PER_S, _DIRECT_IOPS * job.queue * job.max_block_bytes)


def _in_result(case: Case) -> Findings:
    ran, asked = ran_s(case.outcome), asked_s(case)
    if ran is None or not asked or ran >= 0.95 * asked or not _may_end_early(case):
        return
    moved = (moved_bytes(case.outcome, "read") or 0) + (moved_bytes(case.outcome, "write") or 0)
    too_short = ran < 0.5 * asked and ran < _LONG_ENOUGH_S
    yield finding(
        "fails" if too_short else "notes",
        f"fio should have run for {format_duration(asked)}, but ran for {format_duration(ran)}: time_based is not set, "
        f"so fio ended when its {format_size(moved)} were done"
        + ("; such a short burst shows nothing about the disk" if too_short else ""),
        weight=90,
    )


RULE = Rule(
    title="runtime without time_based ends early",
    wrong="runtime is only an upper limit: the job ends when its size is done, after a burst that caches can absorb.",
    shows="In a job: runtime without time_based, and a size that is done sooner at 2 GB/s (with direct=1, at 20,000 "
    "IOPS per I/O in flight if that is slower). In a result: the job ran for less than half the requested time and "
    "less than 10 s.",
    error="Too high or too low, usually too high: only the burst is measured. Measured: 30 s requested, 24 ms run.",
    fix="set time_based=1, so that the job repeats until runtime is over; or remove runtime",
    sources=("measured case L18", fio_doc("time_based"), fio_issue(329)),
    in_job=_in_job,
    options=("runtime",),
    fixed_options={"time_based": "1"},
    in_result=_in_result,
    commands="fio --rw=read --bs=1m --size=64m --runtime=30",
)
