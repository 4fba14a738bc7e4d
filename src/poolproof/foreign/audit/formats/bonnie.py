"""bonnie++: its table (1.03 to 2.00, with and without -f) and its line of comma-separated values.

bonnie++ prints both. A line that repeats the values of the table above it is not another result.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.formats.amounts import number
from poolproof.foreign.audit.formats.protocol import ForeignResult, Reader, file_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction, Outcome, PartOutcome
from poolproof.units import parse_size

_HEADER = re.compile(r"^\s*(?:Machine|Name:Size etc)\s+(?:Size(?::chnk)?\s+)?(?P<unit>K|M|)/sec\s+%CP")
_ROW = re.compile(
    r"^\s*(?P<machine>\S+?)\s*[\s:](?P<size>\d{1,7}(?:\.\d+)?[KMGT]?)(?::\d+[kKmM]?)?\s+(?P<cells>[\d+].*)$"
)
_VALUE = re.compile(r"(?P<rate>\d+(?:\.\d+)?[kKmMgG]?|\++)\s+(?P<cpu>\d{1,3}|\++)(?=\s|$)")
_CSV = re.compile(r"^\s*(?:(?P<format>[12]\.\d+\w?),(?P<program>[12]\.\d+\w?),)?(?P<rest>[^\s,][^,]*,.*)$")
_NAMES = ("per char output", "block output", "rewrite", "per char input", "block input", "seeks")
_WITHOUT_CHARS = (1, 2, 4, 5)
_MISSING = ("run time", "whether the file is at least twice RAM (--ram)")
_OLD_FIELDS = 20  # of 27; a table of other numbers rarely has so many
_UNITS = {"": 1.0, "K": 1024.0, "M": 1024.0**2}


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    unit: str | None = None
    since, table = 0, dict[str, float | None]()
    for line_number, line in numbered:
        if match := _HEADER.match(line):
            unit, since = match["unit"], line_number
        elif unit is not None and (match := _ROW.match(line)) and line_number - since <= 4:
            cells = [(cell["rate"], cell["cpu"]) for cell in _VALUE.finditer(match["cells"])]
            order = range(len(_NAMES)) if len(cells) >= len(_NAMES) else _WITHOUT_CHARS
            units = dict.fromkeys(_NAMES, unit) | {"seeks": ""}
            rates = {_NAMES[at]: _rate(cell[0], units[_NAMES[at]]) for at, cell in zip(order, cells, strict=False)}
            yield from _results(line_number, rates, _size(match["size"]))
            unit, table = None, rates
        elif "," in line and (match := _CSV.match(line)):
            yield from _csv(line_number, match, table)


def _rate(text: str, unit: str) -> float | None:
    """Return a rate per second; None for the plus signs of a test that was too short. `123k` has its own unit."""
    value = number(text.rstrip("kKmMgG"))
    if value is None:
        return None
    suffix = text[-1].upper() if text[-1].isalpha() else ""
    return value * 1024.0 ** " KMG".index(suffix) if suffix else value * _UNITS[unit]


def _size(text: str) -> int | None:
    """Return the file size in bytes. A size without a unit is in MiB; 0 means that the test was not run."""
    try:
        return parse_size(text if text[-1].isalpha() else f"{text}M") or None
    except ValueError:
        return None


def _csv(line: int, match: re.Match[str], table: dict[str, float | None]) -> Iterator[ForeignResult]:
    """Yield the results of a line of comma-separated values, in the format of 1.03 or of 1.9x and 2.00.

    Yields nothing if the line repeats the values of the `table` before it.
    """
    fields = match["rest"].split(",")
    size_at, first = (3, 5) if match["format"] else (1, 2)  # name, concurrency, seed, size, chunk; or name, size
    is_short = len(fields) < (first + 2 * len(_NAMES) if match["format"] else _OLD_FIELDS)
    if is_short or not fields[0][:1].isalpha() or not re.fullmatch(r"\d+(?:\.\d+)?[KMGT]?(?::\S+)?", fields[size_at]):
        return
    cells = fields[first : first + 2 * len(_NAMES)]
    is_table = all(re.fullmatch(r"\d*(?:\.\d+)?|\++", cell) for cell in cells)
    if not is_table or not any(cells) or any(len(cell) > 3 for cell in cells[1::2] if not cell.startswith("+")):
        return
    rates = {name: _rate(cell, "K") if cell else None for name, cell in zip(_NAMES, cells[::2], strict=True)}
    rates["seeks"] = number(cells[10]) if cells[10] else None
    if not table or any(rates[name] != rate for name, rate in table.items()):
        yield from _results(line, rates, _size(fields[size_at].partition(":")[0]))


def _results(line: int, rates: dict[str, float | None], size: int | None) -> Iterator[ForeignResult]:
    for name, kind in (("block output", "write"), ("block input", "read"), ("seeks", "read")):
        rate = rates.get(name)
        if not rate:
            continue
        is_random = name == "seeks"
        figures = values(iops=rate) if is_random else values(bandwidth_bytes=rate)
        part = LoadPart(
            name,
            reads=kind == "read",
            writes=kind == "write",
            is_random=is_random,
            block_bytes=8192,
            max_block_bytes=8192,
            extents=file_of(size),
            is_synchronous=True,
            syncs=kind == "write",
        )
        outcome = Outcome("bonnie++", (_part(name, kind, figures),))
        yield ForeignResult("bonnie++", line, line, outcome, (part,), size_bytes=size, missing=_MISSING)


def _part(name: str, kind: str, figures: Direction) -> PartOutcome:
    return PartOutcome(name, write=figures) if kind == "write" else PartOutcome(name, read=figures)


READER = Reader(
    "bonnie++",
    (
        "https://www.coker.com.au/bonnie++/readme.html",
        "https://github.com/GoogleCloudPlatform/PerfKitBenchmarker bonnie_benchmark.py (CSV)",
    ),
    _find,
)
