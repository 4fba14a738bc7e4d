"""Find everything that fio would refuse: nonexistent options, invalid values, and missing jobs.

poolproof's tables cover most of it. If fio is installed on the machine that would run the jobs, fio checks the rest.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from poolproof.foreign.lint.ignored_settings import ignored_settings
from poolproof.foreign.lint.model import Diagnostic, FioCall, Severity
from poolproof.foreign.lint.targets import none_if_it_fails
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.hosts.base import Host
from poolproof.load.fio.installed import fio_version, known_options
from poolproof.load.fio.job import Job
from poolproof.load.fio.jobfile import MOST_PROBLEMS, Problem
from poolproof.load.fio.option_names import JOB_OPTIONS, OTHER_RELEASES, PAGE_CACHE, SYNCHRONOUS
from poolproof.load.fio.option_values import is_external, refusal
from poolproof.load.fio.parse_only import Complaint, complaints

_REFUSED, _UNKNOWN, _MISREAD = "refused-by-fio", "unknown-option", "misread-by-fio"
_HOW_TO_CHECK = "`fio --cmdhelp=OPTION` explains an option, and `fio --parse-only FILE` checks a job file"
_HOW_TO_LIST = "`fio --cmdhelp=all` and `fio --enghelp=ENGINE` list the options of the installed fio"
_ACCEPTED = "`fio --cmdhelp={name}` lists the values that fio accepts"
_VERSION = re.compile(r"\bfio[- /]?v?(?:ersion)?[- ]?(?P<version>\d+\.\d+)", re.IGNORECASE)
_FULLY_LISTED = PAGE_CACHE | SYNCHRONOUS
"""Engines for which poolproof's tables list all options."""

_Jobs = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


