"""What the host's fio itself says against the values of jobs (`fio --parse-only`): nothing is opened, made or run.

fio stops at the first job that it drops, so it is asked again without the options that it refused there, and of each of
them alone for the words that it would take. Its words, of fio 3.33: `fio: failed parsing sync=zoo` and `fio: job a
dropped` on standard error, the words that it would take on standard output; `Bad option <quantum=1>` for an option that
it does not have; a number beyond its bounds that fio only passes over (`iodepth=-4`) is told without them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from poolproof.hosts.base import Host
from poolproof.load.fio.job import Job
from poolproof.process import Completed

_LIMIT_S = 20.0
_MOST_ASKED = 10
_MOST_JOBS = 200
_FAILED = re.compile(r"^fio: failed parsing (?P<name>[\w-]+)=(?P<value>.*)$", re.MULTILINE)
_BAD = re.compile(r"^Bad option <(?P<name>[\w-]+)(?:=.*)?>$", re.MULTILINE)
_DROPPED = re.compile(r"^fio: job j(?P<place>\d+) dropped", re.MULTILINE)
_PASSED_OVER = re.compile(r"^(?P<name>[\w-]+): (?P<said>(?:min|max) value out of range: .*)$", re.MULTILINE)
_WORD = re.compile(r"^(?:\s*valid values)?\s*: (\S+)", re.MULTILINE)
_NO_VALUE = re.compile(r"[\n\r\0#;]")


@dataclass(frozen=True)
class Complaint:
    """One option of the job at `place` that fio refuses, or passes over where `is_refused` is False; in fio's words.

    `is_known` False: it is no option of this fio with the job's engine.
    """

    place: int
    name: str
    said: str
    is_refused: bool
    is_known: bool = True


def complaints(host: Host, jobs: Sequence[Job]) -> tuple[Complaint, ...]:
    """Everything that the fio there says against options of the jobs; variables are to be filled in before.

    Raises:
        ProgramMissing, CommandTimedOut: it has no fio, or one that does not answer.
    """
    found: dict[tuple[int, str], Complaint] = {}
    for _ in range(_MOST_ASKED):
        err = _ask(host, _rendered(jobs, frozenset(found))).stderr
        new = list(_told(jobs, err))
        found.update({(each.place, each.name): each for each in new})
        if not any(each.is_refused for each in new):
            break
    words = cache(lambda name, value: _words_taken(_ask(host, f"[j0]\n{name}={value}\n").stdout))
    return tuple(
        each if each.said else replace(each, said=words(each.name, jobs[each.place].options[each.name]))
        for each in found.values()
    )


def _ask(host: Host, text: str) -> Completed:
    return host.run(["fio", "--parse-only", "-"], timeout_s=_LIMIT_S, stdin=text, check=False)


def _rendered(jobs: Sequence[Job], refused: frozenset[tuple[int, str]]) -> str:
    """A section for each job, named by its place."""
    lines: list[str] = []
    for place, job in enumerate(jobs[:_MOST_JOBS]):
        lines.append(f"[j{place}]")
        lines += [
            f"{name}={value}" if value else name
            for name, value in job.options.items()
            if (place, name) not in refused and not _hangs_on_the_host(name, value)
        ]
    return "\n".join(lines) + "\n"


def _hangs_on_the_host(name: str, value: str) -> bool:
    """A file that fio would look for, or what no job file can carry."""
    elsewhere = (name == "ioengine" and ("/" in value or value.startswith("external"))) or "'" in value
    elsewhere = elsewhere or (name == "mem" and value.startswith("cuda"))  # of builds with CUDA
    return elsewhere or _NO_VALUE.search(value) is not None


def _told(jobs: Sequence[Job], err: str) -> Iterator[Complaint]:
    ranges = {match["name"]: match["said"] for match in _PASSED_OVER.finditer(err)}
    dropped = _DROPPED.search(err)
    if dropped is not None:
        place = int(dropped["place"])
        for bad in _BAD.finditer(err, 0, dropped.start()):
            if bad["name"] in jobs[place].options:
                yield Complaint(place, bad["name"], "no such option", is_refused=True, is_known=False)
        for failed in _FAILED.finditer(err, 0, dropped.start()):
            if failed["name"] in jobs[place].options:
                yield Complaint(place, failed["name"], ranges.pop(failed["name"], ""), is_refused=True)
    for name, said in ranges.items():
        for place, job in enumerate(jobs):
            if name in job.options and job.options[name].strip() in said.split():
                yield Complaint(place, name, said, is_refused=False)


def _words_taken(out: str) -> str:
    words = _WORD.findall(out)
    return f"it takes one of {', '.join(words)}" if words else ""
