"""Lint of a source, and its text mended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.lint.change import changed
from poolproof.foreign.lint.fio_refusals import LintContext, refusals
from poolproof.foreign.lint.installed_fio import Fio, NoFio
from poolproof.foreign.lint.job_groups import Nowhere, Where, grounds_of
from poolproof.foreign.lint.located_findings import LocatedFinding, placed
from poolproof.foreign.lint.model import SEVERITIES, Diagnostic, Severity, Unit
from poolproof.foreign.lint.source import Source, is_text
from poolproof.foreign.lint.variables import unknown_in
from poolproof.rules.model import Changes, Finding

_NOWHERE = Nowhere()
_NO_FIO = NoFio()
_ROUNDS = 8
_RANK = {"error": 0, "warning": 1, "note": 2}
_NAME_ONE = "give a job file, a script with fio in it, or `-- fio …`"
_SET_IT = {
    "job file": "set it in the environment that poolproof runs in, or write the value into the text",
    "command": "give it one plain value in the script, or write the value into the command",
}


@dataclass(frozen=True)
class Mended:
    """The text after the mends, the findings that a change of their own took away, and the findings that are left.

    `gone` are those that the mend of another took away, as direct=1 does where RAM was to blame.
    """

    text: str
    mended: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]
    gone: tuple[Diagnostic, ...] = ()


def lint(source: Source, where: Where = _NOWHERE, fio: Fio = _NO_FIO) -> tuple[Diagnostic, ...]:
    """Everything to say of the source, in the order of its lines, the gravest first on each; `fio` would run it."""
    if not is_text(source.text):
        return (_not_text(source),)
    units = source.units
    found = [each for unit in units for each in _of_unit(source, unit, where, fio)]
    if not any(unit.jobs.jobs or unit.files for unit in units):
        found += _without_jobs(source)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.line, _RANK[each.severity])))


def mend(source: Source, where: Where = _NOWHERE, fio: Fio = _NO_FIO) -> Mended:
    """The source with everything mended that has a mend: a change is kept only if it takes its finding away, and brings
    no other of its severity or worse.
    """
    before = lint(source, where, fio)
    changed_for: set[str] = set()
    for _ in range(_ROUNDS):
        better = _mended_once(source, where, changed_for)
        if better.text == source.text:
            break
        source = better
    left = lint(source, where, fio)
    still = {each.rule for each in left}
    silent = [each for each in before if each.rule not in still]
    mended = tuple(each for each in silent if each.rule in changed_for)
    return Mended(source.text, mended, left, tuple(each for each in silent if each.rule not in changed_for))


def _not_text(source: Source) -> Diagnostic:
    return Diagnostic(
        source.name, 1, "not-text", "error", "it is no text, and so no job that fio could read", _NAME_ONE
    )


def _of_unit(source: Source, unit: Unit, where: Where, fio: Fio) -> Iterator[Diagnostic]:
    yield from refusals(LintContext(source.name, source.text, fio), unit)
    yield from _unknown(source, unit)
    by_place: dict[tuple[int, str, Severity], list[Finding]] = {}
    for each in placed(unit, grounds_of(unit, where)):
        place = each.line, each.finding.rule, SEVERITIES[each.finding.effect]
        by_place.setdefault(place, []).append(each.finding)
    for (line, rule, severity), found in by_place.items():
        yield Diagnostic(source.name, line, rule, severity, _message(found), found[0].fix)


def _message(found: Sequence[Finding]) -> str:
    """Of a rule that speaks of several jobs because of one line: what it says of the first, and how many there are."""
    more = f" (and {len(found) - 1} more like it)" if len(found) > 1 else ""
    return found[0].message + more


def _unknown(source: Source, unit: Unit) -> Iterator[Diagnostic]:
    for job in unit.jobs.jobs:
        for name, variable in unknown_in(job).items():
            message = (
                f"{name}={job.options[name]}: {variable} can't be known here; only what holds for any value is told"
            )
            yield Diagnostic(
                source.name, job.lines.get(name, unit.line), "unknown-variable", "note", message, _SET_IT[unit.form]
            )
    for line, word in unit.unknown_words:
        message = f"{word} may hold any option; only what holds with any of them is told"
        yield Diagnostic(source.name, line, "unknown-variable", "note", message, _SET_IT[unit.form])


def _without_jobs(source: Source) -> list[Diagnostic]:
    if source.kind == "job file":
        message, fix = "there is no job in it: fio would end with `No job(s) defined`", "add a section: [name]"
        return [Diagnostic(source.name, 1, "refused-by-fio", "error", message, fix)]
    if source.units:
        return []
    message = "there is no call of fio in it"
    return [Diagnostic(source.name, 1, "no-job", "note", message, _NAME_ONE)]


def _mended_once(source: Source, where: Where, changed_for: set[str]) -> Source:
    """Each mend tried by itself, on what the ones before it left; `changed_for` takes the rules whose mend was kept."""
    for number in range(len(source.units)):
        for wanted in _wanted(source.units[number], where):
            better = _tried(source, number, wanted, where)
            if better is not source:
                changed_for.add(wanted.finding.rule)
            source = better
    return source


def _wanted(unit: Unit, where: Where) -> list[LocatedFinding]:
    return [each for each in placed(unit, grounds_of(unit, where)) if any(each.changes)]


def _tried(source: Source, number: int, wanted: LocatedFinding, where: Where) -> Source:
    """The source with the mend, all jobs at once or else one after the other; unchanged where it does not help."""
    units = source.units
    if number >= len(units):
        return source
    together = dict(zip(wanted.jobs, wanted.changes, strict=True))
    single = [{place: changes} for place, changes in together.items()] if len(together) > 1 else []
    for attempt in ({place: changes for place, changes in together.items() if changes}, *single):
        better = _attempted(source, units[number], attempt)
        if better is not None and _helps(source, better, number, wanted.finding.rule, where):
            return better
    return source


def _attempted(source: Source, unit: Unit, changes: dict[int, Changes]) -> Source | None:
    if any(place >= len(unit.jobs.jobs) for place in changes):
        return None
    needed = {place: _needed(unit, place, wanted) for place, wanted in changes.items()}
    text = changed(source.text, unit, {place: wanted for place, wanted in needed.items() if wanted})
    return None if text is None or text == source.text else replace(source, text=text)


def _needed(unit: Unit, place: int, wanted: Changes) -> Changes:
    """Without the options that stand there as they are wanted, and those to leave out that are not there."""
    options = unit.jobs.jobs[place].options
    return {name: value for name, value in wanted.items() if options.get(name) != value}


def _helps(before: Source, after: Source, number: int, rule: str, where: Where) -> bool:
    """Fewer jobs are to blame for the rule, and nothing grave has come instead."""
    units = after.units
    if number >= len(units) or len(units[number].problems) > len(before.units[number].problems):
        return False
    old, new = (placed(unit, grounds_of(unit, where)) for unit in (before.units[number], units[number]))
    return _blamed(new, rule) < _blamed(old, rule) and _grave(new) <= _grave(old)


def _blamed(found: Sequence[LocatedFinding], rule: str) -> int:
    return sum(len(each.jobs) for each in found if each.finding.rule == rule)


def _grave(found: Sequence[LocatedFinding]) -> int:
    return sum(SEVERITIES[each.finding.effect] != "note" for each in found)
