"""Parse the output of bonnie++ 1.03 to 2.00, with or without -f.

bonnie++ prints its results both as a table and as a line of comma-separated values. If that line repeats the table
above it, the results are reported only once, with the values of that line, because bonnie++ 2.00 rounds those of the
table. A table can have several rows below one header. The machine's name can be missing, or several words can replace
it. In all rows but the first, the size can be missing, too. Mail programs wrap the header and the rows. With several
CPUs, and after seeks that took no measurable time, `%CP` is above 100. The last row may be cut off. With -f, the
columns for single characters are blank, so a wide gap follows the size. People also remove columns by hand, even those
of the machine and the size. Such a table is read if the names above its header show which columns are left.
"""

import math
import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number, size_in_bytes
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, file_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_HEADER = re.compile(
    r"^\s*(?:(?P<machine>Machine|Name:Size etc)(?:\s+Size(?::chnk)?)?|Size(?::chnk)?)\s+(?P<unit>K|M|)/sec\s+%CP"
)
_SHORT_HEADER = re.compile(
    r"^\s*(?:(?:(?:Machine|Name)\s+)?(?P<size>Size(?::chnk)?)\s+)?[KM]?/sec(?:\s+(?:[KM]?/sec|%CP)){1,11}\s*$"
)
_WORDS = re.compile(r"[A-Za-z]\S*")
_COLUMN_NAME = re.compile(r"-\s?(Per Chr|Block|Rewrite|Seeks)\s?-")
_GROUP_NAME = re.compile(r"-\s?(?:Sequential )?(Output|Input)\s?-")
_PLAIN_RATE = re.compile(r"\d+(?:\.\d+)?[kKmMgG]?|\++")
_SIZE_WITH_UNIT = re.compile(r"\d{1,7}(?:\.\d+)?[KMGT]$")
_WORDS_WITHOUT_MACHINE = 13  # the size, and a rate and a share of the CPU for each test
_PLAIN_SIZE = re.compile(r"\d{1,7}(?:\.\d+)?[KMGT]?$")
_SIZE = r"(?P<size>\d{1,7}(?:\.\d+)?[KMGT]?)(?::\d+[kKmM]?)?\s+(?P<cells>[\d+].*)$"
_ROW = re.compile(rf"^\s*(?P<machine>(?!\d+\s)\S+?(?: [A-Za-z][\w.+-]{{0,20}}){{0,3}})\s*[\s:]{_SIZE}")
_ROW_WITHOUT_MACHINE = re.compile(rf"^\s*{_SIZE}")
_ROW_OF_CELLS = re.compile(r"^\s*(?P<cells>(?:[\d.]{1,15}[kKmMgG]?|\++)(?:\s+(?:[\d.]{1,15}|\++)[kKmMgG]?){11})\s*$")
_CUT_ROW = re.compile(r"^\s*(?P<cells>(?:[\d.]{1,15}[kKmMgG]?|\++)(?:\s+(?:[\d.]{1,15}|\++)[kKmMgG]?){1,11})\s*$")
_CELLS = re.compile(r"^\s*(?:\d+(?:\.\d+)?[kKmMgG]?|\++)(?:\s+(?:\d+(?:\.\d+)?[kKmMgG]?|\++)){0,3}\s*$")
_COLUMN = "%CP"
_MOST_WRAPPED = 3
_NEAR_LINES = 4
_MOST_ROWS = 40
_MOST_BELOW = 12
_VALUE = re.compile(
    r"(?<![\d+])(?P<rate>\d{1,15}(?:\.\d{1,9})?[kKmMgG]?|\+{1,9})\s{1,60}(?P<cpu>\d{1,5}|\+{1,9})(?=\s|$)"
)
_CSV = re.compile(r"^\s*(?:(?P<format>[12]\.\d+\w?),(?P<program>[12]\.\d+\w?),)?(?P<rest>[^\s,][^,]*,.*)$")
_NAMES = ("per char output", "block output", "rewrite", "per char input", "block input", "seeks")
_WITHOUT_CHARS = (1, 2, 4, 5)
_GAP = 8
_CUT_OFF = "the rest of the row, which was cut off"
_MISSING = ("run time", "whether the file is at least twice as large as the RAM (--ram)")
_OLD_FIELDS = 20  # out of 27; other comma-separated numbers rarely have so many fields
_FEWEST_COMMAS = 16  # in a line of comma-separated values of any release
_LONGEST = 500
_ROUNDED = 0.05
_TESTS = (("block output", "write"), ("rewrite", "write"), ("block input", "read"), ("seeks", "read"))
_UNITS = {"": 1.0, "K": 1024.0, "M": 1024.0**2}

