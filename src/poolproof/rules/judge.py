"""Turns the findings of all rules into a verdict for each metric. docs/verdicts.md explains how."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from poolproof.metrics import MetricId
from poolproof.rules.coverage import proves
from poolproof.rules.model import VERDICTS, Case, Finding, Rule
from poolproof.rules.proof import default_metric, measured_metrics, proves_metric
from poolproof.rules.rule_catalogue import all_rules
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class Judgement:
    """The verdict on a result and its reasons: the findings, strongest first.

    `verdict` is the verdict on one metric. `verdicts` maps the ids of the metrics with a different verdict to their
    verdicts.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    verdicts: Mapping[MetricId, Verdict] = field(default_factory=dict)


def judge(case: Case, metric: MetricId | None = None) -> Judgement:
    """Apply every rule to one result and return the verdict on a metric.

    The default metric is the one that people quote for such a load.
    """
    proven = proves(case)
    findings = _sorted(finding for rule in all_rules() for finding in _findings(rule, case, proven))
    metric = metric or default_metric(case)
    verdicts = {each: _verdict(case, each, findings) for each in (*measured_metrics(case), metric)}
    verdict = verdicts[metric]
    others = {other: found for other, found in verdicts.items() if found != verdict}
    return Judgement(verdict, tuple(_needed(findings, verdicts)), others)


def _needed(findings: Iterable[Finding], verdicts: Mapping[MetricId, Verdict]) -> Iterator[Finding]:
    """Yield the findings, but explain why a metric is unproven only if its verdict is `unproven`.

    A finding that explains this for several metrics is limited to those that are unproven.
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
    """Return what the rules find in a job and its target before a run, strongest first."""
    return _sorted(finding for rule in all_rules() for finding in rule.check_job(case))


def _findings(rule: Rule, case: Case, proven: bool) -> tuple[Finding, ...]:
    """Return what one rule finds in the result or, failing that, in the job.

    If the byte accounting proves the result, findings on the job are dropped or become notes.
    """
    if seen := rule.check_result(case):
        return seen
    foreseen = rule.check_job(case)
    if not proven:
        return foreseen
    return () if rule.cleared_by_byte_count else tuple(replace(finding, effect="notes") for finding in foreseen)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.rank))
