"""Parse the output of CrystalDiskMark 3 to 8 and of KDiskMark.

Each test has one line, with MB/s and, in most versions, IOPS and latency. A line under `[Mix]` has a combined value for
reads and writes. Some people copy the values into a Markdown table, with one column for reads and one for writes, or
write both values in one line: `SEQ1M Q8T1: Read 4706.07 MB/s / Write 4451.08 MB/s`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolproof.foreign.audit.formats.amounts import decimal, number, size_in_bytes
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_PROGRAM = re.compile(r"\b(?P<name>CrystalDiskMark|KDiskMark)\s*\(?(?P<version>\d+(?:\.\d+)*)?", re.IGNORECASE)
_SIDE = re.compile(r"^\s*\[(?P<side>Read|Write|Mix)[^\]]*\]")
_NEW = re.compile(
    r"^\s*(?P<order>SEQ|RND|Sequential|Random)\s+(?P<block>\d{1,5})\s?(?P<unit>[KM])iB\s*"
    r"\(Q=\s*(?P<depth>\d{1,4}),\s*T=\s*(?P<threads>\d{1,3})\)\s*:\s*(?P<rate>[\d.,]+) MB/s"
    r"(?:\s*\[\s*(?P<iops>[\d.,]+) IOPS\])?(?:\s*<\s*(?P<us>[\d.,]+) us>)?"
)
_OLD = re.compile(
    r"^\s*(?P<order>Sequential|Random) (?P<side>Read|Write)(?: (?P<block>\d{1,5})(?P<unit>[KM])i?B)?"
    r"(?:\s*\((?:Q(?:D)?=\s*(?P<depth>\d{1,4}))?,?\s*(?:T=\s*(?P<threads>\d{1,3}))?\))?"
    r"\s*:\s*(?P<rate>[\d.,]+) MB/s(?:\s*\[\s*(?P<iops>[\d.,]+) IOPS\])?"
)
_CELLS = re.compile(
    r"^\s*\|\s*(?P<order>SEQ|RND)\s?(?P<block>\d{1,5})\s?(?P<unit>[KM])(?:i?B)?[\s(]*Q=?\s*(?P<depth>\d{1,4})[,\s]*"
    r"T=?\s*(?P<threads>\d{1,3})\b[^|]*\|(?P<cells>[^|]*\|[^|]*)(?:\||$)"
)
_SHORT_CELLS = re.compile(  # CrystalDiskMark 5
    r"^\s*\|\s*(?P<order>Seq|(?P<block>4|512)(?P<unit>K))(?:\s*Q(?P<depth>\d{1,4})T(?P<threads>\d{1,3}))?\s*"
    r"\|(?P<cells>[^|]*\|[^|]*)(?:\||$)"
)
_IN_A_LINE = re.compile(
    r"\b(?P<order>SEQ|RND)\s?(?P<block>\d{1,5})\s?(?P<unit>[KM])(?:i?B)?[\s(,]{0,4}Q=?\s?(?P<depth>\d{1,4})[,\s]{0,3}"
    r"T=?\s?(?P<threads>\d{1,3})\b[\s)|:=-]{1,40}Read[\s:=]{0,4}(?P<read>\d[\d.,]{0,12})\s?(?P<read_unit>[MG]B/s)?"
    r"[\s/,;|&]{1,9}Write[\s:=]{0,4}(?P<write>\d[\d.,]{0,12})\s?(?P<write_unit>[MG]B/s)",
    re.IGNORECASE,
)
_CELL = re.compile(r"^\s*+(?P<rate>\d[\d.,]*+)\s*+(?P<unit>[MG]B/s)?\s*+$")
_TABLE_HEAD = re.compile(
    r"^\s*\|.*(?:MB/s|\b(?:read|write|lese|schreib|leitura|escrita|lectura|lecture)|чтени|запис|读|写)", re.I
)
_WRITES_FIRST = re.compile(
    r"(?:write|schreib|escri|\u00e9cri|запис|写).*(?:read|lese|leit|lect|чтени|读)", re.IGNORECASE
)
_SIZE = re.compile(r"^\s*Test\s*:\s*(?P<size>\d{1,5})\s?(?P<unit>[MG])i?B\b(?P<rest>.*)$")
_FILL = re.compile(r"0x00|0 ?Fill|All ?0", re.IGNORECASE)
_PROGRAMS = {"crystaldiskmark": "CrystalDiskMark", "kdiskmark": "KDiskMark"}
_LINES_BELOW = 30
_LONGEST = 1000
_MISSING = {
    "KDiskMark": ("whether KDiskMark used O_DIRECT and flushed the page cache (its settings are not in the text)",),
    "CrystalDiskMark": ("whether the drive's own cache held the test file",),
}


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    program, side, sides = "", "", ("read", "write")
    for at, (line_number, line) in enumerate(numbered):
        if not ("MB/s" in line or "|" in line or "[" in line or "diskmark" in line.lower()):
            continue
        if cells := _CELLS.match(line) or (program and _SHORT_CELLS.match(line)):
            yield from _from_table(program or "CrystalDiskMark", line_number, cells, sides)
            continue
        if "MB/s" in line and (both := _IN_A_LINE.search(line)):
            yield from _from_line(program or "CrystalDiskMark", line_number, both)
            continue
        if len(line) <= _LONGEST and _TABLE_HEAD.match(line):
            sides = ("write", "read") if _WRITES_FIRST.search(line) else ("read", "write")
        if named := _PROGRAM.search(line):
            program = _PROGRAMS[named["name"].lower()]
        if match := _SIDE.match(line):
            side = match["side"].lower()
        match = _NEW.match(line)
        old = _OLD.match(line) if program and not match else None  # data sheets have lines like these too
        kind = side if match else old["side"].lower() if old else ""
        found = match or old
        if found is None or kind not in ("read", "write", "mix"):
            continue
        size, is_zero = _size(numbered, at)
        result = _result(program or "CrystalDiskMark", line_number, found, kind)
        if result is not None:
            parts = tuple(replace(part, extents=file_of(size), zero_buffers=is_zero) for part in result.parts)
            yield replace(result, size_bytes=size, parts=parts)


def _from_table(program: str, line: int, cells: re.Match[str], sides: tuple[str, str]) -> Iterator[ForeignResult]:
    """Yield the read result and the write result in a row of a Markdown table. Commas in values are decimal commas."""
    for side, cell in zip(sides, cells["cells"].split("|"), strict=True):
        found = _CELL.match(cell)
        rate = decimal(found["rate"]) if found else None
        if found and rate:
            yield _measured(program, line, cells, side, rate * (1000 if found["unit"] == "GB/s" else 1), None, None)


def _from_line(program: str, line: int, found: re.Match[str]) -> Iterator[ForeignResult]:
    """Yield the read result and the write result in a line with both."""
    for side in ("read", "write"):
        rate, unit = decimal(found[side]), (found[f"{side}_unit"] or found["write_unit"]).upper()
        if rate:
            yield _measured(program, line, found, side, rate * (1000 if unit == "GB/S" else 1), None, None)


def _size(numbered: Sequence[Line], at: int) -> tuple[int | None, bool]:
    """Return the test file's size in bytes, or None if unknown, and True if the file is filled with zeros."""
    for _, line in numbered[at : at + _LINES_BELOW]:
        match = _SIZE.match(line)
        if match is not None:
            return size_in_bytes(f"{match['size']}{match['unit']}"), bool(_FILL.search(match["rest"]))
    return None, False


