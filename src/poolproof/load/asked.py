"""Remove I/O that only verifies written data from a result, so that only the requested I/O is left."""

from dataclasses import replace

from poolproof.load.model import Load
from poolproof.load.outcome import Outcome, PartOutcome


def asked_of(load: Load, result: Outcome) -> Outcome:
    """Return a copy of the result with only the I/O that the load requested.

    A write-only part with verification reads its data back after writing it. These reads are left out of the part's
    rate and latency, because they happen later and differ in speed. For parts that only verify, fio reports writes that
    never happened. They are left out too.
    """
    return replace(result, parts=tuple(_asked(load, part) for part in result.parts))


def _asked(load: Load, part: PartOutcome) -> PartOutcome:
    named = [each for each in load.parts if each.name == part.name]
    asked = named[0] if named else load.parts[0] if len(load.parts) == 1 else None
    if asked is None or not asked.verifies:
        return part
    if asked.only_verifies:
        return replace(part, write=None)
    return replace(part, read=None) if asked.writes and not asked.reads else part
