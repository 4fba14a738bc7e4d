"""Find fio's messages about the files that it lays out: their size, and whether all clones of a job share one file."""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import size_in_bytes
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line

_LAID_OUT = re.compile(
    r"Laying out IO files?(?:\(s\))?(?: \((?P<files>\d{1,6}) files?(?:\(s\))? / (?P<size>\d{1,9}[KMGT]i?B)\))?"
)
_NEAR = 0.02


def laid_out_bytes(lines: Sequence[Line]) -> int | None:
    """Return the total size of the files that fio laid out, in bytes, or None if it laid out no files.

    The total is 0 if fio printed no size.
    """
    sizes = _sizes(lines)
    return sum(sizes) if sizes else None


def shared_files(around: Sequence[Sequence[Line]], results: Sequence[FoundResult]) -> Iterator[int]:
    """Yield, for each result, the size in bytes of the only file that all clones of its job use, or 0 if unknown.

    fio prints a message for each clone whose file it lays out (setup_files in filesetup.c). If there is only one
    message, and each clone moved as many bytes as this file has, the clones share the file. A later result with the
    same number of clones uses the same file if fio lays out nothing for it. Only jobs known from fio's header are
    considered, because commands and job files name the files.
    """
    shared = clones = 0
    for lines, found in zip(around, results, strict=True):
        sizes = _sizes([line for line in lines if line[0] <= found.last_line])
        parts = found.result.parts
        is_known = found.made is not None and found.made.origin == "header" and len(parts) == 1 and parts[0].clones > 1
        if not is_known:
            shared = 0
        elif len(sizes) == 1:
            moved = sum(direction.io_bytes or 0 for direction in parts[0].directions.values())
            clones = parts[0].clones
            shared = sizes[0] if abs(moved - clones * sizes[0]) <= _NEAR * moved else 0
        elif sizes or parts[0].clones != clones:
            shared = 0
        yield shared


def _sizes(lines: Sequence[Line]) -> list[int]:
    """Return the size of the files in each message, in bytes."""
    matches = filter(None, (_LAID_OUT.search(line) for _, line in lines))
    return [(size_in_bytes(match["size"] or "") or 0) * int(match["files"] or 1) for match in matches]
