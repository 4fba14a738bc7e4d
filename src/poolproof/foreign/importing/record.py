"""A result to import, with columns from its path and its job."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from poolproof.foreign.audit.texts import Judged
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import Outcome

_BENCH_FIO = re.compile(r"^(?P<rw>[a-z]+)-(?:iodepth-)?(?P<iodepth>\d+)-(?:numjobs-)?(?P<numjobs>\d+)$")
_SIZE = re.compile(r"^\d+[kmgtp]i?b?$", re.IGNORECASE)
_COUNTERS = "run|trial|try|repeat|rep|loop|iter|n"
_REPEAT = re.compile(rf"(?:[-_. ](?:{_COUNTERS}))?[-_. ]\d{{1,4}}$|[-_. ](?:{_COUNTERS})\d{{1,4}}$", re.IGNORECASE)
_REPEAT_FOLDER = re.compile(r"^(?:run|trial|try|repeat|rep|loop|iter)[-_. ]?\d{1,4}$", re.IGNORECASE)


@dataclass(frozen=True)
class Record:
    """A result and where it was found.

    `folders`: those below the common folder, outermost first.
    `stem`: the file name without its suffix.
    `options`: the fio options of the job; with several jobs, those that all of them share.
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
        """Return the start in ISO 8601, from fio's time stamp at the end of the run and the run time.

        Empty without a time stamp, or if the start would be before 1970: then one of the two is damaged.
        """
        ended_ms, ran_ms = self.result.timestamp_ms, _longest_ms(self.result)
        if not ended_ms or not 0 <= ran_ms <= ended_ms < 1 << 43:
            return ""
        return datetime.fromtimestamp((ended_ms - ran_ms) / 1000, UTC).isoformat(timespec="milliseconds")

    @property
    def columns(self) -> dict[str, str]:
        """Return the names from the path, then the job's options."""
        named = {f"folder{depth}": name for depth, name in enumerate(self.folders, start=1)}
        return {"file": self.stem, **named, **self.options}

    @property
    def series(self) -> str:
        """Return the file name without the count of the repetition: `mirror` for `mirror-run-2`.

        `r2` is unchanged: without a separator, the number may be part of the name.
        """
        return _REPEAT.sub("", self.stem) or self.stem


def record_of(path: Path, base: Path, judged: Judged) -> Record:
    """Return the record of a result that was found in a file below `base`."""
    inner = path.relative_to(base) if path.is_relative_to(base) else Path(path.name)
    stem = inner.name.partition(".")[0] or inner.name
    options = {**_options_in_name(stem), **_shared_options(judged.found)}
    return Record(str(path), judged.found.line, inner.parent.parts or (base.name,), stem, judged, options)


def _shared_options(found: FoundResult) -> dict[str, str]:
    """Return the options that all jobs of the result share; if no job is known, only its name."""
    jobs = found.made.jobs.jobs if found.made is not None else ()
    if not jobs:
        names = [job.name for job in found.result.parts if job.name]
        return {"name": names[0]} if names else {}
    first = {name: value for name, value in jobs[0].options.items() if name != "name"}
    shared = {name: value for name, value in first.items() if all(job.options.get(name) == value for job in jobs)}
    return {name: value.lower() if _SIZE.match(value) else value for name, value in shared.items()}


def is_repetition(folder: str) -> bool:
    """True if a folder only counts repetitions, such as bench-fio's `run-1`."""
    return _REPEAT_FOLDER.match(folder) is not None


def is_bench_fio(stem: str) -> bool:
    """True if bench-fio gave the name: `randread-16-4`, or for its logs `randread-iodepth-16-numjobs-4`."""
    return _BENCH_FIO.match(stem) is not None


def common_folder(paths: Iterable[Path]) -> Path:
    """Return the innermost folder that contains all of the files; their paths are absolute."""
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
