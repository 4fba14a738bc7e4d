"""Find what the rules report for one fio call, with the jobs and the line of the option that causes it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.evidence.model import Evidence, Target
from poolproof.foreign.lint.model import SEVERITIES, Unit
from poolproof.foreign.lint.variables import possible_jobs
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import load_of
from poolproof.load.model import Load
from poolproof.rules.catalogue import all_rules
from poolproof.rules.model import Case, Changes, Finding, Rule


@dataclass(frozen=True)
class LocatedFinding:
    """A finding with its line, the indexes of the jobs that cause it, and the changes that fix each of them."""

    finding: Finding
    line: int
    jobs: tuple[int, ...]
    changes: tuple[Changes, ...]


@dataclass(frozen=True)
class JobGroup:
    """Jobs of a unit that have the same target, by index. `evidence` is what is known about their files."""

    jobs: tuple[int, ...]
    target: Target | None
    evidence: Evidence | None = None


def locate_findings(unit: Unit, groups: Sequence[JobGroup]) -> tuple[LocatedFinding, ...]:
    """Return all findings of the rules in the unit, ordered by line."""
    found = [each for group in groups for each in _in_group(unit, group)]
    return tuple(sorted(found, key=lambda each: each.line))


def _in_group(unit: Unit, group: JobGroup) -> Iterator[LocatedFinding]:
    cases = list(_cases(unit, group))
    for rule in all_rules():
        yield from _of_rule(unit, group, rule, cases)


def _of_rule(unit: Unit, group: JobGroup, rule: Rule, cases: Sequence[Case]) -> Iterator[LocatedFinding]:
    """Yield the rule's findings that are true for every value of the unknown variables."""
    first = rule.check_job(cases[0])
    if not first:
        return
    found = [first, *(rule.check_job(case) for case in cases[1:])]
    blamed = _blamed(rule, cases[0])
    for number, finding in enumerate(found[0]):
        others = [each[number] for each in found[1:] if number < len(each)]
        if len(others) < len(found) - 1:
            continue
        places = [blamed[number]] if len(found[0]) == len(blamed) else blamed
        yield LocatedFinding(
            _common_finding(rule, finding, others),
            _line(unit, [unit.jobs.jobs[group.jobs[place]] for place in places], rule),
            tuple(group.jobs[place] for place in places),
            tuple(_changes(rule, cases, place) for place in places),
        )


def _cases(unit: Unit, group: JobGroup) -> Iterator[Case]:
    jobs = JobFile(tuple(unit.jobs.jobs[place] for place in group.jobs))
    for filled in possible_jobs(jobs, has_unknown_words=bool(unit.unknown_words)):
        yield Case(load_of(filled), evidence=group.evidence, target=group.target)


def _blamed(rule: Rule, case: Case) -> list[int]:
    """Return the jobs that break the rule when they run alone; all jobs if only the combination breaks it."""
    parts = case.load.parts
    alone = [place for place, part in enumerate(parts) if rule.check_job(replace(case, load=Load((part,))))]
    return alone or list(range(len(parts)))


def _common_finding(rule: Rule, finding: Finding, others: Sequence[Finding]) -> Finding:
    """Return the mildest of the findings, without numbers if they depend on unknown variables."""
    finding = max([finding, *others], key=lambda each: list(SEVERITIES).index(each.effect))
    if all((each.message, each.fix) == (finding.message, finding.fix) for each in others):
        return finding
    return replace(finding, message=rule.wrong, fix=rule.fix)


def _line(unit: Unit, jobs: Sequence[Job], rule: Rule) -> int:
    for name in rule.options:
        lines = [job.lines[name] for job in jobs if name in job.lines]
        if lines:
            return lines[0]
    return next((job.line for job in jobs if job.line), unit.line)


def _changes(rule: Rule, cases: Sequence[Case], place: int) -> Changes:
    """Return the changes that fix the job; none if they depend on unknown variables."""
    each = [rule.changes(case, case.load.parts[place]) for case in cases]
    return each[0] if all(changes == each[0] for changes in each) else {}
