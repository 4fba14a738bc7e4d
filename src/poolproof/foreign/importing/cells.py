"""Which layout and which workload a result belongs to: the workload is what varies in the job, the layout what varies
in its place.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from poolproof.campaign.names import matrix_name, slug
from poolproof.errors import UsageError
from poolproof.foreign.importing.record import Record, is_bench_fio, is_repetition

FAMILY = "fio"
_NO_LAYOUT = "imported"
_PLACES = frozenset(
    {
        "filename", "directory", "filename_format", "output", "write_bw_log", "write_lat_log", "write_iops_log",
        "write_hist_log", "description", "randseed", "log_prefix", "lockfile", "aux_path",
    }
)  # fmt: skip
_FIRST = ("rw", "bs", "iodepth", "numjobs", "size", "direct", "ioengine")


@dataclass(frozen=True)
class ImportedRecord:
    """A record and its cell; `number` counts the repetitions from 1, in order of time."""

    record: Record
    layout: str
    workload: str
    varies: tuple[tuple[str, str], ...]
    number: int


def place(records: Sequence[Record], layout_from: str | None) -> tuple[ImportedRecord, ...]:
    """Every record in its cell. `layout_from`: `folder`, `file`, or an option of fio whose value names the layout.

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
    """Options that differ between records, those that people name first in front."""
    names = dict.fromkeys(name for record in records for name in record.options)
    values = {name: {record.options.get(name, "") for record in records} for name in names}
    differing = [name for name, found in values.items() if len(found) > 1 and name not in _PLACES]
    differing.sort(key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    return _independent(records, differing)


def _independent(records: Sequence[Record], axes: Iterable[str]) -> tuple[str, ...]:
    """Axes that tell apart what those before them do not: `rwmixread` says nothing where only `randrw` has it."""
    kept: list[str] = []
    keys = [""] * len(records)
    for axis in axes:
        values = [record.options.get(axis, "") for record in records]
        if len(set(zip(keys, values, strict=True))) > len(set(keys)):
            kept.append(axis)
            keys = [f"{key}\0{value}" for key, value in zip(keys, values, strict=True)]
    return tuple(kept)


def _readable(value: str) -> str:
    """A value that can stand in a name."""
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
                "give `folder`, `file`, or one of the jobs' own",
            )
        return lambda record: record.options.get(layout_from, "none")
    return _by_place(records)


def _by_place(records: Sequence[Record]) -> Callable[[Record], str]:
    """By folder where folders differ; else by file name, where one name holds one job only."""
    by_folder = _by_folder(records)
    if len({by_folder(record) for record in records}) > 1 or any(is_bench_fio(record.stem) for record in records):
        return by_folder
    same_job = len({tuple(sorted(record.options.items())) for record in records}) == 1
    names = {record.series for record in records}
    return _by_file(records) if same_job and len(names) > 1 else by_folder


def _by_file(records: Sequence[Record]) -> Callable[[Record], str]:
    """The files' names; without a number at their ends where all that differ in it only ran the same job."""
    jobs: dict[str, set[tuple[tuple[str, str], ...]]] = defaultdict(set)
    for record in records:
        jobs[record.series].add(tuple(sorted(record.options.items())))
    return lambda record: record.series if len(jobs[record.series]) == 1 else record.stem


def _by_folder(records: Sequence[Record]) -> Callable[[Record], str]:
    """The folders that differ, and say more than the job's options do and than which repetition it is; where none does,
    the innermost folder.
    """
    levels = _telling_levels(records)

    def name(record: Record) -> str:
        telling = [folder for depth, folder in enumerate(record.folders) if depth in levels]
        return "-".join(telling or record.folders[-1:])

    return name


def _telling_levels(records: Iterable[Record]) -> set[int]:
    """Depths of folders that tell something: `4k` and `randrw75` of bench-fio only repeat the job's options."""
    repeats: dict[int, set[bool]] = defaultdict(set)
    names: dict[int, set[str]] = defaultdict(set)
    for record in records:
        values = {value.lower() for value in record.options.values()} | _mixes(record)
        for depth, folder in enumerate(record.folders):
            names[depth].add(folder)
            repeats[depth].add(folder.lower() in values or is_repetition(folder))
    return {depth for depth, found in names.items() if len(found) > 1 and repeats[depth] != {True}}


def _mixes(record: Record) -> set[str]:
    """bench-fio's name of a folder for mixed jobs: mode and share of reads."""
    rw, share = record.options.get("rw", ""), record.options.get("rwmixread")
    return {f"{rw}{share}"} if share else set()
