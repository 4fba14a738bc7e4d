"""The window that a load's results cover: it begins when the first ramp ends, as fio's reports show."""

import pytest

from poolproof.evidence.account import Window
from poolproof.evidence.counters import CounterFile, CounterReading, Counters
from poolproof.load.generator import Status
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome, PartOutcome
from poolproof.measure.measured_window import measured_window

_FILES = (CounterFile("", "/sys/block/a/stat"),)
_STARTS_S, _ENDS_S = 100.0, 102.3
_REPORTED_S = 102.2
"""The time of fio's last report. fio ended at 102.15 s, and its only ramp at 101.15 s."""
_ON_TIME, _LATE, _IN_RAMP = (101.4, 0.25), (102.2, 1.0), (101.0, 0.9)
"""Reports: the time, and fio's runtime in it."""


def _begins_s(*reports: tuple[float, float], ramps_s: tuple[float, ...] = (1.0,), ahead_s: float = 0.0) -> float:
    """Return the start of the window, from the counters of a disk that completes 1000 requests per second."""
    ended_s = max(ramps_s) + 1.0
    parts = [
        PartOutcome(f"job{ramp}", delay_ms=round(1000 * ramp), job_runtime_ms=round(1000 * (ended_s - ramp)))
        for ramp in ramps_s
    ]
    window = measured_window(
        Window(_reading(_STARTS_S), _reading(_ENDS_S), _reading(_ENDS_S + 1)),
        [_reading(_STARTS_S + number / 10) for number in range(24)],
        [Status(at_s, ran_s) for at_s, ran_s in reports],
        Load(tuple(LoadPart(f"job{ramp}", ramp_s=ramp) for ramp in ramps_s)),
        Outcome("fio-3.33", tuple(parts), timestamp_ms=round(1000 * (_REPORTED_S + ahead_s))),
        0.0,
    )
    assert window.end == _reading(_ENDS_S)
    assert window.start.counters[0].read_ios == pytest.approx(1000 * (window.start.at_s - _STARTS_S), abs=1)
    return window.start.at_s


def _reading(at_s: float) -> CounterReading:
    return CounterReading(at_s, (Counters(read_ios=round(1000 * (at_s - _STARTS_S))),), _FILES)


def test_the_earliest_report_shows_when_the_ramp_ended() -> None:
    assert _begins_s(_ON_TIME, (101.67, 0.5), _LATE) == pytest.approx(101.15)


def test_without_other_reports_the_window_ends_with_the_last_one() -> None:
    assert _begins_s() == _begins_s(_LATE) == pytest.approx(101.2)


def test_a_report_from_the_ramp_does_not_count() -> None:
    assert _begins_s(_IN_RAMP, _LATE) == pytest.approx(101.2)
    assert _begins_s((101.4, 0.5), _LATE, ramps_s=(0.0,)) == _STARTS_S, "without a ramp, it is the whole run"


def test_a_report_from_a_ramp_that_is_shorter_than_the_start_of_fio_does_not_count() -> None:
    """fio started at 100.95 s, and reported for the first time before its ramp of 200 ms ended."""
    in_ramp = (101.1, 0.15)
    assert _begins_s(in_ramp, _ON_TIME, _LATE, ramps_s=(0.2,)) == pytest.approx(101.15)
    assert _begins_s(in_ramp, (101.3, 0.15), _LATE, ramps_s=(0.2,)) == pytest.approx(101.15)


def test_the_window_begins_when_the_first_of_several_ramps_ends() -> None:
    assert _begins_s((101.8, 1.15), (102.2, 1.5), ramps_s=(0.5, 1.0)) == pytest.approx(100.65)
    assert _begins_s((102.2, 1.4), ramps_s=(0.5, 1.0)) == pytest.approx(100.7), "the first job has already ended"


def test_a_changed_wall_clock_does_not_move_the_window() -> None:
    assert _begins_s(ahead_s=-3600.0) == _begins_s(ahead_s=3600.0) == pytest.approx(_ENDS_S - 1.0)
    assert _begins_s(_ON_TIME, ahead_s=3600.0) == pytest.approx(101.15)
