"""Find lines of a text that mention the disks below a result: hard disks, or anything faster.

The nearest such line above a result counts. A line that mentions both a hard disk and flash is left out, because it
compares them or describes a cache. Labels such as `hdd:sdb` name nothing, and virtual disks only claim to rotate.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.load.fio.plain_lines import Line

_HARD = re.compile(
    r"\b(?:(?:5400|5900|7200|10k|10,?000|15k|15,?000)\s?rpm|hdds?|hard (?:disks?|drives?)"
    r"|spinning (?:rust|disks?|drives?)"
    r"|ironwolf|exos|barracuda|wd (?:red|gold|purple|blue)|ultrastar|toshiba (?:n300|x300|mg\d+)|deskstar)\b",
    re.IGNORECASE,
)
_FAST = re.compile(
    r"\b(?:ssds?|nvme\w*|bcache\w*|flashcache|dm-cache|lvmcache|flash|optane|m\.2|emmc|sd card|ram ?disk|tmpfs|slog"
    r"|l2arc|special vdev|cache|990 pro|980 pro"
    r"|9[78]0 evo|8[5-7]0 (?:evo|pro)|[bm]x\d00|sn\d{3}\w?|pm\d{3,4}\w?|sa500|samsung|crucial|kingston|micron|sandisk"
    r"|adata|corsair|sabrent|kioxia|solidigm|intel (?:dc )?[ps]\d{4}|[ps]\d{4}x?)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\b(?P<count>\d{1,3})\s?[x×*]\s?\S|\b(?P<number>\d{1,3})\s(?:\S+\s){0,3}?(?:hdds|disks|drives)\b", re.I
)
_NOT_A_DISK = re.compile(r"\bhdds?[:=](?=\w)|^\s*(?:x?vd|sr|loop)[a-z0-9]+\s+\S+\s+HDD\b", re.IGNORECASE)
_ON_DISK_CACHE = re.compile(r"\b\d+\s?M(?:i?B)? cache\b", re.IGNORECASE)
_LONGEST = 400
_LONGEST_QUOTE = 80


@dataclass(frozen=True)
class NamedDisks:
    """A line that names disks. `words` quotes it; empty if the disks are not hard disks. `count` is 0 if unknown."""

    line: int
    words: str
    count: int


def find_named_disks(numbered: Sequence[Line], skip: Sequence[tuple[int, int]]) -> tuple[NamedDisks, ...]:
    """Return the lines that name disks, in line order. Lines in the `skip` ranges (inclusive) are ignored."""
    hidden = {line for first, last in skip for line in range(first, last + 1)}
    found = []
    for number, line in numbered:
        if number in hidden or len(line) > _LONGEST:
            continue
        plain = _NOT_A_DISK.sub("", _ON_DISK_CACHE.sub("", line))
        is_hard, is_fast = _HARD.search(plain) is not None, _FAST.search(plain) is not None
        if is_hard or is_fast:
            words = " ".join(line.strip(" #*-").split())[:_LONGEST_QUOTE]
            count = _COUNT.search(plain)
            disks = int(count["count"] or count["number"]) if count else 0
            quote = f"line {number} names hard disks (“{words}”)" if is_hard and not is_fast else ""
            found.append(NamedDisks(number, quote, disks))
    return tuple(found)


def nearest_above(disks: Sequence[NamedDisks], line: int) -> NamedDisks | None:
    """Return the nearest line above that mentions disks; None if it mentions anything other than hard disks."""
    nearest = max((each for each in disks if each.line < line), key=lambda each: each.line, default=None)
    return nearest if nearest is not None and nearest.words else None
