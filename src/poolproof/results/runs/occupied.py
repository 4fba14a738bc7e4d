"""Refuse a run directory that already contains a run, and say what can be done with that run."""

from pathlib import Path

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import PoolproofError, RunError, as_word
from poolproof.results.runs.convergence import trials_ahead
from poolproof.results.runs.directory import RunDirectory


def check_without_run(path: Path) -> None:
    """Raise a RunError if the directory contains a run. The hint depends on whether the run is finished."""
    if (path / "run.json").is_file():
        raise RunError(f"{path} already contains a run", f"choose another directory with --out{_next_command(path)}")


def _next_command(path: Path) -> str:
    run = RunDirectory(path)
    try:
        record = run.record()
        if run.is_going():
            return f"; to follow the run in that directory: poolproof watch {as_word(path)}"
        if record.imported:
            return f"; to see the imported results in that directory: poolproof show {as_word(path)}"
        campaign = parse_campaign(record.campaign, str(path / "run.json"), recorded=True)
        if trials_ahead([trial for trial in run.trials() if not trial.interrupted], campaign):
            return f"; to continue the run in that directory: poolproof resume {as_word(path)}"
    except (PoolproofError, OSError):
        return f"; to see what can be read of the run in that directory: poolproof show {as_word(path)}"
    return f"; the run in that directory is finished; to see its results: poolproof show {as_word(path)}"
