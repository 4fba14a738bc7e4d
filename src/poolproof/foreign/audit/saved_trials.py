"""Judge the trials in a run directory again, using the load, result and evidence that were saved with each trial."""

from dataclasses import replace
from pathlib import Path

from poolproof.foreign.audit.advice import estimate_of
from poolproof.foreign.audit.context import Context, target_of
from poolproof.foreign.audit.model import Audited, AuditedMetrics, metrics_of
from poolproof.load.asked import asked_of
from poolproof.load.outcome import Direction, Latency
from poolproof.metrics import METRICS
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial
from poolproof.rules.judge import judge
from poolproof.rules.model import Case

_NOT_SAVED = "this is the verdict recorded in the run, which did not save the data needed to judge the trial again"
_IMPORTED = "this is the verdict recorded at import; to judge the source again: poolproof audit {source}"


def audit_run(path: Path, context: Context) -> tuple[Audited, ...]:
    """Judge every trial in the run directory by the current rules.

    If some of the data needed to judge a trial was not saved, the trial keeps its recorded verdict. The line of each
    result is the trial's line in trials.jsonl. Raises a RunError if the run cannot be read.
    """
    run = RunDirectory.open(path)
    source = str(path / "trials.jsonl")
    return tuple(_audited_trial(run, source, line, trial, context) for line, trial in enumerate(run.trials(), start=1))


def _audited_trial(run: RunDirectory, source: str, line: int, trial: Trial, context: Context) -> Audited:
    name = f"{trial.workload} on {trial.layout}, trial {trial.number}"
    case = _case(run, trial, context)
    if case is None or case.outcome is None:
        why = _IMPORTED.format(source=trial.source.rpartition(":")[0]) if trial.source else _NOT_SAVED
        known = () if trial.verdict == "failed" and not trial.source else (why,)
        metrics, verdict = _recorded_metrics(trial), trial.verdict
        recorded = Audited(source, line, line, name, None, metrics, verdict, trial.findings, known, was=verdict)
        return replace(recorded, verdicts=trial.verdicts)
    judgement = judge(case, trial.metric)
    return Audited(
        source=source,
        line=line,
        last_line=line,
        job=name,
        command=None,
        figures=metrics_of(case.outcome),
        verdict=judgement.verdict,
        verdicts=judgement.verdicts,
        findings=judgement.findings,
        estimate=estimate_of(case, judgement),
        was=trial.verdict,
    )


def _case(run: RunDirectory, trial: Trial, context: Context) -> Case | None:
    """Rebuild the input of the rules from the data saved with a trial, or return None if some of it was not saved."""
    saved = run.judged_by(trial)
    if saved is None or saved[2].target is None:
        return None
    load, outcome, evidence = saved
    return Case(
        load=load,
        outcome=outcome and asked_of(load, outcome),
        evidence=evidence,
        target=target_of(context, evidence.target),
        cold=evidence.cold is not False and context.cold,
        asked_s=evidence.asked_s,
    )


def _recorded_metrics(trial: Trial) -> AuditedMetrics:
    """Return the metrics recorded in the trial itself, for use if the files with its data are missing."""
    figures = trial.figures
    if figures is None:
        return AuditedMetrics({})
    rates = {
        "read": (figures.read_bandwidth_bytes, figures.read_iops),
        "write": (figures.write_bandwidth_bytes, figures.write_iops),
    }
    moved = [name for name, (bandwidth, _) in rates.items() if bandwidth]
    directions = {}
    for name in moved:
        # with a single direction, use the percentiles of all I/Os: older runs have no others
        clat = _recorded_latency(trial, name) or (_recorded_latency(trial, "ios") if len(moved) == 1 else None)
        bandwidth, iops = rates[name]
        directions[name] = Direction(bandwidth_bytes=bandwidth, iops=iops, clat=clat)
    return AuditedMetrics(directions, _recorded_latency(trial, "syncs"))


def _recorded_latency(trial: Trial, of: str) -> Latency | None:
    """Return the latency percentiles of one kind of event, such as `read` or `syncs`, or None if none were recorded."""
    found = {row.percent: trial.value(row.id) for row in METRICS if row.of == of and row.percent is not None}
    known = {percent: value for percent, value in found.items() if value is not None}
    return Latency(percentiles_ns=known) if known else None
