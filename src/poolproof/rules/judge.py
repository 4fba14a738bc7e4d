"""Derive one verdict from the findings. docs/verdicts.md explains the reasoning."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from poolproof.rules.catalogue import all_rules
from poolproof.rules.flow import proves
from poolproof.rules.model import Case, Effect, Finding, Rule
from poolproof.verdicts import Verdict

_RANK: dict[Effect, int] = {"fails": 0, "refutes": 1, "suspects": 2, "notes": 3}
_VERDICT: dict[Effect, Verdict] = {"fails": "failed", "refutes": "refuted", "suspects": "suspect"}


@dataclass(frozen=True)
class Judgement:
    """The verdict on a result and its reasons: the findings, strongest first."""

    verdict: Verdict
    findings: tuple[Finding, ...]


def judge(case: Case) -> Judgement:
    """Apply every rule to one result and return the verdict."""
    proven = proves(case)
    findings = sorted(_all_findings(case, proven), key=_strength)
    return Judgement(_verdict(findings, proven), tuple(findings))


def lint(case: Case) -> tuple[Finding, ...]:
    """Return the findings on a job and its target before a run, strongest first."""
    found = [finding for rule in all_rules() if rule.in_job for finding in rule.in_job(case)]
    return tuple(sorted(found, key=_strength))


def _all_findings(case: Case, proven: bool) -> Iterable[Finding]:
    for rule in all_rules():
        yield from _findings(rule, case, proven)


def _findings(rule: Rule, case: Case, proven: bool) -> Iterable[Finding]:
    """Return the findings of one rule: those on the result if there are any, otherwise those on the job."""
    seen = tuple(rule.in_result(case)) if rule.in_result else ()
    if seen or rule.in_job is None:
        return seen
    foreseen = tuple(rule.in_job(case))
    return _settled(rule, foreseen) if proven else foreseen


def _settled(rule: Rule, foreseen: tuple[Finding, ...]) -> Iterable[Finding]:
    """Return the job findings that remain when the byte count proves the result."""
    return () if rule.cleared_by_byte_count else [replace(finding, effect="notes") for finding in foreseen]


def _strength(finding: Finding) -> tuple[int, int, str]:
    return _RANK[finding.effect], -finding.weight, finding.rule


def _verdict(findings: list[Finding], proven: bool) -> Verdict:
    strongest = findings[0].effect if findings else "notes"
    if strongest in _VERDICT:
        return _VERDICT[strongest]
    return "sound" if proven else "unproven"
