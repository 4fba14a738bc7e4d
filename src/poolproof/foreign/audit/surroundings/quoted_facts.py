"""Facts in the text around a result: claims about memory and queue depth, named disks, and effects on the test files.

A sentence about memory applies to a result if it comes after the previous result and at most five lines below this
result. A sentence above several adjacent results applies to all of them. Sentences that contain a negation or are about
dropping caches are ignored. The output of programs is ignored too, because df and mount list tmpfs on every machine.
Only sentences and the author's own commands count.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter

from poolproof.foreign.audit.earlier_jobs import earlier_jobs
from poolproof.foreign.audit.formats.protocol import ForeignResult
from poolproof.foreign.audit.surroundings.base_results import base_results
from poolproof.foreign.audit.surroundings.disk_inventory import find_inventory, listed_disks
from poolproof.foreign.audit.surroundings.laid_out import laid_out_bytes, shared_files
from poolproof.foreign.audit.surroundings.named_disks import nearest_disks
from poolproof.foreign.audit.surroundings.named_links import named_links
from poolproof.foreign.audit.surroundings.quoted_conditions import conditions_of, heading_in, quotation
from poolproof.foreign.audit.surroundings.quoted_settings import applying
from poolproof.foreign.audit.surroundings.stated_disks import find_iops_limits
from poolproof.foreign.audit.surroundings.stated_memory import memory_targets
from poolproof.foreign.dropped_caches import drops_caches
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.rules.quoted import Quoted

_CACHE = r"(?:(?:page|os|linux|kernel|host|guest|zfs|ram|memory) ){0,2}(?:ram|memory|cache|arc)"
_MEMORY = re.compile(
    r"\b(?:(?:primo)?ram[ -]?(?:disks?|drives?)|(?:on|in|from|uses?|a|my|the) tmpfs|/dev/shm/\S+|ramfs"
    r"|null[-_ ]?bl(?:oc)?k|nullb\d*|dev/ram\d+|scsi_debug"
    r"|(?:in|from|by|hits?) (?:zfs )?(?:the )?arc|arc hits?"
    r"|fits? (?:entirely |completely )?(?:in|into) (?:the )?(?:arc|ram|memory)|(?:fully|entirely|completely) cached"
    r"|(?:in|from|by|hits?|through|via) (?:the )?(?:guest |host |os |linux )?page[ -]?cache"
    r"|(?:served|comes?|coming|cached|reads?|reading) (?:(?:directly|straight|mostly|only|purely|just|all|entirely) "
    rf"){{0,2}}(?:from|by|in|out of) (?:the |your |my )?{_CACHE}"
    r"|(?:hit(?:s|ting)|measur(?:es?|ing)|benchmark(?:s|ing)) "
    rf"(?:(?:only|just|mostly|really|the|your|my) ){{0,3}}{_CACHE}"
    r"|(?:warm|hot) (?:page[ -]|os |fs )?(?:cache|arc)"
    r"|(?:because of|due to|thanks to|effects? of|must be"
    r"|(?:this|that|it|these|those)(?: is|'s| are) (?:just|all|only|obviously|clearly|probably|likely)) "
    r"(?:(?:the|all|some|zfs|os|host|guest|linux|kernel|page|ram|memory|arc) ){0,3}"
    r"(?:cache|cached|caching|arc))\b",
    re.IGNORECASE,
)
_MEMORY_IN_OTHER_LANGUAGES = re.compile(
    r"(?:是|在|从|從|走)(?:是|在|从|從|了)?(?:系统|系統)?(?:内存|內存|記憶體|缓存|緩存)"
    r"|メモリ(?:上|から)|キャッシュ(?:から|が効)"
    r"|\b(?:im|aus dem) (?:ram|arbeitsspeicher|cache)\b|из (?:кэша|кеша|памяти|оперативной)"
    r"|\b(?:en|desde la) (?:ram|caché)\b"
    r"|\b(?:en|depuis la|depuis le) (?:ram|mémoire|cache)\b",
    re.IGNORECASE,
)
_NEGATED_IN_OTHER_LANGUAGES = re.compile(
    r"[不没沒非未]|ない|なく|ません|クリア|清|绕|繞|跳过|\b(?:nicht|kein\w*|ohne|не|без|no|sin|sans|pas|vider|leer\w*)\b",
    re.IGNORECASE,
)
_BUFFERED = re.compile(
    r"\bbuffered (?:(?:sequential|random|seq|rand|file) )?(?:reads?|writes?|i/?os?|access(?:es)?)\b(?!:\s+\d)",
    re.IGNORECASE,
)
_ON_SATA = re.compile(
    r"\b(?:run|ran|runs|running|tested|measured|benchmarked) (?:[\w.-]{1,20} ){0,2}?on (?:[\w.-]{1,20} ){0,5}?"
    r"(?:an?|one|my|the|this|single) (?:[\w./-]{1,20} ){0,2}?SATA ?(?:II|III|2|3)? ?(?:ssd|hdd|disk|drive)\b",
    re.IGNORECASE,
)
_ABOUT_ABOVE = re.compile(r"\W{0,9}(?:this|that|these|those|it|both|the above)\b", re.IGNORECASE)
_DIRECT = re.compile(r"direct|\bunbuffered|\bdio\b|\bTiming\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:not?|n't|never|without|instead of|avoid\w*|bypass\w*|rule[ds]? out|drop\w*|flush\w*|clear(?:s|ed|ing)?"
    r"|cold|exclud\w*|eliminat\w*|unlike|rather than|vs\.?|versus|compar\w*|l2arc|[bd]m?-?cache|lvm-?cache|ssd cache"
    r"|flash cache|cache (?:tier|pool|ssd|disk|drive|device|miss\w*))\b|n't\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(  # the disk is what was not measured
    r"(?:,? (?:and|but))?,? (?:not|rather than|instead of) (?:(?:the|any|your|my|actual|real|raw|underlying|throughput"
    r"|speed|of|storage|physical|nvme|ssd|hdd) ){0,3}"
    r"(?:storage|disks?|drives?|ssds?|hdds?|nvme|devices?|hardware|media)\b",
    re.IGNORECASE,
)
_BARRIERS = re.compile(
    r"(?<![\w-])(?P<off>nobarriers?|barriers?=(?:0|off|none))\b|\bbarriers?=(?:1|flush|on)\b", re.IGNORECASE
)
_KEEPS_DATA = re.compile(r"\b(?:bbu|bbwc|battery|batteries|plp|power[- ]loss|capacitors?)\b", re.IGNORECASE)
_FAST_MEDIA = re.compile(r"\b(?:optane|3d ?xpoint|p[45]8[0-9]0x|p16\d0x|9[05]\d ?p\b|z-?nand|sz98\d)", re.IGNORECASE)
_PERSISTENT_MEMORY = re.compile(
    r"\b(?:pmem\w*|(?:persistent|optane) memory|optane (?:dc )?(?:pm|pmm|dimm)s?\b|dcpmm|nvdimm|fsdax|devdax)"
    r"|-o dax\b|\bdax=always\b",
    re.IGNORECASE,
)
_MACOS = re.compile(
    r"\bmac ?os(?: ?x)?\b|\bos ?x\b|\bdarwin\b|\bmacbook\b|\bmac (?:mini|studio|pro)\b|\bimac\b", re.IGNORECASE
)
_DEPTH = re.compile(
    r"(?<![\w-])(?:QD ?=? ?|(?:queue|io)[- ]?depths?(?: (?:of|is|was|at|set to)| ?[:=])? ?)(\d{1,5})(?!\d|\.\d|%)"
    r"|(?<![\w-])Q(\d{1,5})T\d",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?:^|\s)-{1,2}[a-z_]+[= ]|^\s*[a-z_]+\s*=\s*\S+\s*$|: \(g=\d+\): rw=|\bioengine=", re.IGNORECASE
)
_ENGINE_AND_DEPTH = re.compile(r"\bioengine=\w+, ?iodepth=\d+$")
_ONE_AT_A_TIME = re.compile(r"capped|ignor\w*|no effect|synchronous|effective\w*", re.IGNORECASE)
_TABLE = re.compile(r"^\s*\||\s\d{1,3}%\s+/|^\S+ on \S+ type |^\s*(?:tmpfs|devtmpfs|none|shm)\s")
_SYNC_SETTING = re.compile(r"\bsync[\s=:]{1,3}(?:(?P<off>disabled)|always|standard)\b", re.IGNORECASE)
_SERVED = re.compile(r"\b(?:nfs\w?|iscsi|smb|cifs)\b", re.IGNORECASE)
_HONOURS_DIRECT = re.compile(r"\b(?:ext[234]|xfs|raw (?:block )?device|block device)\b", re.IGNORECASE)
_MAY_IGNORE_DIRECT = re.compile(
    r"\b(?:zfs|zvol|btrfs|nfs|cifs|smb|ceph|gluster\w*|lustre|fuse|overlay\w*|tmpfs|data=journal)\b", re.IGNORECASE
)
_HEADING_LINES, _LONGEST_HEADING = 3, 80
_STOPPED = re.compile(r"^\s*fio: terminating on signal \d")
_SIGNAL = "line {} says that the run was ended by a signal"
_STOPS = (". ", "; ", "! ", "? ")
_LINES_BELOW, _LINES_ABOVE = 5, 10
_LONGEST_LIST = 40
_LONGEST_SENTENCE = 300
_LONGEST_NAMING_LINE = 400
_LONGEST_QUOTE = 80


def quoted_facts(text: str, results: Sequence[FoundResult]) -> tuple[Quoted, ...]:
    """Return the facts in the text around each result. The results must be in line order."""
    numbered = plain_lines(text)
    has_persistent_memory = _PERSISTENT_MEMORY.search(text) is not None
    has_fast_media = has_persistent_memory or _FAST_MEDIA.search(text) is not None
    is_macos = _MACOS.search(text) is not None
    around = [_around(numbered, results, at) for at in range(len(results))]
    sizes = [laid_out_bytes(lines) for lines in around]
    laid_out = {at for at, size in enumerate(sizes) if size is not None}
    dropped = {at for at, lines in enumerate(around) if any(drops_caches(line) for _, line in lines)}
    files = earlier_jobs(results, laid_out, dropped)
    inventory = find_inventory(numbered, results)
    nearest = zip(results, nearest_disks(numbered, results), strict=True)
    disks = [listed_disks(inventory, result, disks) for result, disks in nearest]
    shared = shared_files(around, results)
    has_battery = _KEEPS_DATA.search(text) is not None
    barriers = list(applying([] if has_battery else _without_barriers(numbered), numbered, results))
    limits = list(find_iops_limits(numbered))
    links = list(named_links(numbered, results))
    bases = list(base_results(numbered, results))
    in_memory = list(memory_targets(numbered, results))
    unsynced = list(applying(_sync_settings(numbered), numbered, results))
    return tuple(
        replace(
            quoted,
            laid_out_bytes=size or None,
            memory=_memory([*_above_adjacent(numbered, results, at), *_up_to_heading(lines, result)], result),
            sata_drive=next(_sentences(_ON_SATA, _stated_nearby(lines, result), result), ""),
            buffered=next(_sentences(_BUFFERED, lines, result), ""),
            has_fast_media=has_fast_media,
            has_persistent_memory=has_persistent_memory,
            is_macos=is_macos,
            without_barriers=barriers[at],
            served_without_sync=unsynced[at],
            honours_direct=_names_file_system(numbered, result, result.line - _HEADING_LINES),
            link=links[at],
            bases=bases[at],
            iops_limit=_last_above(limits, result.line),
            hard_disks=named.words if named else "",
            hard_disk_count=named.count if named else 0,
            has_log_device=named.has_log_device if named else False,
            depths=_depths(lines, result),
            memory_heading=conditions.memory,
            memory_target=in_memory[at],
            cached_heading=conditions.cached,
            host_cached=conditions.hosted,
            guest=conditions.guest,
            busy=conditions.busy,
            shared_file_bytes=shared_bytes,
            stopped_by=next((_SIGNAL.format(number) for number, line in lines if _STOPPED.search(line)), ""),
        )
        for at, (result, lines, size, quoted, named, shared_bytes, conditions) in enumerate(
            zip(results, around, sizes, files, disks, shared, conditions_of(numbered, results), strict=True)
        )
    )


def _memory(lines: Sequence[Line], result: FoundResult) -> str:
    """Return a quotation of a sentence that names RAM as the target or as the cache, or an empty string."""
    others = (
        _quotation(number, match, sentence)
        for number, line in lines
        for match, sentence in _said(_MEMORY_IN_OTHER_LANGUAGES, number, line, result)
        if not _NEGATED_IN_OTHER_LANGUAGES.search(sentence)
    )
    return next(chain(_sentences(_MEMORY, lines, result), others), "")


def _without_barriers(numbered: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yield each line with the mount option for barriers, and a quotation, which is empty if barriers are on."""
    for number, line in numbered:
        match = _BARRIERS.search(line) if len(line) <= _LONGEST_NAMING_LINE else None
        if match is not None and not _NEGATED.search(line):
            yield number, _quoted_line(number, line) if match["off"] else ""


