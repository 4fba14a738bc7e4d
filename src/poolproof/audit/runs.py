"""The trials of a run directory as audited results: poolproof judged them when it measured them, by the same rules."""

from pathlib import Path

from poolproof.audit.model import Audited, Figures
from poolproof.fio.figures import Direction, Latency
from poolproof.runs.directory import RunDirectory
from poolproof.runs.model import Trial


def is_run(path: Path) -> bool:
    return (path / "run.json").is_file()


def audit_run(path: Path) -> tuple[Audited, ...]:
    """Every trial, at its line of trials.jsonl.

    Raises:
        RunError: the run cannot be read.
    """
    trials = RunDirectory.open(path).trials()
    source = str(path / "trials.jsonl")
    return tuple(_audited(source, line, trial) for line, trial in enumerate(trials, start=1))


def _audited(source: str, line: int, trial: Trial) -> Audited:
    return Audited(
        source=source,
        line=line,
        last_line=line,
        job=f"{trial.workload} on {trial.layout}, trial {trial.number}",
        command=None,
        figures=_figures(trial),
        verdict=trial.verdict,
        findings=trial.findings,
    )


def _figures(trial: Trial) -> Figures:
    figures = trial.figures
    if figures is None:
        return Figures({})
    rates = {
        "read": (figures.read_bandwidth_bytes, figures.read_iops),
        "write": (figures.write_bandwidth_bytes, figures.write_iops),
    }
    directions = {
        name: Direction(bandwidth_bytes=bandwidth, iops=iops) for name, (bandwidth, iops) in rates.items() if bandwidth
    }
    return Figures(directions, Latency(percentiles_ns={99.0: figures.sync_p99_ns}) if figures.sync_p99_ns else None)
