"""When fio counts as hung: its time is over, and no leaf device has moved a byte for a minute."""

import pytest

from poolproof.evidence.counters import CounterReading, Counters
from poolproof.measure.load_watch import STILL_S, LoadStuck, nothing_moved

_BEGUN_S = 1000.0


def readings(seconds: int, moves_until: float, *, beside_until: float = 0.0) -> list[CounterReading]:
    """One sample per second: a leaf that reads until then, and another counter that moves until then."""
    return [
        CounterReading(
            _BEGUN_S + at,
            (
                Counters(read_bytes=4096 * min(at, int(moves_until)), write_bytes=512),
                Counters(write_bytes=4096 * min(at, int(beside_until))),
            ),
        )
        for at in range(seconds + 1)
    ]


@pytest.mark.parametrize(
    ("moves_until", "over", "stuck"),
    [
        (5, 10, True),
        (39, 10, True),
        (41, 10, False),  # still at work, long after its time
        (5, 41, False),  # its time is over since 59 s only
        (0, 10, True),  # it never moved anything
    ],
)
def test_fio_is_stuck_if_its_time_is_over_and_no_disk_moves_data(moves_until: float, over: float, stuck: bool) -> None:
    assert STILL_S == 60
    assert nothing_moved(readings(100, moves_until), 1, _BEGUN_S + over) is stuck


def test_counters_other_than_the_leaf_devices_do_not_count() -> None:
    assert nothing_moved(readings(100, 5, beside_until=100), 1, _BEGUN_S + 10)
    assert not nothing_moved(readings(100, 5, beside_until=100), 2, _BEGUN_S + 10)


def test_without_leaf_devices_or_samples_fio_is_not_stuck() -> None:
    assert not nothing_moved(readings(100, 5), 0, _BEGUN_S)
    assert not nothing_moved([], 1, _BEGUN_S)
    assert not nothing_moved(readings(100, 5), 1, float("inf"))


def test_the_message_names_each_wait_function_once() -> None:
    error = LoadStuck(["hrtimer_nanosleep", "futex_do_wait", "futex_do_wait"], "fio")
    assert error.message.endswith("its threads were waiting in hrtimer_nanosleep, futex_do_wait")
    assert error.note.effect == "notes" and error.message in error.note.message
    assert LoadStuck([], "toy").message.endswith("unknown kernel functions")
