"""Determines the state in which earlier jobs left the files that a job uses.

Earlier jobs may belong to the same run or to a previous run in the same input.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf, pow

from poolproof.load.model import Extent, LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case

MANY_PASSES = 3
"""The number of passes after which random writes that may repeat blocks leave only 1/e³ = 5% of them unwritten."""


_Reached = Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]
"""The extents of a job as (start, end) pairs, keyed by file and scale, and sorted by start.

`end` is the largest end among this extent and those before it.
"""


def before(case: Case, job: LoadPart) -> tuple[LoadPart, ...]:
    """Return the jobs that ended before this job started, in previous runs and in earlier phases of its own run."""
    found = [part for load in case.earlier for part in load.parts]
    for phase in case.load.phases:
        if any(part is job for part in phase):
            break
        found += phase
    return tuple(found)


def writers_of(case: Case, job: LoadPart) -> Iterator[LoadPart]:
    """Yield the earlier jobs that wrote to any of this job's files, oldest first."""
    files = {extent.file for extent in job.extents}
    for part in before(case, job):
        if part.writes and not only_creates(part) and files & {extent.file for extent in part.extents}:
            yield part


def prepared_by(job: LoadPart, paths: Mapping[str, str]) -> str | None:
    """Return the name of the program that prepared one of the job's files, or None if no program did.

    `paths`: maps the path of each prepared file to the program's name.
    """
    fio = fio_job(job)
    return next((paths[path] for path in map(fio.path, fio.filenames) if path in paths), None)


def was_filled(case: Case, job: LoadPart) -> bool:
    """True if earlier jobs wrote or laid out every byte that this job accesses.

    For each extent, a single earlier job must have done so. Files that no earlier job accessed are left out if there
    are others, because fio lays them out when it first reads them.
    """
    touching = list(_touching(case, job))
    files = {extent.file for part in touching for extent in part.extents}
    left = {extent for extent in job.extents if extent.file in files}
    for part in touching if left else ():
        reached = _reached(part) if _fills(part) else {}
        left = {extent for extent in left if not _is_covered(reached.get(extent.file, {}), extent)}
        if not left:
            return True
    return False


def _touching(case: Case, job: LoadPart) -> Iterator[LoadPart]:
    files = {extent.file for extent in job.extents}
    yield from (part for part in before(case, job) if files & {extent.file for extent in part.extents})


def _fills(part: LoadPart) -> bool:
    """True if the job leaves no holes in its files.

    This includes every job that reads, because fio lays out files that are to be read (filesetup.c).
    """
    if part.reads:
        return True
    if only_creates(part):
        return part.writes and fio_job(part).flag("overwrite")
    return part.writes and not is_cut_short(part) and not skips_blocks(part)


def only_creates(part: LoadPart) -> bool:
    """True if fio only creates the job's files (create_only=1).

    It lays out the files of jobs that read or overwrite, and only reserves the blocks of other files (filesetup.c).
    """
    return fio_job(part).flag("create_only")


def creators_of(case: Case, job: LoadPart) -> Iterator[LoadPart]:
    """Yield the earlier jobs that reserved the blocks of this job's files without writing them, oldest first."""
    for part in _touching(case, job):
        if only_creates(part) and not _fills(part) and fio_job(part).text("fallocate") not in ("none", "0"):
            yield part


def is_cut_short(part: LoadPart) -> bool:
    """True if a time limit or io_size may end the job before it has written the entire file."""
    if part.io_size_bytes and part.size_bytes and part.io_size_bytes < part.size_bytes:
        return True
    return part.runtime_s is not None


def skips_blocks(part: LoadPart) -> bool:
    """True if the job's random writes may leave some blocks unwritten even though they add up to the file's size.

    This happens if the offsets are not uniformly distributed, or if fio does not record the written blocks and makes
    fewer than 3 passes.
    """
    passes = (part.io_size_bytes or 0) / part.size_bytes if part.size_bytes else 0.0
    return is_skewed(part) or (has_no_map(part) and passes < MANY_PASSES)


def is_skewed(part: LoadPart) -> bool:
    """True if the offsets are random, but not uniformly distributed.

    fio then does not record which blocks it has written (init.c, fixup_options), and ignores random_generator (io_u.c,
    get_next_rand_offset).
    """
    distribution = (fio_job(part).text("random_distribution") or "random").partition(":")[0].strip()
    return part.is_random and distribution != "random"


def has_no_map(part: LoadPart) -> bool:
    """True if the offsets are random and fio does not record which blocks it has written (norandommap).

    Some blocks may then be written twice before others are written once.
    """
    fio = fio_job(part)
    return part.is_random and fio.flag("norandommap") and (fio.text("random_generator") or "").strip() != "lfsr"


def different_blocks(blocks: float, writes: float) -> float:
    """Return the expected number of distinct blocks that uniform random writes hit.

    `blocks`: the total number of blocks in the file.
    """
    return blocks * (1 - pow(1 - 1 / blocks, writes))


def writes_again(part: LoadPart) -> bool:
    """True if the job starts over until its time limit, with offsets that are uniformly distributed or sequential.

    It then writes most blocks.
    """
    return part.time_based and not is_skewed(part)


def _reached(part: LoadPart) -> _Reached:
    reached: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for other in sorted(set(part.extents), key=lambda extent: extent.start):
        ends = reached.setdefault(other.file, {}).setdefault(other.scale, [])
        ends.append((other.start, max(other.end, ends[-1][1] if ends else 0.0)))
    return reached


def _is_covered(reached: Mapping[str, Sequence[tuple[float, float]]], extent: Extent) -> bool:
    """True if the earlier job's extents cover the whole extent. `reached`: those extents in the same file.

    If two extents are in different units (their scales differ), only their starts are compared.
    """
    for scale, ends in reached.items():
        at = bisect_right(ends, (extent.start, inf))
        if at and (scale != extent.scale or ends[at - 1][1] >= extent.end):
            return True
    return False
