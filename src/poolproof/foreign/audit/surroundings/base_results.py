"""Results of a drive and of a layer on top of it, such as an encrypted volume or a virtual machine, in the same text.

A layer cannot be much faster than the drive below it, unless a cache is involved. The heading above a result says that
it is that of the drive: `Underlying drive`, `raw device`, `bare metal`, `host`. Two results belong together if their
tests have the same name, direction, order, block size and queue depth. In a table, they are in one row, and the column
of the drive has such a name. Texts that mention arrays or caches on disks are left out, because such layers can be
faster than one drive.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter

from poolproof.foreign.audit.surroundings.quoted_conditions import heading_in, quotation
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line
from poolproof.load.outcome import Direction
from poolproof.rules.quoted import QuotedBase

_BASE = re.compile(
    r"\b(?:underlying|raw|bare|physical|backing)\s(?:\w{1,20}\s)?"
    r"(?:drive|disk|device|ssd|hdd|partition|storage|file ?system)\b|\bbare[- ]?metal\b|^(?:on )?(?:the )?host\b",
    re.IGNORECASE,
)
_BASE_COLUMN = re.compile(
    r"\s(?:host(?: ?os)?|bare[- ]?metal|(?:underlying|raw|backing) (?:drive|disk|device|ssd|hdd))$", re.IGNORECASE
)
_LAYERED = re.compile(
    r"\b(?:raid\w*|raidz\d?|zpools?|pools?|vdevs?|strip(?:e[ds]?|ing)|arrays?|mdadm|jbod|ceph|cluster\w*|replica\w*|l2arc|bcache\w*"
    r"|lvm-?cache|dm-cache|flashcache|ssd cache|cache (?:drive|disk|device|pool|tier))\b",
    re.IGNORECASE,
)
_LONGEST = 400
_Test = tuple[str, str, tuple[object, ...]]


def base_results(numbered: Sequence[Line], results: Sequence[FoundResult]) -> Iterator[tuple[QuotedBase, ...]]:
    """Yield, for each result, the values of the drive below it. The results must be in line order."""
    hidden = {line for result in results for line in range(result.line, result.last_line + 1)}
    outside = [(number, line) for number, line in numbered if number not in hidden and len(line) <= _LONGEST]
    if any(_LAYERED.search(line) for _, line in outside):
        yield from (() for _ in results)
        return
    headings = [(number, words) for number, line in outside if (words := heading_in(line))]
    above = [_last(headings, result.line) for result in results]
    bases: dict[_Test, QuotedBase] = {}
    for result, (number, words) in zip(results, above, strict=True):
        for key, figures in _figures(result) if _BASE.search(words) else ():
            known = bases.get(key)
            rate, iops = figures.bandwidth_bytes or 0.0, figures.iops or 0.0
            if known is None or rate > known.bytes_per_s or iops > known.iops:
                bases[key] = QuotedBase(key[1], rate, iops, quotation(number, words))
    in_rows = _in_rows(results)
    for result, (_, words) in zip(results, above, strict=True):
        is_base = not words or _BASE.search(words) is not None
        found = () if is_base else tuple(bases[key] for key, _ in _figures(result) if key in bases)
        yield found or tuple(
            base
            for (name, direction, _), _ in _figures(result)
            for row, base in in_rows.get(result.line, ())
            if direction == base.direction and name.startswith(f"{row} ") and not _BASE_COLUMN.search(name)
        )


def _in_rows(results: Sequence[FoundResult]) -> dict[int, list[tuple[str, QuotedBase]]]:
    """Return the values in columns of the drive, each with the name of its row, keyed by line."""
    found: dict[int, list[tuple[str, QuotedBase]]] = {}
    for result in results:
        for (name, direction, _), figures in _figures(result) if result.line == result.last_line else ():
            if column := _BASE_COLUMN.search(name):
                rate, iops = figures.bandwidth_bytes or 0.0, figures.iops or 0.0
                base = QuotedBase(direction, rate, iops, quotation(result.line, name))
                found.setdefault(result.line, []).append((name[: column.start()], base))
    return found


def _last(headings: Sequence[tuple[int, str]], line: int) -> tuple[int, str]:
    at = bisect_left(headings, line, key=itemgetter(0))
    return headings[at - 1] if at else (0, "")


def _figures(result: FoundResult) -> Iterator[tuple[_Test, Direction]]:
    """Yield the values of a result, each with its test. Results without a name are left out."""
    jobs = {job.name: job for job in result.made.load.parts} if result.made else {}
    for part in result.result.parts:
        job = jobs.get(part.name)
        told = (job.is_random, job.block_bytes, job.max_block_bytes, job.queue) if job else ()
        for direction, figures in part.directions.items():
            if part.name and not part.name.startswith("group ") and direction in ("read", "write"):
                yield (part.name, direction, told), figures
