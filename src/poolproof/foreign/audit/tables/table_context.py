"""The direction and the block size of a table's rows, from names, headings and the only jobs in the text."""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.foreign.audit.amounts import size_in_bytes
from poolproof.foreign.audit.directions import named_direction
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.fio.source_commands import source_commands
from poolproof.load.model import LoadPart

_BLOCK = re.compile(
    r"(?<![\w.])(?:(?:bs=)?(?P<size>\d{1,4}\s?[kKmM])(?:i?[bB])?|bs=(?P<bytes>\d{3,8}))(?![\w.])", re.IGNORECASE
)
_MIXED = re.compile(r"rand?rw|\brw\b|read[-/ +&]*(?:and )?write|mixed|r/w|混合|50[:/]50|70[:/]30", re.IGNORECASE)
_SHARE = re.compile(r"(?<![\d.])[1-9]\d? ?% (?:random )?(?:reads?|writes?)\b", re.IGNORECASE)  # of mixed I/O
_RESULTS = re.compile(r"\b(?:results?|benchmarks?|benchmarking|measurements?|measured|fio)\b", re.IGNORECASE)
_SPECIFIED = re.compile(
    r"\b(?:capacity|capacities|price|msrp|warranty|endurance|tbw|dwpd|mtbf|interface|form factor|controller|nand|flash|"
    r"up to|rated|spec(?:ified|ification)?s?|claimed|advertised|required|typical|minimum|maximum|"
    r"recommended|limits?|quotas?|base(?:line)?|burst)\b"
    r"|[$€£] ?\d",
    re.IGNORECASE,
)
_LARGEST_BLOCK_BYTES = 1 << 40


@dataclass(frozen=True)
class TextJobs:
    """The jobs of a text, as a fallback for tables that do not name the direction or the block size.

    `sections`: the titles of the sections around a table, the innermost first. They take precedence over the jobs.
    """

    text: str
    sections: tuple[str, ...] = ()

    @property
    def direction(self) -> str:
        """The direction of all jobs in the text, or an empty string if they differ or if there are none."""
        directions = {_direction(part.reads, part.writes) for part in self._parts}
        return directions.pop() if len(directions) == 1 else ""

    @property
    def block(self) -> int | None:
        """The block size of all jobs in the text, or None if they differ or if there are none."""
        sizes = {size for part in self._parts for size in (part.block_bytes, part.max_block_bytes)}
        return sizes.pop() if len(sizes) == 1 else None

    @property
    def _parts(self) -> tuple[LoadPart, ...]:
        return _parts_of(self.text) if self.text else ()  # the cache holds one text


@functools.lru_cache(maxsize=1)
def _parts_of(text: str) -> tuple[LoadPart, ...]:
    return tuple(part for made in source_commands(plain_lines(text)) for part in made.load.parts)


def promise_results(titles: Iterable[str]) -> bool:
    """True if one of the titles around a table says that it contains results: `Results`, `Disk benchmarks`."""
    return any(_RESULTS.search(title) for title in titles)


def is_data_sheet(cells: Iterable[str]) -> bool:
    """True if one of the cells has a word of data sheets, limits or prices: `Capacity`, `up to`, `$20`."""
    return any(_SPECIFIED.search(cell) for cell in cells)


def row_direction(names: Iterable[str], jobs: TextJobs) -> str:
    """Return the direction that the first of the names mentions, or that of the sections or of the jobs, or `mixed`.

    A name that mentions both directions, or the share of one (`30% Write`), ends the search.
    """
    for name in (*names, *jobs.sections):
        direction = "mixed" if _SHARE.search(name) else named_direction(name)
        if direction or _MIXED.search(name):
            return direction or "mixed"
    return jobs.direction or "mixed"


def block_in(names: Iterable[str], jobs: TextJobs) -> int | None:
    """Return the only block size in the first of the names that mentions any, or None if it mentions several.

    If no name mentions a block size, return that of the jobs.
    """
    for name in names:
        sizes = {(match["size"] or match["bytes"]).replace(" ", "") for match in _BLOCK.finditer(name)}
        if sizes:
            return block_bytes(sizes.pop()) if len(sizes) == 1 else None
    return jobs.block


def block_bytes(word: str) -> int | None:
    """Parse a block size, or return None if it is not one."""
    size = size_in_bytes(word)
    return size if size is not None and size <= _LARGEST_BLOCK_BYTES else None


def _direction(reads: bool, writes: bool) -> str:
    return "mixed" if reads == writes else "read" if reads else "write"
