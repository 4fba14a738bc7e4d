"""Judge the trials of a run directory again, from the load, the report and the evidence saved with each trial."""

from pathlib import Path

from poolproof.foreign.audit.context import target_of
from poolproof.foreign.audit.estimate import estimate_of
from poolproof.foreign.audit.model import Audited, AuditedMetrics
from poolproof.foreign.audit.rerun import rerun_command
from poolproof.foreign.audit.texts import AuditContext, figures_of
from poolproof.load.outcome import Direction, Latency
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial
from poolproof.rules.judge import judge
from poolproof.rules.model import Case

_NOT_SAVED = "the verdict recorded in the run: the run did not save the data needed to judge it again"
_IMPORTED = "the verdict recorded at import; to judge the source again: poolproof audit {source}"


def is_run(path: Path) -> bool:
    """True if the path is a run directory."""
    return (path / "run.json").is_file()


def audit_run(path: Path, audit_context: AuditContext) -> tuple[Audited, ...]:
    """Judge every trial by the current rules. A trial that saved too little keeps its recorded verdict.

    The line of a result is the trial's line in trials.jsonl.

    Raises:
        RunError: the run cannot be read.
    """
    run = RunDirectory.open(path)
    source = str(path / "trials.jsonl")
    return tuple(_audited(run, source, line, trial, audit_context) for line, trial in enumerate(run.trials(), start=1))


def _audited(run: RunDirectory, source: str, line: int, trial: Trial, audit_context: AuditContext) -> Audited:
    case = _case(run, trial, audit_context)
    if case is None or case.outcome is None:
        return _as_recorded(source, line, trial)
    judgement = judge(case)
    return Audited(
        source=source,
        line=line,
        last_line=line,
        job=_trial_name(trial),
        command=None,
        figures=figures_of(case.outcome),
        verdict=judgement.verdict,
        findings=judgement.findings,
        estimate=estimate_of(case, judgement),
        rerun=rerun_command(case, judgement.findings) if judgement.verdict != "sound" else None,
        was=trial.verdict,
    )


def _case(run: RunDirectory, trial: Trial, audit_context: AuditContext) -> Case | None:
    """Return the case that the trial was judged by; None if the trial did not save all of it."""
    saved = run.judged_by(trial)
    if saved is None or saved[2].target is None:
        return None
    load, outcome, evidence = saved
    return Case(
        load=load,
        outcome=outcome,
        evidence=evidence,
        target=target_of(audit_context.context, evidence.target),
        cold=evidence.cold is not False and audit_context.cold,
        asked_s=evidence.asked_s,
    )


def _as_recorded(source: str, line: int, trial: Trial) -> Audited:
    why = _IMPORTED.format(source=trial.source.rpartition(":")[0]) if trial.source else _NOT_SAVED
    failed = trial.verdict == "failed" and not trial.source
    return Audited(
        source=source,
        line=line,
        last_line=line,
        job=_trial_name(trial),
        command=None,
        figures=_recorded_values(trial),
        verdict=trial.verdict,
        findings=trial.findings,
        known=() if failed else (why,),
        was=trial.verdict,
    )


def _trial_name(trial: Trial) -> str:
    return f"{trial.workload} on {trial.layout}, trial {trial.number}"


def _recorded_values(trial: Trial) -> AuditedMetrics:
    figures = trial.figures
    if figures is None:
        return AuditedMetrics({})
    rates = {
        "read": (figures.read_bandwidth_bytes, figures.read_iops),
        "write": (figures.write_bandwidth_bytes, figures.write_iops),
    }
    directions = {
        name: Direction(bandwidth_bytes=bandwidth, iops=iops) for name, (bandwidth, iops) in rates.items() if bandwidth
    }
    return AuditedMetrics(
        directions, Latency(percentiles_ns={99.0: figures.sync_p99_ns}) if figures.sync_p99_ns else None
    )