_CutRow = tuple[int, dict[str, float | None], int | None]


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    head: re.Match[str] | None = None
    since, size, table = 0, None, dict[str, float | None]()
    last = max((at for at, (_, line) in enumerate(numbered) if line.strip()), default=0)
    for at, (line_number, line) in enumerate(numbered):
        if cut := list(_cut_by_hand(numbered, at)):
            head, table = None, cut[-1][1]
            for below, rates, of_size in cut:
                yield from _results(below, rates, of_size)
        elif match := _HEADER.match(line):
            head, since, table = match, line_number, {}
        elif head is not None and line_number - since <= _NEAR_LINES and (match := _row(numbered, at, head)):
            order = _order(match["cells"], match.start("cells") - match.end("size"))
            table, since, size = _table(match["cells"], head["unit"], order), line_number, _size(match["size"])
            exact = {**table, **_exact(numbered, at, table)}
            yield from _results(line_number, exact, size, is_cut_off=len(table) < len(order))
        elif head and table and (match := (_CUT_ROW if at == last else _ROW_OF_CELLS).match(line)):
            order = range(len(_NAMES)) if len(table) > len(_WITHOUT_CHARS) else _WITHOUT_CHARS
            table, since = _table(match["cells"], head["unit"], order), line_number
            yield from _results(line_number, table, size, is_cut_off=len(table) < len(order))
        elif (head is not None or line.count(",") >= _FEWEST_COMMAS) and "," in line and (match := _CSV.match(line)):
            rates, of_size = _csv(match)
            if rates and not _repeats(rates, table):
                yield from _results(line_number, rates, of_size)
            head = None
        elif table and line.strip() and not _CELLS.match(line):
            head = None  # the next table has its own header


def _cut_by_hand(numbered: Sequence[Line], at: int) -> Iterator[_CutRow]:
    """Yield the rows below a header from which columns were removed. Rows may be separated by a blank line.

    Yields nothing if the line is not such a header. The first row with more or fewer values than named columns ends the
    table.
    """
    header = numbered[at][1]
    match = _SHORT_HEADER.match(header) if len(header) <= _LONGEST else None
    if match is None:
        return
    units = [word.removesuffix("/sec") for word in header.split() if word.endswith("/sec")]
    names = _named_columns([line for _, line in numbered[max(0, at - 2) : at]])
    if len(names) != len(units) or (len(names) == len(_NAMES) and header.count(_COLUMN) == len(_NAMES)):
        return
    for line_number, row in numbered[at + 1 : at + 1 + _MOST_ROWS]:
        if not row.strip():
            continue
        size, *cells = _size_and_cells(row, has_size=match["size"] is not None)
        rates = cells[:: 2 if _COLUMN in header else 1]
        is_whole = len(cells) == len(names) * (2 if _COLUMN in header else 1)
        if not is_whole or not all(_PLAIN_RATE.fullmatch(rate) for rate in rates):
            return
        found = {name: _rate(rate, unit) for name, rate, unit in zip(names, rates, units, strict=True)}
        yield line_number, found, _size(size) if size else None


def _size_and_cells(row: str, *, has_size: bool) -> list[str]:
    """Return the file size in a row, or an empty string, and the cells after it.

    If the columns for the machine and the size were removed, all words in the row are ignored.
    """
    if len(row) > _LONGEST:
        return [""]
    if not has_size:
        return ["", *_WORDS.sub(" ", row).split()]
    words = row.split()
    start = next((index for index, word in enumerate(words[:2]) if _PLAIN_SIZE.match(word)), None)
    return [""] if start is None else words[start:]