class InstalledFio:
    """The fio installation on a host.

    If fio is missing or fails to run, its version and option names are None, and it has no complaints. Raises
    HostUnreachable if the connection to the host is lost.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.names = cache(self._names)
        self._complaints = cache(self._ask)
        self._version = cache(lambda: none_if_it_fails(lambda: str(fio_version(host))))

    @property
    def version(self) -> str | None:
        """The version as fio prints it, e.g. `fio-3.33`, or None if fio is missing or fails to run."""
        return self._version()

    def complaints(self, unit: FioCall) -> tuple[Complaint, ...]:
        """Return fio's complaints about the values of the jobs' options.

        Empty if the options of one of the jobs' engines are unknown.
        """
        names = [self.names(job.engine) for job in unit.jobs]
        if not names or None in names:
            return ()
        to_check = [_to_check(job, known or frozenset()) for job, known in zip(unit.jobs, names, strict=True)]
        return self._complaints(tuple((job.name, tuple(job.options.items())) for job in to_check))

    def _ask(self, jobs: _Jobs) -> tuple[Complaint, ...]:
        """Let fio check the jobs without running them.

        The answers are cached, because scripts often repeat a command.
        """
        to_check = [Job(name, dict(options)) for name, options in jobs]
        return none_if_it_fails(lambda: complaints(self._host, to_check)) or ()

    def _names(self, engine: str) -> frozenset[str] | None:
        """Return the names of the options that fio accepts with this engine. None if fio is missing or fails to run."""
        return none_if_it_fails(lambda: known_options(self._host, engine)) if self.version else None


def _to_check(job: Job, names: frozenset[str]) -> Job:
    """Return a copy of the job with only those options that fio has to check.

    Values that contain unknown variables are left out, and so are values that poolproof's tables already refuse.
    Options of other engines are left out too, because a job may inherit them from [global], where fio accepts them.
    """
    checked = JOB_OPTIONS | OTHER_RELEASES | names
    options = {
        name: value
        for name, value in job.options.items()
        if name in checked and not UNKNOWN.search(value) and refusal(name, value) is None
    }
    return Job(job.name, options)


def refusals(source: str, text: str, unit: FioCall, fio: InstalledFio | None) -> Iterator[Diagnostic]:
    """Yield everything in a call that fio refuses, ignores or may refuse.

    `source`: the file's name.
    `text`: the file's content.
    """
    may_exist = _may_exist_elsewhere(text, unit, fio)
    external = any(map(is_external, _engines(unit)))
    of_engine: list[tuple[str, Diagnostic]] = []
    for problem in unit.problems:
        for each in _problem(source, unit, problem, fio, may_exist=may_exist):
            if external and problem.option and each.rule == _UNKNOWN:
                of_engine.append((problem.option, each))
            else:
                yield each
    if of_engine:
        yield _merged(of_engine)
    for line, why in _refused_values(unit):
        yield Diagnostic(source, line, _REFUSED, "error", why, _ACCEPTED.format(name="OPTION"))
    yield from ignored_settings(source, text, unit)
    if fio is not None:
        complained = (_complaint(source, unit, each, fio) for each in fio.complaints(unit))
        yield from dict.fromkeys(complained)


def _merged(of_engine: Sequence[tuple[str, Diagnostic]]) -> Diagnostic:
    """Return one finding for all options that lint does not know because an external engine may have them."""
    (name, first), *others = of_engine
    if not others:
        return first
    names = f"the option {name!r} and {len(others)} more"
    message = first.message.replace(f"the option {name!r}", names).replace("may have it", "may have them")
    return replace(first, message=message)


def _refused_values(unit: FioCall) -> Iterator[tuple[int, str]]:
    """Yield (line, reason) for each value that fio refuses. Values with unknown variables are not checked.

    After `MOST_PROBLEMS` values, no further jobs are checked.
    """
    found: dict[tuple[int, str], None] = {}
    for job in unit.jobs:
        for name, value in job.options.items():
            why = None if UNKNOWN.search(value) else refusal(name, value)
            if why is not None:
                found[job.lines.get(name, unit.line), why] = None
        if len(found) >= MOST_PROBLEMS:
            break
    yield from found


def _problem(
    source: str, unit: FioCall, problem: Problem, fio: InstalledFio | None, *, may_exist: bool
) -> Iterator[Diagnostic]:
    if problem.option is not None and fio is not None:
        names = [fio.names(job.engine) for job in unit.jobs]
        if any(problem.option in known for known in names if known is not None):
            return  # this fio has the option, although the tables do not list it
    if problem.is_absent:
        yield Diagnostic(source, problem.line, _REFUSED, "note", problem.message, problem.fix)
    elif problem.runs:
        yield Diagnostic(source, problem.line, _MISREAD, "warning", problem.message, problem.fix)
    elif problem.is_certain or not may_exist:
        fix = problem.fix or (_HOW_TO_LIST if problem.option else _HOW_TO_CHECK)
        yield Diagnostic(source, problem.line, _REFUSED, "error", problem.message, fix)
    else:
        external = next((engine for engine in _engines(unit) if is_external(engine)), None)
        severity: Severity = "note" if external or unit.is_own_build else "warning"
        message = f"lint does not know the option {problem.option!r}; the engine {external} may have it"
        message = message if external and problem.option else problem.message
        yield Diagnostic(source, problem.line, _UNKNOWN, severity, message, _HOW_TO_LIST)


def _engines(unit: FioCall) -> list[str]:
    """Return the engines of the jobs. A job file without jobs may be the beginning of others."""
    return [job.engine for job in unit.jobs] or [engine for engine in [unit.defaults.get("ioengine")] if engine]


def _may_exist_elsewhere(text: str, unit: FioCall, fio: InstalledFio | None) -> bool:
    """True if another fio version may accept options that poolproof's tables do not list.

    This is possible if the text names another version, if an argument is unknown, or if the tables do not list all
    options of an engine.
    """
    here = (fio and fio.version) or ""
    another = any(not here.startswith(f"fio-{found['version']}") for found in _VERSION.finditer(text))
    return (
        another
        or unit.is_own_build
        or bool(unit.unknown_words)
        or any(engine not in _FULLY_LISTED for engine in _engines(unit))
    )


def _complaint(source: str, unit: FioCall, complaint: Complaint, fio: InstalledFio) -> Diagnostic:
    job, name = unit.jobs[complaint.place], complaint.name
    line = job.lines.get(name, unit.line)
    if not complaint.is_known:
        here = fio.version or "the installed fio"
        message = f"{here} has no {name!r} option for the {job.engine} engine; another release or engine does"
        return Diagnostic(source, line, _UNKNOWN, "warning", message, _HOW_TO_LIST)
    verb = "refuses" if complaint.is_refused else "ignores"
    message = f"{fio.version or 'fio'} {verb} {name}={job.options[name].rstrip()}"
    message += f": {complaint.reason}" if complaint.reason else ""
    severity: Severity = "error" if complaint.is_refused else "warning"
    return Diagnostic(source, line, _REFUSED, severity, message, _ACCEPTED.format(name=name))
