"""Latency over time: each percentile is computed from intervals with enough I/Os, and no I/O is lost."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.load.merge import percentiles_of
from poolproof.presentation.charts.latency_time import SLOWER, joined_bins, percentile_lines
from poolproof.presentation.charts.trial_data import LatencyLine

FAST, SLOW = 1_000_000, 9_000_000


def _intervals(count: int, *, ios: int = 1000, syncs: int = 0) -> list[LatencyLine]:
    """Return one interval per second, in which one in fifty I/Os is slow."""
    bins = {FAST: ios - ios // 50, SLOW: ios // 50}
    return [LatencyLine(101.0 + n, float(n), n + 1.0, bins, {FAST: syncs} if syncs else {}) for n in range(count)]


def test_a_percentile_is_that_of_its_interval_alone() -> None:
    (found,) = percentile_lines([*_intervals(4), LatencyLine(105.0, 4.0, 5.0, {SLOW: 1000}, {})], 100.0, 40)
    assert found.at == [0, 1, 2, 3, 4, 5]
    assert found.values["p50"] == [0.001, 0.001, 0.001, 0.001, 0.009, 0.009]
    assert found.values["p99"] == [0.009] * 6


def test_a_percentile_waits_until_ten_are_slower() -> None:
    (found,) = percentile_lines(_intervals(25, ios=500), 100.0, 40)
    assert None not in found.values["p50"]
    steps = [number for number, value in enumerate(found.values["p99"][:-1]) if value]
    assert steps == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]
    assert [number for number, value in enumerate(found.values["p99.9"][:-1]) if value] == [0]


def test_a_percentile_without_enough_is_not_drawn() -> None:
    (found,) = percentile_lines(_intervals(5, ios=100, syncs=3), 100.0, 40)
    assert list(found.values) == ["p50"]
    assert percentile_lines(_intervals(1, ios=5), 100.0, 40) == []
    assert percentile_lines([], 100.0, 40) == []


def test_times_count_from_the_window_and_a_late_report_shifts_none() -> None:
    intervals = _intervals(3)
    intervals[-1].at_s += 0.4  # fio's last report is printed after everything has been summed up
    (found,) = percentile_lines(intervals, 98.5, 40)
    assert found.at == [1.5, 2.5, 3.5, 4.5]


@given(
    st.lists(st.dictionaries(st.integers(1, 50), st.integers(1, 400), max_size=4), max_size=30),
    st.sampled_from([50.0, 99.0, 99.9]),
)
def test_no_io_is_lost_and_each_step_has_enough(all_bins: list[dict[int, int]], per_cent: float) -> None:
    steps = joined_bins(all_bins, per_cent)
    whole = sum((Counter(bins) for bins in all_bins), Counter())
    needed = round(100 * SLOWER / (100 - per_cent))
    if not steps:
        assert whole.total() < needed
        return
    assert sum(steps.values(), Counter()) == whole
    assert next(iter(steps)) == 0 and list(steps) == sorted(steps)
    assert all(bins.total() >= needed for bins in steps.values())


@pytest.mark.parametrize("steps", [1, 3, 8])
def test_fewer_steps_are_sums_of_neighbours(steps: int) -> None:
    (found,) = percentile_lines(_intervals(20), 100.0, steps)
    assert len(found.at) - 1 <= steps
    assert (found.at[0], found.at[-1]) == (0, 20)
    assert found.values["p99"][0] == percentiles_of({FAST: 980, SLOW: 20}, [99.0])[99.0] / 1e9
