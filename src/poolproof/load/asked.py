"""Reduce an outcome to the I/O that the load asked for, without reads that only verify written data."""

from dataclasses import replace

from poolproof.load.model import Load
from poolproof.load.outcome import Outcome, PartOutcome


def asked_of(load: Load, result: Outcome) -> Outcome:
    """Return the outcome with only the I/O that the load asked for.

    If a write-only part verifies its data, it reads the data back after writing it. These reads are faster or slower
    than the writes and happen later, so they do not belong in the part's rate or latency. For a part that only
    verifies, fio also reports writes, although the part makes none.
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
