"""Parse the output of teddysun's bench.sh and its many copies: the rates of three dd runs, and their mean.

The script runs `dd if=/dev/zero of=… bs=512k count=2048 conv=fdatasync`, which writes 1 GiB of zeros. It writes less to
a small disk.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, dd_of_zeros, outcome_of, values
from poolproof.load.fio.plain_lines import Line

_RATE = re.compile(
    r"^[\s|*]*(?P<name>I/O speed\s*\(\d\w\w run\)|I/O speed\s*\(average\)|Average I/O speed|I/O speed)"
    r"[\s|*]*[:|][\s|*]*(?P<rate>\d[\d.]*)\s?(?P<unit>[KMG])B/s",
    re.IGNORECASE,
)
_BLOCK_BYTES = 512 * 1024
_POWERS = {"K": 1, "M": 2, "G": 3}
_MISSING = (
    "whether the file system compresses: bench.sh writes zeros",
    "the number of bytes (usually 1 GiB) and the run time",
)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    for line_number, line in numbered:
        match = _RATE.match(line)
        rate = number(match["rate"]) if match else None
        if match and rate:
            yield _result(line_number, match["name"], rate * 1000.0 ** _POWERS[match["unit"].upper()])


def _result(line: int, name: str, rate: float) -> ForeignResult:
    part = dd_of_zeros(name, _BLOCK_BYTES, averages_runs="average" in name.lower())
    outcome = outcome_of("bench.sh", name, {"write": values(bandwidth_bytes=rate)})
    return ForeignResult("bench.sh", line, line, outcome, (part,), missing=_MISSING)


READER = FormatReader(
    "bench.sh",
    ("https://github.com/teddysun/across/issues/86", "https://github.com/drklee3/vps-benches logs/DO.1GB.SF.log"),
    _find,
    ("i/o speed",),
)