def _sync_settings(numbered: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yield each line about ZFS's sync of a server, and a quotation, which is empty if sync is not disabled."""
    for number, line in numbered:
        match = _SYNC_SETTING.search(line) if len(line) <= _LONGEST_NAMING_LINE else None
        if match is not None and _SERVED.search(line) and not _NEGATED.search(line):
            yield number, _quoted_line(number, line) if match["off"] else ""


def _quoted_line(number: int, line: str) -> str:
    return quotation(number, " ".join(line.strip(" #*-").split())[:_LONGEST_QUOTE])


def _names_file_system(numbered: Sequence[Line], result: FoundResult, first: int) -> bool:
    """True if a heading directly above the result names only file systems that honour O_DIRECT, or a raw device."""
    begin, end = (bisect_left(numbered, line, key=itemgetter(0)) for line in (first, result.line))
    words = [line for _, line in numbered[begin:end] if line.rstrip().endswith(":") and len(line) <= _LONGEST_HEADING]
    return bool(words) and _HONOURS_DIRECT.search(words[-1]) is not None and not _MAY_IGNORE_DIRECT.search(words[-1])


def _last_above(limits: Sequence[tuple[int, float, str]], line: int) -> tuple[float, str]:
    """Return the last limit above a line and its quotation. The limits are in line order."""
    at = bisect_left(limits, line, key=itemgetter(0))
    return limits[at - 1][1:] if at else (0.0, "")


def with_foreign(quoted: Quoted, foreign: ForeignResult) -> Quoted:
    """Return the facts, combined with those that the parser for another program's output found."""
    return replace(
        quoted,
        laid_out_bytes=foreign.size_bytes or quoted.laid_out_bytes,
        just_written=foreign.just_written,
        same_file_read=foreign.same_file_read,
        measures_memory=foreign.measures_memory,
        without_flush=foreign.without_flush,
        stopped_by=foreign.stopped_by,
        assumed=foreign.assumed,
    )


def _around(numbered: Sequence[Line], results: Sequence[FoundResult], at: int) -> list[Line]:
    """Return the lines from the end of the previous result to a few lines below the result at index `at`."""
    first = results[at - 1].last_line if at else 0
    last = results[at].last_line + _LINES_BELOW
    if at + 1 < len(results):
        last = min(last, results[at + 1].line - 1)
    begin = bisect_right(numbered, first, key=itemgetter(0))
    return list(numbered[begin : bisect_right(numbered, last, begin, key=itemgetter(0))])


def _above_adjacent(numbered: Sequence[Line], results: Sequence[FoundResult], at: int) -> list[Line]:
    """Return the lines above the list of results that contains the result at index `at`.

    Each result of such a list begins directly below the one before it, or on the same line. A line that introduces the
    list applies to all of its results. Empty for the first result of a list, and for a result that is not in a list.
    """
    first = at
    while first and results[first].line - results[first - 1].last_line in (0, 1) and at - first < _LONGEST_LIST:
        first -= 1
    above = [line for line in _around(numbered, results, first) if line[0] < results[first].line]
    return above if first < at else []


def _up_to_heading(lines: Sequence[Line], result: FoundResult) -> Iterator[Line]:
    """Yield the lines up to the first heading below the result, because a heading is about what follows it."""
    for number, line in lines:
        if number > result.last_line and (words := heading_in(line)) and not _ABOUT_ABOVE.match(words):
            return
        yield number, line


def _stated_nearby(lines: Sequence[Line], result: FoundResult) -> list[Line]:
    """Return the lines below the result, and those directly above it unless they are about results further above."""
    return [
        (number, line)
        for number, line in lines
        if number > result.last_line or (number >= result.line - _LINES_ABOVE and not _ABOUT_ABOVE.match(line))
    ]


def _sentences(pattern: re.Pattern[str], lines: Sequence[Line], result: FoundResult) -> Iterator[str]:
    """Yield each sentence that matches, as a quotation with its line: `line 3 says “…”`.

    Rows of tables are left out, and so are sentences that contain a negation or compare buffered with direct I/O.
    """
    for number, line in lines:
        if _TABLE.search(line):
            continue
        for match, sentence in _said(pattern, number, line, result):
            compares = pattern is _BUFFERED and _DIRECT.search(sentence)
            if not _NEGATED.search(_CONTRAST.sub("", sentence)) and not compares:
                yield _quotation(number, match, sentence)


def _depths(lines: Sequence[Line], result: FoundResult) -> dict[int, str]:
    """Return the queue depths that the author claims, each with its sentence.

    Commands and job files are ignored, and so is fio's header line, even if it is broken over two lines.
    """
    found: dict[int, str] = {}
    above = ""
    for number, line in lines:
        lower = line.lower()
        joined, above = (above + line.strip())[-_LONGEST_SENTENCE:], line.rstrip()[-_LONGEST_SENTENCE:]
        if not ("q" in lower or "depth" in lower) or _COMMAND.search(line) or _ENGINE_AND_DEPTH.search(joined):
            continue
        for match, sentence in _said(_DEPTH, number, line, result):
            if not _NEGATED.search(sentence) and not _ONE_AT_A_TIME.search(sentence):
                found.setdefault(int(match[1] or match[2]), _quotation(number, match, sentence))
    return found


def _said(pattern: re.Pattern[str], number: int, line: str, result: FoundResult) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each match in a line outside the result, together with the sentence that contains the match."""
    if result.line < number <= result.last_line or len(line) > 4 * _LONGEST_SENTENCE:
        return
    for match in pattern.finditer(line):
        start = max(line.rfind(stop, 0, match.start()) for stop in _STOPS) + 1
        ends = [line.find(stop, match.end()) for stop in _STOPS]
        end = min((at for at in ends if at >= 0), default=len(line))
        sentence = " ".join(line[start:end].split())
        if len(sentence) <= _LONGEST_SENTENCE:
            yield match, sentence


def _quotation(number: int, match: re.Match[str], sentence: str) -> str:
    return quotation(number, sentence if len(sentence) <= _LONGEST_QUOTE else match[0])
