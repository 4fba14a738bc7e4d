"""Assign each imported result to a cell, i.e. a combination of layout and workload.

Results of different jobs get different workloads. A result's layout is named after its folder, its file or one of its
job options.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from os.path import commonpath
from pathlib import Path

from poolproof.campaign.names import matrix_name, slugs
from poolproof.errors import UsageError
from poolproof.foreign.audit.texts import Judged
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import Outcome

FAMILY = "fio"
_NO_LAYOUT = "imported"
_PATH_OPTIONS = frozenset(
    {
        "filename", "directory", "filename_format", "output", "write_bw_log", "write_lat_log", "write_iops_log",
        "write_hist_log", "description", "randseed", "log_prefix", "lockfile", "aux_path",
    }
)  # fmt: skip
_FIRST_AXES = ("rw", "bs", "iodepth", "numjobs", "size", "direct", "ioengine")
_BENCH_FIO = re.compile(r"^(?P<rw>[a-z]+)-(?:iodepth-)?(?P<iodepth>\d+)-(?:numjobs-)?(?P<numjobs>\d+)$")
_SIZE = re.compile(r"^\d+[kmgtp]i?b?$", re.IGNORECASE)
_COUNTERS = "run|trial|try|repeat|rep|loop|iter"
_REPEAT = re.compile(rf"(?:[-_. ](?:{_COUNTERS}|n))?[-_. ]\d{{1,4}}$|[-_. ](?:{_COUNTERS}|n)\d{{1,4}}$", re.IGNORECASE)
_REPEAT_FOLDER = re.compile(rf"^(?:{_COUNTERS})[-_. ]?\d{{1,4}}$", re.IGNORECASE)


@dataclass(frozen=True)
class Record:
    """A result to import, and its location.

    `folders`: the names of the folders between the common folder of all files and this file, outermost first. If the
    file is directly in the common folder, that folder's name.
    `stem`: the file name up to its first dot.
    `options`: the fio options of the job. If the result has several jobs, only the options with the same value in all
    of them.
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
        """Return the start time in ISO 8601, or an empty string if the result has no timestamp.

        fio's timestamp is the end of the run, so the run time is subtracted from it. Empty if the run would start
        before 1970 or end after 2248, since such times must be wrong.
        """
        ended_ms = self.result.timestamp_ms
        ran_ms = max((part.longest_ms for part in self.result.parts), default=0)
        if not ended_ms or not 0 <= ran_ms <= ended_ms < 1 << 43:
            return ""
        return datetime.fromtimestamp((ended_ms - ran_ms) / 1000, UTC).isoformat(timespec="milliseconds")

    @property
    def columns(self) -> dict[str, str]:
        """Return the file name, the folder names and the job's options, keyed by column name."""
        named = {f"folder{depth}": name for depth, name in enumerate(self.folders, start=1)}
        return {"file": self.stem, **named, **self.options}

    @property
    def series(self) -> str:
        """Return the file name without a repetition number at the end: `mirror` for `mirror-run-2`.

        `raidz2` is unchanged, because a digit without a separator before it may be part of the name.
        """
        return _REPEAT.sub("", self.stem) or self.stem

    @property
    def is_bench_fio(self) -> bool:
        """True if the file name follows bench-fio's pattern for results, as in `randread-16-4`, or for logs.

        The name of a log begins like `randread-iodepth-16-numjobs-4`.
        """
        return _BENCH_FIO.match(self.stem) is not None


@dataclass(frozen=True)
class ImportedRecord:
    """An imported result and its cell. `number`: the result's position in the cell, in chronological order from 1."""

    record: Record
    layout: str
    workload: str
    varies: tuple[tuple[str, str], ...]
    number: int


def record_of(path: Path, base: Path, judged: Judged) -> Record:
    """Return a record for a result from the file at `path`. `base`: the common folder of all files."""
    inner = path.relative_to(base) if path.is_relative_to(base) else Path(path.name)
    stem = inner.name.partition(".")[0] or inner.name
    named = _BENCH_FIO.match(stem)
    options = {**(named.groupdict() if named else {}), **_shared_options(judged.found)}
    return Record(str(path), judged.found.line, inner.parent.parts or (base.name,), stem, judged, options)


def _shared_options(found: FoundResult) -> dict[str, str]:
    """Return the options that all of the result's jobs share.

    If the options are unknown, return the name of the first job that has one, as the option `name`.
    """
    jobs = found.made.jobs if found.made is not None else ()
    if not jobs:
        names = [job.name for job in found.result.parts if job.name]
        return {"name": names[0]} if names else {}
    return {
        name: value.lower() if _SIZE.match(value) else value
        for name, value in jobs[0].options.items()
        if name != "name" and all(job.options.get(name) == value for job in jobs)
    }