def _result(program: str, line: int, found: re.Match[str], kind: str) -> ForeignResult | None:
    rate, iops = number(found["rate"]), number(found["iops"] or "")
    microseconds = number(found.groupdict().get("us") or "")
    if not rate:  # a test that was not run is printed as 0
        return None
    return _measured(program, line, found, kind, rate, iops, microseconds)


def _measured(
    program: str, line: int, found: re.Match[str], kind: str, rate: float, iops: float | None, us: float | None
) -> ForeignResult:
    """Return the result of one test. `rate`: the rate in MB/s. `us`: the latency in microseconds."""
    is_random = not found["order"].upper().startswith("SEQ")
    block = max(1, int(found["block"] or 1)) * 1024 ** (2 if (found["unit"] or "M") == "M" else 1)
    depth, threads = int(found["depth"] or 1), int(found["threads"] or 1)
    name = f"{'random' if is_random else 'sequential'} {kind} Q{depth} T{threads}"
    mean_ns = 1000 * us if us else None
    is_cut_off = found.string[found.end() :].lstrip().startswith("[")
    figures = values(
        bandwidth_bytes=rate * 1e6, iops=iops or (None if is_cut_off else rate * 1e6 / block), mean_ns=mean_ns
    )
    part = LoadPart(
        name,
        reads=kind != "write",
        writes=kind != "read",
        is_random=is_random,
        block_bytes=block,
        max_block_bytes=block,
        clones=threads,
        depth=depth,
        queue=depth * threads,
        direct=program == "CrystalDiskMark",
        syncs=kind != "read",
        averages_runs=program == "KDiskMark",
    )
    outcome = outcome_of(program, name, {"mixed" if kind == "mix" else kind: figures})
    return ForeignResult(program, line, line, outcome, (part,), missing=_MISSING[program])


READER = FormatReader(
    "CrystalDiskMark and KDiskMark",
    (
        "https://github.com/JonMagon/KDiskMark/issues/58",
        "https://github.com/veracrypt/VeraCrypt/issues/136",
        "https://github.com/virtio-win/kvm-guest-drivers-windows/issues/42 (CrystalDiskMark 5 in a Markdown table)",
        "https://github.com/RubenO94/esi-ac (a Markdown table)",
    ),
    _find,
)
