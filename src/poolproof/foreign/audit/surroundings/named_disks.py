"""The kind and the number of the disks that a text names near a result: hard disks, flash, or the model of a NAS."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from operator import itemgetter

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line

_MODEL = (  # of Seagate, Western Digital, HGST and Toshiba
    r"(?:\b|(?<=[_-]))(?:ST\d{3,5}(?:AS|NS|[A-Z]{2}\d{3,4}[A-Z]?)|WD\d{2,4}[A-Z]{4}"
    r"|(?:HUS7|HUH7|HUA7|HDN7|HDS7|HTS5|HMS5)\d{3}\w{5,8}|HDW[A-Z]\d{3}|MG\d\d[A-Z]{3}\d\w{2,5})(?=$|[^A-Za-z0-9])"
)
_BY_MODEL = re.compile(_MODEL, re.IGNORECASE)
_HARD = re.compile(
    r"\b(?:(?:5400|5900|7200|10k|10,?000|15k|15,?000)\s?rpm|hdds?|hard (?:disks?|drives?)"
    r"|(?:spinning|mechanical|rotational|platter) (?:rust|disks?|drives?)"
    r"|(?:5\.4|7\.2|10|15)k (?:sas|sata|nl-?sas|disks?|drives?)"
    r"|nl-?sas|near-?line sas|smr (?:disks?|drives?)"
    r"|ironwolf|exos|barracuda|constellation es|skyhawk|wd (?:red|gold|purple|blue|white)|ultrastar"
    r"|toshiba (?:n300|x300|mg\d+)|deskstar)\b"
    rf"|{_MODEL}",
    re.IGNORECASE,
)
_FAST = re.compile(
    r"\b(?:\w*ssd\w*|nvme\w*|bcache\w*|flashcache|dm-cache|lvmcache|flash|optane|m\.2|emmc|sd card|ram ?disk|tmpfs|slog"
    r"|l2arc|special vdev|cache|solid state|990 pro|980 pro"
    r"|9[78]0 evo|8[5-7]0 (?:evo|pro)|[bm]x\d00|sn\d{3}\w?|pm\d{3,4}\w?|sa500|samsung|crucial|kingston|micron|sandisk"
    r"|adata|corsair|sabrent|kioxia|solidigm|intel (?:dc )?[ps]\d{4}|[ps]\d{4}x?"
    r"|mtfd\w+|mz-?[7qvw]\w+|kxg\w+|wds\d\w+|husm\w+|sdlf\w+)\b",
    re.IGNORECASE,
)
_NAS = re.compile(  # Synology's DS218: up to 2 drives, year 2018. QNAP's TS-453D: 4 drives, series x53.
    r"(?<!\w)(?P<model>DS(?P<drives>\d{1,2})(?:1\d|2\d)(?:\+|j|play|xs\+?)?|TS-(?P<bays>\d{1,2})\d{2}[A-Z]{0,3})(?!\w)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\b(?P<count>\d{1,3})\s?[x×*]\s?\S|\b(?P<number>\d{1,3})\s(?:\S+\s){0,3}?(?:hdds|disks|drives)\b", re.I
)
_SEVERAL_MACHINES = re.compile(
    r"(?<![\w.])(?:[2-9]|[1-9]\d)[ -]?(?:node|server|host|osd)s?\b|\b(?:nodes|servers|hosts|osds|cluster)\b",
    re.IGNORECASE,
)
_NOT_A_DISK = re.compile(r"\bhdds?[:=](?=\w)|^\s*(?:x?vd|sd|sr|loop)[a-z0-9]+\s+\S+\s+HDD\b", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/])/{1,2}[\w.-]{1,100}(?:/[\w.-]{0,100}){1,20}")
_LOG_DEVICE = re.compile(
    r"\b(?:optane|nvme|ssd)\b[^+,;|/]{0,30}\b(?:as|for)\s(?:an?\s)?slog\b|\bslog\s?[:=(]\s?[^+,;|/)]{0,40}",
    re.IGNORECASE,
)
_ABSENT = re.compile(  # flash that the pool does not have
    r"\b(?:(?:zil|s?log|l2arc|cache|ssds?|nvme)(?:\s?(?:&|and|or|,|/)\s?)?){1,4}\s?[:=]\s?(?:no|none|off|n/a)\b"
    r"(?=\s?(?:$|[,;.)|/]))"
    r"|\b(?:no|without(?: an?| any)?)\s(?:(?:zil|s?log|l2arc|cache|ssds?|nvme|read|write|special|vdev|device|drive)s?\b"
    r"(?:\s?(?:&|and|or|nor|,|/)\s?|\s)?){1,4}(?=\s?(?:$|[,;.)|/]|(?:on|in|for|at all|used|here)\b))",
    re.IGNORECASE,
)
_ON_DISK_CACHE = re.compile(r"\b\d+\s?M(?:i?B)? cache\b", re.IGNORECASE)
_PAGE_CACHE = re.compile(
    r"\b(?:(?:page|buffer|file ?system|fs|os|linux|kernel|cold|warm|hot)[ -]caches?"
    r"|(?:drop(?:s|ped|ping)?|clear(?:s|ed|ing)?|flush(?:es|ed|ing)?)[ _](?:(?:the|all|any|its) ){0,2}caches?)\b",
    re.IGNORECASE,
)
_OWNED = re.compile(
    r"\b(?:(?:this|that|these|those|they|it)(?:'s|'re| is| are| was| were)|i'm|i am|(?:i|we) (?:have|had|use|used)"
    r"|using|my|our|all|backed by|consist\w*|made (?:up )?of)\b",
    re.IGNORECASE,
)
_NOT_OWNED = re.compile(
    r"\b(?:not?|than|like|typical\w*|usual\w*|normal\w*|expect\w*|would|could|if|vs\.?|versus|compar\w*|other|another|also"
    r"|same|instead|old|previous\w*)\b|n't\b|\?",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"^\W{0,9}(?:no|yes|not? really),", re.IGNORECASE)
_LONGEST_NAMING_LINE = 400
_LONGEST_QUOTE = 80
_LONGEST_LIST = 30


@dataclass(frozen=True)
class NamedDisks:
    """The disks that a line names.

    `words`: a quotation of the line if the disks are hard disks, otherwise an empty string.
    `count`: the number of disks, or 0 if unknown.
    `has_log_device`: True if the line also names flash as the log device of the hard disks.
    """

    words: str
    count: int
    has_log_device: bool = False


def nearest_disks(numbered: Sequence[Line], results: Sequence[FoundResult]) -> Iterator[NamedDisks | None]:
    """Yield, for each result, the disks named on the nearest line above it that names disks.

    None if no line above the result names disks or a NAS, or if the nearest one with disks mentions flash. Lines inside
    results are ignored. If the line does not count the hard disks, their number is the largest one on any line above.
    If no line above names disks, the model of a NAS gives the number of its drives, which are usually hard disks. If no
    line above the result names either, the author may say below it which disks were used.
    """
    hidden = {line for result in results for line in range(result.line, result.last_line + 1)}
    nearest: NamedDisks | None = None
    nas: NamedDisks | None = None
    anywhere = _only_disks(numbered, hidden)
    most = first = 0
    for result in results:
        end = bisect_left(numbered, result.line, key=itemgetter(0))
        for number, line in reversed(numbered[first:end]):
            found = None if number in hidden else named_disks(number, line)
            if found is not None:
                nearest = _of_list(numbered, number, found) if _BY_MODEL.search(line) else found
                break
            nas = nas or (None if number in hidden else _named_nas(number, line))
        most = max([most, *(found.count for _, line in numbered[first:end] if (found := _counted(line)))])
        first = end
        if nearest is None:
            yield nas or anywhere
        elif not nearest.words:
            yield None
        else:
            yield nearest if nearest.count else replace(nearest, count=most)


def _only_disks(numbered: Sequence[Line], hidden: Set[int]) -> NamedDisks | None:
    """Return the hard disks that the author says were used, or None if any line outside the results names flash."""
    found: NamedDisks | None = None
    for number, line in numbered:
        named = None if number in hidden else named_disks(number, line)
        if named is not None and not named.words:
            return None
        if named is not None and _OWNED.search(line) and not _NOT_OWNED.search(_ANSWER.sub("", line)):
            found = found or named
    return found


def _of_list(numbered: Sequence[Line], number: int, found: NamedDisks) -> NamedDisks:
    """Return the disks of the list around a line with a model number, such as the output of lsblk or lsscsi.

    If a line of the list names flash, it is unknown which of the disks were used, and `words` is empty.
    """
    place = bisect_left(numbered, number, key=itemgetter(0))
    first = last = place
    while first and place - first < _LONGEST_LIST and numbered[first - 1][1].strip():
        first -= 1
    while last + 1 < len(numbered) and last - place < _LONGEST_LIST and numbered[last + 1][1].strip():
        last += 1
    lines = [line for _, line in numbered[first : last + 1] if len(line) <= _LONGEST_NAMING_LINE]
    if any(_FAST.search(_ABSENT.sub("", _PATH.sub("", line))) for line in lines):
        return replace(found, words="")
    return found if found.count else replace(found, count=sum(_BY_MODEL.search(line) is not None for line in lines))


def _named_nas(number: int, line: str) -> NamedDisks | None:
    """Return the drives of a NAS if the line, or a path in it, names a known model of NAS, otherwise None."""
    match = _NAS.search(line) if len(line) <= _LONGEST_NAMING_LINE else None
    if match is None:
        return None
    drives, model = int(match["drives"] or match["bays"]), match["model"].upper()
    return NamedDisks(f"line {number} names a {model}, a NAS for {drives} drives, usually hard disks", drives)


def _counted(line: str) -> NamedDisks | None:
    """Return the hard disks that a line names and counts, or None."""
    found = named_disks(0, line)
    return found if found is not None and found.words and found.count else None


def named_disks(number: int, line: str) -> NamedDisks | None:
    """Return the disks that a line names, or None if it names none.

    If the line mentions flash, `words` is empty, because such a line compares disks or describes a cache. It is also
    empty if the disks are those of several machines, because the line rarely tells how many each machine has.
    """
    if len(line) > _LONGEST_NAMING_LINE:
        return None
    present = _ABSENT.sub("", _PATH.sub("", line))
    with_log = _NOT_A_DISK.sub("", _PAGE_CACHE.sub("", _ON_DISK_CACHE.sub("", present)))
    plain = _LOG_DEVICE.sub("", with_log)
    is_hard, is_fast = _HARD.search(plain) is not None, _FAST.search(plain) is not None
    if not is_hard and not is_fast:
        return None
    words = " ".join(line.strip(" #*-").split())[:_LONGEST_QUOTE]
    count = _COUNT.search(plain)
    disks = int(count["count"] or count["number"]) if count else 0
    quote = f"line {number} mentions hard disks (“{words}”)" if is_hard and not is_fast else ""
    if _SEVERAL_MACHINES.search(plain):
        quote = ""
    return NamedDisks(quote, disks, has_log_device=plain != with_log)
