"""What zpool and zfs print of a pool, and the kernel's counters of the ARC, as values. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_BUSY = re.compile(r"^\s*(?:scan|remove|expand): (.*\bin progress\b.*)$", re.MULTILINE)
_VDEV_BUSY = re.compile(r"\((\d+% (?:initialized|trimmed)), started")


@dataclass(frozen=True)
class VdevSpace:
    """A row of `zpool list -v`: how deep it stands below the pool (the pool itself 0), its name, and bytes.

    `section` is the heading it stands under: empty for data, else `logs`, `cache`, `special`, `dedup` or `spare`.
    """

    depth: int
    name: str
    section: str
    allocated_bytes: int | None
    size_bytes: int | None = None


def parse_list(text: str) -> tuple[VdevSpace, ...]:
    """The rows of `zpool list -v -p` (2.1 to 2.3), headings left out.

    Raises:
        ValueError: the text is no such list.
    """
    header, *lines = text.splitlines() or [""]
    columns = header.split()
    if not {"ALLOC", "SIZE"} <= set(columns):
        raise ValueError(f"`zpool list -v` printed no column ALLOC: {header!r}")
    rows: list[VdevSpace] = []
    section = ""
    for line in lines:
        cells = line.split()
        depth = (len(line) - len(line.lstrip())) // 2
        if depth == 0 and rows:
            section = cells[0]
        else:
            allocated, size = _number(cells, columns.index("ALLOC")), _number(cells, columns.index("SIZE"))
            rows.append(VdevSpace(depth, cells[0], section, allocated, size))
    return tuple(rows)


def _number(cells: Sequence[str], column: int) -> int | None:
    return int(cells[column]) if len(cells) > column and cells[column].isdigit() else None


def busy_with(status: str) -> str | None:
    """What a pool is doing by itself, from `zpool status -i -t`; None when it is quiet."""
    found = _BUSY.search(status) or _VDEV_BUSY.search(status)
    return found[1].strip() if found else None


def parse_properties(text: str) -> Mapping[str, str]:
    """The output of `zfs get -H -o property,value all`."""
    return dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
