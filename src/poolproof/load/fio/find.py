"""Find fio results in any text: logs, Markdown, HTML, mail, chat.

Each result is returned with the nearest matching command or job file, or else with the options that fio printed.
Missing values are None and are never guessed. With `--status-interval`, fio prints several reports of the same run,
each with the values so far, and only the last one is used. The output of separately reported numjobs clones looks
similar, but all clones end at about the same time.
"""

import itertools
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from poolproof.errors import FioError
from poolproof.load.fio.announced_jobs import announced
from poolproof.load.fio.fragments import shows_values, without_lone_latencies
from poolproof.load.fio.job import Job
from poolproof.load.fio.json_output import find_documents
from poolproof.load.fio.pairing import FoundResult, pair
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.fio.source_commands import SourceCommand, source_commands
from poolproof.load.fio.terse import read_terse_line
from poolproof.load.fio.text import find_runs
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_JOB_NAME = re.compile(r'^\s*+"jobname"\s*:')
_DIRECTION = re.compile(r'^\s*+"(?:read|write)"\s*:\s*\{\s*$')
_IO_BYTES = re.compile(r'^\s*+"io_bytes"\s*:')
_OPTION_LINE = re.compile(r'^\s*+(?:"[\w.-]{1,40}"\s*:\s*"[^"]{0,500}",?|\},?)\s*$')
_INSIDE = re.compile(r'"(?:read|write)"\s?:\s?\{\s?"io_bytes"\s?:')
_REPR_KEY = re.compile(r"'(?:fio version|jobname|io_bytes)'\s?:")
_REPR_TOKEN = re.compile(r"""("(?:[^"\\]|\\.){0,999}")|'((?:[^'\\]|\\.){0,999})'|\b(None|True|False)\b""")
_REPR_OPEN = re.compile(r"[{,:\[] ?'\w[\w .%>=-]{0,40}$")
_REPR_REST = re.compile(r"^[\w .%>=-]{0,40}'(?: ?[:,}\]]|$)")
_REPR_WORDS = {"None": "null", "True": "true", "False": "false"}
_VERSION = re.compile(r'^\s*+"fio version"\s?:')
_JOBS = re.compile(r'^\s*+"jobs"\s?:\s?\[\s*+$')
_TIME = re.compile(r'^\s*+"time(?:stamp(?:_ms)?)?"\s?:')
_START = '{"fio version" : "", "jobs" : [ '
LARGEST_PLAIN_TEXT_BYTES = 2 << 20
"""The maximum size of text outside fio's JSON documents: searching it for results takes seconds per MiB."""

MOST_RESULTS = 10_000
"""The maximum number of results in a text. Judging one takes milliseconds."""

_SPLIT = "split it into one file per result"
_SAME_BYTES = 0.01
_GROWTH = 1.05  # the least growth of the run time from the first report to the last


def find_results(text: str, job_files: Sequence[SourceCommand] = ()) -> tuple[FoundResult, ...]:
    """Return all fio results in line order. If a run appears in several formats, only the most detailed one is kept.

    `job_files`: job files outside the text that may have produced the results, in the order of their lines.

    Raises a FioError if the text contains more than 10,000 JSON documents, or more than 2 MiB of other text.
    """
    alone = _lone_document(text)
    if alone is not None:
        return pair((alone,), job_files) if job_files else (alone,)
    numbered = plain_lines(text)
    documents, rest = _documents(numbered)
    if sum(len(line) + 1 for _, line in rest) > LARGEST_PLAIN_TEXT_BYTES:
        raise FioError("it contains more than 2 MiB of text outside fio's JSON", _SPLIT)
    terse, rest = _terse(rest)
    found = _with_others(_with_others(documents, terse), _texts(rest))
    found.sort(key=lambda item: (item.line, item.last_line))
    return pair(found, [*job_files, *source_commands(numbered)])


def _lone_document(text: str) -> FoundResult | None:
    """Return the result if the entire input is one JSON document, as is usual for files. Otherwise, return None."""
    if not text.lstrip().startswith("{"):
        return None
    documents = find_documents(text)
    if len(documents) != 1:
        return None
    start, end = documents[0].start, documents[0].end
    if text[:start].strip() or text[end:].strip():
        return None
    first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    return _with_part_lines(_found_document(documents[0].result, first, last), list(enumerate(text.split("\n"), 1)))


