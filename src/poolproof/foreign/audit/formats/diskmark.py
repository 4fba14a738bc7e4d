"""Parse the output of CrystalDiskMark 3 to 8, of KDiskMark and of tdeDiskMark.

Each test has one line, with MB/s and, in most versions, IOPS and latency. A line under `[Mix]` has a combined value for
reads and writes. Some people copy the values into a table (`diskmark_tables.py`), or write both values in one line:
`SEQ1M Q8T1: Read 4706.07 MB/s / Write 4451.08 MB/s`. Others put the values of several disks next to each other.

Data sheets also have lines such as `Sequential Read : 507.0 MB/s`. Such a line is a result only if the text names the
program above it, or if a line near it has a form that only these programs print.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice, takewhile

from poolproof.foreign.audit.amounts import count_of, decimal, number, size_in_bytes
from poolproof.foreign.audit.directions import named_direction, named_order
from poolproof.foreign.audit.formats.diskmark_tables import find_in_table, is_row
from poolproof.foreign.audit.formats.diskmark_tests import (
    DiskMarkTest,
    block_of,
    measured,
    rate_in_bytes,
    with_same_file,
)
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, file_of
from poolproof.load.fio.plain_lines import Line

_PROGRAM = re.compile(r"\b(?P<name>CrystalDiskMark|KDiskMark|tdeDiskMark)", re.IGNORECASE)
_SIDE = re.compile(
    r"^[\s>|\"'`*#]{0,40}+(?:\[(?P<side>[^\W\d_][^\]\d:]{0,20})(?:\d[^\]]{0,20})?\]|(?P<alone>[^\W\d_]{2,20}+)[\s:*]{0,9}$)"
)
_OTHER_SIDE = re.compile(r"\[([^\W\d_][^\]\d:]{0,20})\]")
_MIX = re.compile(r"^(?:mix|mezcl|gemischt|혼합|混合|ミックス|смеш)", re.IGNORECASE)
_LINE = re.compile(
    r"^[\s>|\"'`*\xbb_-]{0,80}+(?P<label>[^\W\d_][^\d:|()\[\]<>=]{1,39}+)"
    r"(?:(?P<block>\d{1,5})\s?(?P<unit>[KM])(?:i?B)?)?\s{0,9}"
    r"(?:\(?\s{0,9}(?:QD?\s?=?\s{0,9}(?P<depth>\d{1,4}))?,?\s{0,9}(?:T\s?=?\s{0,9}(?P<threads>\d{1,3}))?\s{0,9}\)?)"
    r"\s{0,9}:\s{0,20}(?P<rate>\d[\d.,]{0,20}+) ?(?:MB/s|\u041c\u0411/\u0441)"
    r"(?:\s{0,9}\[\s{0,9}(?P<iops>\d[\d.,]{0,20}+) IOPS\])?(?:\s{0,9}<\s{0,9}(?P<us>\d[\d.,]{0,20}+) us>)?"
)
_NEXT = re.compile(
    r"\s{0,40}(?P<rate>\d[\d.,]{0,20}+) ?(?:MB/s|\u041c\u0411/\u0441)"
    r"(?:\s{0,9}\[\s{0,9}(?P<iops>\d[\d.,]{0,20}+) IOPS\])?(?:\s{0,9}<\s{0,9}(?P<us>\d[\d.,]{0,20}+) us>)?"
)
_IN_A_LINE = re.compile(
    r"\b(?P<order>SEQ|RND)\s?(?P<block>\d{1,5})\s?(?P<unit>[KM])(?:i?B)?[\s(,]{0,4}Q=?\s?(?P<depth>\d{1,4})[,\s]{0,3}"
    r"T=?\s?(?P<threads>\d{1,3})\b[\s)|:=-]{1,40}Read[\s:=]{0,4}(?P<read>\d[\d.,]{0,12})\s?(?P<read_unit>[MG]B/s)?"
    r"[\s/,;|&]{1,9}Write[\s:=]{0,4}(?P<write>\d[\d.,]{0,12})\s?(?P<write_unit>[MG]B/s)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"^[\s>|\"'`*]{0,40}Test\s*:\s*(?P<size>\d{1,5})\s?(?P<unit>[MG])i?B\b(?P<rest>.*)$")
_DRIVE_AND_RUNS = re.compile(r"^\s*\[[A-Za-z]:\s[^\]]{1,60}\]\s*\(x\d")
_FILL = re.compile(r"0x00|0 ?Fill|All ?0", re.IGNORECASE)
_PROGRAMS = {"crystaldiskmark": "CrystalDiskMark", "kdiskmark": "KDiskMark", "tdediskmark": "tdeDiskMark"}
_USUAL = "CrystalDiskMark"
_LINES_BELOW = 30
_LINES_BETWEEN = 4  # between two results of one run
_LONGEST_SIDE = 80


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    """Yield the results. Those with only a few lines between them are from one run, whose tests use the same file."""
    block: list[ForeignResult] = []
    for result in _results(numbered):
        if block and result.line - block[-1].line > _LINES_BETWEEN:
            yield from with_same_file(block)
            block = []
        block.append(result)
    yield from with_same_file(block)


def _results(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    program, side, heading, last_row = "", "", "", -1
    sides = [side]  # of the columns, or of all columns
    in_tables: set[int] = set()
    certain = _certain_lines(numbered)
    for at, (line_number, line) in enumerate(numbered):
        if named := _PROGRAM.search(line) if "iskmark" in line.lower() else None:
            program = _PROGRAMS[named["name"].lower()]
        if at > last_row and is_row(line):
            table = list(takewhile(lambda each: is_row(each[1]), islice(numbered, at, None)))
            last_row = at + len(table) - 1
            found = list(find_in_table(program, heading, table))
            in_tables |= {result.line for result in found}
            yield from found
        heading = line if line.strip() and at > last_row else heading
        may_match = "/" in line or "[" in line[:_LONGEST_SIDE] or len(line) <= _LONGEST_SIDE
        if line_number in in_tables or not may_match:
            continue
        if "MB/s" in line and (both := _IN_A_LINE.search(line)):
            yield from _from_line(program or _USUAL, line_number, both)
        elif match := _SIDE.match(line):
            name = match["side"] or match["alone"]
            side = "mix" if _MIX.match(name) else named_direction(name) or side
            others = _OTHER_SIDE.findall(line, match.end(), match.end() + _LONGEST_SIDE)
            sides = [side, *filter(None, map(named_direction, others))]
        elif match := _LINE.match(line):
            is_certain = bool(program) or at in certain
            tests = [_test(match, each, is_certain=is_certain) for each in sides]
            columns = zip(cycle(tests) if len(tests) == 1 else tests, _columns(match), strict=False)
            results = [
                _result(program or _USUAL, line_number, column, test) for test, column in columns if test is not None
            ]
            size, is_zero = _size(numbered, at) if results else (None, False)
            for result in filter(None, results):
                parts = tuple(replace(part, extents=file_of(size), zero_buffers=is_zero) for part in result.parts)
                yield replace(result, size_bytes=size, parts=parts)


def _certain_lines(numbered: Sequence[Line]) -> set[int]:
    """Return the positions of the lines that belong to a block of these programs' output.

    Such a block ends with `Test : 1000 MB [D: 5% (1/20 GB)] (x5)`, or it has lines with `(QD=…)` and IOPS.
    """
    found: set[int] = set()
    for at in range(len(numbered) - 1, -1, -1):
        line = numbered[at][1]
        if "QD=" in line and "IOPS]" in line:
            found.add(at)
        elif "Test" in line and (match := _SIZE.match(line)) is not None:
            if _DRIVE_AND_RUNS.match(match["rest"]):
                found.add(at)
        elif at + 1 in found and (not line.strip() or ("B/s" in line and _LINE.match(line))):
            found.add(at)
    return found


def _test(found: re.Match[str], side: str, *, is_certain: bool) -> DiskMarkTest | None:
    """Return the test of a line, or None if the line is not one of these programs' results.

    `side`: the direction in the last heading. The lines of old versions name the direction themselves.
    """
    words = found["label"].split()
    if not all(named_order(word) or named_direction(word) for word in words):
        return None
    order, named = named_order(found["label"]), named_direction(found["label"])
    is_new = found["block"] is not None and found["depth"] is not None and found["threads"] is not None
    kind = named if named and (is_certain or found["iops"]) else side if is_new and not named else ""
    if not order or not kind:
        return None
    depth, is_random = count_of(found["depth"]), order == "random"
    block = block_of(is_random, found["block"], found["unit"], depth)
    return DiskMarkTest(kind, is_random, block, depth, count_of(found["threads"]))


def _columns(first: re.Match[str]) -> Iterator[re.Match[str]]:
    """Yield the match of a line's first values, and one for the values of each other disk next to them."""
    match: re.Match[str] | None = first
    while match is not None:
        yield match
        match = _NEXT.match(match.string, match.end())


