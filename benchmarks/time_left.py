"""How far off the time left is, replayed on the timings of real runs: `python -m benchmarks.time_left [RUN…]`.

A quarter, half and three quarters through each run the estimate that a live screen would show is held against the time
that the run really took from there. Without run directories those in benchmarks/timings/ are replayed: campaign, and of
each trial when it began and how long it took. `--keep NAME=RUN` adds the timings of a run to them.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poolproof.campaign.model import Campaign
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.presentation.terminal.live_state import LiveState
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial, TrialMetrics
from poolproof.results.runs.timing import begin_s, end_s

KEPT = Path(__file__).parent / "timings" / "runs.jsonl"
SHARES = (0.25, 0.5, 0.75)
_EPOCH_S = 1_800_000_000.0


@dataclass(frozen=True)
class Timed:
    """A run as its clock saw it: its trials in the order in which they ended."""

    name: str
    campaign: Campaign
    begun_s: float
    trials: tuple[Trial, ...]

    @property
    def ended_s(self) -> float:
        return end_s(self.trials[-1])

    def error(self, share: float) -> float | None:
        """How far off the estimate is when that share of the run is over, relative; None without an estimate."""
        at_s = self.begun_s + share * (self.ended_s - self.begun_s)
        left_s = self._state(at_s).left_s()
        return None if left_s is None else left_s / (self.ended_s - at_s) - 1

    def _state(self, at_s: float) -> LiveState:
        """What a live screen knew at that time."""
        clock = _Clock(self.begun_s)
        state = LiveState(self.campaign, clock=clock)
        for moment_s, tell in self._events(state):
            if moment_s > at_s:
                break
            clock.now_s = moment_s
            tell()
        clock.now_s = at_s
        return state

    def _events(self, state: LiveState) -> "Iterator[tuple[float, Any]]":
        layout, before_s = None, self.begun_s
        for trial in self.trials:
            if trial.layout != layout:
                layout = trial.layout
                yield before_s, lambda trial=trial: state.layout_begins(trial.layout, 0)
            if trial.number > self.campaign.measure.trials:
                yield begin_s(trial), lambda trial=trial: state.trial_added(trial.layout, trial.workload)
            yield begin_s(trial), lambda trial=trial: state.trial_begins(trial.layout, trial.workload, trial.number)
            before_s = end_s(trial)
            yield before_s, lambda trial=trial: state.trial_ends(trial)


@dataclass
class _Clock:
    now_s: float

    def __call__(self) -> float:
        return self.now_s


def timed_trial(layout: str, workload: str, number: int, begun_s: float, took_s: float) -> Trial:
    """A trial of which only the times are told; seconds from the start of the run."""
    begun_at = datetime.fromtimestamp(_EPOCH_S + begun_s, UTC).isoformat(timespec="milliseconds")
    figures, seconds = TrialMetrics(1.0, 1.0), {"fio": took_s}
    return Trial(layout, workload, number, "sound", (), "iops", figures, begun_at=begun_at, seconds=seconds)


def timed(name: str, campaign: Campaign, trials: list[tuple[str, str, int, float, float]]) -> Timed:
    """A run of such trials."""
    return Timed(name, campaign, _EPOCH_S, tuple(timed_trial(*each) for each in trials))


def kept() -> list[Timed]:
    """The runs whose timings are kept here."""
    rows = [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]
    return [timed(row["run"], parse_campaign(row["campaign"], row["run"]), row["trials"]) for row in rows]


def of_run(path: Path) -> Timed:
    """A run directory.

    Raises:
        RunError: it can't be read.
    """
    run = RunDirectory.open(path)
    record = run.record()
    trials = tuple(trial for trial in run.trials() if trial.begun_at and trial.seconds)
    begun_s = datetime.fromisoformat(record.begun_at).timestamp()
    return Timed(path.name, parse_campaign(record.campaign, str(path)), begun_s, trials)


def keep(name: str, path: Path) -> None:
    """Add the timings of a run to those that are kept, in tenths of seconds."""
    run = of_run(path)
    campaign = replace(run.campaign, name=name, question="", expect=(), quick=None)
    trials = [(t.layout, t.workload, t.number, begin_s(t) - run.begun_s, end_s(t) - begin_s(t)) for t in run.trials]
    rounded = [[*trial[:3], *(round(value, 1) for value in trial[3:])] for trial in trials]
    row = {"run": name, "campaign": format_campaign(campaign), "trials": rounded}
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def _line(run: Timed) -> str:
    errors = [run.error(share) for share in SHARES]
    texts = ["" if error is None else f"{error:+.0%}" for error in errors]
    cells = len({trial.key[:2] for trial in run.trials})
    return f"| {run.name} | {cells} | {len(run.trials)} | {run.ended_s - run.begun_s:.0f} s | {' | '.join(texts)} |"


def main() -> int:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.time_left", description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--keep", metavar="NAME=RUN", help="keep the timings of a run")
    asked = parser.parse_args()
    if asked.keep:
        name, _, path = asked.keep.partition("=")
        keep(name, Path(path))
    runs = [of_run(path) for path in asked.runs] if asked.runs else kept()
    print("| run | cells | trials | took | a quarter through | half | three quarters |\n|---|---|---|---|---|---|---|")
    for run in runs:
        print(_line(run))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
