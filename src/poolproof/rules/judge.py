"""Combines the findings of all rules into a verdict for each metric, as explained in docs/verdicts.md."""

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
    """The verdict on a result, and the findings that led to it, strongest first.

    `verdict`: the verdict on the chosen metric.
    `verdicts`: the verdicts on metrics for which they differ from `verdict`, keyed by metric.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    verdicts: Mapping[MetricId, Verdict] = field(default_factory=dict)


def judge(case: Case, metric: MetricId | None = None) -> Judgement:
    """Apply every rule to one result and return the verdict on a metric.

    `metric`: by default, the metric usually quoted for this kind of load.
    """
    proven = proves(case)
    findings = _sorted(finding for rule in all_rules() for finding in _findings(rule, case, proven))
    metric = metric or default_metric(case)
    verdicts = {each: _verdict(case, each, findings) for each in (*measured_metrics(case), metric)}
    verdict = verdicts[metric]
    others = {other: found for other, found in verdicts.items() if found != verdict}
    return Judgement(verdict, tuple(_needed(findings, verdicts)), others)


def _needed(findings: Iterable[Finding], verdicts: Mapping[MetricId, Verdict]) -> Iterator[Finding]:
    """Yield the findings, keeping explanations of missing proof only for metrics whose verdict is `unproven`.

    An explanation that applies to several metrics is limited to the unproven ones.
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
    """Return the findings on a job and its target before a run, strongest first."""
    return _sorted(finding for rule in all_rules() for finding in rule.check_job(case))


def _findings(rule: Rule, case: Case, proven: bool) -> tuple[Finding, ...]:
    """Return a rule's findings on the result or, if there are none, its findings on the job.

    If the byte accounting proves the result, the findings on the job are either dropped or downgraded to notes.
    """
    if seen := rule.check_result(case):
        return seen
    foreseen = rule.check_job(case)
    if not proven:
        return foreseen
    return () if rule.cleared_by_byte_count else tuple(replace(finding, effect="notes") for finding in foreseen)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.rank))
