"""Rows grouped like the plots of the cache-and-log benchmark: by sync or async, then by mode."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from poolproof.campaign.names import slug
from poolproof.load.model import LoadPart
from poolproof.presentation.export.rows import ExportRow, plain_name

_AXES = ("rw", "readwrite", "bs", "blocksize", "sync")


@dataclass(frozen=True)
class Panel:
    """The rows of one plot: a line for each layout over block size, with all other options equal."""

    sync: str
    mode: str
    rest: tuple[str, ...]
    rows: tuple[ExportRow, ...]

    @property
    def name(self) -> str:
        """Return the name: `randread-sync`, or `randread-sync-iodepth-4` if another option varies."""
        return "-".join((self.mode, self.sync, *self.rest))

    @property
    def folder(self) -> PurePosixPath:
        """Return the folder: `sync/randread`."""
        return PurePosixPath(self.sync) / self.mode

    @property
    def lines(self) -> Mapping[str, tuple[ExportRow, ...]]:
        """Return the rows of each layout, from small to large blocks."""
        found: dict[str, list[ExportRow]] = {}
        for row in self.rows:
            found.setdefault(row.layout, []).append(row)
        return {name: tuple(sorted(rows, key=lambda row: row.part.block_bytes)) for name, rows in found.items()}

    @property
    def directions(self) -> tuple[str, ...]:
        """Return `read`, `write` or both."""
        part = self.rows[0].part
        return tuple(name for name, does in (("read", part.reads), ("write", part.writes)) if does)


def panels_of(rows: Iterable[ExportRow]) -> tuple[Panel, ...]:
    """Return the panels in the order of their first rows; every row is in one panel."""
    every = tuple(rows)
    families = {_family(row) for row in every}
    found: dict[tuple[str, str, tuple[str, ...]], list[ExportRow]] = {}
    for row in every:
        rest = ((slug(_family(row)),) if len(families) > 1 else ()) + _rest(row)
        found.setdefault((sync_of(row.part), mode_of(row.options), rest), []).append(row)
    return tuple(Panel(*key, tuple(own)) for key, own in found.items())


def block_size(row: ExportRow) -> str:
    """Return the block size as the workload gives it: `16k`."""
    return re.sub(r"\s", "", row.options.get("bs", "4k"))


def mode_of(options: Mapping[str, str]) -> str:
    """Return fio's `rw` mode in its long form: `randread`, `readwrite`."""
    word = slug((options.get("rw") or options.get("readwrite") or "read").partition(":")[0])
    return {"rw": "readwrite"}.get(word, word) or "read"


def sync_of(part: LoadPart) -> str:
    """Return `sync` if each write waits for the disk, else `async`."""
    return "sync" if part.commits_each_write else "async"


def _family(row: ExportRow) -> str:
    return row.workload.partition("[")[0]


def _rest(row: ExportRow) -> tuple[str, ...]:
    """Return the other options that the workload's matrix chose."""
    axes = {f"workload_{plain_name(axis)}" for axis in _AXES}
    chosen = {name: value for name, value in row.settings.items() if name.startswith("workload_") and name not in axes}
    return tuple(f"{slug(name.removeprefix('workload_'))}-{slug(value)}" for name, value in chosen.items())
