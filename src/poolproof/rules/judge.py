"""Combines the findings of all rules into one verdict per metric, as docs/verdicts.md explains."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from poolproof.metrics import MetricId
from poolproof.rules.coverage import proves
from poolproof.rules.disk_requests import statistics_prove
from poolproof.rules.engine_without_data import moves_no_data, with_data_only
from poolproof.rules.flow import account
from poolproof.rules.model import VERDICTS, Case, Finding, Rule
from poolproof.rules.proof import default_metric, measured_metrics, proves_metric
from poolproof.rules.rule_catalogue import all_rules
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class Judgement:
    """The verdict on a result, with the findings that led to it, strongest first.

    `verdict`: the verdict on the chosen metric.
    `verdicts`: the other metrics' verdicts, keyed by metric; only those that differ from `verdict`.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    verdicts: Mapping[MetricId, Verdict] = field(default_factory=dict)


def judge(case: Case, metric: MetricId | None = None) -> Judgement:
    """Apply every rule to one result and return the verdict on a metric, with the findings.

    `metric`: if None, the metric usually quoted for this kind of load.
    """
    findings, verdicts = _judged(case, metric or default_metric(case))
    if (others := with_data_only(case)) is not None:
        rest, own = others
        found, judged = _judged(rest, own[0])
        kept = (replace(each, metrics=tuple(name for name in own if each.is_about(name))) for each in found)
        findings = _sorted((*findings, *(each for each in kept if each.metrics)))
        verdicts |= {each: judged[each] for each in own}
    verdict = verdicts[metric or default_metric(case)]
    differ = {other: found for other, found in verdicts.items() if found != verdict}
    return Judgement(verdict, tuple(_needed(findings, verdicts)), differ)


def _judged(case: Case, metric: MetricId) -> tuple[tuple[Finding, ...], dict[MetricId, Verdict]]:
    """Return all findings, strongest first, and the verdict on each measured metric and on the chosen one."""
    proven = proves(case) or (account(case) is None and statistics_prove(case))
    findings = _sorted(finding for rule in _rules_for(case) for finding in _findings(rule, case, proven))
    return findings, {each: _verdict(case, each, findings) for each in (*measured_metrics(case), metric)}


def _rules_for(case: Case) -> tuple[Rule, ...]:
    """Return the rules that apply to a result. Most of them do not apply if fio's engine moves no data."""
    without_data = moves_no_data(case)
    return tuple(rule for rule in all_rules() if not (without_data and rule.is_about_data))


def _needed(findings: Iterable[Finding], verdicts: Mapping[MetricId, Verdict]) -> Iterator[Finding]:
    """Yield the findings, leaving out explanations of missing proof for metrics that are not `unproven`.

    If an explanation applies to several metrics, it is kept for the unproven ones only.
    """
    unproven = {metric for metric, verdict in verdicts.items() if verdict == "unproven"}
    for finding in findings:
        if finding.effect != "leaves-unproven" or not finding.metrics:
            yield finding
        elif left := tuple(metric for metric in finding.metrics if metric in unproven):
            yield replace(finding, metrics=left)


def _verdict(case: Case, metric: MetricId, findings: Iterable[Finding]) -> Verdict:
    strongest = next((finding for finding in findings if finding.is_about(metric)), None)
    verdict = VERDICTS[strongest.effect] if strongest else None
    return verdict or ("sound" if proves_metric(case, metric) else "unproven")


def lint(case: Case) -> tuple[Finding, ...]:
    """Return the findings that are possible before a run, i.e. those on a job and its target, strongest first."""
    return _sorted(finding for rule in all_rules() for finding in rule.check_job(case))


def _findings(rule: Rule, case: Case, proven: bool) -> tuple[Finding, ...]:
    """Return a rule's findings on the result or, if it has none, the rule's findings on the job.

    If the counters or fio's own disk statistics prove the result, findings on the job are either dropped or downgraded
    to notes.
    """
    if seen := rule.check_result(case):
        return seen
    foreseen = rule.check_job(case)
    if not proven:
        return foreseen
    return () if rule.cleared_by_byte_count else tuple(replace(finding, effect="notes") for finding in foreseen)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.rank))
