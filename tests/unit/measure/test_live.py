"""When fio counts as hung: its time is over, and neither fio nor a leaf device has done any work for a minute."""

import pytest

from poolproof.evidence.counters import CounterReading, Counters
from poolproof.load.generator import Status
from poolproof.measure.load_watch import STILL_S, LoadStuck, makes_no_progress

_BEGUN_S = 1000.0


def readings(seconds: int, moves_until: float, *, beside_until: float = 0.0, probed: int = 0) -> list[CounterReading]:
    """Return one sample per second, with the counters of a leaf device and of something else.

    `moves_until`: the second until which the leaf device is written.
    `beside_until`: the second until which the other counter increases.
    `probed`: the number of bytes that another program reads from the leaf device per second.
    """
    return [
        CounterReading(
            _BEGUN_S + at,
            (
                Counters(write_bytes=4096 * min(at, int(moves_until)), read_bytes=probed * at),
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
        (41, 10, False),  # still making progress, long after its time limit
        (5, 41, False),  # its time has been over for only 59 s
        (0, 10, True),  # it never moved anything
    ],
)
def test_fio_is_stuck_if_its_time_is_over_and_no_disk_moves_data(moves_until: float, over: float, stuck: bool) -> None:
    assert STILL_S == 60
    assert makes_no_progress(readings(100, moves_until), 1, (), _BEGUN_S + over) is stuck


def test_counters_other_than_the_leaf_devices_do_not_count() -> None:
    assert makes_no_progress(readings(100, 5, beside_until=100), 1, (), _BEGUN_S + 10)
    assert not makes_no_progress(readings(100, 5, beside_until=100), 2, (), _BEGUN_S + 10)


@pytest.mark.parametrize(("probed", "stuck"), [(2**20 // 8, True), (2 * 2**20, False)])
def test_programs_that_look_at_every_disk_do_not_hide_a_hang(probed: int, stuck: bool) -> None:
    """blkid reads 1 MiB of a disk if it is not cached.

    fio's `pre_read` reads far more, but fio does not report it.
    """
    assert makes_no_progress(readings(100, 5, probed=probed), 1, (), _BEGUN_S + 10) is stuck


@pytest.mark.parametrize(
    ("last", "stuck"),
    [
        (Status(at_s=_BEGUN_S + 99, ran_s=99, read_ios=500), True),
        (Status(at_s=_BEGUN_S + 99, ran_s=99, read_ios=501), False),  # it still verifies
        (Status(at_s=_BEGUN_S + 99, ran_s=99, read_ios=500, syncs=1), False),
    ],
)
def test_fio_that_reports_progress_is_not_stuck(last: Status, stuck: bool) -> None:
    earlier = Status(at_s=_BEGUN_S + 9, ran_s=9, read_ios=500)
    assert makes_no_progress(readings(100, 5, probed=4096), 1, (earlier, last), _BEGUN_S + 10) is stuck
    assert not makes_no_progress(readings(100, 5), 1, (last,), _BEGUN_S + 10)  # all of this may have been done just now


def test_without_leaf_devices_or_samples_fio_is_not_stuck() -> None:
    assert not makes_no_progress(readings(100, 5), 0, (), _BEGUN_S)
    assert not makes_no_progress([], 1, (), _BEGUN_S)
    assert not makes_no_progress(readings(100, 5), 1, (), float("inf"))


def test_the_message_names_each_wait_function_once() -> None:
    error = LoadStuck(["hrtimer_nanosleep", "futex_do_wait", "futex_do_wait"], "fio")
    assert error.message.endswith(" hrtimer_nanosleep, futex_do_wait")
    assert error.note.effect == "notes" and error.message in error.note.message
    assert LoadStuck([], "toy").message.endswith("unknown kernel functions")
