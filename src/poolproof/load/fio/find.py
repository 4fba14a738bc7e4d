"""fio results and commands inside any text: logs, Markdown, HTML, mail, chat.

Each result comes with the command or job that made it, where that is there: its own printed options, or the nearest
command or job file above that fits it. Nothing is guessed: a figure that is not in the text is None, and a result
whose job is not there has none.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from poolproof.load.fio.directions import in_its_directions
from poolproof.load.fio.interim import has_grown, is_interim, last_reports
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.json_output import find_documents
from poolproof.load.fio.makers import Lines, SourceCommand, makers_in
from poolproof.load.fio.pairing import Printed, pair
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.fio.terse import read_terse_line
from poolproof.load.fio.text import find_runs
from poolproof.load.fio.text_lines import HeaderLine
from poolproof.load.outcome import Direction, Outcome, PartOutcome

Format = Literal["json", "terse", "text"]

_SAME_BYTES = 0.01


@dataclass(frozen=True)
class FoundResult:
    """A result, where it stands (lines from 1, both included), how it was written, and what made it.

    `is_assumed`: another command in the text could have made it as well, or the command stands below.
    """

    result: Outcome
    line: int
    last_line: int
    format: Format
    made: SourceCommand | None = None
    is_cut_off: bool = False
    is_assumed: bool = False


def find_results(text: str) -> tuple[FoundResult, ...]:
    """Every fio result in the text, in order of lines.

    A run printed in several formats counts once, as JSON; of the reports of `--status-interval` the last one counts.
    """
    alone = _lone_document(text)
    if alone is not None:
        return (alone,)
    numbered = plain_lines(text)
    documents, rest = _documents(numbered)
    terse, rest = _terse(rest)
    known = documents + terse
    found = documents + _not_among(terse, documents) + _not_among(_texts(rest), known)
    found.sort(key=lambda item: (item.line, item.last_line))
    return tuple(_with_makers(found, makers_in(numbered)))


def _lone_document(text: str) -> FoundResult | None:
    """The result of a text that is one whole JSON document and nothing else, as most files of results are."""
    if not text.lstrip().startswith("{"):
        return None
    documents = list(find_documents(text))
    if len(documents) != 1 or documents[0].is_cut_off:
        return None
    start, end = documents[0].start, documents[0].end
    if text[:start].strip() or text[end:].strip():
        return None
    first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    result = replace(documents[0].result, notes=())
    return FoundResult(result, first, last, "json", _printed_options(result, first))


def _documents(numbered: Lines) -> tuple[list[FoundResult], Lines]:
    """JSON documents, and the lines outside them."""
    text = "\n".join(line for _, line in numbered)
    if '"fio version"' not in text:
        return [], numbered
    starts = _line_starts(numbered)
    found: list[FoundResult] = []
    inside: set[int] = set()
    for document in find_documents(text, mend_cut_off=True):
        first, last = _line_at(starts, document.start), _line_at(starts, max(document.start, document.end - 1))
        inside.update(range(first, last + 1))
        places = numbered[first][0], numbered[last][0]
        result = replace(document.result, notes=())
        if found and is_interim(found[-1].result, result):
            found.pop()
        found.append(FoundResult(result, *places, "json", _printed_options(result, places[0]), document.is_cut_off))
    return found, [line for place, line in enumerate(numbered) if place not in inside]


def _line_starts(numbered: Lines) -> list[int]:
    starts, place = [], 0
    for _, line in numbered:
        starts.append(place)
        place += len(line) + 1
    return starts


def _line_at(starts: Sequence[int], character: int) -> int:
    return max(0, bisect_right(starts, character) - 1)


def _terse(numbered: Lines) -> tuple[list[FoundResult], Lines]:
    """Terse lines, those that follow each other as one result, and the other lines."""
    found: list[FoundResult] = []
    rest: list[tuple[int, str]] = []
    for number, line in numbered:
        result = read_terse_line(line) if ";" in line else None
        if result is None:
            rest.append((number, line))
        elif found and not any(text.strip() for line, text in rest if line > found[-1].last_line):
            jobs = (*found[-1].result.parts, *result.parts)
            found[-1] = replace(found[-1], result=replace(found[-1].result, parts=jobs), last_line=number)
        else:
            found.append(FoundResult(result, number, number, "terse"))
    return [replace(each, result=_as_ended(each.result)) for each in found], rest


def _as_ended(result: Outcome) -> Outcome:
    return replace(result, parts=last_reports(result.parts))


def _texts(numbered: Lines) -> list[FoundResult]:
    """Normal output; of the reports of one run the last one, which begins where the first does."""
    found: list[FoundResult] = []
    pids: tuple[str, ...] = ()
    for run in find_runs(numbered):
        line = run.first_line
        if found and not run.headers and run.pids and run.pids == pids and has_grown(found[-1].result, run.result):
            before = found.pop()
            made, line = before.made, before.line
        else:
            made, pids = _header_jobs(run.headers, run.result, line), run.pids
        found.append(FoundResult(run.result, line, run.last_line, "text", made))
    return found


def _not_among(results: Iterable[FoundResult], known: Sequence[FoundResult]) -> list[FoundResult]:
    return [result for result in results if not _is_among(result, known)]


def _is_among(result: FoundResult, known: Sequence[FoundResult]) -> bool:
    """The same run is there in a fuller format: same names, same runtimes, bytes equal as far as they are printed."""
    return any(_is_same_run(result.result, other.result) for other in known)


def _is_same_run(result: Outcome, other: Outcome) -> bool:
    if [job.name for job in result.parts] != [job.name for job in other.parts]:
        return False
    return all(
        _is_same_direction(mine, theirs)
        for job, counterpart in zip(result.parts, other.parts, strict=True)
        for mine, theirs in zip(_directions(job), _directions(counterpart), strict=True)
    )


def _is_same_direction(mine: Direction | None, theirs: Direction | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs or not (mine or theirs)
    if mine.runtime_ms != theirs.runtime_ms or mine.io_bytes is None or theirs.io_bytes is None:
        return False
    return abs(mine.io_bytes - theirs.io_bytes) <= _SAME_BYTES * theirs.io_bytes


def _directions(job: PartOutcome) -> tuple[Direction | None, ...]:
    """What is compared: a terse line calls reads what JSON calls mixed."""
    return job.read or job.mixed, job.write, job.trim


def _printed_options(result: Outcome, line: int) -> SourceCommand | None:
    """The jobs as JSON lists their options; clones of one job are one job."""
    jobs = dict.fromkeys((job.name, tuple(job.options.items())) for job in result.parts if job.options)
    return (
        SourceCommand(JobFile(tuple(_same_job_again(*job) for job in jobs)), "printed options", line) if jobs else None
    )


@lru_cache(maxsize=1024)
def _same_job_again(name: str, options: tuple[tuple[str, str], ...]) -> Job:
    """One job for all results that print it: what a job keeps of its own arithmetic is kept for thousands of files."""
    return Job(name, dict(options))


def _header_jobs(headers: Sequence[HeaderLine], result: Outcome, line: int) -> SourceCommand | None:
    """The jobs as fio announced them, with the number of clones that their blocks tell."""
    clones = Counter[str]()
    for job in result.parts:
        clones[job.name] += job.clones
    jobs = tuple(
        Job(header.name, {**header.options, "numjobs": str(clones[header.name])})
        if header.name in clones
        else Job(header.name, header.options)
        for header in headers
    )
    return SourceCommand(JobFile(jobs), "header", line) if jobs else None


def _with_makers(found: Sequence[FoundResult], makers: Sequence[SourceCommand]) -> Iterator[FoundResult]:
    """Each result with the command or job file that made it; else with what it prints of its jobs itself."""
    printed = [Printed(each.result, each.line, each.last_line, each.made) for each in found]
    for each, choice in zip(found, pair(printed, makers), strict=True):
        made = choice.made or each.made
        result = in_its_directions(each.result, made.jobs) if made else each.result
        yield replace(each, result=result, made=made, is_assumed=choice.is_assumed)