def _result(program: str, line: int, found: re.Match[str], test: DiskMarkTest) -> ForeignResult | None:
    rate, iops = number(found["rate"]), number(found["iops"] or "")
    if not rate:  # a test that was not run is printed as 0
        return None
    rate_bytes = rate_in_bytes(rate, iops, test.block_bytes, (found["rate"], found["iops"] or ""))
    is_cut_off = found.string[found.end() :].lstrip().startswith("[")
    return measured(
        program,
        line,
        test,
        rate_bytes=rate_bytes,
        iops=iops or (None if is_cut_off else rate_bytes / test.block_bytes),
        microseconds=number(found["us"] or ""),
    )


def _from_line(program: str, line: int, found: re.Match[str]) -> Iterator[ForeignResult]:
    """Yield the read result and the write result in a line with both."""
    is_random, depth = found["order"].upper() == "RND", count_of(found["depth"])
    block = block_of(is_random, found["block"], found["unit"], depth)
    for side in ("read", "write"):
        rate, unit = decimal(found[side]), (found[f"{side}_unit"] or found["write_unit"]).upper()
        if rate:
            test = DiskMarkTest(side, is_random, block, depth, count_of(found["threads"]))
            rate_bytes = rate * (1e9 if unit == "GB/S" else 1e6)
            yield measured(program, line, test, rate_bytes=rate_bytes, iops=rate_bytes / block)


def _size(numbered: Sequence[Line], at: int) -> tuple[int | None, bool]:
    """Return the test file's size in bytes, or None if unknown, and True if the file is filled with zeros."""
    for _, line in numbered[at : at + _LINES_BELOW]:
        match = _SIZE.match(line)
        if match is not None:
            return size_in_bytes(f"{match['size']}{match['unit']}"), bool(_FILL.search(match["rest"]))
    return None, False


READER = FormatReader(
    "CrystalDiskMark, KDiskMark and tdeDiskMark",
    (
        "https://github.com/JonMagon/KDiskMark/issues/58",
        "https://github.com/veracrypt/VeraCrypt/issues/136",
        "https://github.com/virtio-win/kvm-guest-drivers-windows/issues/42 (CrystalDiskMark 5 in a Markdown table)",
        "https://github.com/RubenO94/esi-ac (a Markdown table)",
        "https://github.com/seb3773/tdediskmark README",
    ),
    _find,
)
