"""The charts of rates and of busy disks, which are drawn from the counters and from fio's reports."""

from itertools import pairwise
from pathlib import Path

import pytest

from poolproof.presentation.charts.busy import CHART as BUSY
from poolproof.presentation.charts.rates import CHART as RATES
from poolproof.presentation.charts.rates import load_line
from poolproof.presentation.charts.trial_data import Report, TrialData, trial_data
from tests.golden import Message
from tests.unit.presentation.html_report.making import make_run, trial

MIB = 1024**2


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", [trial("one", "stream")])


def data(run: Path, most_points: int = 200) -> TrialData:
    found = trial_data(run, trial("one", "stream"), most_points)
    assert found is not None
    return found


def test_rates_come_from_the_counters(run: Path) -> None:
    disks = RATES.lines(data(run))[0]
    assert disks.at[:3] == [-1, 0, 1]
    assert list(disks.values) == ["disks, writes"]
    assert disks.values["disks, writes"][0] == 0
    assert disks.values["disks, writes"][1] == pytest.approx(10 * MIB / 1e6, rel=1e-2)


def test_without_reports_fio_has_its_mean(run: Path, message: Message) -> None:
    for path in run.rglob("series.jsonl"):
        path.unlink()
    found = data(run)
    fio = RATES.lines(found)[-1]
    assert fio.at == [0, 10]
    assert fio.values["fio"] == pytest.approx([10 * MIB / 1e6] * 2, rel=1e-2)
    assert "flat line" in message(RATES.note(found, RATES.lines(found)))


def test_the_load_has_the_name_of_its_generator(run: Path) -> None:
    found = trial_data(run, trial("one", "stream"), 200, "toy")
    assert found is not None
    lines = RATES.lines(found)
    assert list(lines[-1].values) == ["toy"]
    assert "toy: " in RATES.note(found, lines) and "fio" not in RATES.note(found, lines)


def test_busy_disks_come_from_the_counters(run: Path) -> None:
    (busy,) = BUSY.lines(data(run))
    assert busy.values["a"][1:] == [50] * 11


def test_fewer_points_keep_every_byte(run: Path) -> None:
    disks = RATES.lines(data(run, 4))[0]
    values = disks.values["disks, writes"][:-1]
    assert len(values) == 4
    spans = [(after or 0) - (before or 0) for before, after in pairwise(disks.at)]
    moved = sum((rate or 0) * span for rate, span in zip(values, spans, strict=True))
    assert moved == pytest.approx(100 * MIB / 1e6, rel=1e-2)


def test_phases_around_the_window_are_shaded(run: Path) -> None:
    assert [(phase.name, phase.from_s, phase.to_s) for phase in data(run).phases] == [
        ("before", -1.0, 0.0),
        ("drain", 10.0, 10.5),
    ]


def test_fios_own_rate_goes_by_its_own_clock() -> None:
    late = [0.0, 0.0, 0.0, 0.4]  # the last report is printed after everything has been summed up
    reports = [Report(101.0 + n + late[n], n + 1.0, 2_000_000 * (n + 1), 1_000_000 * (n + 1)) for n in range(4)]
    whole, fewer = load_line(reports, 99.5, 200, "fio"), load_line(reports, 99.5, 3, "fio")
    assert (whole.at, whole.values["fio"]) == ([0.5, 1.5, 2.5, 3.5, 4.5], [3, 3, 3, 3, 3])
    assert (fewer.at, fewer.values["fio"]) == ([0.5, 2.5, 4.5], [3, 3, 3])


def test_a_short_last_interval_makes_no_step_of_its_own() -> None:
    """fio's last report follows shortly after the previous one, with hardly any additional bytes."""
    reports = [Report(101.0 + n, n + 1.0, 3_000_000 * (n + 1), 0) for n in range(4)]
    line = load_line([*reports, Report(104.02, 4.02, 12_000_000, 0)], 100.0, 200, "fio")
    assert line.at == [0, 1, 2, 3, 4.02]
    assert line.values["fio"][-1] == pytest.approx(3, rel=0.03)
