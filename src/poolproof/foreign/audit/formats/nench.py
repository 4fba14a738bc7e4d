"""Parse the output of nench.sh: the rates of three dd runs, and their mean.

The script runs `dd if=/dev/zero of=test_… bs=64k count=16k conv=fdatasync` and prints MiB/s. Its ioping tests are
parsed by `ioping.py`.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, dd_of_zeros, outcome_of, values
from poolproof.load.fio.plain_lines import Line

_HEAD = re.compile(r"^\s*dd(?:: sequential write speed| test)\s*$")
_RUN = re.compile(r"^\s*(?P<name>\d\w\w run|average):\s+(?P<rate>\d[\d.]{0,12}) MiB/s\s*$")
_NEAR = 4
_BLOCK_BYTES = 64 * 1024
_MISSING = ("whether the file system compresses: nench writes zeros", "the number of bytes (1 GiB) and the run time")


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    since: int | None = None
    for line_number, line in numbered:
        if _HEAD.match(line):
            since = line_number
        elif since is not None and (match := _RUN.match(line)) and line_number - since <= _NEAR:
            rate = number(match["rate"])
            if rate:
                yield _result(line_number, match["name"], rate * MIB)


def _result(line: int, name: str, rate: float) -> ForeignResult:
    part = dd_of_zeros(f"dd, {name}", _BLOCK_BYTES, averages_runs=name == "average")
    outcome = outcome_of("nench", part.name, {"write": values(bandwidth_bytes=rate)})
    return ForeignResult("nench", line, line, outcome, (part,), missing=_MISSING)


READER = FormatReader(
    "nench",
    (
        "https://github.com/n-st/nench README",
        "https://github.com/xioustic/vps-benchmarks 2018-08-30/vultr.md",
    ),
    _find,
    ("mib/s",),
)
