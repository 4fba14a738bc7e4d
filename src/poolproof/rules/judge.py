"""Derives one verdict from the findings of all rules. docs/verdicts.md explains how."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from poolproof.rules.catalogue import all_rules
from poolproof.rules.flow import proves
from poolproof.rules.model import VERDICTS, Case, Finding, Rule
from poolproof.verdicts import Verdict

_STRENGTH = tuple(VERDICTS)


@dataclass(frozen=True)
class Judgement:
    """The verdict on a result and its reasons: the findings, strongest first.

    `verdicts` maps the id of a metric to the verdict on that metric, if it differs from `verdict`. No rule judges
    single metrics yet, so the mapping is empty.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)


def judge(case: Case) -> Judgement:
    """Apply every rule to one result and return the verdict."""
    proven = proves(case)
    findings = _sorted(finding for rule in all_rules() for finding in _findings(rule, case, proven))
    verdict = VERDICTS[findings[0].effect] if findings else None
    return Judgement(verdict or ("sound" if proven else "unproven"), findings)


def lint(case: Case) -> tuple[Finding, ...]:
    """Return the findings on a job and its target before a run, strongest first."""
    return _sorted(finding for rule in all_rules() for finding in rule.check_job(case))


def _findings(rule: Rule, case: Case, proven: bool) -> tuple[Finding, ...]:
    """Return what one rule finds in the result or, if it finds nothing there, in the job.

    If the byte accounting proves the result, findings on the job are dropped or become notes.
    """
    if seen := rule.check_result(case):
        return seen
    foreseen = rule.check_job(case)
    if not proven:
        return foreseen
    return () if rule.cleared_by_byte_count else tuple(replace(finding, effect="notes") for finding in foreseen)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (_STRENGTH.index(finding.effect), -finding.weight, finding.rule)))
