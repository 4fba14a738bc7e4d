"""A run that ends as soon as it has transferred its size, long before its runtime has elapsed."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Effect, Findings, Rule, finding, fio_doc, fio_issue, fio_source
from poolproof.rules.reported import asked_s, moved_bytes, ran_s
from poolproof.units import format_duration, format_rate, format_size

_FAST_BYTES_PER_S = 2e9
_SLOW_BYTES_PER_S = 100e6  # a hard disk, a small cloud volume
_SLOW_IOPS = 1_000  # of all clones together, with random direct I/O on such a volume
_DIRECT_IOPS = 20_000  # for each direct I/O in flight; at 50 µs per I/O, as on fast NVMe disks
_COMMITS = 20_000  # per second for each clone; at 50 µs per commit, as on SSDs with a protected write cache
_LONG_ENOUGH_S = 10.0
_DONE = 0.95
_BURST_S = 1.0
_ENDS = frozenset({"number_ios", "fill_device", "steadystate", "zonesize", "read_iolog", "verify_backlog", "flow"})


def _may_end_early(case: Case) -> list[LoadPart]:
    """Return the jobs that end before their runtime is over if they have transferred `size` bytes.

    Jobs with `steadystate` are left out, because they are meant to end early.
    """
    jobs = [job for job in case.jobs if job.runtime_s and not job.time_based]
    return [job for job in jobs if "steadystate" not in fio_job(job).options]


def _in_job(case: Case) -> Findings:
    for job in _may_end_early(case) if case.outcome is None else ():
        total, rate, runtime_s = _asked_bytes(job), _fastest_bytes_per_s(job), job.runtime_s or 0.0
        if total is not None and rate is not None and total < runtime_s * rate:
            slow = _slow_bytes_per_s(job, rate)
            is_burst = total / slow < _LONG_ENOUGH_S
            shown = slow if is_burst else rate
            yield finding(
                "suspects" if is_burst else "notes",
                f"{case.who([job])} has a runtime of {format_duration(runtime_s)} but ends as soon as it has moved its "
                f"{format_size(total)}: {'even a slow' if shown < rate else 'a fast'} disk needs only "
                f"{format_duration(total / shown)} for this ({format_rate(shown)} under this job)",
                weight=70,
            )


def _asked_bytes(job: LoadPart) -> int | None:
    """Return the number of bytes that all clones move before they end. None if another option decides when they end."""
    size = job.io_size_bytes or job.size_bytes
    if size is None or not _ENDS.isdisjoint(fio_job(job).options):
        return None
    return size * job.clones * max(fio_job(job).number("loops") or 1, 1)


def _fastest_bytes_per_s(job: LoadPart) -> float | None:
    """Return the highest plausible rate of all clones together in bytes per second, or None if it is unknown.

    The rate is 2 GB/s, or less in three cases: for direct I/O with small blocks and a low queue depth, for writes that
    are synced one by one, and for jobs with a rate limit. It is unknown if the job pauses between I/Os.
    """
    if job.thinks:
        return None
    fastest, block = _FAST_BYTES_PER_S, job.max_block_bytes
    if job.direct:
        fastest = min(fastest, _DIRECT_IOPS * job.queue * block)
    every = 1 if job.writes_are_synchronous else job.sync_every
    if job.writes and every:
        fastest = min(fastest, _COMMITS * job.clones * every * block * (2 if job.is_mixed else 1))
    rates = _limits(job, "rate"), [each * block for each in _limits(job, "rate_iops")]
    return min([fastest, *(sum(each) * job.clones for each in rates if each)])


def _slow_bytes_per_s(job: LoadPart, fastest: float) -> float:
    """Return the rate in bytes per second that all clones together would reach on a slow disk.

    Buffered I/O is assumed to be as fast as on a fast disk, because it goes through RAM.
    """
    if not job.direct:
        return fastest
    slow = min(_SLOW_BYTES_PER_S, _SLOW_IOPS * job.max_block_bytes) if job.is_random else _SLOW_BYTES_PER_S
    return min(slow, fastest)


def _limits(job: LoadPart, name: str) -> list[int]:
    """Return the rate limits that apply to the job's reads and writes. Empty if it has none.

    `name`: the option that sets the limits (rate or rate_iops).
    """
    fio = fio_job(job)
    values = [fio.bytes_in(name, text) for text in fio.options.get(name, "").split(",")]
    given = [
        value for value in (values if job.is_mixed else values[:1] if job.reads else values[1:2] or values) if value
    ]
    return given * (2 if job.is_mixed and len(given) == 1 else 1)


def _in_result(case: Case) -> Findings:
    ran, asked = ran_s(case.outcome), asked_s(case)
    if ran is None or not asked or ran >= 0.95 * asked or not _may_end_early(case):
        return
    moved = (moved_bytes(case.outcome, "read") or 0) + (moved_bytes(case.outcome, "write") or 0)
    due = [_asked_bytes(job) for job in case.jobs]
    if moved and all(each is not None for each in due) and moved < _DONE * sum(each or 0 for each in due):
        return  # something else ended the run, such as a signal; the rule `work-done` reports it
    too_short = ran < 0.5 * asked and ran < _LONG_ENOUGH_S
    effect: Effect = "fails" if too_short else "notes"
    if too_short and case.quoted is not None:  # the author may have meant to limit the size, so only a burst is suspect
        effect = "suspects" if ran < _BURST_S else "notes"
    yield finding(
        effect,
        f"fio should have run for {format_duration(asked)}, but ran for {format_duration(ran)}: time_based is not set, "
        f"so fio ended when it had moved its {format_size(moved)}"
        + ("; such a short burst says nothing about the disk" if too_short else ""),
        weight=90,
    )


RULE = Rule(
    title="runtime without time_based ends early",
    wrong="runtime is only an upper limit: the job ends when its size has been transferred, after a burst that caches "
    "can absorb.",
    shows="In a job: runtime without time_based, if a fast disk would transfer size × loops before the runtime expires."
    " A fast disk is assumed to reach 2 GB/s, 20,000 IOPS per direct I/O in flight and 20,000 syncs/s per clone, or "
    "the job's rate limit if that is slower. The finding is a warning if the transfer takes less than 10 s; with "
    "direct=1, only if it takes less than 10 s on a slow disk too (100 MB/s, 1,000 random IOPS). In a result: if the "
    "job moved its bytes in less than half the requested time and in less than 10 s, the verdict is `failed`. In other "
    "people's results, the author may have meant to limit the size, so only a run of less than 1 s is suspect. For any "
    "other run that ended more than 5% early, the finding is a note.",
    error=(
        "Too high or too low, usually too high: only the burst is measured. Measured: a run of 24 ms instead of the "
        "requested 30 s."
    ),
    fix="set time_based=1, so that the job repeats until its runtime is over; or remove runtime",
    sources=(
        "measured case L18",
        fio_source("3.42", "backend.c", "keep_running (loops, size and io_size end a job)"),
        fio_doc("time_based"),
        fio_issue(329),
    ),
    in_job=_in_job,
    options=("runtime",),
    fixed_options={"time_based": "1"},
    in_result=_in_result,
    commands="fio --rw=read --bs=1m --size=64m --runtime=30",
)
