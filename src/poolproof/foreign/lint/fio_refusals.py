"""What fio would refuse: options that it does not have, values that it does not accept, and missing jobs."""

from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.foreign.lint.installed_fio import Fio, versions_in
from poolproof.foreign.lint.model import Diagnostic, Severity, Unit
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job import Job
from poolproof.load.fio.jobfile import MOST_PROBLEMS, Problem
from poolproof.load.fio.option_names import PAGE_CACHE, SYNCHRONOUS
from poolproof.load.fio.option_values import refusal

_REFUSED, _UNKNOWN = "refused-by-fio", "unknown-option"
_HOW_TO_CHECK = "`fio --cmdhelp=OPTION` explains an option, `fio --parse-only FILE` checks a job file"
_HOW_TO_LIST = "`fio --cmdhelp=all` and `fio --enghelp=ENGINE` list the options of the installed fio"
_ACCEPTED = "`fio --cmdhelp={name}` shows the values that it accepts"
_FULLY_LISTED = PAGE_CACHE | SYNCHRONOUS
"""Engines whose options are all in the tables."""


@dataclass(frozen=True)
class LintContext:
    """The source of a unit, and the fio that would run it."""

    source: str
    text: str
    fio: Fio


def refusals(context: LintContext, unit: Unit) -> Iterator[Diagnostic]:
    """Yield everything in the unit that fio refuses or may refuse."""
    for problem in unit.problems:
        yield from _problem(context, unit, problem)
    for line, why in _refused_values(unit):
        yield Diagnostic(context.source, line, _REFUSED, "error", why, _ACCEPTED.format(name="OPTION"))
    yield from _complaints(context, unit)


def _refused_values(unit: Unit) -> Iterator[tuple[int, str]]:
    """Yield the line and the reason for each value that fio refuses, except values with an unknown variable."""
    found: dict[tuple[int, str], None] = {}
    for job in unit.jobs.jobs:
        for name, value in job.options.items():
            why = None if UNKNOWN.search(value) else refusal(name, value)
            if why is not None:
                found[job.lines.get(name, unit.line), why] = None
        if len(found) >= MOST_PROBLEMS:
            break
    yield from found


def _problem(context: LintContext, unit: Unit, problem: Problem) -> Iterator[Diagnostic]:
    if problem.option is not None and _has(context, unit, problem.option):
        return
    if problem.is_certain or not _may_exist_elsewhere(context, unit):
        fix = problem.fix or (_HOW_TO_LIST if problem.option else _HOW_TO_CHECK)
        yield Diagnostic(context.source, problem.line, _REFUSED, "error", problem.message, fix)
    else:
        yield Diagnostic(context.source, problem.line, _UNKNOWN, "warning", problem.message, _HOW_TO_LIST)


def _has(context: LintContext, unit: Unit, option: str) -> bool:
    """True if the installed fio has the option, although the tables do not list it."""
    known = (context.fio.names(job.engine) for job in unit.jobs.jobs)
    return any(option in names for names in known if names is not None)


def _may_exist_elsewhere(context: LintContext, unit: Unit) -> bool:
    """True if another fio may have the option: the text names another release, or the engine is not in the tables."""
    here = context.fio.version
    another = any(here is None or not here.startswith(f"fio-{version}") for version in versions_in(context.text))
    return another or bool(unit.unknown_words) or any(job.engine not in _FULLY_LISTED for job in unit.jobs.jobs)


def _complaints(context: LintContext, unit: Unit) -> Iterator[Diagnostic]:
    found: dict[Diagnostic, None] = {}
    for each in context.fio.complaints(unit):
        job = unit.jobs.jobs[each.place]
        if not each.is_known:
            found[_missing_option(context, unit, job, each.name)] = None
            continue
        setting = f"{each.name}={job.options[each.name].strip()}"
        does = "refuses" if each.is_refused else "ignores"
        message = f"{context.fio.version or 'fio'} {does} {setting}" + (f": {each.reason}" if each.reason else "")
        severity: Severity = "error" if each.is_refused else "warning"
        fix = _ACCEPTED.format(name=each.name)
        found[Diagnostic(context.source, job.lines.get(each.name, unit.line), _REFUSED, severity, message, fix)] = None
    yield from found


def _missing_option(context: LintContext, unit: Unit, job: Job, name: str) -> Diagnostic:
    """Return a warning about an option that exists in another release or with another engine, but not here."""
    here = context.fio.version or "the installed fio"
    message = f"{here} has no option {name!r} with the engine {job.engine}; other releases or engines have it"
    return Diagnostic(context.source, job.lines.get(name, unit.line), _UNKNOWN, "warning", message, _HOW_TO_LIST)
