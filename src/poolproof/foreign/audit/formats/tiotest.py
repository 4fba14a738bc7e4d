"""Parse the output of tiotest (tiobench): the table of its four tests and, if present, the table of latencies.

Each thread writes a file, overwrites random blocks, reads the file and then reads random blocks. Both write tests end
with an fsync. tiotest never drops the page cache. Its buffers contain zeros unless it is started with -c. `MBs` means
MiB.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import count_of, number, whole
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import Extent, LoadPart

_HEAD = re.compile(r"^\s*Tiotest results for (?P<clones>\d{1,6}) concurrent io threads")
_TEST = r"^[\s|]{0,9}(?P<test>(?:Random )?(?:Write|Read))\s{1,30}"
_ROW = re.compile(
    rf"{_TEST}(?P<size>\d{{1,12}}) MBs \| {{1,12}}[\d.]{{1,12}} s \| {{1,12}}(?P<rate>[\d.]{{1,15}}) MB/s \|"
)
_LATENCY = re.compile(rf"{_TEST}\| {{1,20}}(?P<mean>[\d.]{{1,15}}) ms \|")
_COMMAND = re.compile(r"(?:(?<![\w/.-])|(?<=/))tiotest\s+-[^;|>]*")
_OPTION = re.compile(r"(?<!\S)-(?P<letter>[bdf])\s?(?P<value>[^\s-]\S*)")
_CHECKS = re.compile(r"(?<!\S)-[A-Z]*c\b")
_SYNCHRONOUS = re.compile(r"(?<!\S)-[A-Z]*S\b")
_NEAR = 15
_MOST_BELOW = 24
_BLOCK_BYTES = 4096
_WRITTEN = "tiotest had just written this file through the page cache"


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    asked: tuple[int, str] | None = None
    for at, (line_number, line) in enumerate(numbered):
        if match := _COMMAND.search(line):
            asked = line_number, match[0].strip(" `'\")")
        elif match := _HEAD.match(line):
            near = asked if asked and line_number - asked[0] <= _NEAR else None
            yield from _table(numbered[at + 1 : at + 1 + _MOST_BELOW], count_of(match["clones"]), near)
            asked = None


def _table(below: Sequence[Line], clones: int, asked: tuple[int, str] | None) -> Iterator[ForeignResult]:
    rows: list[tuple[int, re.Match[str]]] = []
    means: dict[str, float | None] = {}
    for line_number, line in below:
        if _HEAD.match(line) or _COMMAND.search(line):
            break
        if match := _ROW.match(line):
            rows.append((line_number, match))
        elif match := _LATENCY.match(line):
            means.setdefault(match["test"], number(match["mean"]))
    for line_number, row in rows:
        if (result := _result(line_number, row, clones, asked, means.get(row["test"]))) is not None:
            yield result


def _result(
    line: int, row: re.Match[str], clones: int, asked: tuple[int, str] | None, mean_ms: float | None
) -> ForeignResult | None:
    rate, size = number(row["rate"]), number(row["size"])
    if not rate or size is None:
        return None
    command = asked[1] if asked else ""
    options = {found["letter"]: found["value"] for found in _OPTION.finditer(command)}
    block = whole(number(options.get("b", ""))) or _BLOCK_BYTES
    is_random, is_write = row["test"].startswith("Random"), row["test"].endswith("Write")
    name = row["test"].lower()
    part = LoadPart(
        name,
        reads=not is_write,
        writes=is_write,
        is_random=is_random,
        block_bytes=block,
        max_block_bytes=block,
        clones=clones,
        queue=clones,
        is_synchronous=True,
        extents=_files(options, size, clones, is_random=is_random),
        syncs=is_write,
        syncs_at_end=is_write,
        writes_are_synchronous=is_write and _SYNCHRONOUS.search(command) is not None,
        zero_buffers=is_write and asked is not None and not _CHECKS.search(command),
    )
    figures = values(
        iops=rate * MIB / block,
        bandwidth_bytes=rate * MIB,
        io_bytes=round(size * MIB),
        seconds=size / rate,  # the table rounds the time to tenths of a second
        mean_ns=1e6 * mean_ms if mean_ms else None,
    )
    return ForeignResult(
        "tiotest",
        line,
        line,
        outcome_of("tiotest", name, {"write" if is_write else "read": figures}),
        (part,),
        command,
        asked[0] if asked else None,
        size_bytes=None if is_random else round(size * MIB / clones),
        just_written="" if is_write else _WRITTEN,
    )


def _files(options: dict[str, str], size: float, clones: int, *, is_random: bool) -> tuple[Extent, ...]:
    """Return the files of all threads as one extent, or no extent if their size is unknown.

    The random tests access only some of a file's blocks, so the file size of these tests is known only if -f was given.
    """
    each = number(options.get("f", ""))
    total = each * clones if each else None if is_random else size
    if total is None:
        return ()
    return (Extent(f"{options.get('d', '.').rstrip('/')}/tiotest", 0.0, total * MIB),)


READER = FormatReader(
    "tiotest",
    (
        "linux-kernel, 2 May 2004: Re: [0/2] filtered wakeups",
        "https://github.com/zfsrogue/zfs-crypto README (with -t8 -f 200)",
        "tiobench-0.3.3 tiotest.c, print_results and do_write_test",
    ),
    _find,
    ("tiotest results for",),
)
