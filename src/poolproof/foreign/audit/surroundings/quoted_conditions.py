"""Conditions that apply to several results: RAM disks in headings, virtual machines and rebuilding arrays.

A heading applies to the results below it, up to the next heading or a sentence that names another target. Headings are
those of Markdown from the second level on, lines in bold letters, and short lines that end with a colon.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from poolproof.foreign.audit.surroundings.cache_words import names_host_cache, says_cached
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line

_SECTION = re.compile(r"^\s{0,3}#{2,6}\s+(?P<words>\S.{1,58}?)\s*#*\s*$")
_LABEL = re.compile(r"^\s*(?:[-*]\s+)?(?:\*\*(?P<bold>[^*]{3,50}?):?\*\*:?|(?P<words>[A-Za-z][^:]{2,48}?)\s?:)\s*$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(?P<words>\S.{1,78}?)\s*#*\s*$")
_RULED = re.compile(
    r"^\s*(?P<mark>[=*~-])(?P=mark){1,40}\s?(?P<words>\w[^=*~|]{1,78}?)\s?(?P=mark){2,40}\s*$"
)  # === warm ===
_SHORT_LABEL = re.compile(r"^\s*(?:[-*]\s+)?(?P<words>[A-Za-z][^:|=]{2,78}?)\s?:\s*$")
_NOT_A_HEADING = re.compile(r"[=|<>\\$]|\s-")
_MEMORY = re.compile(  # mergerfs drops all data with nullrw
    r"\b(?:ram[ -]?(?:disks?|drives?)|tmpfs|ramfs|zram\d+|null[-_ ]?bl(?:oc)?k(?: devices?)?|nullb\d*|nullrw"
    r"|mem[-_]?disk|ublk[-_ ](?:mem|null)|scsi_debug|bdev_(?:malloc|null)|(?:malloc|null)[- ]bdevs?"
    r"|(?:in-)?memory[- ](?:backend|device|disk)s?)\b",
    re.IGNORECASE,
)
_OTHER_WORDS = re.compile(
    r"\b(?:i|we|it|put|used?|using|moved|and|or|with|without|not?|vs\.?|versus|compar\w*|how|creat\w*|set\w*|mount\w*"
    r"|mak\w*|ssds?|hdds?|disks?|drives?|nvme\w*|sata|flash)\b|[,&/+]",
    re.IGNORECASE,
)
_OTHER_TARGET = re.compile(r"\b(?:ssds?|hdds?|disks?|drives?|nvme\w*|sata|flash|raid\w*|zfs|ceph)\b", re.IGNORECASE)
_MACHINE = re.compile(
    r"^\s*(?P<words>(?:VM[ -]?Type|Virtuali[sz]ation|Hypervisor vendor)\s*:\s*"
    r"(?:(?P<hypervisor>KVM|QEMU|Xen|VMware|Hyper-V|Microsoft)\b|NONE\b|Dedicated\b))",
    re.IGNORECASE,
)
_WORK = r"(?:re-?build(?:ing)?|re-?sync(?:h?ing)?|resilver(?:ing)?|reshap(?:e|ing)|scrub(?:bing)?)"
_BUSY = re.compile(
    rf"\bstill (?:being )?{_WORK}\b|\b{_WORK} (?:is|was) (?:still |also )?(?:in progress|running)\b"
    rf"|^\s*scan: {_WORK.removesuffix(')')}|resilver) in progress\b"  # zpool status
    r"|^\s*\[[=>]{0,20}\.{0,20}\]\s{1,4}(?:recovery|resync|reshape|check)\s{0,3}=\s{0,3}\d",  # /proc/mdstat
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not?|never|no longer|until|wait\w*|after|before|if|avoid\w*)\b|n't\b", re.IGNORECASE)
_ADJACENT_LINES, _LINES_ABOVE = 3, 40
_BEFORE, _BEHIND = 60, 20
_LONGEST_QUOTE = 100
_SENTENCE = re.compile(r"^\s*[A-Za-z*\"][^=|<>\\$]{15,}[.!?]\s*$")
_LONGEST = 300


@dataclass(frozen=True)
class QuotedConditions:
    """Quotations that apply to a result, each with its line number. Empty if the text contains none.

    `memory`: a heading that names only memory as the target.
    `guest`: the output of a program that shows that the machine is a virtual machine.
    `cached`: a heading that says that the data is read from RAM.
    `hosted`: a heading that says that a virtual disk uses the page cache of the host.
    `busy`: a line above the result, or above the results directly above it, that says that an array was rebuilding.
    """

    memory: str = ""
    guest: str = ""
    busy: str = ""
    cached: str = ""
    hosted: str = ""


def conditions_of(numbered: Sequence[Line], results: Sequence[FoundResult]) -> Iterator[QuotedConditions]:
    """Yield the conditions of each result. The results must be in line order."""
    hidden = {line for result in results for line in range(result.line, result.last_line + 1)}
    outside = [(number, line) for number, line in numbered if number not in hidden and len(line) <= _LONGEST]
    section, label, guest, busy, cached, hosted, at, end = "", "", "", "", "", "", 0, 0
    for result in results:
        if result.line - end > _ADJACENT_LINES:
            busy = _busy(outside, max(end, result.line - _LINES_ABOVE), result.line)
        end = max(end, result.last_line)
        stop = bisect_left(outside, result.line, key=itemgetter(0))
        for number, line in outside[at:stop]:
            if words := heading_in(line):
                cached = quotation(number, words) if says_cached(words) else ""
                hosted = quotation(number, words) if names_host_cache(words) else ""
            if match := _MACHINE.match(line):
                guest = quotation(number, match["words"]) if match["hypervisor"] else ""
            elif match := _SECTION.match(line):
                section, label = _named(number, match["words"]), ""
            elif match := _LABEL.match(line):
                words = match["bold"] or match["words"]
                label = _named(number, words)
                section = "" if not label and _OTHER_TARGET.search(words) else section
            elif (label or section) and _SENTENCE.match(line) and _names_another(line):
                section = label = ""
        at = max(at, stop)
        yield QuotedConditions(label or section, guest, busy, cached, hosted)


def _busy(outside: Sequence[Line], first: int, last: int) -> str:
    """Return a quotation of the last line in a range that says that an array is rebuilding, or an empty string."""
    found = ""
    begin, end = (bisect_left(outside, line, key=itemgetter(0)) for line in (first, last))
    for number, line in outside[begin:end]:
        match = _BUSY.search(line)
        if match and not _NEGATED.search(line[max(0, match.start() - _BEFORE) : match.end() + _BEHIND]):
            found = quotation(number, line if len(line) <= _LONGEST_QUOTE else match[0])
    return found


def heading_in(line: str) -> str:
    """Return the words of a heading, a label or a line such as `=== warm cache ===`, or an empty string."""
    if match := _HEADING.match(line) or _RULED.match(line) or _SHORT_LABEL.match(line):
        return match["words"]
    match = _LABEL.match(line)
    return (match["bold"] or match["words"]) if match else ""


def _names_another(words: str) -> bool:
    return _OTHER_TARGET.search(words) is not None and not _MEMORY.search(words)


def names_another_target(line: str) -> bool:
    """True if a line names a kind of storage other than memory."""
    return _OTHER_TARGET.search(_MEMORY.sub("", line)) is not None


def _named(number: int, words: str) -> str:
    """Return a quotation of a heading that names only memory, or an empty string."""
    return quotation(number, words) if names_only_memory(words) else ""


def names_only_memory(words: str) -> bool:
    """True if the name of a test, such as the row and column of a table, names memory as the target and no disk."""
    rest = _MEMORY.sub("", words)
    return rest != words and not _NOT_A_HEADING.search(words) and not _OTHER_WORDS.search(rest)


def quotation(number: int, words: str) -> str:
    """Return a quotation with its line number, as findings print it: `line 3 says “…”`."""
    return f"line {number} says “{' '.join(words.split())}”"
