"""One result that is to be imported, with all that its place and its job tell: the columns."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from poolproof.foreign.audit.texts import Judged
from poolproof.load.fio.find import FoundResult
from poolproof.load.outcome import Outcome

_BENCH_FIO = re.compile(r"^(?P<rw>[a-z]+)-(?:iodepth-)?(?P<iodepth>\d+)-(?:numjobs-)?(?P<numjobs>\d+)$")
_SIZE = re.compile(r"^\d+[kmgtp]i?b?$", re.IGNORECASE)
_COUNTERS = "run|trial|try|repeat|rep|loop|iter|n"
_REPEAT = re.compile(rf"(?:[-_. ](?:{_COUNTERS}))?[-_. ]\d{{1,4}}$|[-_. ](?:{_COUNTERS})\d{{1,4}}$", re.IGNORECASE)
_IN_A_FOLDER = re.compile(r"^(?:run|trial|try|repeat|rep|loop|iter)[-_. ]?\d{1,4}$", re.IGNORECASE)


@dataclass(frozen=True)
class Record:
    """A result and its place: folders below the common one, outermost first, and the file's name without its suffix.

    `options` are the job's, in fio's words; of several jobs those that they share.
    """

    source: str
    line: int
    folders: tuple[str, ...]
    stem: str
    judged: Judged
    options: Mapping[str, str]

    @property
    def result(self) -> Outcome:
        return self.judged.found.result

    @property
    def begun_at(self) -> str:
        """ISO 8601, from fio's own time stamp at the end of the run; empty without one, or where the run would have
        begun before 1970: one of the two is damaged.
        """
        ended_ms, ran_ms = self.result.timestamp_ms, _longest_ms(self.result)
        if not ended_ms or not 0 <= ran_ms <= ended_ms < 1 << 43:
            return ""
        return datetime.fromtimestamp((ended_ms - ran_ms) / 1000, UTC).isoformat(timespec="milliseconds")

    @property
    def columns(self) -> dict[str, str]:
        """Names from the path, then the job's options."""
        named = {f"folder{depth}": name for depth, name in enumerate(self.folders, start=1)}
        return {"file": self.stem, **named, **self.options}

    @property
    def series(self) -> str:
        """The file's name without what only counts repetitions: `mirror` of `mirror-run-2`.

        `r2` stays as it is: without a separator the number may be part of the name.
        """
        return _REPEAT.sub("", self.stem) or self.stem


def record_of(path: Path, base: Path, judged: Judged) -> Record:
    """A result found in a file below `base`."""
    inner = path.relative_to(base) if path.is_relative_to(base) else Path(path.name)
    stem = inner.name.partition(".")[0] or inner.name
    options = {**_options_in_name(stem), **_shared_options(judged.found)}
    return Record(str(path), judged.found.line, inner.parent.parts or (base.name,), stem, judged, options)


def _shared_options(found: FoundResult) -> dict[str, str]:
    """What all jobs of the result have in common; where nothing is known of a job, its name."""
    jobs = found.made.jobs.jobs if found.made is not None else ()
    if not jobs:
        names = [job.name for job in found.result.parts if job.name]
        return {"name": names[0]} if names else {}
    first = {name: value for name, value in jobs[0].options.items() if name != "name"}
    shared = {name: value for name, value in first.items() if all(job.options.get(name) == value for job in jobs)}
    return {name: value.lower() if _SIZE.match(value) else value for name, value in shared.items()}


def is_repetition(folder: str) -> bool:
    """Whether a folder only counts repetitions, as bench-fio's `run-1`."""
    return _IN_A_FOLDER.match(folder) is not None


def is_bench_fio(stem: str) -> bool:
    """Whether bench-fio gave the name: `randread-16-4`, or for its logs `randread-iodepth-16-numjobs-4`."""
    return _BENCH_FIO.match(stem) is not None


def common_folder(paths: Iterable[Path]) -> Path:
    """The innermost folder that holds all of the files, which have absolute paths."""
    parents = {path.parent for path in paths}
    common = next(iter(parents))
    for parent in parents:
        while not parent.is_relative_to(common):
            common = common.parent
    return common


def _options_in_name(stem: str) -> dict[str, str]:
    match = _BENCH_FIO.match(stem)
    return dict(match.groupdict()) if match else {}


def _longest_ms(result: Outcome) -> int:
    parts = [part for job in result.parts for part in (job.read, job.write, job.trim, job.mixed) if part is not None]
    return max((part.runtime_ms or 0 for part in parts), default=0)
