"""Record long trials of campaigns, for replaying the stopping rule: `python -m benchmarks.record CAMPAIGN…`.

Each campaign is run by `poolproof run` with equal `min` and `max`, so that every trial has this length regardless of
the stopping rule. The rates of each trial, in intervals, are written to benchmarks/recordings/. A campaign may need
root. With `--lab`, it is run in a lab in which transaction groups last one second. With `--plan`, only the cells and
the expected time are printed.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import recordings
from benchmarks.quick_txg_lab import TXG_S, run_in_lab
from benchmarks.recordings import Head, Recorded
from poolproof import process
from poolproof.campaign.expression import format_expression
from poolproof.campaign.model import Campaign, Workload
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import PoolproofError, UsageError
from poolproof.load.generator import Status
from poolproof.measure.series import series_of
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial
from poolproof.version import __version__

_NEVER = "0.01%"
_OVERHEAD_S = 4.0
_LAYOUT_S = 45.0
_LIMIT_FACTOR = 3
_BTRFS_COMMIT_S = 30.0
_INTERVAL_S = 0.25


def main() -> int:
    """Record the campaigns, one after the other, and print a line for each."""
    asked = _arguments()
    try:
        for path in asked.campaigns:
            campaign = _only(parse_campaign(path.read_text(encoding="utf-8"), str(path)), asked.layouts)
            expected_s = _expected_s(campaign, asked.seconds, asked.trials)
            cells = len(campaign.layouts) * len(campaign.workloads)
            print(f"{campaign.name}: {cells} cells, about {expected_s / 60:.0f} min", flush=True)
            if not asked.plan:
                print(f"  {_record(campaign, asked, expected_s)}", flush=True)
    except PoolproofError as error:
        print(f"poolproof: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record", description=__doc__)
    parser.add_argument("campaigns", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each trial [60]")
    parser.add_argument("--trials", type=int, default=3, help="of each cell [3]")
    parser.add_argument("--layouts", nargs="+", default=[], help="record only these layouts, in a separate file")
    parser.add_argument("--out", type=Path, default=recordings.FOLDER, help="where recordings go")
    parser.add_argument("--lab", action="store_true", help="run in a lab")
    parser.add_argument("--zfs", default="2.1", help="OpenZFS in the lab [2.1]")
    parser.add_argument("--plan", action="store_true", help="only print the cells and the time")
    return parser.parse_args()


def _only(campaign: Campaign, names: Sequence[str]) -> Campaign:
    known = [layout.name for layout in campaign.layouts]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"{campaign.name} has no layout {', '.join(unknown)}; it has {', '.join(known)}", "name those")
    kept = tuple(layout for layout in campaign.layouts if not names or layout.name in names)
    return replace(campaign, layouts=kept, baseline=kept[0].name)


def _expected_s(campaign: Campaign, seconds: float, trials: int) -> float:
    cells = len(campaign.layouts) * len(campaign.workloads)
    return cells * trials * (seconds + _OVERHEAD_S) + len(campaign.layouts) * _LAYOUT_S


def _record(campaign: Campaign, asked: argparse.Namespace, expected_s: float) -> str:
    """Run the campaign, save its series of rates, and return a line about what was written."""
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="poolproof-record-", dir="/var/tmp"))
    try:
        said = _run(campaign, asked, folder, 600 + _LIMIT_FACTOR * expected_s)
        if not (folder / "run" / "run.json").is_file():
            raise PoolproofError(f"nothing was measured: {said}", "fix that, then record again")
        trials = list(recorded(RunDirectory.open(folder / "run"), campaign))
        head = Head(campaign.name, __version__, datetime.now(UTC).isoformat(timespec="seconds"), platform.platform())
        written = recordings.write(asked.out, "-".join((campaign.name, *asked.layouts)), head, trials)
    finally:
        shutil.rmtree(folder)
    minutes = (time.monotonic() - begun) / 60
    return f"{written.name}: {len(trials)} trials, {written.stat().st_size} bytes, in {minutes:.1f} min"


def _run(campaign: Campaign, asked: argparse.Namespace, folder: Path, limit_s: float) -> str:
    """Run the campaign, save the run in the subfolder `run`, and return how it ended."""
    words = ["--until", _NEVER, "--min", f"{asked.seconds:g}s", "--max", f"{asked.seconds:g}s"]
    words += ["--trials", str(asked.trials), "--json"]
    out = folder / "run"
    if asked.lab:
        code = run_in_lab(campaign, f"record-{os.getpid()}", asked.zfs, out, words, limit_s)
        return f"poolproof ended with {code}"
    file, program = folder / "campaign.yaml", str(Path(sys.executable).with_name("poolproof"))
    file.write_text(format_campaign(campaign), encoding="utf-8")
    argv = [program, "run", str(file), "--out", str(out), "--work", str(folder), *words]
    done = process.run(argv, timeout_s=limit_s, check=False)
    return f"poolproof ended with {done.returncode}: {done.stderr.strip()[-600:]}"


def recorded(run: RunDirectory, campaign: Campaign) -> Iterator[Recorded]:
    """Yield the trials of a run that have results, as recordings."""
    workloads = {workload.name: workload for workload in campaign.workloads}
    layouts = {layout.name: format_expression(layout.expression) for layout in campaign.layouts}
    trials = [trial for trial in run.trials() if trial.verdict != "failed"]
    for trial in sorted(trials, key=lambda trial: trial.key):
        statuses = _statuses(run, trial)
        if statuses:
            yield _one(trial, workloads[trial.workload], layouts[trial.layout], statuses)


def _one(trial: Trial, workload: Workload, expression: str, statuses: Sequence[Status]) -> Recorded:
    by_bytes = workload.metric == "bandwidth"
    series = series_of(statuses, _INTERVAL_S, by_bytes=by_bytes)
    writes = statuses[-1].write_bytes > 0
    return Recorded(
        layout=trial.layout,
        workload=trial.workload,
        trial=trial.number,
        by="bytes" if by_bytes else "ios",
        interval_s=series.interval_s,
        turnover_s=_turnover_s(expression) if writes else 0.0,
        values=series.values,
    )


def _turnover_s(expression: str) -> float:
    """Return how long the layout delays direct writes, in seconds.

    On ZFS, this is a transaction group, and on btrfs, the commit interval.
    """
    words = expression.split()
    if "zfs" in words:
        return TXG_S
    if "btrfs" in words:
        options = dict(word.split("=", 1) for word in words if "=" in word)
        return float(options.get("commit", _BTRFS_COMMIT_S))
    return 0.0


def _statuses(run: RunDirectory, trial: Trial) -> list[Status]:
    """Return fio's reports during a trial from series.jsonl."""
    path = run.trial_directory(trial.key) / "series.jsonl"
    if not path.is_file():
        return []
    return [Status(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    raise SystemExit(main())
