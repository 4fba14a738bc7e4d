"""fio results and commands inside any text: logs, Markdown, HTML, mail, chat.

Each result comes with the command or job that made it, where that is there: its own printed options, or the nearest
command or job file above that fits it. Nothing is guessed: a figure that is not in the text is None, and a result
whose job is not there has none.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from poolproof.fio.commandline import Command, read_command
from poolproof.fio.figures import Direction, FioResult, JobResult
from poolproof.fio.job import Job, JobFile
from poolproof.fio.job_draft import ALL_NAMES
from poolproof.fio.jobfile import read_job_file
from poolproof.fio.json_output import find_documents
from poolproof.fio.plain_lines import plain_lines
from poolproof.fio.terse import read_terse_line
from poolproof.fio.text import find_runs
from poolproof.fio.text_lines import HeaderLine

Format = Literal["json", "terse", "text"]
Origin = Literal["command", "job file", "printed options", "header"]

_FIO_WORD = re.compile(r"\bfio\b|fio[-_.]?\d")
_OPTION_OR_FILE = re.compile(r"\s-{1,2}[a-zA-Z]|\.(?:fio|job|ini)\b")
_INLINE = re.compile(r"`([^`]*\bfio[^`]*)`")
_SECTION = re.compile(r"^\s*\[[^\[\]]+\]\s*(?:[;#].*)?$")
_SETTING = re.compile(r"^\s*([a-z][\w-]*)\s*(?:=.*)?$")
_TELLING = frozenset({"rw", "readwrite", "ioengine", "bs", "blocksize", "filename", "directory", "size", "iodepth"})
_TELLING_PLACE = frozenset({"filename", "directory", "size", "runtime", "numjobs"})
_JOB_FILE_NAME = re.compile(r"\.(?:fio|job|ini|cfg|conf|txt)$")
_WRAPPED = re.compile(r"^\s*--[a-z]")
_MOST_CONTINUED = 60
_LONGEST_COMMAND = 20_000
_SAME_BYTES = 0.01

Lines = Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Made:
    """What made a result: its jobs, the source they were read from and its line.

    `header` knows direction, block size, engine and depth only; `printed options` lack switches without a value.
    """

    jobs: JobFile
    origin: Origin
    line: int
    text: str = ""


@dataclass(frozen=True)
class Found:
    """A result, where it stands (lines from 1, both included), how it was written, and what made it."""

    result: FioResult
    line: int
    last_line: int
    format: Format
    made: Made | None = None
    is_cut_off: bool = False


def find_results(text: str) -> tuple[Found, ...]:
    """Every fio result in the text, in order of lines.

    A run printed in several formats counts once, as JSON; of the reports of `--status-interval` the last one counts.
    """
    alone = _lone_document(text)
    if alone is not None:
        return (alone,)
    numbered = plain_lines(text)
    documents, rest = _documents(numbered)
    terse, rest = _terse(rest)
    runs = [
        (Found(run.result, run.first_line, run.last_line, "text"), _header_jobs(run.headers, run.result))
        for run in find_runs(rest)
    ]
    makers = _makers(numbered)
    found = [_with_maker(result, makers, None) for result in documents]
    found += [_with_maker(result, makers, None) for result in _not_among(terse, documents)]
    known = documents + terse
    found += [_with_maker(result, makers, header) for result, header in runs if not _is_among(result, known)]
    return tuple(sorted(found, key=lambda item: (item.line, item.last_line)))


def find_commands(text: str) -> tuple[Command, ...]:
    """Every call of fio in the text that has jobs or job files, in order; also those in shell scripts and prose."""
    return tuple(_commands(plain_lines(text)))


def find_job_files(text: str) -> tuple[Made, ...]:
    """Every job file in the text, in order."""
    return tuple(_job_files(plain_lines(text)))


def _lone_document(text: str) -> Found | None:
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
    return Found(result, first, last, "json", _printed_options(result, first))


def _documents(numbered: Lines) -> tuple[list[Found], Lines]:
    """JSON documents, and the lines outside them."""
    text = "\n".join(line for _, line in numbered)
    if '"fio version"' not in text:
        return [], numbered
    starts = _line_starts(numbered)
    found: list[Found] = []
    inside: set[int] = set()
    for document in find_documents(text, mend_cut_off=True):
        first, last = _line_at(starts, document.start), _line_at(starts, max(document.start, document.end - 1))
        inside.update(range(first, last + 1))
        places = numbered[first][0], numbered[last][0]
        result = replace(document.result, notes=())
        if found and _is_interim(found[-1].result, result):
            found.pop()
        found.append(Found(result, *places, "json", _printed_options(result, places[0]), document.is_cut_off))
    return found, [line for place, line in enumerate(numbered) if place not in inside]


def _is_interim(before: FioResult, after: FioResult) -> bool:
    """`before` is a `--status-interval` report of the run that `after` ends: that run began before it was printed."""
    if [job.name for job in before.jobs] != [job.name for job in after.jobs]:
        return False
    if before.timestamp_ms is None or after.timestamp_ms is None:
        return False
    runtimes = [direction.runtime_ms or 0 for job in after.jobs for direction in _directions(job) if direction]
    return 0 <= after.timestamp_ms - before.timestamp_ms < max(runtimes, default=0)


def _line_starts(numbered: Lines) -> list[int]:
    starts, place = [], 0
    for _, line in numbered:
        starts.append(place)
        place += len(line) + 1
    return starts


def _line_at(starts: Sequence[int], character: int) -> int:
    return max(0, bisect_right(starts, character) - 1)


def _terse(numbered: Lines) -> tuple[list[Found], Lines]:
    """Terse lines, those that follow each other as one result, and the other lines."""
    found: list[Found] = []
    rest: list[tuple[int, str]] = []
    for number, line in numbered:
        result = read_terse_line(line) if ";" in line else None
        if result is None:
            rest.append((number, line))
        elif found and number - found[-1].last_line <= 1:
            jobs = (*found[-1].result.jobs, *result.jobs)
            found[-1] = replace(found[-1], result=replace(found[-1].result, jobs=jobs), last_line=number)
        else:
            found.append(Found(result, number, number, "terse"))
    return found, rest


def _not_among(results: Iterable[Found], known: Sequence[Found]) -> list[Found]:
    return [result for result in results if not _is_among(result, known)]


def _is_among(result: Found, known: Sequence[Found]) -> bool:
    """The same run is there in a fuller format: same names, same runtimes, bytes equal as far as they are printed."""
    return any(_is_same_run(result.result, other.result) for other in known)


def _is_same_run(result: FioResult, other: FioResult) -> bool:
    if [job.name for job in result.jobs] != [job.name for job in other.jobs]:
        return False
    return all(
        _is_same_direction(mine, theirs)
        for job, counterpart in zip(result.jobs, other.jobs, strict=True)
        for mine, theirs in zip(_directions(job), _directions(counterpart), strict=True)
    )


def _is_same_direction(mine: Direction | None, theirs: Direction | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs or not (mine or theirs)
    if mine.runtime_ms != theirs.runtime_ms or mine.io_bytes is None or theirs.io_bytes is None:
        return False
    return abs(mine.io_bytes - theirs.io_bytes) <= _SAME_BYTES * theirs.io_bytes


def _directions(job: JobResult) -> tuple[Direction | None, ...]:
    return job.read, job.write, job.trim


def _printed_options(result: FioResult, line: int) -> Made | None:
    """The jobs as JSON lists their options; clones of one job are one job."""
    jobs = dict.fromkeys((job.name, tuple(job.options.items())) for job in result.jobs if job.options)
    return Made(JobFile(tuple(_same_job_again(*job) for job in jobs)), "printed options", line) if jobs else None


@lru_cache(maxsize=1024)
def _same_job_again(name: str, options: tuple[tuple[str, str], ...]) -> Job:
    """One job for all results that print it: what a job keeps of its own arithmetic is kept for thousands of files."""
    return Job(name, dict(options))


def _header_jobs(headers: Sequence[HeaderLine], result: FioResult) -> Made | None:
    """The jobs as fio announced them, with the number of clones that their blocks tell."""
    clones: Mapping[str, int] = {job.name: job.jobs for job in result.jobs}
    jobs = tuple(
        Job(header.name, {**header.options, "numjobs": str(clones[header.name])})
        if header.name in clones
        else Job(header.name, header.options)
        for header in headers
    )
    return Made(JobFile(jobs), "header", 0) if jobs else None


def _makers(numbered: Lines) -> list[Made]:
    """Commands with jobs, and job files, in order of lines."""
    commands = [
        Made(command.jobs, "command", command.line, command.text)
        for command in _commands(numbered)
        if command.jobs.jobs
    ]
    return sorted([*commands, *_job_files(numbered)], key=lambda made: made.line)


def _with_maker(found: Found, makers: Sequence[Made], header: Made | None) -> Found:
    """The nearest maker above that fits; else what the result itself prints of its jobs."""
    own = found.made or (replace(header, line=found.line) if header else None)
    above = (made for made in reversed(makers) if made.line <= found.line)
    fitting = next((made for made in above if _fits(found.result, made.jobs, own)), None)
    return replace(found, made=fitting or own)


def _fits(result: FioResult, jobs: JobFile, own: Made | None) -> bool:
    """Nothing that the result tells contradicts the jobs."""
    names = {job.name for job in jobs.jobs}
    told = [job for job in result.jobs if job.name and not job.name.startswith("group ")]
    if any(job.name not in names for job in told):
        return False
    if any(job.jobs > 1 and not _has_clones(jobs, job.jobs) for job in told):
        return False
    return _fits_directions(result, jobs) and (own is None or _agrees(own.jobs, jobs))


def _has_clones(jobs: JobFile, clones: int) -> bool:
    """The jobs, or a group of them, have that many clones."""
    return clones in (jobs.numjobs, *(job.numjobs for job in jobs.jobs)) or any(
        "$" in (job.text("numjobs") or "") for job in jobs.jobs
    )


def _fits_directions(result: FioResult, jobs: JobFile) -> bool:
    if any("$" in (job.text("rw") or "") for job in jobs.jobs):
        return True
    reads = any(job.read is not None for job in result.jobs)
    writes = any(job.write is not None for job in result.jobs)
    syncs = any(job.sync is not None for job in result.jobs)
    return (jobs.reads or not reads) and (jobs.writes or not (writes or syncs))


def _agrees(own: JobFile, jobs: JobFile) -> bool:
    """What the result prints of a job is what the job of that name says."""
    by_name = {job.name: job for job in jobs.jobs}
    return all(_same_job(job, by_name[job.name]) for job in own.jobs if job.name in by_name)


def _same_job(printed: Job, given: Job) -> bool:
    if any("$" in value for value in given.options.values()):
        return True
    if any(
        printed.options.get(name, value) != value for name, value in given.options.items() if name in _TELLING_PLACE
    ):
        return False
    same = printed.rw == given.rw and printed.engine == given.engine and printed.iodepth == given.iodepth
    return same and ("bs" not in printed.options or printed.bs_bytes == given.bs_bytes)


def _commands(numbered: Lines) -> Iterator[Command]:
    place = 0
    while place < len(numbered):
        number, last = numbered[place][0], place
        while last + 1 < len(numbered) and last - place < _MOST_CONTINUED and _goes_on(numbered, place, last):
            last += 1
        joined = "\n".join(text for _, text in numbered[place : last + 1])
        if len(joined) <= _LONGEST_COMMAND and _FIO_WORD.search(joined) and _OPTION_OR_FILE.search(joined):
            for command in _commands_in(joined, number):
                yield replace(command, last_line=numbered[last][0])
        place = last + 1


def _goes_on(numbered: Lines, first: int, last: int) -> bool:
    """A backslash ends the line, or a command of fio was wrapped and the next line starts with an option."""
    if numbered[last][1].rstrip().endswith("\\"):
        return True
    return _FIO_WORD.search(numbered[first][1]) is not None and _WRAPPED.match(numbered[last + 1][1]) is not None


def _commands_in(text: str, line: int) -> Iterator[Command]:
    """Commands of one logical line: in backquotes, or the whole line."""
    inline = [command for span in _INLINE.findall(text) if (command := read_command(span, line)) is not None]
    whole = [] if inline else [read_command(text, line)]
    for command in (*inline, *whole):
        if command is not None and (command.jobs.jobs or _names_job_files(command)):
            yield command


def _names_job_files(command: Command) -> bool:
    return bool(command.files) and all(_JOB_FILE_NAME.search(name) for name in command.files)


def _job_files(numbered: Lines) -> Iterator[Made]:
    place = 0
    while place < len(numbered):
        last, is_job_file = _settings_end(numbered, place)
        if not is_job_file:
            place = last
            continue
        text = "\n".join(line for _, line in numbered[place:last])
        read = read_job_file(text, first_line=numbered[place][0])
        if read.jobs.jobs:
            yield Made(read.jobs, "job file", numbered[place][0], text)
        place = last


def _settings_end(numbered: Lines, place: int) -> tuple[int, bool]:
    """Where the sections that start at `place` end, at least one line on, and whether they are fio's."""
    if not _SECTION.match(numbered[place][1]):
        return place + 1, False
    settings: set[str] = set()
    last = place + 1
    for index in range(place, len(numbered)):
        line = numbered[index][1]
        setting = _SETTING.match(line)
        if setting is not None and setting[1] in ALL_NAMES:
            settings.add(setting[1])
        elif line.strip() and not _SECTION.match(line) and line.lstrip()[0] not in "#;":
            break
        if line.strip():
            last = index + 1
    return last, len(settings) >= 2 and bool(settings & _TELLING)
