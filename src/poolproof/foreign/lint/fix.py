"""Fix the jobs in a file or command by changing their options in place. The rest of the text stays unchanged."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.job_groups import Targets, group_jobs
from poolproof.foreign.lint.located_findings import LocatedFinding, locate_findings
from poolproof.foreign.lint.model import SEVERITIES, Diagnostic, FioCall, Form, JobSection, WrittenOption
from poolproof.foreign.lint.refusals import InstalledFio
from poolproof.foreign.lint.sources import Source
from poolproof.rules.model import Changes

_MAX_PASSES = 8

_Edit = tuple[int, int, str]
"""A replacement in a text: the start and end of the replaced part, and the new text."""


@dataclass(frozen=True)
class FixedText:
    """The corrected text, the findings that were fixed, and the findings that remain (`left`).

    The lines of `fixed` and `resolved` are those of the original text, and the lines of `left` those of the new one.
    `later`: the rules whose findings only appeared after another fix, and were then fixed.
    `resolved`: the findings that disappeared because of another rule's fix. For example, adding direct=1 also removes
    findings about RAM.
    """

    text: str
    fixed: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]
    resolved: tuple[Diagnostic, ...] = ()
    later: tuple[str, ...] = ()


def fix_source(source: Source, targets: Targets | None = None, fio: InstalledFio | None = None) -> FixedText:
    """Apply all automatic fixes. Return the corrected text, the findings that were fixed and those that remain.

    A change is made only if it removes a finding from at least one job and does not lead to more errors or warnings.
    """
    before = lint(source, targets, fio)
    changed_for: set[str] = set()
    for _ in range(_MAX_PASSES):
        better = _fix_each(source, targets, changed_for)
        if better.text == source.text:
            break
        source = better
    left = lint(source, targets, fio)
    remaining = {each.rule for each in left}
    absent = [each for each in before if each.rule not in remaining]
    fixed = tuple(each for each in absent if each.rule in changed_for)
    resolved = tuple(each for each in absent if each.rule not in changed_for)
    later = changed_for - remaining - {each.rule for each in before}
    return FixedText(source.text, fixed, left, resolved, tuple(sorted(later)))


def _fix_each(source: Source, targets: Targets | None, changed_for: set[str]) -> Source:
    """Try to fix each finding in turn. The IDs of the rules whose fixes were applied are added to `changed_for`."""
    for number in range(len(source.units)):
        if any(problem.runs for problem in source.units[number].problems):
            continue  # fio reads values other than those that were meant
        for found in _located(source.units[number], targets):
            better = _try_fix(source, number, found, targets)
            if better is not None:
                changed_for.add(found.finding.rule)
                source = better
    return source


def _located(unit: FioCall, targets: Targets | None) -> tuple[LocatedFinding, ...]:
    return locate_findings(unit, group_jobs(unit, targets))


def _try_fix(source: Source, number: int, found: LocatedFinding, targets: Targets | None) -> Source | None:
    """Try to fix the finding in all jobs at once, then in one job at a time.

    Return the source after the first fix that improves it, or None if no fix does.
    """
    units = source.units
    if number >= len(units):
        return None
    needed = {job: changes for job, changes in zip(found.jobs, found.changes, strict=True) if changes}
    single = [{job: changes} for job, changes in needed.items()] if len(found.jobs) > 1 else []
    for attempt in (needed, *single):
        text = _changed(source.text, units[number], attempt)
        if text is None or text == source.text:
            continue
        better = replace(source, text=text)
        if _helps(source, better, number, found.finding.rule, attempt, targets):
            return better
    return None


def _helps(
    before: Source, after: Source, number: int, rule: str, changes: Mapping[int, Changes], targets: Targets | None
) -> bool:
    """True if fewer jobs break the rule than before, without more errors or warnings than before.

    False if a job does not have the changed values. For example, a job that loses an option may inherit another value.
    """
    units = after.units
    if number >= len(units) or len(units[number].problems) > len(before.units[number].problems):
        return False
    jobs = units[number].jobs
    for job, wanted in changes.items():
        if job >= len(jobs) or any(jobs[job].options.get(name) != value for name, value in wanted.items()):
            return False
    old, new = _located(before.units[number], targets), _located(units[number], targets)

    def blamed(found: Sequence[LocatedFinding]) -> int:
        return sum(len(each.jobs) for each in found if each.finding.rule == rule)

    def severe(found: Sequence[LocatedFinding]) -> int:
        return sum(SEVERITIES[each.finding.effect] != "note" for each in found)

    return blamed(new) < blamed(old) and severe(new) <= severe(old)


def _changed(text: str, unit: FioCall, changes: Mapping[int, Changes]) -> str | None:
    """Return the text with its options changed, or None if the text cannot be changed in place.

    `changes`: the changes that each job needs, keyed by the job's index in the fio call.
    """
    if unit.sections is None or any(job >= len(unit.jobs) for job in changes):
        return None
    needed: dict[int, Changes] = {}
    for job, wanted in changes.items():
        options = unit.jobs[job].options
        needed[job] = {name: value for name, value in wanted.items() if options.get(name) != value}
    edits: list[_Edit] = []
    for section, of_section in _by_section(unit.sections, needed):
        made = _section_edits(text, unit.form, section, of_section)
        if made is None:
            return None
        edits += made
    for start, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _by_section(sections: Sequence[JobSection], changes: Mapping[int, Changes]) -> Iterator[tuple[JobSection, Changes]]:
    """Yield each section and its changes.

    A change that all jobs below a [global] section need is made only once, in that section.
    """
    jobs = [section for section in sections if not section.is_shared]
    left = {place: dict(needed) for place, needed in changes.items()}
    for section in sections:
        below = [place for place, each in enumerate(jobs) if each.insert_at > section.insert_at]
        if not section.is_shared or not below:
            continue
        first, *others = (left.get(place, {}) for place in below)
        common = {name: value for name, value in first.items() if all(each.get(name, "") == value for each in others)}
        shared = {name: value for name, value in common.items() if _has_option(section, name) or len(below) > 1}
        if shared:
            yield section, shared
        for place in below:
            for name in shared:
                if not _has_option(jobs[place], name):
                    left[place].pop(name, None)
    for place, section in enumerate(jobs):
        if left.get(place):
            yield section, left[place]


def _has_option(section: JobSection, name: str) -> bool:
    return any(setting.name == name for setting in section.settings)


def _section_edits(text: str, form: Form, section: JobSection, needed: Changes) -> list[_Edit] | None:
    edits: list[_Edit] = []
    added: list[str] = []
    for name, value in needed.items():
        existing = [setting for setting in section.settings if setting.name == name]
        if value is None:
            edits += [_removal(text, form, setting) for setting in existing]
            continue
        given = existing[-1].given if existing else f"--{name}" if form == "command" else name
        written = f"{given}={shlex.quote(value) if form == 'command' else value}"
        if existing:
            edits.append((existing[-1].start, existing[-1].end, written))
        else:
            added.append(written)
    if added and form == "command" and section.is_shared and not section.settings:
        return None
    if added:
        place = section.insert_at
        if form == "command":
            new = "".join(f" {each}" for each in added)
        else:
            new = "" if place == 0 or text[place - 1] == "\n" else "\n"
            new += "".join(f"{each}\n" for each in added)
        edits.append((place, place, new))
    return edits


def _removal(text: str, form: Form, setting: WrittenOption) -> _Edit:
    """Return the edit that removes an option from the text.

    In a command, it also removes the spaces before the option. In a job file, it removes the entire line, unless a
    comment follows the option.
    """
    if form == "command":
        return len(text[: setting.start].rstrip(" \t")), setting.end, ""
    begin = text.rfind("\n", 0, setting.start) + 1
    ending = text.find("\n", setting.end)
    ending = len(text) if ending < 0 else ending
    if text[setting.end : ending].strip():
        return setting.start, setting.end, ""
    return begin, min(ending + 1, len(text)), ""
