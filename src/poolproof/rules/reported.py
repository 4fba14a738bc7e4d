"""Access to fio's report: the whole run, and the reads and writes of each job."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, TypeVar

from poolproof.load.merge import group_directions
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome
from poolproof.rules.model import Case, Check, Finding, Findings
from poolproof.rules.path import writes_are_synchronous
from poolproof.rules.tolerances import RAMP_END_S

Kind = Literal["read", "write"]
Answer = TypeVar("Answer")
Subject = TypeVar("Subject")
P = ParamSpec("P")

_RELEASE = re.compile(r"fio-(\d+)\.(\d+)")
_SYNCS_AFTER_WRITES_ONLY = (3, 38)


@dataclass(frozen=True)
class ReportedDirection:
    """The reported reads or writes of one job, or of a group of its clones (numjobs)."""

    job: PartOutcome
    kind: Kind
    figures: Direction

    @property
    def name(self) -> str:
        return f"{self.kind} of `{self.job.name}`" if self.job.name else self.kind

    @property
    def completion(self) -> Latency | None:
        """The completion latency (clat), or the total latency (lat) if clat is missing."""
        return self.figures.clat or self.figures.lat

    @property
    def total(self) -> Latency | None:
        """The total latency (lat) of an I/O, or its completion latency (clat) if lat is missing."""
        return self.figures.lat or self.figures.clat

    @property
    def median_ns(self) -> float | None:
        """The median completion latency (clat) in nanoseconds, or the median of lat if clat has no percentiles.

        None if neither of them has percentiles.
        """
        medians = (each.percentiles_ns.get(50.0) for each in (self.figures.clat, self.figures.lat) if each)
        return next((median for median in medians if median is not None), None)


def remembered(ask: Callable[Concatenate[Subject, P], Answer]) -> Callable[Concatenate[Subject, P], Answer]:
    """Remember the answers about the last subject, such as a result.

    Rules ask again for each job, and a result can have thousands of jobs.
    """
    last: list[tuple[Subject, dict[object, Answer]]] = []

    @wraps(ask)
    def answer(subject: Subject, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        if not last or last[0][0] is not subject:
            last[:] = [(subject, {})]
        found, key = last[0][1], (args, *kwargs.items())
        if key not in found:
            found[key] = ask(subject, *args, **kwargs)
        return found[key]

    return answer


def parts(result: Outcome | None) -> Iterator[ReportedDirection]:
    """Yield the reads and the writes of each job, except those that moved no data.

    A result that consists only of a latency has moved data.
    """
    for job in result.parts if result else ():
        yield from parts_of(job)


def parts_of(job: PartOutcome) -> Iterator[ReportedDirection]:
    """Yield the reads and the writes of a job, except those that moved no data."""
    if job.read is not None and _moved(read := _issued(_without_errors(job, job.read))):
        yield ReportedDirection(job, "read", read)
    if job.write is not None and _moved(write := _issued(_without_errors(job, job.write))):
        yield ReportedDirection(job, "write", write)


def _issued(figures: Direction) -> Direction:
    """Return the figures with the I/Os that began after the ramp, but with the rate of those that ended after it.

    The disks may have completed the other I/Os before the ramp ended, so their requests may not be in the counters.
    """
    return replace(figures, ios=(figures.ios or 0) - figures.ramp_ios) if figures.ramp_ios else figures


def _without_errors(job: PartOutcome, figures: Direction) -> Direction:
    """Return the figures of a job that failed without the I/Os that failed, or with an unknown number of I/Os.

    fio counts an I/O when it issues it (td_io_queue() in ioengines.c, fio 3.33 and 3.42), but it adds its bytes and its
    latency only if the I/O succeeds (io_completed() in io_u.c). If all I/Os failed, nothing was moved.
    """
    if not job.error or figures.ios is None:
        return figures
    if figures.io_bytes == 0:
        return Direction(io_bytes=0, ios=0, runtime_ms=figures.runtime_ms)
    timed = figures.clat or figures.lat
    return replace(figures, ios=timed.samples if timed else None)


def each_part(look: Callable[[Case, ReportedDirection], Finding | None]) -> Check:
    """Return a check that calls `look` for the reads and for the writes of each job.

    Clones share their job's name. Per job name, the check yields at most one finding on reads and one on writes.
    """
    return lambda case: _first_of_each((part.job.name + part.kind, look(case, part)) for part in parts(case.outcome))


def each_job(look: Callable[[Case, PartOutcome], Finding | None]) -> Check:
    """Return a check that calls `look` for each job.

    Clones share their job's name. The check yields at most one finding per job name.
    """
    return lambda case: _first_of_each(
        (job.name, look(case, job)) for job in (case.outcome.parts if case.outcome else ())
    )


def _first_of_each(found: Iterable[tuple[str, Finding | None]]) -> Findings:
    first: dict[str, Finding] = {}
    for key, finding in found:
        if finding is not None:
            first.setdefault(key, finding)
    return first.values()


def _moved(figures: Direction) -> bool:
    amounts = (figures.io_bytes, figures.ios, figures.bandwidth_bytes, figures.iops)
    if all(each is None for each in amounts):  # some programs print only a latency
        return figures.lat is not None and bool(figures.lat.mean_ns)
    return any(amounts)


@remembered
def moved_bytes(result: Outcome | None, kind: Kind) -> int | None:
    """Return the number of bytes that fio read or wrote, or None if a job does not report its bytes."""
    sizes = [part.figures.io_bytes for part in parts(result) if part.kind == kind]
    return sum(size for size in sizes if size is not None) if all(size is not None for size in sizes) else None


def largest_printed_as(moved: int) -> int:
    """Return the largest number of bytes that fio may print as this one: fio prints 9.996 MiB as `9.00MiB`."""
    unit = max((1024**power for power in range(5) if moved % 1024**power == 0), default=1)
    return moved + unit


def counted_ios(part: ReportedDirection) -> float | None:
    """Return the number of I/Os, computed from their rate if the report does not include it, or None."""
    figures = part.figures
    if figures.ios is not None:
        return figures.ios
    if figures.iops is None or figures.runtime_ms is None:
        return None
    return figures.iops * figures.runtime_ms / 1000


def most_moved_bytes(result: Outcome | None, kind: Kind) -> int | None:
    """Return the number of bytes that fio read or wrote, corrected if a rate shows that fio lost a carry.

    None if a job does not report its bytes.
    """
    total = 0
    for part in parts(result):
        figures, moved = part.figures, part.figures.io_bytes
        if part.kind != kind:
            continue
        if moved is None:
            return None
        by_rate = round((figures.bandwidth_bytes or 0.0) * (figures.runtime_ms or 0) / 1000)
        total += min(max(moved, by_rate), largest_printed_as(moved))
    return total


def bandwidth_bytes(result: Outcome | None, kind: Kind) -> float | None:
    """Return the read or write rate of the fastest job group in bytes per second.

    None if no group did such I/O, or if one that did reports no rate.
    """
    groups = [each for each in group_directions(result, kind) if each is not None] if result else []
    rates = [each.bandwidth_bytes for each in groups if _moved(each)]
    if any(rate is None for rate in rates):
        return None
    return max((rate for rate in rates if rate is not None), default=None)


def fio_release(result: Outcome | None) -> tuple[int, int] | None:
    """Return fio's release, e.g. (3, 38), or None if it is unknown or another load generator was used."""
    found = _RELEASE.match(result.version) if result else None
    return (int(found[1]), int(found[2])) if found else None