def common_folder(paths: Iterable[Path]) -> Path:
    """Return the innermost folder that contains all the files. The paths must be absolute."""
    return Path(commonpath({path.parent for path in paths}))


def place(records: Sequence[Record], layout_from: str | None) -> tuple[ImportedRecord, ...]:
    """Assign every record to a cell.

    `layout_from`: the source of the layout names: `folder`, `file` or the name of a fio option. With None, layouts are
    named after folders or files, whichever suits the records.

    Raises a UsageError if `layout_from` is an option that no record has.
    """
    name_of = _layout_name(records, layout_from)
    axes = [axis for axis in _axes(records) if axis != layout_from]
    ordered = sorted(records, key=lambda each: (each.begun_at, each.source, each.line))
    layouts = slugs(map(name_of, ordered), _NO_LAYOUT)
    values = {axis: slugs((each.options[axis] for each in ordered if axis in each.options), "none") for axis in axes}
    numbers: dict[tuple[str, str], int] = defaultdict(int)
    placed = []
    for record in ordered:
        layout = layouts[name_of(record)]
        varies = tuple((axis, values[axis][record.options[axis]]) for axis in axes if axis in record.options)
        workload = matrix_name(FAMILY, varies)
        numbers[layout, workload] += 1
        placed.append(ImportedRecord(record, layout, workload, varies, numbers[layout, workload]))
    return tuple(placed)


def _axes(records: Sequence[Record]) -> list[str]:
    """Return the options that distinguish the workloads, most familiar first.

    Options with the same value in all records are left out. Options that depend entirely on the options before them are
    also left out, such as `rwmixread` if it depends only on `rw`. Paths, descriptions and seeds never distinguish
    workloads.
    """
    names = {name for record in records for name in record.options if name not in _PATH_OPTIONS}
    axes: list[str] = []
    keys = [""] * len(records)
    for axis in sorted(names, key=lambda each: (_FIRST_AXES.index(each) if each in _FIRST_AXES else 99, each)):
        values = [record.options.get(axis, "") for record in records]
        if len(set(zip(keys, values, strict=True))) > len(set(keys)):
            axes.append(axis)
            keys = [f"{key}\0{value}" for key, value in zip(keys, values, strict=True)]
    return axes


def _layout_name(records: Sequence[Record], layout_from: str | None) -> Callable[[Record], str]:
    """Return a function that maps a record to its layout name.

    By default, layouts are named after folders. They are named after files if the records differ only in their file
    names, which must not be like those of bench-fio. Raises a UsageError if `layout_from` is an option that no record
    has.
    """
    by_folder = partial(_by_folder, _informative_depths(records))
    jobs: dict[str, set[tuple[tuple[str, str], ...]]] = defaultdict(set)
    for record in records:
        jobs[record.series].add(tuple(sorted(record.options.items())))

    def by_file(record: Record) -> str:
        """Return the file name, without its repetition number if all repetitions ran the same job."""
        return record.series if len(jobs[record.series]) == 1 else record.stem

    if layout_from == "file":
        return by_file
    if layout_from not in (None, "folder"):
        if not any(layout_from in record.options for record in records):
            hint = "use `folder`, `file` or an option of the jobs"
            raise UsageError(f"--layout-from {layout_from}: no result has that option", hint)
        return lambda record: record.options.get(layout_from, "none")
    has_one_job = len(set().union(*jobs.values())) == 1 and len(jobs) > 1
    if layout_from is None and has_one_job and not any(record.is_bench_fio for record in records):
        return by_file if len({by_folder(record) for record in records}) == 1 else by_folder
    return by_folder


def _by_folder(depths: set[int], record: Record) -> str:
    """Join the names of the folders at the given depths. If the record has none, return its innermost folder's name."""
    informative = [folder for depth, folder in enumerate(record.folders) if depth in depths]
    return "-".join(informative or record.folders[-1:])


def _informative_depths(records: Iterable[Record]) -> set[int]:
    """Return the depths in the folder tree at which folder names distinguish layouts.

    At such a depth, the names differ between records, and at least one name neither repeats a job option nor numbers a
    repetition. For example, bench-fio's folders `4k` and `randrw75` (the mode and the read percentage) repeat job
    options.
    """
    repeats: dict[int, set[bool]] = defaultdict(set)
    names: dict[int, set[str]] = defaultdict(set)
    for record in records:
        values = {value.lower() for value in record.options.values()}
        if share := record.options.get("rwmixread"):
            values.add(record.options.get("rw", "") + share)
        for depth, folder in enumerate(record.folders):
            names[depth].add(folder)
            repeats[depth].add(folder.lower() in values or _REPEAT_FOLDER.match(folder) is not None)
    return {depth for depth, found in names.items() if len(found) > 1 and repeats[depth] != {True}}
