"""The link of the storage that a text names near a result: a SATA or USB drive, a memory card, or a network.

The drive is named in the result's own name, or on the nearest line above the result that names storage. Such a line
does not count if it names other storage, another machine or a comparison. If the text mentions arrays, the line must
say how many drives there are. A network counts for results of NFS, SMB or iSCSI: the heading or a line directly above
the result must say that it used one of these, and the fastest network that the text names is the limit.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from poolproof.foreign.audit.surroundings.quoted_conditions import heading_in, quotation
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line
from poolproof.rules.link_rates import (
    EMMC,
    GIGABIT,
    SATA3,
    SATA3_IOPS,
    SD_UHS1,
    SD_UHS2,
    USB2,
    USB3_5G,
    USB3_10G,
    USB3_20G,
)
from poolproof.rules.quoted import NO_LINK, QuotedLink

_DRIVE = r"(?:ssd|hdd|drive|disk|stick|dom|enclosure|key|thumb ?drive|pen ?drive)"
_SATA = re.compile(
    rf"\bsata(?:[ -]?(?:3|ii|iii|2|6 ?gb(?:/s|ps)?))?[ -]{_DRIVE}s?\b|\b{_DRIVE}s? ?\(?sata\b|\b2\.5[\"”]? ssds?\b"
    r"|\b(?:8[4-7]0 (?:evo|pro|qvo)|[bm]x\d00|a400|kc600|(?:dc ?)?s3[3-7]\d0|s4[56]\d0|sa510|sa500|ssd plus"
    r"|[ps]m8[6-9]\d[a-z]?|dc[45]\d0[rm]|wds\d{3}\w2[bg]0a)\b",
    re.IGNORECASE,
)
_GEN2X2 = re.compile(r"\busb ?3\.2 gen ?2 ?x ?2\b", re.IGNORECASE)
_USB = re.compile(
    r"\busb[ -]?(?P<version>[23](?:\.[0-2])?)(?: ?gen ?(?P<generation>[12]))?(?! ?gen)\b|\b(?:thumb|pen) ?drive\b"
    r"|\busb[ -](?:stick|key|thumb|pen|flash|drive|disk|hdd|ssd|enclosure)",
    re.IGNORECASE,
)
_THROUGH = re.compile(  # words elsewhere in such a sentence do not change the number of links
    r"(?<!each )\b(?:using|via|through|over|in) (?:a|an|my|the same) (?:[\w.-]{1,20} ){0,3}?usb[ -]?[23](?:\.[0-2])?"
    r"(?: gen ?[12])? (?:[\w.-]{1,20} ){0,3}?(?:readers?|adapters?|enclosure|dock|hub|port|bridge|cable)\b",
    re.IGNORECASE,
)
_CARD = re.compile(r"\b(?:micro ?)?sd(?:hc|xc)?[ -]?cards?\b|\b(?P<uhs1>uhs-?i|a[12]-rated)\b", re.IGNORECASE)
_EMMC = re.compile(r"\bemmc\b", re.IGNORECASE)
_NETWORK = re.compile(  # `Gb` is a bit, `GB` is a byte
    r"(?<![\w.])(?P<rate>1|2\.5|5|10|20|25|40|50|100|200|400) ?(?:[gG][bB][eE]\b|[gG][bB]it|[gG]bps|[gG]b/s"
    r"|[gG][bB][aA][sS][eE]-?\w|[gG][bB] (?=(?i:ethernet|network|nic|lan|link|switch)\b)|(?i:gig[ -]?e\b"
    r"|gig(?:abit)? ethernet))|\b(?P<one>(?i:gigabit|gbe))\b"
)
_SEVERAL_LINKS = re.compile(
    r"\b(?:bond\w*|lacp|lag|802\.3ad|team(?:ed|ing)|multi-?path\w*|multi-?channel|nconnect|dual|quad|[24] ?x|two"
    r"|four)\b",
    re.IGNORECASE,
)
_OVER_NETWORK = re.compile(r"\b(?:nfs(?:v?[34](?:\.[012])?)?|smb[123]?|cifs|samba|iscsi)\b", re.IGNORECASE)
_LOCAL = re.compile(
    r"\bserver ?:|\b(?:local(?:ly|host)?|directly on|on the (?:server|nas|host|storage)|server[- ]side|loopback|not?"
    r"|without|instead|than|vs\.?|versus|compar\w*|rdma|multiple clients|clients)\b|n't\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:nvme\w*|pcie?|m\.?2(?! sata)|u\.?[23]|optane|sas|fc|fib(?:re|er)|thunderbolt|usb ?4|tmpfs|ram ?dis[ck]|ram"
    r"|slog|l2arc|\w*cache\w*|log device|sd express|9[0789]0 (?:evo|pro|plus)|sn\d{3}\w?|intel p\d{4}|hba|backplane"
    r"|raid ?controller|perc|megaraid|vroc)\b",
    re.IGNORECASE,
)
_STORAGE = re.compile(
    r"\b(?:hdds?|ssds?|nvme\w*|hard (?:disks?|drives?)|optane|ram ?dis[ck]|tmpfs|zvols?|zpool|raid\w*|ceph|ebs|gp[23]"
    r"|vmdk|qcow2)\b"
    r"|\b(?:other|another|second|different|next|new) (?:machine|server|host|system|box|node|pc|laptop|desktop|vm)\b",
    re.IGNORECASE,
)
_ARRAYS = re.compile(
    r"\b(?:raid\w*|raidz\d?|z[123]|zpools?|pools?|vdevs?|mirror\w*|strip(?:e[ds]?|ing)|arrays?|mdadm|jbod|lvm|vsan|ceph|mergerfs|btrfs)\b",
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    r"\b(?:not?|than|like|would|could|should|if|vs\.?|versus|compar\w*|other|another|also|instead|old|previous\w*|boot\w*|os"
    r"|system|installed|typical\w*|usual\w*|normal\w*|expect\w*|max\w*|limit\w*|up to|only)\b|n't\b|\?",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?<![\w.])(?P<count>\d{1,2}) ?(?:[x×*]|pcs)(?= ?[\w(])|(?<![\w.])"
    r"(?P<number>\d{1,2}|two|three|four|five|six|eight) "
    r"(?:[\w.-]{1,20} ){0,4}?(?:ssds|drives|disks|hdds)\b"
    r"|[x×] ?(?P<behind>\d{1,2})\b",
    re.IGNORECASE,
)
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8}
_PLURAL = re.compile(r"\b(?:ssds|drives|disks|hdds|sticks|cards)\b", re.IGNORECASE)
_TEST = re.compile(
    r"read|write|seq|rand|fio|\bdd\b|result|bench|test|\d ?k\b|\bqd\d|iops|latency|cache|output|run|speed"
    r"|performance|disk|command",
    re.IGNORECASE,
)
_LONGEST, _LONGEST_QUOTE = 300, 80
_NEAR_ABOVE, _NEAR_BY = 12, 4


@dataclass(frozen=True)
class _Drives:
    """The storage that a line names: its links together, or None if they are unknown."""

    link: QuotedLink | None


def named_links(numbered: Sequence[Line], results: Sequence[FoundResult]) -> Iterator[QuotedLink]:
    """Yield the link of each result, or `NO_LINK` if it is unknown. The results must be in line order."""
    hidden = {line for result in results for line in range(result.line, result.last_line + 1)}
    outside = [(number, line) for number, line in numbered if number not in hidden and len(line) <= _LONGEST]
    has_arrays = any(_ARRAYS.search(line) for _, line in outside)
    drives = list(_drives(outside, has_arrays=has_arrays))
    network = _network(outside)
    for at, result in enumerate(results):
        name = _name(result)
        own = _named(result.line, name, has_arrays=has_arrays) if name else None
        above = bisect_left(drives, result.line, key=itemgetter(0))
        nearest = own or (drives[above - 1][1] if above else None)
        first = max(results[at - 1].last_line if at else 0, result.line - _NEAR_ABOVE)
        if network and _is_over_network(outside, name, first, result.line):
            yield network
        else:
            yield (nearest.link if nearest else None) or NO_LINK


def _drives(outside: Sequence[Line], *, has_arrays: bool) -> Iterator[tuple[int, _Drives]]:
    """Yield each line that names storage, and each later heading that may be the name of another machine."""
    is_below_heading, has_drives = False, False
    for number, line in outside:
        heading = heading_in(line)
        if (named := _named(number, line, has_arrays=has_arrays)) is not None:
            yield number, named
            has_drives = is_below_heading or bool(heading)
        elif heading and has_drives and not _TEST.search(heading):
            yield number, _Drives(None)
        is_below_heading = is_below_heading or bool(heading)


def _name(result: FoundResult) -> str:
    """Return the name of a result on one line, such as the row and column of a table, or an empty string."""
    names = {part.name for part in result.result.parts}
    return names.pop() if len(names) == 1 and result.line == result.last_line and result.made is None else ""


def _named(number: int, line: str, *, has_arrays: bool) -> _Drives | None:
    """Return the storage that a line names, or None if it names none."""
    through = _THROUGH.search(line)
    is_unclear = _UNCLEAR.search(line) or _OTHER.search(line)
    line = through[0] if through else line
    found = _link_of(line)
    if found is None:
        return _Drives(None) if _STORAGE.search(line) or _OTHER.search(line) else None
    rate, what = found
    count = _count(line)
    if is_unclear or count is None or (has_arrays and not _COUNT.search(line)):
        return _Drives(None)
    words = line.strip(" #*-|\t")
    words = words if len(words) <= _LONGEST_QUOTE else words[:_LONGEST_QUOTE]
    times = count or 1
    name = what if times == 1 else f"{times} times {what}"
    iops = times * SATA3_IOPS if rate == SATA3 else 0.0
    return _Drives(QuotedLink(times * rate, name, quotation(number, words), iops))


def _link_of(line: str) -> tuple[float, str] | None:
    """Return the rate and the name of the slowest kind of link that a line names, or None."""
    found: list[tuple[float, str]] = []
    if _SATA.search(line):
        found.append((SATA3, "a SATA link"))
    if _GEN2X2.search(line):
        found.append((USB3_20G, "USB 3.2 Gen 2x2"))
    elif usb := _USB.search(line):
        version, generation = usb["version"] or "", usb["generation"] or ""
        if version.startswith("2"):
            found.append((USB2, "USB 2.0"))
        elif version in ("3", "3.0") or generation == "1":
            found.append((USB3_5G, "USB 3.0"))
        else:
            found.append((USB3_10G, "USB 3.2 Gen 2"))
    if card := _CARD.search(line):
        found.append((SD_UHS1, "a UHS-I card") if card["uhs1"] else (SD_UHS2, "a UHS-II card"))
    if _EMMC.search(line):
        found.append((EMMC, "eMMC 5.1"))
    return min(found, default=None)


def _count(line: str) -> int | None:
    """Return the number of drives that a line names, or None if it names several without a number."""
    found = [
        match[name].lower() for match in _COUNT.finditer(line) for name in ("count", "number", "behind") if match[name]
    ]
    if found:
        return max(_NUMBERS.get(each) or int(each) for each in found)
    return None if _PLURAL.search(line) else 1


def _network(outside: Sequence[Line]) -> QuotedLink | None:
    """Return the fastest network that the text names, or None if it names none or combines several links."""
    best: QuotedLink | None = None
    for number, line in outside:
        for match in _NETWORK.finditer(line):
            if _SEVERAL_LINKS.search(line):
                return None
            rate = GIGABIT * float(match["rate"] or 1)
            if best is None or rate > best.bytes_per_s:
                best = QuotedLink(rate, f"{match['rate'] or 1} Gbit/s Ethernet", quotation(number, match[0]))
    return best


def _is_over_network(outside: Sequence[Line], name: str, first: int, last: int) -> bool:
    """True if the name of a result or the lines directly above it say that it used NFS, SMB or iSCSI."""
    if _OVER_NETWORK.search(name):
        return not _LOCAL.search(name)
    begin, end = (bisect_left(outside, line, key=itemgetter(0)) for line in (first, last))
    lines = [line for number, line in outside[begin:end] if number >= last - _NEAR_BY or heading_in(line)]
    return any(_OVER_NETWORK.search(line) for line in lines) and not any(_LOCAL.search(line) for line in lines)
