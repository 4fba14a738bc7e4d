"""Texts about TrueNAS or FreeNAS, whose pools compress data with LZ4 unless the user turns this off.

The pools are mounted below /mnt. Source: truenas/middleware, plugins/pool_/pool.py, `fsoptions` of a new pool.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from poolproof.foreign.audit.surroundings.quoted_conditions import quotation
from poolproof.foreign.audit.surroundings.quoted_machine import QuotedMachine
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import Load

_NAMED = re.compile(r"\b(?:true|free)nas(?: (?:core|scale|community edition))?\b", re.IGNORECASE)
_SETTING = re.compile(r"\bcompress(?:ion|ed|es)?\b", re.IGNORECASE)
_POOLS = "/mnt/"
_LONGEST = 600


def find_truenas(numbered: Sequence[Line]) -> str:
    """Return a quotation that names TrueNAS, or an empty string if there is none or the text is about compression.

    A text that is about compression may say that it is off, or measure with and without it.
    """
    lines = [(number, line) for number, line in numbered if len(line) <= _LONGEST]
    if any(_SETTING.search(line) for _, line in lines):
        return ""
    found = ((number, match) for number, line in lines if (match := _NAMED.search(line)))
    return next((quotation(number, match[0]) for number, match in found), "")


def with_default_compression(machine: QuotedMachine, named: str, load: Load) -> QuotedMachine:
    """Return the machine, with LZ4 as the compression if the load writes only zeros to a pool of TrueNAS.

    `named`: the quotation that names TrueNAS, or an empty string.
    """
    paths = [extent.file for part in load.parts for extent in part.extents]
    writes_zeros = bool(load.parts) and all(part.writes and part.zero_buffers for part in load.parts)
    is_on_pool = bool(paths) and all(path.startswith(_POOLS) for path in paths)
    if not (named and writes_zeros and is_on_pool) or machine.compression is not None:
        return machine
    words = f"{named}, which stores {_POOLS} on ZFS with compression=lz4 by default"
    return replace(machine, file_system="zfs", compression="lz4", compression_words=words)
