"""The rules' findings for one fio call, each with its line and the jobs that cause it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.lint.earlier_commands import NOTHING_BEFORE, Before
from poolproof.foreign.lint.job_groups import JobGroup
from poolproof.foreign.lint.model import FioCall
from poolproof.foreign.lint.time_limit import exceeds_limit, time_limit_of
from poolproof.foreign.lint.variables import possible_jobs, renamed_paths, unknown_in
from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.load import load_of
from poolproof.load.model import Load
from poolproof.rules.model import EFFECTS, Case, Changes, Finding, Rule
from poolproof.rules.rule_catalogue import all_rules


@dataclass(frozen=True)
class LocatedFinding:
    """A finding, its line, the indexes of the jobs that cause it, and the changes that would fix each of these jobs."""

    finding: Finding
    line: int
    jobs: tuple[int, ...]
    changes: tuple[Changes, ...]


def locate_findings(
    unit: FioCall, groups: Sequence[JobGroup], before: Before = NOTHING_BEFORE
) -> tuple[LocatedFinding, ...]:
    """Return the rules' findings for a fio call, in line order. `before`: the earlier commands in the same text."""
    found: list[LocatedFinding] = []
    for group in groups:
        jobs = tuple(unit.jobs[place] for place in group.jobs)
        possible = possible_jobs(jobs, has_unknown_words=bool(unit.unknown_words))
        cases = [_case(group, filled, before, renamed_paths(jobs, filled)) for filled in possible]
        for rule in all_rules():
            found += _of_rule(unit, group, rule, cases)
    return tuple(sorted(found, key=lambda each: each.line))


def _case(group: JobGroup, jobs: Jobs, before: Before, renamed: Mapping[str, str]) -> Case:
    """Return the case of these jobs. `renamed`: the paths that the jobs have in place of unknown ones."""
    return Case(
        load_of(jobs),
        evidence=group.evidence,
        target=group.target,
        earlier=before.loads_with(renamed),
        drops_caches=before.drops_caches,
        drops_only_clean=before.drops_only_clean,
        drops_each_time=before.drops_each_time,
        empties_arc_each_time=before.empties_arc_each_time,
        empty={renamed.get(path, path): program for path, program in before.empty.items()},
        zeros={renamed.get(path, path): program for path, program in before.zeros.items()},
    )


def _of_rule(unit: FioCall, group: JobGroup, rule: Rule, cases: Sequence[Case]) -> Iterator[LocatedFinding]:
    """Yield the rule's findings that occur in every case. The cases differ in the values of the unknown variables."""
    first = rule.check_job(cases[0])
    if not first:
        return
    others = [rule.check_job(case) for case in cases[1:]]
    # Blame the jobs that break the rule on their own, or all jobs if only their combination breaks it.
    parts = cases[0].load.parts
    alone = [at for at, part in enumerate(parts) if rule.check_job(replace(cases[0], load=Load((part,))))]
    blamed = alone or list(range(len(parts)))
    for number, finding in enumerate(first):
        if any(number >= len(found) for found in others):
            continue
        places = [blamed[number]] if len(first) == len(blamed) else blamed
        jobs = [unit.jobs[place] for place in group.jobs]
        changes = tuple(_changes(rule, cases, place, jobs[place]) for place in places)
        common = _common_finding(rule, finding, [found[number] for found in others])
        if "iodepth" in rule.options and any("iodepth" in unknown_in(jobs[place]) for place in places):
            common = replace(common, effect=max(common.effect, "notes", key=EFFECTS.index))  # the depth may be 1
        if any(exceeds_limit(unit, parts[place], each) for place, each in zip(places, changes, strict=True)):
            changes = ({},) * len(places)
            ends = f"the script ends fio after {time_limit_of(unit)}: raise this limit first"
            common = replace(common, fix=f"{common.fix}; {ends}")
        yield LocatedFinding(
            common,
            _line(unit, [jobs[place] for place in places], rule),
            tuple(group.jobs[place] for place in places),
            changes,
        )


def _common_finding(rule: Rule, finding: Finding, others: Sequence[Finding]) -> Finding:
    """Return the mildest finding, with the rule's general message and fix if those of the findings differ."""
    all_found = [finding, *others]
    mildest = max(all_found, key=lambda each: EFFECTS.index(each.effect))
    if all((each.message, each.fix) == (mildest.message, mildest.fix) for each in all_found):
        return mildest
    return replace(mildest, message=rule.wrong, fix=rule.fix)


def _line(unit: FioCall, jobs: Sequence[Job], rule: Rule) -> int:
    lines = (job.lines[name] for name in rule.options for job in jobs if name in job.lines)
    return next(lines, None) or next((job.line for job in jobs if job.line), unit.line)


def _changes(rule: Rule, cases: Sequence[Case], place: int, job: Job) -> Changes:
    """Return the option changes that fix the job.

    Return none if the cases need different changes, or if an option to change has a value with an unknown variable.
    """
    first, *others = (rule.changes(case, case.load.parts[place]) for case in cases)
    is_known = unknown_in(job).keys().isdisjoint({*first, *rule.options[:1]})
    return first if is_known and all(changes == first for changes in others) else {}
