"""Parse lines of fio's run status in which people replaced the direction with the name of what they compare.

fio prints `WRITE: bw=13.4MiB/s (14.0MB/s), …, io=4015MiB (4210MB), run=300323-300323msec`. In a list of such lines, the
name of a kernel or of a patch is in front of `bw=`. The direction is that of the only `rw=` above the line, if there is
one.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import amount
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, outcome_of, values
from poolproof.load.fio.plain_lines import Line

_STATUS = re.compile(
    r"^[\s*|-]{0,20}(?!(?:read|write|trim|mixed)\b)(?P<name>[^\s:|=*-][^:|=]{0,60}?)\s{0,20}:?\s{1,20}bw="
    r"(?P<rate>\d[\d.]{0,12}[kKMGT]?i?B)/s \([^()]{1,20}\), .{3,90}?\bio="
    r"(?P<io>\d[\d.]{0,12}[kKMGT]?i?B) \([^()]{1,20}\), run=\d{1,12}-(?P<ms>\d{1,12})msec",
    re.IGNORECASE,
)
_DIRECTION = re.compile(r"\b(?:rw|readwrite)[= ](?P<rw>\w{1,12})")
_KINDS = {"read": "read", "randread": "read", "write": "write", "randwrite": "write"}
_LONGEST = 600


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    kinds: set[str] = set()
    for number, line in numbered:
        if len(line) > _LONGEST:
            continue
        kinds |= {_KINDS.get(match["rw"], "mixed") for match in _DIRECTION.finditer(line)}
        match = _STATUS.match(line) if "bw=" in line else None
        rate, moved = (amount(match["rate"]), amount(match["io"])) if match else (None, None)
        if match is None or not rate or not moved or not int(match["ms"]):
            continue
        kind = next(iter(kinds)) if len(kinds) == 1 else "mixed"
        name = " ".join(match["name"].split())
        figures = values(bandwidth_bytes=rate, io_bytes=round(moved), seconds=int(match["ms"]) / 1000)
        missing = ("which command belongs to this line",)
        yield ForeignResult("fio", number, number, outcome_of("fio", name, {kind: figures}), missing=missing)


READER = FormatReader(
    "fio",
    ("https://lore.kernel.org/linux-btrfs/ (a list of kernels, each with fio's status line)",),
    _find,
    ("bw=",),
)
