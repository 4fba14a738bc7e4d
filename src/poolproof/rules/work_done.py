"""Runs that did not do what was asked."""

from collections.abc import Iterable
from os import strerror

from poolproof.load.outcome import Outcome, PartOutcome
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import asked_s, moved_bytes, parts, ran_s
from poolproof.rules.reproduction import script
from poolproof.units import format_duration, format_size

_SHORTEST_S = 1.0
_LARGEST_ERROR = 4095  # MAX_ERRNO of the kernel
_UNCOUNTED = {
    "runtime", "time_based", "steadystate", "exitall", "number_ios", "loops", "fill_device", "filesize", "nrfiles",
    "offset", "offset_increment", "read_iolog", "zonesize", "verify",
}  # fmt: skip


def _in_result(case: Case) -> Iterable[Finding]:
    if case.outcome is None:
        return
    errors = [job for job in case.outcome.parts if job.error]
    if errors:
        named = ", ".join(f"`{job.name}` ended with error {job.error} ({_meaning(job.error)})" for job in errors)
        yield _finding(
            "fails", f"fio failed: job {named}", "run fio by hand with the saved job.fio and read its message"
        )
    elif _says_that_nothing_moved(case.outcome) and (case.load.reads or case.load.writes):
        yield _finding("fails", "fio moved no data at all", "check filename, size and runtime of the job")
    else:
        yield from _time_done(case)
        yield from _bytes_done(case)


def _meaning(error: int) -> str:
    return strerror(error) if abs(error) <= _LARGEST_ERROR else "not an error number of the kernel"


def _says_that_nothing_moved(result: Outcome) -> bool:
    """True if every job reports 0 bytes; a fragment without byte counts does not say that nothing moved."""
    return bool(result.parts) and all(_is_idle(job) for job in result.parts)


def _is_idle(job: PartOutcome) -> bool:
    """True if each direction has 0 bytes.

    Without any direction, a run time or CPU usage shows that the source contains the whole job, because fio prints them
    below the directions.
    """
    directions = [part for part in (job.read, job.write, job.trim, job.mixed) if part is not None]
    if directions:
        return all(part.io_bytes == 0 for part in directions)
    return job.job_runtime_ms is not None or job.user_cpu_percent is not None


def _time_done(case: Case) -> Iterable[Finding]:
    ran, asked = ran_s(case.outcome), asked_s(case)
    if ran is None:
        return
    endless = bool(case.load.parts) and all(
        job.time_based and "steadystate" not in fio_job(job).options for job in case.load.parts
    )
    if asked and endless and ran < 0.95 * asked:
        message = f"asked for {format_duration(asked)}, ran {format_duration(ran)}: something ended fio early"
        yield _finding(
            "fails", message, "look for a signal, a full target or a device that disappeared, then run it again"
        )
    elif ran < _SHORTEST_S:
        message = f"the run took only {format_duration(ran)}, mostly start-up and a burst"
        yield _finding("notes", message, "a larger size=, or time_based=1 with runtime=10 or more")


def _bytes_done(case: Case) -> Iterable[Finding]:
    asked, moved = _asked_bytes(case), _moved_bytes(case.outcome)
    if asked is None or not _tells_all(case) or moved is None or moved >= 0.95 * asked:
        return
    message = f"the jobs ask for {format_size(asked)} in total, but fio moved only {format_size(moved)}"
    yield _finding("suspects", message, "look for errors in fio's output, and for a file smaller than size=")


def _moved_bytes(result: Outcome | None) -> int | None:
    """Return all bytes, including trimmed ones; None if a part does not report them."""
    read, wrote = moved_bytes(result, "read"), moved_bytes(result, "write")
    trims = [job.trim.io_bytes for job in (result.parts if result else ()) if job.trim is not None]
    trimmed = [size for size in trims if size is not None]
    if read is None or wrote is None or len(trimmed) < len(trims):
        return None
    return read + wrote + sum(trimmed)


def _tells_all(case: Case) -> bool:
    """True if the result has each direction that the jobs use: a quoted line may be only one of two."""
    told = {part.kind for part in parts(case.outcome)}
    return (not case.load.reads or "read" in told) and (not case.load.writes or "write" in told)


def _asked_bytes(case: Case) -> int | None:
    """Return the bytes that the jobs move before they end on their own; None if something else ends them or a size is
    unknown.
    """
    total = 0
    for job in case.load.parts:
        size = job.io_size_bytes or job.size_bytes
        if size is None or _UNCOUNTED & fio_job(job).options.keys():
            return None
        total += size * job.clones
    return total or None


def _finding(effect: str, message: str, fix: str) -> Finding:
    return Finding(
        "work-done", "fails" if effect == "fails" else "suspects" if effect == "suspects" else "notes", message, fix, 80
    )


RULE = Rule(
    id="work-done",
    title="The run did not do its work",
    wrong="fio ended with an error, moved nothing, stopped too early, or moved fewer bytes than requested. It still "
    "prints a result, but that result describes a different test.",
    shows="In a result: an error code, no bytes, a time_based run of less than 95 % of its runtime, or fewer bytes "
    "than the sizes add up to; as a note, a run of less than a second.",
    error="Either way. Results of 133 ms and 207 ms have been quoted as benchmarks.",
    fix="Find what ended it, and run it again for at least 10 s.",
    sources=("measured case L18",),
    pitfall_numbers="A11",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=1m --size=64m --runtime=30 --time_based & fio=$!\n"
        "sleep 3; kill -INT $fio; wait $fio || true"
    ),
)
