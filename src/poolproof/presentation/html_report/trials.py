"""The charts of single trials as data for the page: as many trials and points as a page has room for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from poolproof.presentation.charts.catalogue import charts_of
from poolproof.presentation.charts.model import TrialChart
from poolproof.presentation.charts.trial_data import TrialData, short, trial_data
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.verdicts import WORST_FIRST

MOST_POINTS, FEWEST_POINTS = 200, 40
_ROOM = 210_000
"""Numbers in all charts of trials together: about 1 MB of a page."""
_COLUMNS = 5
"""Numbers for each point besides one for each disk: its time, two rates, and about two for fio and latencies."""
_ALL_TRIALS_UP_TO = 150


@dataclass(frozen=True)
class ShownTrials:
    """The charts of trials by cell, and how many trials are not shown: for lack of files, or of room."""

    by_cell: Mapping[tuple[str, str], tuple[Mapping[str, Any], ...]]
    missing: int
    left_out: int
    one_trial_each: bool

    @property
    def remarks(self) -> list[str]:
        """Sentences on what the page does not show."""
        remarks = []
        if self.one_trial_each:
            remarks.append("Over time, only the first measured trial of each cell is drawn.")
        if self.left_out:
            remarks.append(f"There is no room for {self.left_out} trials; those that are not sound were preferred.")
        if self.missing:
            remarks.append(f"samples.jsonl is missing or damaged for {self.missing} trials, which cannot be drawn.")
        return remarks


def shown_trials(seen: LoadedRun, cells: Sequence[Cell]) -> ShownTrials:
    """Choose the trials of a page, those of cells that are not sound first."""
    ordered = sorted(cells, key=lambda cell: WORST_FIRST.index(cell.verdict))
    all_trials = sum(len(cell.trials) for cell in cells) <= _ALL_TRIALS_UP_TO
    candidates = [(cell, trial) for cell in ordered for trial in (cell.trials if all_trials else _first(cell))]
    columns = _COLUMNS + max((len(trial.leaves) for _, trial in candidates), default=0)
    most = _ROOM // (FEWEST_POINTS * columns)
    shown = candidates[:most]
    points = max(FEWEST_POINTS, min(MOST_POINTS, _ROOM // (columns * max(1, len(shown)))))
    by_cell: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    missing = 0
    for cell, trial in shown:
        data = trial_data(seen.path, trial, points)
        if data is not None:
            by_cell.setdefault((cell.layout, cell.workload), []).append(_charts(data))
        elif trial.leaves:
            missing += 1
    found = {key: tuple(each) for key, each in by_cell.items()}
    return ShownTrials(found, missing, len(candidates) - len(shown), not all_trials)


def _first(cell: Cell) -> tuple[Trial, ...]:
    """Return the first trial that was measured."""
    return next(((trial,) for trial in cell.trials if trial.leaves), ())


def _charts(data: TrialData) -> dict[str, Any]:
    """Return a trial's charts for the page's script. Lines over the times of the samples refer to those times."""
    window_s = data.account.window_s
    end_s = window_s + (data.account.drain_s if data.has_drain else 0.0)
    times = [short(at) for at in data.times_s]
    charts = {}
    for chart in charts_of(TrialChart):
        lines = chart.lines(data)
        compact = [asdict(each) | ({"at": None} if each.at == times else {}) for each in lines]
        charts[chart.name] = {"lines": compact, "note": chart.note(data, lines)}
    return {
        "number": data.trial.number,
        "times": times,
        "domain": [short(min(0.0, data.times_s[0])), short(end_s)],
        "phases": [{"name": each.name, "from_s": short(each.from_s), "to_s": short(each.to_s)} for each in data.phases],
        "charts": charts,
    }
