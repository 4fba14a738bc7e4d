"""Statements that the tested devices are in memory: sentences, settings, and commands that create such a device.

A statement applies to the results below it, up to the next line outside results that names another kind of storage.
People also mention a RAM disk that they did not test, or that holds only a log or a cache. That is why the statement
must say that something uses, is on top of, or creates the RAM disk, and must not mention disks, logs or caches.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter

from poolproof.foreign.audit.surroundings.quoted_conditions import names_another_target, quotation
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line

_DEVICE = r"(?:ram[ -]?(?:disk|drive|device)s?|ramfs|tmpfs|null[-_ ]?bl(?:oc)?k|nullb\d*|scsi_debug|brd)\b"
_USED = re.compile(
    r"\b(?:us(?:es?|ing)|on top of|over|with|backed by|creat(?:es?|ed)|sets? up) "
    rf"(?:[^\s/]{{1,20}} ){{0,3}}?{_DEVICE}(?: devices\b)?",
    re.IGNORECASE,
)
_TESTED = re.compile(
    r"\b(?:(?:tests?|tested|testing|measured?|benchmark(?:s|ed)?|ran|runs?|running|results?|numbers?|performance"
    r"|improvements?|throughput|iops) (?:[^\s/]{1,20} ){0,2}?(?:for|on|in|against)"
    r"|(?:its|the|that|this|whose) (?:file ?system|mount ?point|directory|target|device|disk|volume) (?:is|was))"
    rf" (?:(?:the|an?|my) )?{_DEVICE}",
    re.IGNORECASE,
)
_SETTING = re.compile(
    r"^\W{0,9}(?:test[ _-]?)?(?:device|target|disk|drive|filename|dev)(?:[ _-]?(?:path|name))?\s{0,3}[:=]\s{0,3}"
    r"/dev/(?:ram|nullb|zram)\d+\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"^\W{0,9}(?:sudo\s+)?(?:modprobe\s+(?:-\S+\s+)?(?:brd|null_blk|scsi_debug)\b"
    r"|fio\s[^|;&]{0,200}?--?filename[= ]/dev/(?:ram|nullb|zram)\d+\b)"
)
_OTHER_FILE = re.compile(  # a device made from other devices may be made from a RAM disk
    r"(?:^|\s)--?filename[= ](?!/dev/(?:ram|nullb|zram|nbd|loop|dm-|md|ublkb|ubbd|drbd|bcache|mapper))\S"
)
_PATH = r"/dev/(?:ram|nullb|zram|rd)\d+(?:p\d+)?\b"
_EXPORTED = re.compile(
    r"(?:\b(?:nbd-server|qemu-nbd|nbdkit|losetup|targetcli|tgtadm|nvmetcli|pvcreate|vgcreate|mdadm|zpool|bcachefs|mkfs[.\w]*"
    r"|dmsetup|cryptsetup|make-bcache|drbdadm)\s(?:[^|;&]{0,160}\s|[^|;&]{0,160}=)?"
    rf"|^\W{{0,9}}(?:file|backend|backing[ _-]?(?:device|file|dev)|lower[ _-]?(?:device|dev)|data[ _-]?device"
    rf"|physical[ _-]?device)\s{{0,3}}[:=]\s{{0,3}}|\bexport(?:s|ed|ing)?\s){_PATH}"
)
_NEGATED = re.compile(
    r"\b(?:not?|never|without|instead|unlike|rather|than|vs\.?|versus|compar\w*|no longer|if|could|would|should|might"
    r"|earlier|previous\w*)\b|n't\b",
    re.IGNORECASE,
)
_OTHER_USE = re.compile(
    r"\b(?:s?logs?|zil|journal\w*|caches?|cached|caching|swap\w*|vs\.?|versus|compar\w*|than)\b", re.IGNORECASE
)
_ARRAY = re.compile(r"\b(?:arrays?|pools?)\b", re.IGNORECASE)
_ARRAYS = re.compile(r"\braid[\w-]*|\b(?:md\d*|arrays?)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"(?:ram[ -]?(?:disk|drive|device)s|(?:brd|null[-_ ]?bl(?:oc)?k|nullb) devices|nullbs)\b", re.IGNORECASE
)
_FORMS_ARRAY = re.compile(r"\b(?:mdadm|pvcreate|vgcreate|zpool|bcachefs)\s")
_LISTED = re.compile(r"^\W{0,9}(?:/dev/)?(?:ram|nullb|zram|rd)\d+(?:p\d+)?\s")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s{0,9}\*\*")
_LONGEST, _LONGEST_QUOTE = 300, 80


def memory_targets(numbered: Sequence[Line], results: Sequence[FoundResult]) -> Iterator[str]:
    """Yield, for each result, a quotation of the statement that its device is in memory, or an empty string."""
    hidden = {line for result in results for line in range(result.line, result.last_line + 1)}
    outside = [(number, line) for number, line in numbered if number not in hidden]
    stated, are_several, at = "", False, 0
    for result in results:
        stop = bisect_left(outside, result.line, key=itemgetter(0))
        for number, line in outside[at:stop]:
            if said := _said(line):
                stated = quotation(number, said)
                are_several = are_several or bool(_SEVERAL.search(said) or _FORMS_ARRAY.search(said))
            elif _ends(line) and not (are_several and _is_only_an_array(line)):
                stated, are_several = "", False
        at = max(at, stop)
        yield stated


def _ends(line: str) -> bool:
    """True if a line may end a statement: it names other storage, and does not list a RAM disk as `lsblk` does."""
    if _OTHER_FILE.search(line):
        return True
    return not _LISTED.match(line) and (names_another_target(line) or _ARRAY.search(line) is not None)


def _is_only_an_array(line: str) -> bool:
    """True if a line names an array but no other kind of storage. Several RAM disks can form an array."""
    return not names_another_target(_ARRAYS.sub("", line))


def _said(line: str) -> str:
    """Return the part of a line that says that the tested device is in memory, or an empty string."""
    if len(line) > _LONGEST:
        return ""
    if match := _SETTING.match(line) or _COMMAND.match(line):
        return match[0].strip()
    if (match := _EXPORTED.search(line)) and not _OTHER_USE.search(line) and not _NEGATED.search(line):
        return match[0].strip()
    match = None if _HEADING.match(line) else _USED.search(line) or _TESTED.search(line)
    if match is None or _NEGATED.search(line[: match.end()]) or _OTHER_USE.search(line):
        return ""
    if names_another_target(line) and not (_SEVERAL.search(match[0]) and _is_only_an_array(line)):
        return ""
    return line.strip() if len(line.strip()) <= _LONGEST_QUOTE else match[0]
