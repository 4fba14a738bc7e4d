"""Parse the output of Netatalk's afp_lantest: the tests that write and read one large file over AFP.

The file is 100 MiB. MB/s are 10^6 bytes per second, and the times are whole milliseconds. The server does not sync what
it receives, and the program reads back the file that it has just written. The other tests count operations on
directories and are left out.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_ROW = re.compile(
    r"^\s*Run (?P<run>\d{1,3}) => (?P<test>Writing|Reading) one large file\s{1,60}(?P<ms>\d{1,9}) ms"
    r" for (?P<size>\d{1,6}) MB \(avg\. \d{1,9} MB/s\)"
)
_WRITTEN = "afp_lantest had just written this file to the server"


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    for line_number, line in numbered:
        match = _ROW.match(line)
        milliseconds, size = (number(match["ms"]), number(match["size"])) if match else (None, None)
        if match is not None and milliseconds and size:
            yield _result(line_number, match, 1e-3 * milliseconds, round(size * MIB))


def _result(line: int, match: re.Match[str], seconds: float, size: int) -> ForeignResult:
    is_write = match["test"] == "Writing"
    name = f"run {match['run']}, {match['test'].lower()}"
    part = LoadPart(name, reads=not is_write, writes=is_write, extents=file_of(size))
    figures = values(io_bytes=size, seconds=seconds, bandwidth_bytes=size / seconds)
    return ForeignResult(
        "afp_lantest",
        line,
        line,
        outcome_of("afp_lantest", name, {"write" if is_write else "read": figures}),
        (part,),
        size_bytes=size,
        missing=("the file system and the caches of the AFP server",),
        just_written="" if is_write else _WRITTEN,
        shows_block=False,
    )


READER = FormatReader(
    "afp_lantest",
    ("https://github.com/Netatalk/netatalk (test/testsuite/afp_lantest.c, displayresults)",),
    _find,
    ("one large file",),
)
