"""Lint a source, and fix its text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.lint.change import changed
from poolproof.foreign.lint.fio_refusals import LintContext, refusals
from poolproof.foreign.lint.installed_fio import Fio, NoFio
from poolproof.foreign.lint.job_groups import NoTargets, Targets, group_jobs
from poolproof.foreign.lint.located_findings import LocatedFinding, locate_findings
from poolproof.foreign.lint.model import SEVERITIES, Diagnostic, Severity, Unit
from poolproof.foreign.lint.source import Source, is_text
from poolproof.foreign.lint.variables import unknown_in
from poolproof.rules.model import Changes, Finding

_NO_TARGETS = NoTargets()
_NO_FIO = NoFio()
_ROUNDS = 8
_RANK = {"error": 0, "warning": 1, "note": 2}
_NAME_A_SOURCE = "name a job file or a script that calls fio, or give a command: `-- fio …`"
_SET_IT = {
    "job file": "set it in poolproof's environment, or write its value into the job file",
    "command": "give it one literal value in the script, or write its value into the command",
}


@dataclass(frozen=True)
class FixedText:
    """The text after the fixes, the findings fixed by their own change, and the findings that remain.

    `resolved` are findings that the fix of another rule removed: direct=1, for example, also removes those about RAM.
    """

    text: str
    fixed: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]
    resolved: tuple[Diagnostic, ...] = ()


def lint(source: Source, targets: Targets = _NO_TARGETS, fio: Fio = _NO_FIO) -> tuple[Diagnostic, ...]:
    """Return all findings by line, the most severe first on each line. `fio` is the one that would run the jobs."""
    if not is_text(source.text):
        return (_not_text(source),)
    units = source.units
    found = [each for unit in units for each in _unit_findings(source, unit, targets, fio)]
    if not any(unit.jobs.jobs or unit.files for unit in units):
        found += _without_jobs(source)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.line, _RANK[each.severity])))


def fix_source(source: Source, targets: Targets = _NO_TARGETS, fio: Fio = _NO_FIO) -> FixedText:
    """Return the source with every automatic fix applied. A change is kept only if it removes its finding and adds no
    error or warning.
    """
    before = lint(source, targets, fio)
    changed_for: set[str] = set()
    for _ in range(_ROUNDS):
        better = _fix_each(source, targets, changed_for)
        if better.text == source.text:
            break
        source = better
    left = lint(source, targets, fio)
    still = {each.rule for each in left}
    absent = [each for each in before if each.rule not in still]
    fixed = tuple(each for each in absent if each.rule in changed_for)
    return FixedText(source.text, fixed, left, tuple(each for each in absent if each.rule not in changed_for))


def _not_text(source: Source) -> Diagnostic:
    return Diagnostic(
        source.name, 1, "not-text", "error", "this is not a text file, so fio cannot read a job from it", _NAME_A_SOURCE
    )


def _unit_findings(source: Source, unit: Unit, targets: Targets, fio: Fio) -> Iterator[Diagnostic]:
    yield from refusals(LintContext(source.name, source.text, fio), unit)
    yield from _unknown_variables(source, unit)
    by_place: dict[tuple[int, str, Severity], list[Finding]] = {}
    for each in locate_findings(unit, group_jobs(unit, targets)):
        place = each.line, each.finding.rule, SEVERITIES[each.finding.effect]
        by_place.setdefault(place, []).append(each.finding)
    for (line, rule, severity), found in by_place.items():
        yield Diagnostic(source.name, line, rule, severity, _message(found), found[0].fix)


def _message(found: Sequence[Finding]) -> str:
    """Return the first job's message, with the number of further jobs to which the same line gives this finding."""
    more = f" (and {len(found) - 1} more like it)" if len(found) > 1 else ""
    return found[0].message + more


def _unknown_variables(source: Source, unit: Unit) -> Iterator[Diagnostic]:
    for job in unit.jobs.jobs:
        for name, variable in unknown_in(job).items():
            setting = f"{name}={job.options[name]}"
            message = (
                f"{setting}: the value of {variable} is unknown here; lint reports only what is true for any value"
            )
            yield Diagnostic(
                source.name, job.lines.get(name, unit.line), "unknown-variable", "note", message, _SET_IT[unit.form]
            )
    for line, word in unit.unknown_words:
        message = f"{word} may contain any option; lint reports only what is true whatever it contains"
        yield Diagnostic(source.name, line, "unknown-variable", "note", message, _SET_IT[unit.form])


def _without_jobs(source: Source) -> list[Diagnostic]:
    if source.kind == "job file":
        message, fix = "the file defines no job: fio would stop with `No job(s) defined`", "add a section: [name]"
        return [Diagnostic(source.name, 1, "refused-by-fio", "error", message, fix)]
    if source.units:
        return []
    message = "no fio command found"
    return [Diagnostic(source.name, 1, "no-job", "note", message, _NAME_A_SOURCE)]


def _fix_each(source: Source, targets: Targets, changed_for: set[str]) -> Source:
    """Try each fix on the result of the previous ones; `changed_for` collects the rules of the fixes that are kept."""
    for number in range(len(source.units)):
        for fixable in _fixable(source.units[number], targets):
            better = _try_fix(source, number, fixable, targets)
            if better is not source:
                changed_for.add(fixable.finding.rule)
            source = better
    return source


def _fixable(unit: Unit, targets: Targets) -> list[LocatedFinding]:
    return [each for each in locate_findings(unit, group_jobs(unit, targets)) if any(each.changes)]


def _try_fix(source: Source, number: int, fixable: LocatedFinding, targets: Targets) -> Source:
    """Return the source with the fix, made in all jobs at once or else in one job; unchanged if that does not help."""
    units = source.units
    if number >= len(units):
        return source
    together = dict(zip(fixable.jobs, fixable.changes, strict=True))
    single = [{place: changes} for place, changes in together.items()] if len(together) > 1 else []
    for attempt in ({place: changes for place, changes in together.items() if changes}, *single):
        better = _with_changes(source, units[number], attempt)
        if better is not None and _helps(source, better, number, fixable.finding.rule, targets):
            return better
    return source


def _with_changes(source: Source, unit: Unit, changes: dict[int, Changes]) -> Source | None:
    if any(place >= len(unit.jobs.jobs) for place in changes):
        return None
    needed = {place: _needed(unit, place, given) for place, given in changes.items()}
    text = changed(source.text, unit, {place: given for place, given in needed.items() if given})
    return None if text is None or text == source.text else replace(source, text=text)


def _needed(unit: Unit, place: int, changes: Changes) -> Changes:
    """Return the changes without those that the job already satisfies."""
    options = unit.jobs.jobs[place].options
    return {name: value for name, value in changes.items() if options.get(name) != value}


def _helps(before: Source, after: Source, number: int, rule: str, targets: Targets) -> bool:
    """True if fewer jobs break the rule, and there are no more errors and warnings than before."""
    units = after.units
    if number >= len(units) or len(units[number].problems) > len(before.units[number].problems):
        return False
    old, new = (locate_findings(unit, group_jobs(unit, targets)) for unit in (before.units[number], units[number]))
    return _jobs_blamed(new, rule) < _jobs_blamed(old, rule) and _count_severe(new) <= _count_severe(old)


def _jobs_blamed(found: Sequence[LocatedFinding], rule: str) -> int:
    return sum(len(each.jobs) for each in found if each.finding.rule == rule)


def _count_severe(found: Sequence[LocatedFinding]) -> int:
    return sum(SEVERITIES[each.finding.effect] != "note" for each in found)
