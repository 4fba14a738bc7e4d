"""Track which files the jobs in a text write, and how much of each file they write.

This finds jobs that read parts of a file that were never written, and jobs that read a file that is still in RAM. A job
that writes a file is assumed to have created it, unless an earlier job used the file. Files that fio lays out before
reading them are complete. Devices are not tracked, because their contents are unknown.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.audit.missing import jobs_of
from poolproof.load.fio.load import job_of, load_of
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Outcome
from poolproof.rules.quoted import UNQUOTED, Quoted
from poolproof.units import format_size

_COMPLETE = 0.95


@dataclass(frozen=True)
class _File:
    """The known state of a file, as sentences about the job that wrote it. An empty string means that nothing is known.

    `unfilled`: the job wrote only part of the file, and no earlier job wrote it.
    `in_memory`: the job wrote the file through the page cache.
    """

    unfilled: str = ""
    in_memory: str = ""


def earlier_jobs(
    results: Sequence[FoundResult], laid_out: Collection[int] = (), dropped: Collection[int] = ()
) -> Iterator[Quoted]:
    """Yield, for each result, how earlier jobs in the text affected the files that its jobs use.

    `laid_out`: the indexes of the results whose files fio laid out.
    `dropped`: the indexes of the results before which the caches were dropped.
    """
    if len(results) == 1:
        yield UNQUOTED
        return
    files: dict[str, _File] = {}
    for number, found in enumerate(results):
        load = load_of(jobs_of(found.made, found.result))
        is_new = number in laid_out
        if number in dropped:
            files = {path: replace(known, in_memory="") for path, known in files.items()}
        parts = [part for part in load.parts if not _is_device(part)]
        yield next((quoted for part in parts if (quoted := _before(part, files, is_new=is_new)) != UNQUOTED), UNQUOTED)
        for part in parts:
            for path in _paths(part):
                files[path] = _after(part, files.get(path), found, is_new=is_new, is_alone=len(load.parts) == 1)


def _paths(part: LoadPart) -> set[str]:
    return {extent.file for extent in part.extents}


def _is_device(part: LoadPart) -> bool:
    return any(path.startswith(("/dev/", "\\\\.\\")) for path in _paths(part))


def _before(part: LoadPart, files: dict[str, _File], *, is_new: bool) -> Quoted:
    """Return the known facts about a job's files at the time when the job starts."""
    known = [files[path] for path in _paths(part) if path in files]
    if not part.reads or is_new or not known:
        return UNQUOTED
    in_memory = "" if part.direct else known[0].in_memory
    return Quoted(unfilled=known[0].unfilled, just_written=in_memory)


def _after(part: LoadPart, known: _File | None, found: FoundResult, *, is_new: bool, is_alone: bool) -> _File:
    """Return the known state of one of a job's files after the job has run."""
    if not part.writes or part.reads:
        return known if known is not None and not is_new else _File()
    in_memory = (
        "" if part.direct or part.trims else f"the job on line {found.line} wrote the file through the page cache"
    )
    covered = _covered(part, found.result, is_alone=is_alone)
    if known is not None and not known.unfilled and not is_new:
        return _File(in_memory=in_memory)
    if covered is None or covered >= _COMPLETE:
        return _File(in_memory=in_memory)
    size = format_size((part.size_bytes or 0) * (1 if job_of(part).filename else part.clones))
    return _File(f"the job on line {found.line} wrote {100 * covered:.2g}% of this file's {size}", in_memory)


def _covered(part: LoadPart, result: Outcome, *, is_alone: bool) -> float | None:
    """Return the fraction of the file that the job wrote, from 0 to 1, or None if unknown.

    If fio does not keep track of the blocks that it has written, it writes some of them several times. Then n random
    writes to a file of N blocks leave a fraction of e^(-n/N) unwritten.
    `is_alone`: True if the load has no other job. The totals that fio prints below a run are then those of this job.
    """
    names = ("", *(each.name for each in result.parts)) if is_alone else ("", part.name)
    written = [each.write.io_bytes if each.write else None for each in result.parts if each.name in names]
    known = [count for count in written if count is not None]
    size = part.size_bytes
    if not known or len(known) != len(written) or not size:
        return None
    passes = sum(known) / (size * (1 if part.shares_one_file else part.clones))
    job = job_of(part)
    distribution = (job.text("random_distribution") or "").partition(":")[0]
    has_no_map = part.is_random and (job.flag("norandommap") or distribution not in ("", "random"))
    return -math.expm1(-passes) if has_no_map else min(1.0, passes)