def _with_part_lines(found: FoundResult, numbered: Iterable[Line]) -> FoundResult:
    """Return the result with the line of each job's name added, if the jobs form several groups.

    If two names are on the same line, as in JSON without line breaks, no lines are added.
    """
    if len({part.group for part in found.result.parts}) < 2:
        return found
    lines = [number for number, line in numbered if _JOB_NAME.match(line)]
    return replace(found, part_lines=tuple(lines)) if len(lines) == len(found.result.parts) else found


def _found_document(result: Outcome, line: int, last_line: int, *, is_cut_off: bool = False) -> FoundResult:
    """Return a JSON result with the jobs whose options it contains. The numjobs clones of a job count as one job."""
    printed = dict.fromkeys((job.name, tuple(job.options.items())) for job in result.parts if job.options)
    jobs = tuple(_cached_job(*job) for job in printed)
    made = SourceCommand(jobs, "printed options", line) if printed else None
    return FoundResult(replace(result, notes=()), line, last_line, "json", made, is_cut_off)


@lru_cache(maxsize=1024)
def _cached_job(name: str, options: tuple[tuple[str, str], ...]) -> Job:
    """Return the same Job object for equal options, so that thousands of files share its cached properties."""
    return Job(name, dict(options))


def _documents(numbered: Sequence[Line]) -> tuple[list[FoundResult], Sequence[Line]]:
    numbered = _with_start(_without_repr(numbered))
    text = "\n".join(line for _, line in numbered)
    if '"fio version"' not in text:
        return [], numbered
    starts = [0]
    for _, line in numbered:
        starts.append(starts[-1] + len(line) + 1)
    found: list[FoundResult] = []
    inside: set[int] = set()
    for document in find_documents(text, include_cut_off=True):
        first = bisect_right(starts, document.start) - 1
        last = min(bisect_right(starts, max(document.start, document.end - 1)), len(numbered)) - 1
        inside.update(range(first, last + 1))
        if len(found) >= MOST_RESULTS:
            raise FioError(f"it contains more than {MOST_RESULTS:,} results", _SPLIT)
        if found and _is_interim(found[-1].result, document.result):
            found.pop()
        lines = numbered[first][0], numbered[last][0]
        result = _found_document(document.result, *lines, is_cut_off=document.is_cut_off)
        found.append(_with_part_lines(result, numbered[first : last + 1]))
    return found, [line for at, line in enumerate(numbered) if at not in inside]


def _without_repr(numbered: Sequence[Line]) -> Sequence[Line]:
    """Return the lines, with JSON in place of the representation of a document that Python prints (`{'jobs': [`)."""
    if not any("'" in line and _REPR_KEY.search(line) for _, line in numbered):
        return numbered
    numbered = _with_broken_keys_joined(numbered)
    return [(number, _REPR_TOKEN.sub(_json_token, line) if "': " in line else line) for number, line in numbered]


def _with_broken_keys_joined(numbered: Sequence[Line]) -> Sequence[Line]:
    """Return the lines, without the line breaks inside quoted words, such as those that a log adds after N characters.

    The second line becomes empty, so that the other lines keep their numbers.
    """
    joined = list(numbered)
    for at, ((number, line), (below, rest)) in enumerate(itertools.pairwise(numbered)):
        is_open = "': " in line and _REPR_OPEN.search(_REPR_TOKEN.sub("", line)) is not None
        if is_open and _REPR_REST.match(rest):
            joined[at : at + 2] = [(number, line + rest), (below, "")]
    return joined


def _json_token(match: re.Match[str]) -> str:
    if match[1] or match[3]:
        return match[1] or _REPR_WORDS[match[3]]
    return json.dumps(match[2].replace("\\'", "'").replace("\\\\", "\\"))


def _with_start(numbered: Sequence[Line]) -> Sequence[Line]:
    """Return the lines, with the missing beginning of a JSON document added if it was cut off.

    The document may have been cut off before the first job or inside it, at one of its options or at the values of a
    direction.
    """
    if any('"fio version"' in line for _, line in numbered):
        return _with_brace(numbered)
    for at, (number, line) in enumerate(numbered):
        if '"' not in line:
            continue
        before = numbered[at - 1] if at and _JOB_NAME.match(line) else None
        if before is not None and before[1].strip() == "{":
            above = [text for _, text in numbered[: at - 1]]
            below = numbered[at:] if _has_no_global_options(above) else _with_cut_options(numbered[at:])
            return [*numbered[: at - 1], (before[0], _START + before[1].strip()), *below]
        if inside := _INSIDE.search(line):
            return [
                *numbered[:at],
                (number, f'{_START}{{"jobname" : "", {line[inside.start() :]}'),
                *numbered[at + 1 :],
            ]
        if _DIRECTION.match(line) and at + 1 < len(numbered) and _IO_BYTES.match(numbered[at + 1][1]):
            first = at
            while first and _OPTION_LINE.match(numbered[first - 1][1]):
                first -= 1
            number, text = numbered[first]
            start = f'{_START}{{"jobname" : "", ' + ('"cut options" : {' if first < at else "")
            return [*numbered[:first], (number, f"{start}{text.strip()}"), *numbered[first + 1 :]]
    return numbered


