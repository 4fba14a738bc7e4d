"""The latency charts as they are drawn: which ticks of the logarithmic axis are named."""

import itertools
import re
from typing import Any

import pytest
import vl_convert

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.latency import LatencyPoint, latencies
from poolproof.presentation.charts.latency_time import LatencyStep, latency_time

_LABEL = re.compile(r">(\d+) (µs|ms|s)<")
_SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


@pytest.mark.parametrize("fastest_s", [3.1e-5, 6e-4, 2e-3])
@pytest.mark.parametrize("factor", [8, 150, 4000])
def test_no_power_of_ten_is_without_its_name(fastest_s: float, factor: float) -> None:
    """Vega by itself keeps a 9 and drops the 10 behind it."""
    slowest_s = fastest_s * factor
    of_trials = [LatencyPoint("trial 1", "p50", fastest_s), LatencyPoint("trial 1", "p99", slowest_s)]
    through_time = [LatencyStep(at, "p50", value) for at in (0.0, 1.0) for value in (fastest_s, slowest_s)]
    for chart in (latencies(of_trials), latency_time(through_time, [])):
        named = _named(chart)
        assert named[0] <= fastest_s < slowest_s <= named[-1]
        assert all(2.9 < more / less < 10.1 for less, more in itertools.pairwise(named))
        powers = [10.0**power for power in range(-9, 3) if named[0] <= 10.0**power * 1.01 and 10.0**power <= named[-1]]
        assert [value for value in named if f"{value:e}".startswith("1.0")] == pytest.approx(powers)


def _named(chart: Any) -> list[float]:
    """The ticks that have a name, in seconds."""
    text = vl_convert.vegalite_to_svg(look.dressed(chart))
    return sorted(float(number) * _SECONDS[unit] for number, unit in _LABEL.findall(text))
