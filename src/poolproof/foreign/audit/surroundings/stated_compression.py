"""Sentences that say that the file system compresses data, such as "LZ4 compression enabled".

They are used only for programs that write data that compresses well, such as zeros, and can only make a result suspect.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from poolproof.foreign.audit.surroundings.quoted_conditions import quotation
from poolproof.foreign.audit.surroundings.quoted_machine import QuotedMachine
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import Load

_COMPRESSES = r"(?:compress(?:ion|ed|es)?|kompress\w{0,6}|compresi[oó]n|сжати\w|压缩|壓縮|圧縮)"
_METHOD = r"(?P<{}>lz4|lzjb|zstd(?:-\d{{1,2}})?|gzip(?:-\d)?)"
_STATED = re.compile(
    rf"(?<![\w-]){_METHOD.format('first')}[ \-]{{0,2}}{_COMPRESSES}"
    rf"|{_COMPRESSES}[ :(]{{1,3}}(?:(?:is|set|to|using|with|mit|con) ){{0,3}}{_METHOD.format('second')}(?![\w-])",
    re.IGNORECASE,
)
_DENIED = re.compile(
    rf"\b(?:no|not|without|un|off|disable[ds]?|disabling|before|versus|vs|ohne|sin|без)\b[^.,;]{{0,30}}{_COMPRESSES}"
    rf"|{_COMPRESSES}[^.,;]{{0,30}}\b(?:off|disable[ds]?|disabling|not|none|versus|vs|ratio|speed|level|benchmarks?)\b"
    r"|uncompressed|incompressible|[未不无無禁关關][^，。]{0,8}[压壓圧][缩縮]",
    re.IGNORECASE,
)
_LONGEST = 600


def find_stated_compression(numbered: Sequence[Line]) -> tuple[str, str]:
    """Return the method of compression that a sentence states, and a quotation of it. Empty if there is none.

    Sentences about several methods, or about data without compression, may be comparisons, so nothing is returned.
    """
    found: dict[str, str] = {}
    for number, line in numbered:
        if len(line) > _LONGEST:
            continue
        if _DENIED.search(line):
            return "", ""
        for match in _STATED.finditer(line):
            found.setdefault((match["first"] or match["second"]).lower(), quotation(number, match[0]))
    return next(iter(found.items())) if len(found) == 1 else ("", "")


def with_stated_compression(machine: QuotedMachine, stated: tuple[str, str], load: Load) -> QuotedMachine:
    """Return the machine, with the stated compression if the load consists of data that compresses well."""
    method, words = stated
    compresses_well = bool(load.parts) and all(part.zero_buffers or part.repeats_pattern for part in load.parts)
    if not method or not compresses_well or machine.compression is not None:
        return machine
    return replace(machine, compression=method, compression_words=words)