def _with_brace(numbered: Sequence[Line]) -> Sequence[Line]:
    """Return the lines, with a brace before fio's version if the first line of a document is missing."""
    before = ""
    for at, (number, line) in enumerate(numbered):
        if _VERSION.match(line) and not before.endswith("{"):
            return [*numbered[:at], (number, f"{{{line.strip()}"), *numbered[at + 1 :]]
        before = line.strip() or before
    return numbered


def _has_no_global_options(above: Sequence[str]) -> bool:
    """True if the lines above the first job show that fio printed no global options there."""
    shown = [line for line in above if line.strip()]
    return len(shown) > 1 and _JOBS.match(shown[-1]) is not None and _TIME.match(shown[-2]) is not None


def _with_cut_options(numbered: Iterable[Line]) -> list[Line]:
    """Return the lines with another name for `job options`, which are incomplete without the global options."""
    return [(number, line.replace('"job options"', '"cut options"')) for number, line in numbered]


def _terse(numbered: Sequence[Line]) -> tuple[list[FoundResult], Sequence[Line]]:
    """Return the terse results and the remaining lines. Results with only blank lines between them are merged."""
    found: list[FoundResult] = []
    rest: list[Line] = []
    follows = False
    for number, line in numbered:
        result = read_terse_line(line) if ";" in line else None
        is_cut_off = result is not None and result.parts[0].user_cpu_percent is None
        if result is None:
            rest.append((number, line))
            follows = follows and not (line.strip() and number > found[-1].last_line)
        elif follows:
            before = found[-1].result
            parts = replace(before, parts=before.parts + result.parts)
            found[-1] = replace(found[-1], result=parts, last_line=number, is_cut_off=is_cut_off)
        else:
            found.append(FoundResult(result, number, number, "terse", is_cut_off=is_cut_off))
        follows = follows or result is not None
    return [replace(each, result=replace(each.result, parts=_last_reports(each.result.parts))) for each in found], rest


def _texts(numbered: Sequence[Line]) -> list[FoundResult]:
    """Return the results in fio's normal output, keeping only the last report of each run."""
    found: list[FoundResult] = []
    pids: tuple[str, ...] = ()
    for run in find_runs(numbered):
        if not shows_values(run.result):
            continue
        line, made = run.first_line, announced(run.headers, run.result, run.first_line)
        if found and not run.headers and run.pids and run.pids == pids and _has_grown(found[-1].result, run.result):
            before = found.pop()
            line, made = before.line, before.made
        pids = run.pids
        found.append(FoundResult(run.result, line, run.last_line, "text", made, part_lines=run.part_lines))
    return found


def without_repeats(found: Sequence[FoundResult]) -> list[FoundResult]:
    """Return the results without single rate lines that repeat the line of a longer result.

    If only such a line shows the IOPS, they are added to the longer result. Latencies and samples that are not next to
    their rate are left out, too.
    """
    found = without_lone_latencies(found)
    longer = [each for each in found if each.last_line > each.line]
    kept: list[FoundResult] = []
    added: dict[int, Outcome] = {}
    for each in found:
        whole = None
        if each.line == each.last_line and each.format == "text" and [part.name for part in each.result.parts] == [""]:
            values = each.result.parts[0].directions
            whole = next((other for other in longer if values and _with_line(other.result, values)), None)
        if whole is None:
            kept.append(each)
        else:
            added[id(whole)] = _with_line(added.get(id(whole), whole.result), values) or whole.result
    return [replace(each, result=added.get(id(each), each.result)) for each in kept]


def _with_line(result: Outcome, values: Mapping[str, Direction]) -> Outcome | None:
    """Return the result with the IOPS of a rate line, or None if the result does not have the line's values."""
    for at, part in enumerate(result.parts):
        own, totals = part.directions, result.groups.get(part.group, {})
        if all(name in own and _repeats(own[name], totals.get(name), line) for name, line in values.items()):
            known: dict[str, Any] = {
                name: replace(own[name], iops=own[name].iops or line.iops) for name, line in values.items()
            }
            return replace(result, parts=(*result.parts[:at], replace(part, **known), *result.parts[at + 1 :]))
    return None