def _named_columns(above: Sequence[str]) -> list[str]:
    """Return the tests that the lines above a header name, or an empty list if `Block` is ambiguous."""
    found = [name for line in above for name in _COLUMN_NAME.findall(line)]
    groups = [name.lower() for line in above for name in _GROUP_NAME.findall(line)]
    output = found[: found.index("Rewrite")] if "Rewrite" in found else None
    names = []
    for at, name in enumerate(found):
        if output is not None:
            side = "output" if at < len(output) else "input"
        elif found.count(name) == 2:
            side = "output" if name not in found[:at] else "input"
        else:
            side = groups[0] if len(groups) == 1 else ""
        if name in ("Per Chr", "Block") and not side:
            return []
        names.append({"Per Chr": f"per char {side}", "Block": f"block {side}"}.get(name, name.lower()))
    return names


def _row(numbered: Sequence[Line], at: int, head: re.Match[str]) -> re.Match[str] | None:
    """Return the row that starts at `at`, or None if the line is not a row.

    If the table's header is wrapped, the row may continue on later lines.
    """
    joined = numbered[at][1]
    if head.string.count(_COLUMN) < len(_NAMES):
        for _, below in numbered[at + 1 : at + 1 + _MOST_WRAPPED]:
            if not _CELLS.match(below):
                break
            joined = f"{joined} {below}"
    if len(joined) > _LONGEST:
        return None
    words = joined.split()
    has_machine = head["machine"] and not (len(words) == _WORDS_WITHOUT_MACHINE and _SIZE_WITH_UNIT.match(words[0]))
    return (_ROW if has_machine else _ROW_WITHOUT_MACHINE).match(joined)


def _order(cells: str, gap: int) -> Sequence[int]:
    """Return the tests of a row's values, as indexes of `_NAMES`, or nothing if they are uncertain.

    `gap`: the number of characters between the size and the first value.
    """
    count = len(_VALUE.findall(cells))
    is_aligned = "  " in cells.strip()
    if count > len(_WITHOUT_CHARS) or (gap < _GAP and is_aligned):
        return range(len(_NAMES))
    return _WITHOUT_CHARS if gap >= _GAP or count == len(_WITHOUT_CHARS) else ()


def _table(cells: str, unit: str, order: Sequence[int]) -> dict[str, float | None]:
    """Return a row's rates, keyed by test name. A rate is None if bonnie++ printed plus signs."""
    found = [cell["rate"] for cell in _VALUE.finditer(cells)]
    units = dict.fromkeys(_NAMES, unit) | {"seeks": ""}
    return {_NAMES[at]: _rate(rate, units[_NAMES[at]]) for at, rate in zip(order, found, strict=False)}


def _rate(text: str, unit: str) -> float | None:
    """Return a rate per second, or None for plus signs, which bonnie++ prints if a test was too short.

    A suffix in the text, such as the `k` in `123k`, takes precedence over `unit`.
    """
    value = number(text.rstrip("kKmMgG"))
    if value is None:
        return None
    suffix = text[-1].upper() if text[-1].isalpha() else ""
    return value * 1024.0 ** " KMG".index(suffix) if suffix else value * _UNITS[unit]


def _size(text: str) -> int | None:
    """Return the file size in bytes, or None for a size of 0, which means that the test was not run.

    The default unit is MiB.
    """
    return size_in_bytes(text if text[-1].isalpha() else f"{text}M") or None


def _exact(numbered: Sequence[Line], at: int, table: dict[str, float | None]) -> dict[str, float | None]:
    """Return the table's values from the line of comma-separated values below it, which does not round them.

    Empty if no line below repeats the table.
    """
    for _, line in numbered[at + 1 : at + 1 + _MOST_BELOW]:
        if len(line) <= _LONGEST and line.count(",") >= _FEWEST_COMMAS and (match := _CSV.match(line)):
            rates, _ = _csv(match)
            return {name: rates[name] for name in table} if rates and _repeats(rates, table) else {}
    return {}