def each_sync_has_data(case: Case, job: LoadPart) -> bool:
    """True if each of the job's syncs follows a write, and so always has something to write.

    Before fio 3.38, a job that mixes reads and writes also synced after reads, and a job with several I/Os in flight
    synced more often than requested (io_u.c, get_rw_ddir; fio commit 704a8cfe). If the writes themselves are
    synchronous, because of the job or the mount option sync, a sync has nothing left to do. With several files, fio
    syncs the file that is next in turn, not the one that it has just written (io_u.c, set_io_u_file).
    """
    if writes_are_synchronous(case, job) or job.files > 1:
        return False
    release = fio_release(case.outcome)
    if release is not None and release >= _SYNCS_AFTER_WRITES_ONLY:
        return True
    return not job.is_mixed and job.queue_each == 1


def ran_s(result: Outcome | None) -> float | None:
    """Return the run time of the longest job in seconds, or None if no job reports a run time."""
    spans = [part.figures.runtime_ms for part in parts(result) if part.figures.runtime_ms is not None]
    return max(spans) / 1000 if spans else None


@remembered
def lasted_s(result: Outcome | None) -> float | None:
    """Return the total run time of all job groups in seconds, or None if no group reports a run time.

    The run times are added up, because groups usually run one after another.
    """
    groups: dict[int, list[PartOutcome]] = {}
    for job in result.parts if result else ():
        groups.setdefault(job.group, []).append(job)
    spans = [ran_s(replace(result, parts=tuple(jobs))) for jobs in groups.values() if result]
    return sum(span for span in spans if span is not None) or None


def may_be_ramp(case: Case, missing_share: float) -> bool:
    """True if this share of the I/O may be missing only because the end of the ramp is not known exactly."""
    ran = ran_s(case.outcome)
    return bool(case.quoted is None and case.load.ramp_s and ran) and missing_share * (ran or 0.0) <= RAMP_END_S


def asked_s(case: Case) -> float | None:
    """Return the requested run time in seconds, or None if a job has no time limit.

    The campaign's run time takes precedence over the jobs'. If jobs run in several phases, one after another, the
    longest run time that a job requests is returned. `ran_s` returns the actual run time.
    """
    if len(case.load.phases) > 1:
        spans = [job.runtime_s for job in case.load.parts]
        return max((span for span in spans if span), default=None) if all(spans) else None
    return case.asked_s if case.asked_s is not None else case.load.asked_s