def _repeats(mine: Direction, total: Direction | None, line: Direction) -> bool:
    """True if the line has the values of a direction, or those of its group's total if the direction has none."""
    whole = total if total and mine.io_bytes is None else mine
    same_iops = None in (mine.iops, line.iops) or mine.iops == line.iops
    same_size = line.io_bytes is not None and whole.io_bytes == line.io_bytes
    return same_iops and same_size and line.runtime_ms is not None and whole.runtime_ms == line.runtime_ms


def _with_others(known: Sequence[FoundResult], others: Iterable[FoundResult]) -> list[FoundResult]:
    """Return the known results and the others. Those that repeat a known result add only their lines and jobs to it."""
    found = list(known)
    for other in others:
        at = next((at for at, each in enumerate(known) if _is_same_run(other.result, each.result)), None)
        if at is None:
            found.append(other)
        else:
            repeats = (*found[at].repeats, *other.spans)
            found[at] = replace(found[at], made=found[at].made or other.made, repeats=repeats)
    return found


def _is_same_run(result: Outcome, other: Outcome) -> bool:
    return _same_names(result.parts, other.parts) and all(
        _is_same_direction(mine, theirs)
        for part, counterpart in zip(result.parts, other.parts, strict=True)
        for mine, theirs in zip(_compared(part), _compared(counterpart), strict=True)
    )


def _compared(part: PartOutcome) -> tuple[Direction | None, ...]:
    """Return the part's reads, writes and trims, for comparison with another part. `mixed` replaces missing reads."""
    return part.read or part.mixed, part.write, part.trim


def _is_same_direction(mine: Direction | None, theirs: Direction | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    if mine.runtime_ms != theirs.runtime_ms or mine.io_bytes is None or theirs.io_bytes is None:
        return False
    return abs(mine.io_bytes - theirs.io_bytes) <= _SAME_BYTES * theirs.io_bytes


def _same_names(before: Sequence[PartOutcome], after: Sequence[PartOutcome]) -> bool:
    return [part.name for part in before] == [part.name for part in after]


def _is_interim(before: Outcome, after: Outcome) -> bool:
    """True if the timestamps show that `before` is an interim report of the run reported in `after`."""
    if not _same_names(before.parts, after.parts) or before.timestamp_ms is None or after.timestamp_ms is None:
        return False
    return 0 <= after.timestamp_ms - before.timestamp_ms < max((part.longest_ms for part in after.parts), default=0)


def _has_grown(before: Outcome, after: Outcome) -> bool:
    """True if every part ran longer in `after`, so that the same process may have printed both reports."""
    return _same_names(before.parts, after.parts) and all(map(_has_continued, before.parts, after.parts))


def _last_reports(parts: Sequence[PartOutcome]) -> tuple[PartOutcome, ...]:
    """Return the last report of each part if the parts are successive reports of one run, and otherwise all parts."""
    for width in range(1, len(parts) // 2 + 1):
        if len(parts) % width == 0 and _are_reports(parts, width):
            return tuple(parts[-width:])
    return tuple(parts)


def _are_reports(parts: Sequence[PartOutcome], width: int) -> bool:
    """True if the parts are successive reports of a run, each consisting of `width` parts.

    Every part must have run clearly longer in the last report than in the first. A smaller difference can also occur
    between numjobs clones.
    """
    return all(
        (before.name, before.group, before.clones) == (after.name, after.group, after.clones)
        and _has_continued(before, after)
        for before, after in zip(parts, parts[width:], strict=False)
    ) and all(last.longest_ms >= _GROWTH * first.longest_ms for first, last in zip(parts, parts[-width:], strict=False))


def _has_continued(before: PartOutcome, after: PartOutcome) -> bool:
    """True if `after` continues `before`: each direction has a longer runtime and at least as many bytes."""
    begun = before.directions
    return bool(begun) and all(
        name in after.directions and _is_later(early, after.directions[name]) for name, early in begun.items()
    )


def _is_later(early: Direction, late: Direction) -> bool:
    if early.runtime_ms is None or late.runtime_ms is None or early.io_bytes is None or late.io_bytes is None:
        return False
    return early.runtime_ms < late.runtime_ms and early.io_bytes <= late.io_bytes