def _csv(match: re.Match[str]) -> tuple[dict[str, float | None], int | None]:
    """Return the rates in a line of comma-separated values, and the file size. Empty if it is not bonnie++'s line.

    Format 1.9x begins with name, concurrency, seed, size and chunk. Since 1.98, the number of seeks and of seeking
    processes follow. bonnie++ 1.03 prints only name and size.
    """
    fields = match["rest"].split(",")
    is_198 = match["format"] is not None and match["format"] >= "1.98"
    size_at, first = (1, 2) if not match["format"] else (3, 7 if is_198 else 5)
    is_short = len(fields) < (first + 2 * len(_NAMES) if match["format"] else _OLD_FIELDS)
    if is_short or not fields[0][:1].isalpha() or not re.fullmatch(r"\d+(?:\.\d+)?[KMGT]?(?::\S+)?", fields[size_at]):
        return {}, None
    cells = fields[first : first + 2 * len(_NAMES)]
    is_table = all(re.fullmatch(r"\d*(?:\.\d+)?|\++", cell) for cell in cells)
    if not is_table or not any(cells) or any(len(cell) > 3 for cell in cells[1:10:2] if not cell.startswith("+")):
        return {}, None
    rates = {name: _rate(cell, "K") if cell else None for name, cell in zip(_NAMES, cells[::2], strict=True)}
    rates["seeks"] = number(cells[10]) if cells[10] else None
    return rates, _size(fields[size_at].partition(":")[0])


def _repeats(rates: dict[str, float | None], table: dict[str, float | None]) -> bool:
    """True if the rates are those of the table."""
    return bool(table) and all(_is_same(rates[name], rate) for name, rate in table.items())


def _is_same(exact: float | None, rounded: float | None) -> bool:
    """True if the two rates are the same up to 5%, because the table of bonnie++ 2.00 shows 1.148 GiB/s as `1.1g`."""
    if exact is None or rounded is None:
        return exact == rounded
    return math.isclose(exact, rounded, rel_tol=_ROUNDED)


def _results(
    line: int, rates: dict[str, float | None], size: int | None, *, is_cut_off: bool = False
) -> Iterator[ForeignResult]:
    """Yield one result for each test in a row.

    The rewrite test reads and writes each chunk, but counts it only once. Consecutive chunks differ in one byte of an
    otherwise constant buffer (bonnie++ 2.00 bonnie.cpp, `memset(buf, 0, …)` and `buf[bufindex]++`). The file is synced
    before the clock is stopped (bon_file.cpp, CFileOp::Close).
    """
    for name, kind in _TESTS:
        rate = rates.get(name)
        if not rate:
            continue
        is_random = name == "seeks"
        figures = values(iops=rate) if is_random else values(bandwidth_bytes=rate)
        part = LoadPart(
            name,
            reads=kind == "read" or name == "rewrite",
            writes=kind == "write",
            is_random=is_random,
            block_bytes=8192,
            max_block_bytes=8192,
            extents=file_of(size),
            is_synchronous=True,
            syncs=kind == "write",
            repeats_pattern=True,
        )
        outcome = Outcome("bonnie++", (_part(name, kind, figures),))
        missing = (_CUT_OFF, *_MISSING) if is_cut_off else _MISSING
        yield ForeignResult("bonnie++", line, line, outcome, (part,), size_bytes=size, missing=missing)


def _part(name: str, kind: str, figures: Direction) -> PartOutcome:
    return PartOutcome(name, write=figures) if kind == "write" else PartOutcome(name, read=figures)


READER = FormatReader(
    "bonnie++",
    (
        "https://www.coker.com.au/bonnie++/readme.html",
        "https://lkml.org/lkml/2003/1/23/14 (wrapped by a mail program)",
        "https://slacy.com/blog/2009/09/bonnie-disk-benchmark-numbers/ (1.03 with -f)",
        "https://github.com/GoogleCloudPlatform/PerfKitBenchmarker bonnie_benchmark.py (CSV)",
        "https://github.com/andrew0928/columns.chicken-house.net, post about WSL of 2024-11 (2.00a, CSV format 1.98)",
    ),
    _find,
)
