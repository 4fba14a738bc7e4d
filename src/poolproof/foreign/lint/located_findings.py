"""The findings of one call of fio, each with the job that it is about and the line of the option that causes it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.evidence.model import Evidence, Target
from poolproof.foreign.lint.model import SEVERITIES, Unit
from poolproof.foreign.lint.variables import possible
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import load_of
from poolproof.load.model import Load
from poolproof.rules.catalogue import all_rules
from poolproof.rules.model import Case, Changes, Finding, Rule


@dataclass(frozen=True)
class LocatedFinding:
    """A finding with its line, the jobs to blame by their place in the unit, and what would mend each of them."""

    finding: Finding
    line: int
    jobs: tuple[int, ...]
    changes: tuple[Changes, ...]


@dataclass(frozen=True)
class JobGroup:
    """Jobs of a unit, by their places, that stand on one target; `evidence` knows of their files."""

    jobs: tuple[int, ...]
    target: Target | None
    evidence: Evidence | None = None


def placed(unit: Unit, grounds: Sequence[JobGroup]) -> tuple[LocatedFinding, ...]:
    """Everything that the rules find in the unit, in the order of its lines."""
    found = [each for ground in grounds for each in _on(unit, ground)]
    return tuple(sorted(found, key=lambda each: each.line))


def _on(unit: Unit, ground: JobGroup) -> Iterator[LocatedFinding]:
    cases = list(_cases(unit, ground))
    for rule in all_rules():
        yield from _of_rule(unit, ground, rule, cases)


def _of_rule(unit: Unit, ground: JobGroup, rule: Rule, cases: Sequence[Case]) -> Iterator[LocatedFinding]:
    """A finding stands when it stands whatever the unknown variables are."""
    if rule.in_job is None:
        return
    first = list(rule.in_job(cases[0]))
    if not first:
        return
    found = [first, *(list(rule.in_job(case)) for case in cases[1:])]
    blamed = _blamed(rule, cases[0])
    for number, finding in enumerate(found[0]):
        others = [each[number] for each in found[1:] if number < len(each)]
        if len(others) < len(found) - 1:
            continue
        places = [blamed[number]] if len(found[0]) == len(blamed) else blamed
        yield LocatedFinding(
            _told(rule, finding, others),
            _line(unit, [unit.jobs.jobs[ground.jobs[place]] for place in places], rule),
            tuple(ground.jobs[place] for place in places),
            tuple(_changes(rule, cases, place) for place in places),
        )


def _cases(unit: Unit, ground: JobGroup) -> Iterator[Case]:
    jobs = JobFile(tuple(unit.jobs.jobs[place] for place in ground.jobs))
    for filled in possible(jobs, has_unknown_words=bool(unit.unknown_words)):
        yield Case(load_of(filled), evidence=ground.evidence, target=ground.target)


def _blamed(rule: Rule, case: Case) -> list[int]:
    """The jobs that the rule speaks of even when each is alone; all of them where it is their being together."""
    parts = case.load.parts
    alone = [place for place, part in enumerate(parts) if _speaks(rule, replace(case, load=Load((part,))))]
    return alone or list(range(len(parts)))


def _speaks(rule: Rule, case: Case) -> bool:
    return rule.in_job is not None and any(True for _ in rule.in_job(case))


def _told(rule: Rule, finding: Finding, others: Sequence[Finding]) -> Finding:
    """The mildest of the findings, without figures where they hang on what is unknown."""
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
    """What mends the job, where that does not hang on what is unknown."""
    if rule.fixed_options is None:
        return {}
    each = [rule.fixed_options(case, case.load.parts[place]) for case in cases]
    return each[0] if all(changes == each[0] for changes in each) else {}
