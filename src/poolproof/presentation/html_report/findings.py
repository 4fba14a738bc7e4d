"""Findings by rule: what each rule found and where, with the mends to copy."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.errors import UsageError
from poolproof.results.runs.summary import Cell
from poolproof.rules.catalogue import rule
from poolproof.rules.model import Effect, Finding

_EFFECTS: tuple[Effect, ...] = ("fails", "refutes", "suspects", "notes")
_MOST_PLACES = 12


@dataclass(frozen=True)
class Mend:
    """One way to mend, and the number of the cells that it is for."""

    text: str
    cells: int


@dataclass(frozen=True)
class FindingGroup:
    """What one rule found in the run. `effects` counts the cells by what it did to their figure.

    `places` are (number of the cell, its name); `more` how many are not named.
    """

    rule: str
    title: str
    wrong: str
    effect: Effect
    effects: tuple[tuple[Effect, int], ...]
    example: str
    mends: tuple[Mend, ...]
    places: tuple[tuple[int, str], ...]
    more: int


def groups(cells: Sequence[Cell]) -> tuple[FindingGroup, ...]:
    """One group for each rule that found something, the gravest first. `cells` in the order of the page."""
    by_rule: dict[str, list[tuple[int, Cell, Finding]]] = {}
    for number, cell in enumerate(cells):
        for finding in cell.findings:
            by_rule.setdefault(finding.rule, []).append((number, cell, finding))
    made = [_group(name, found) for name, found in by_rule.items()]
    return tuple(sorted(made, key=lambda group: (_EFFECTS.index(group.effect), -len(group.places) - group.more)))


def _group(name: str, found: Sequence[tuple[int, Cell, Finding]]) -> FindingGroup:
    gravest = min(found, key=lambda each: (_EFFECTS.index(each[2].effect), -each[2].weight))[2]
    fixes: dict[str, int] = {}
    for _, _, finding in found:
        fixes[finding.fix] = fixes.get(finding.fix, 0) + 1
    mends = sorted((Mend(text, count) for text, count in fixes.items()), key=lambda mend: -mend.cells)
    title, wrong = _words(name)
    return FindingGroup(
        rule=name,
        title=title,
        wrong=wrong,
        effect=gravest.effect,
        effects=tuple((effect, count) for effect in _EFFECTS if (count := _count(found, effect))),
        example=gravest.message,
        mends=tuple(mends[:3]),
        places=tuple((number, f"{cell.workload} on {cell.layout}") for number, cell, _ in found[:_MOST_PLACES]),
        more=max(0, len(found) - _MOST_PLACES),
    )


def _count(found: Sequence[tuple[int, Cell, Finding]], effect: Effect) -> int:
    return sum(finding.effect == effect for _, _, finding in found)


def _words(name: str) -> tuple[str, str]:
    """Title and explanation of a rule; a run of another version may name one that is not known here."""
    try:
        known = rule(name)
    except UsageError:
        return "a rule that this poolproof does not know", ""
    return known.title, known.wrong
