"""Which ticks of the logarithmic axis are labelled in the latency charts."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import altair as alt
import pytest
import vl_convert

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.latency import CHART as LATENCY
from poolproof.presentation.charts.latency_time import CHART as LATENCY_TIME
from poolproof.results.runs.loading import LoadedRun, load_run
from tests.unit.results.compare.making import make_run

_LABEL = re.compile(r">(\d+) (µs|ms|s)<")
_SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    return load_run(make_run(tmp_path / "run", {("one", "reads"): [1.0, 2.0]}))


@pytest.mark.parametrize("fastest_s", [3.1e-5, 6e-4, 2e-3])
@pytest.mark.parametrize("factor", [8, 150, 4000])
def test_every_power_of_ten_is_labelled(fastest_s: float, factor: float, run: LoadedRun) -> None:
    """By default, Vega would keep the label of a 9 and drop that of the following 10."""
    slowest_s = fastest_s * factor
    of_trials = [{"trial": "trial 1", "percentile": "p50", "seconds": value} for value in (fastest_s, slowest_s)]
    over_time = [
        {"at_s": at, "percentile": "p50", "seconds": value} for at in (0.0, 1.0) for value in (fastest_s, slowest_s)
    ]
    for chart, rows in ((LATENCY, of_trials), (LATENCY_TIME, over_time)):
        named = _labels(chart.draw(alt.InlineData(values=rows), run))
        assert named[0] <= fastest_s < slowest_s <= named[-1]
        assert all(2.9 < more / less < 10.1 for less, more in itertools.pairwise(named))
        powers = [10.0**power for power in range(-9, 3) if named[0] <= 10.0**power * 1.01 and 10.0**power <= named[-1]]
        assert [value for value in named if f"{value:e}".startswith("1.0")] == pytest.approx(powers)


@pytest.mark.timeout(20)
def test_a_cell_with_thousands_of_trials_is_drawn_in_seconds(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", {("one", "reads"): [1.0]})
    first = json.loads((path / "trials.jsonl").read_text())
    lines = [json.dumps({**first, "number": number}) for number in range(1, 8_001)]
    (path / "trials.jsonl").write_text("\n".join(lines) + "\n")
    (cell,) = load_run(path).cells
    assert len(LATENCY.rows(cell)) == 8_000


def _labels(chart: Any) -> list[float]:
    """Return the values of the labelled ticks, in seconds."""
    text = vl_convert.vegalite_to_svg(look.dressed(chart))
    return sorted(float(number) * _SECONDS[unit] for number, unit in _LABEL.findall(text))
