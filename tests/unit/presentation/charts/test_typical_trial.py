"""The charts of one trial show the cell's median trial, and say so."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.cell_key import CellKey
from poolproof.metrics import TrialMetrics
from poolproof.presentation.charts.model import chart_named, filled
from poolproof.presentation.charts.trial_data import median_first, typical_data, which_trial
from poolproof.presentation.html_report import cells as report_cells
from poolproof.presentation.html_report.cells import shown_trials
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Trial
from tests.golden import Message
from tests.unit.presentation.html_report.making import make_run, trial


def _trial(number: int, iops: float | None) -> Trial:
    figures = None if iops is None else TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096)
    return replace(trial("one", "reads", number), figures=figures)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    speeds = (900.0, None, 1100.0, 1000.0, 1200.0, 800.0)
    return make_run(tmp_path / "run", [_trial(number, iops) for number, iops in enumerate(speeds, start=1)])


def test_the_median_comes_first_and_trials_without_a_value_last(run: Path) -> None:
    cell = load_run(run).cell("one", "reads")
    assert cell is not None
    assert [each.number for each in median_first(cell)] == [4, 1, 3, 6, 5, 2]


def test_a_chart_names_its_trial(run: Path, message: Message) -> None:
    loaded = load_run(run)
    cell = loaded.cell("one", "reads")
    assert cell is not None
    made = filled(chart_named("rates"), loaded, cell).to_dict()
    assert "trial 4 of 6" in message(made["title"])
    (run / "cells" / "one" / "reads" / "4" / "samples.jsonl").unlink()
    data = typical_data(run, cell, 40)
    assert data is not None and which_trial(cell, data.trial) == "trial 1 of 6"


def test_a_large_page_has_the_median_trial_that_has_samples(
    run: Path, monkeypatch: pytest.MonkeyPatch, message: Message
) -> None:
    monkeypatch.setattr(report_cells, "_ALL_TRIALS_UP_TO", 5)
    loaded = load_run(run, lenient=True)
    shown, remarks = shown_trials(loaded, loaded.cells)
    assert [each["number"] for each in shown[CellKey("one", "reads")]] == [4]
    (remark,) = remarks
    assert "median trial" in message(remark)
    (run / "cells" / "one" / "reads" / "4" / "samples.jsonl").unlink()
    shown, _ = shown_trials(loaded, loaded.cells)
    assert [each["number"] for each in shown[CellKey("one", "reads")]] == [1]
