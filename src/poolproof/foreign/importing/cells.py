"""Assign each result to a layout and a workload.

Differences between jobs make workloads; differences between paths make layouts.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from poolproof.campaign.names import matrix_name, slug
from poolproof.errors import UsageError
from poolproof.foreign.importing.record import Record, is_bench_fio, is_repetition

FAMILY = "fio"
_NO_LAYOUT = "imported"
_PATH_OPTIONS = frozenset(
    {
        "filename", "directory", "filename_format", "output", "write_bw_log", "write_lat_log", "write_iops_log",
        "write_hist_log", "description", "randseed", "log_prefix", "lockfile", "aux_path",
    }
)  # fmt: skip
_FIRST_AXES = ("rw", "bs", "iodepth", "numjobs", "size", "direct", "ioengine")


@dataclass(frozen=True)
class ImportedRecord:
    """A record and its cell; `number` counts the repetitions from 1 in order of time."""

    record: Record
    layout: str
    workload: str
    varies: tuple[tuple[str, str], ...]
    number: int


def place(records: Sequence[Record], layout_from: str | None) -> tuple[ImportedRecord, ...]:
    """Assign every record to a cell. `layout_from`: `folder`, `file`, or a fio option whose value names the layout.

    Raises:
        UsageError: no record has that option.
    """
    name_of = _layout_name(records, layout_from)
    axes = tuple(axis for axis in _axes(records) if axis != layout_from)
    numbers: dict[tuple[str, str], int] = defaultdict(int)
    placed = []
    for record in sorted(records, key=lambda each: (each.begun_at, each.source, each.line)):
        layout = slug(name_of(record)) or _NO_LAYOUT
        varies = tuple((axis, _readable(record.options[axis])) for axis in axes if axis in record.options)
        workload = matrix_name(FAMILY, varies)
        numbers[layout, workload] += 1
        placed.append(ImportedRecord(record, layout, workload, varies, numbers[layout, workload]))
    return tuple(placed)


def _axes(records: Sequence[Record]) -> tuple[str, ...]:
    """Return the options that differ between records, the most familiar ones first."""
    names = dict.fromkeys(name for record in records for name in record.options)
    values = {name: {record.options.get(name, "") for record in records} for name in names}
    differing = [name for name, found in values.items() if len(found) > 1 and name not in _PATH_OPTIONS]
    differing.sort(key=lambda name: (_FIRST_AXES.index(name) if name in _FIRST_AXES else len(_FIRST_AXES), name))
    return _independent(records, differing)


def _independent(records: Sequence[Record], axes: Iterable[str]) -> tuple[str, ...]:
    """Drop the axes that add no distinction to those before them, such as `rwmixread` if only `randrw` jobs have it."""
    independent: list[str] = []
    keys = [""] * len(records)
    for axis in axes:
        values = [record.options.get(axis, "") for record in records]
        if len(set(zip(keys, values, strict=True))) > len(set(keys)):
            independent.append(axis)
            keys = [f"{key}\0{value}" for key, value in zip(keys, values, strict=True)]
    return tuple(independent)


def _readable(value: str) -> str:
    """Return the value in a form that a name may contain."""
    return slug(value) or "none"


def _layout_name(records: Sequence[Record], layout_from: str | None) -> Callable[[Record], str]:
    if layout_from == "file":
        return _by_file(records)
    if layout_from == "folder":
        return _by_folder(records)
    if layout_from is not None:
        if not any(layout_from in record.options for record in records):
            raise UsageError(
                f"--layout-from {layout_from}: no result has that option",
                "use `folder`, `file` or an option of the jobs",
            )
        return lambda record: record.options.get(layout_from, "none")
    return _by_folder_or_file(records)


def _by_folder_or_file(records: Sequence[Record]) -> Callable[[Record], str]:
    """Use the file names if the folders are the same, all jobs are the same and bench-fio did not name the files."""
    by_folder = _by_folder(records)
    if len({by_folder(record) for record in records}) > 1 or any(is_bench_fio(record.stem) for record in records):
        return by_folder
    same_job = len({tuple(sorted(record.options.items())) for record in records}) == 1
    names = {record.series for record in records}
    return _by_file(records) if same_job and len(names) > 1 else by_folder


def _by_file(records: Sequence[Record]) -> Callable[[Record], str]:
    """Use the file names, without the number at the end if the files that differ only in it ran the same job."""
    jobs: dict[str, set[tuple[tuple[str, str], ...]]] = defaultdict(set)
    for record in records:
        jobs[record.series].add(tuple(sorted(record.options.items())))
    return lambda record: record.series if len(jobs[record.series]) == 1 else record.stem


def _by_folder(records: Sequence[Record]) -> Callable[[Record], str]:
    """Use the folders that differ, except those that only repeat job options or count repetitions.

    If none is left, use the innermost folder.
    """
    depths = _informative_depths(records)

    def name(record: Record) -> str:
        informative = [folder for depth, folder in enumerate(record.folders) if depth in depths]
        return "-".join(informative or record.folders[-1:])

    return name


def _informative_depths(records: Iterable[Record]) -> set[int]:
    """Return the depths of folders that add information: bench-fio's `4k` and `randrw75` only repeat job options."""
    repeats: dict[int, set[bool]] = defaultdict(set)
    names: dict[int, set[str]] = defaultdict(set)
    for record in records:
        values = {value.lower() for value in record.options.values()} | _mix_folder(record)
        for depth, folder in enumerate(record.folders):
            names[depth].add(folder)
            repeats[depth].add(folder.lower() in values or is_repetition(folder))
    return {depth for depth, found in names.items() if len(found) > 1 and repeats[depth] != {True}}


def _mix_folder(record: Record) -> set[str]:
    """Return bench-fio's folder name for mixed jobs: the mode and the percentage of reads."""
    rw, share = record.options.get("rw", ""), record.options.get("rwmixread")
    return {f"{rw}{share}"} if share else set()
