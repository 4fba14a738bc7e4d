"""What fio would not take: options that it does not have, values that it refuses, and jobs that are not there."""

from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.foreign.lint.installed_fio import Fio, versions_said
from poolproof.foreign.lint.model import Diagnostic, Severity, Unit
from poolproof.foreign.lint.values import refused_values
from poolproof.load.fio.engines import PAGE_CACHE, SYNCHRONOUS
from poolproof.load.fio.job import Job
from poolproof.load.fio.job_draft import Problem

_REFUSED, _UNKNOWN = "refused-by-fio", "unknown-option"
_EXPLAINED = "`fio --cmdhelp=OPTION` explains an option, `fio --parse-only FILE` checks a job file"
_LISTED = "`fio --cmdhelp=all` and `fio --enghelp=ENGINE` list what the fio that will run it knows"
_TAKES = "`fio --cmdhelp={name}` says what it takes"
_WHOLE = PAGE_CACHE | SYNCHRONOUS
"""Engines whose own options are all in the tables."""


@dataclass(frozen=True)
class LintContext:
    """Where a unit stands, and the fio that would run it."""

    source: str
    text: str
    fio: Fio


def refusals(told: LintContext, unit: Unit) -> Iterator[Diagnostic]:
    """Everything in the unit that fio would refuse, or may."""
    for problem in unit.problems:
        yield from _problem(told, unit, problem)
    for line, why in refused_values(unit):
        yield Diagnostic(told.source, line, _REFUSED, "error", why, "`fio --cmdhelp=OPTION` says what an option takes")
    yield from _by_fio_itself(told, unit)


def _problem(told: LintContext, unit: Unit, problem: Problem) -> Iterator[Diagnostic]:
    if problem.option is not None and _has(told, unit, problem.option):
        return
    if problem.is_certain or not _may_be_known(told, unit):
        fix = problem.fix or (_LISTED if problem.option else _EXPLAINED)
        yield Diagnostic(told.source, problem.line, _REFUSED, "error", problem.message, fix)
    else:
        yield Diagnostic(told.source, problem.line, _UNKNOWN, "warning", problem.message, _LISTED)


def _has(told: LintContext, unit: Unit, option: str) -> bool:
    """The fio there is newer than the tables."""
    known = (told.fio.names(job.engine) for job in unit.jobs.jobs)
    return any(option in names for names in known if names is not None)


def _may_be_known(told: LintContext, unit: Unit) -> bool:
    """The text speaks of another release, or an engine may have the option that the tables do not hold whole."""
    here = told.fio.version
    another = any(here is None or not here.startswith(f"fio-{version}") for version in versions_said(told.text))
    return another or bool(unit.unknown_words) or any(job.engine not in _WHOLE for job in unit.jobs.jobs)


def _by_fio_itself(told: LintContext, unit: Unit) -> Iterator[Diagnostic]:
    found: dict[Diagnostic, None] = {}
    for each in told.fio.complaints(unit):
        job = unit.jobs.jobs[each.place]
        if not each.is_known:
            found[_lacking(told, unit, job, each.name)] = None
            continue
        setting = f"{each.name}={job.options[each.name].strip()}"
        does = "refuses" if each.is_refused else "passes over"
        message = f"{told.fio.version or 'fio'} {does} {setting}" + (f": {each.said}" if each.said else "")
        severity: Severity = "error" if each.is_refused else "warning"
        fix = _TAKES.format(name=each.name)
        found[Diagnostic(told.source, job.lines.get(each.name, unit.line), _REFUSED, severity, message, fix)] = None
    yield from found


def _lacking(told: LintContext, unit: Unit, job: Job, name: str) -> Diagnostic:
    """An option that fio has in some release or with some engine, and not in this one."""
    message = f"{told.fio.version or 'the fio there'} has no option {name!r} with the engine {job.engine}; others do"
    return Diagnostic(told.source, job.lines.get(name, unit.line), _UNKNOWN, "warning", message, _LISTED)
