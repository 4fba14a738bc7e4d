"""Compressed files according to compsize, which prints how much of the disk a file on btrfs uses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import Load
from poolproof.units import format_size, parse_size

_COMMAND = re.compile(r"(?:^|[\s$#%])compsize\s+(?:-\S{1,10}\s+){0,3}(?P<path>[^\s|;&<>-]\S{0,300})\s*$")
_TOTAL = re.compile(
    r"^\s*TOTAL\s+\d{1,3}%\s+(?P<disk>\d[\d.]{0,12}[BKMGTP]?)\s+(?P<whole>\d[\d.]{0,12}[BKMGTP]?)\s+\d[\d.]{0,12}[BKMGTP]?\s*$"
)
_ONE_FILE = re.compile(r"^\s*Processed 1 file, ")
_MOST_LINES, _LONGEST, _MOST_STORED = 8, 1000, 0.9


@dataclass(frozen=True)
class CompressedFile:
    """A file that occupies less space on disk than its size.

    `name`: its name without folders.
    `line`: the number of the line with the totals.
    """

    name: str
    line: int
    disk_bytes: float
    whole_bytes: float

    @property
    def words(self) -> str:
        share = 100 * self.disk_bytes / self.whole_bytes
        return (
            f"line {self.line}: compsize shows that `{self.name}` uses {format_size(self.disk_bytes)} of the disk for "
            f"{format_size(self.whole_bytes)} ({share:.0f}%)"
        )


def compressed_files(numbered: Sequence[Line]) -> tuple[CompressedFile, ...]:
    """Return the files that compsize was run on and that use at most 90% of their size."""
    found: list[CompressedFile] = []
    name, until, is_one = "", 0, False
    for number, line in numbered:
        if len(line) > _LONGEST:
            continue
        if match := _COMMAND.search(line):
            name, until, is_one = PurePosixPath(match["path"]).name, number + _MOST_LINES, False
        elif _ONE_FILE.match(line):
            is_one = number <= until
        elif is_one and number <= until and (match := _TOTAL.match(line)):
            disk, whole = (parse_size(match[each].removesuffix("B")) for each in ("disk", "whole"))
            is_one = False
            if 0 < disk <= _MOST_STORED * whole:
                found.append(CompressedFile(name, number, disk, whole))
    return tuple(found)


def compressed_words(files: Sequence[CompressedFile], load: Load, above: int) -> str:
    """Return the last statement above a line about the load's only file, or an empty string."""
    names = {PurePosixPath(extent.file).name for part in load.parts for extent in part.extents if extent.file}
    known = [each.words for each in files if names == {each.name} and each.line < above]
    return known[-1] if known else ""
