"""The byte accounting per level of the storage stack, computed from readings of the counters."""

from hypothesis import given
from hypothesis import strategies as st

from poolproof.evidence.account import DATASET, DEVICE, CountingPoint, Window, levels_of
from poolproof.evidence.counters import CounterFile, CounterReading, Counters
from poolproof.evidence.model import DatasetUse, Level, ZfsUse
from tests.unit.layers.ground import device

LEAVES = (*device("a").leaves, *device("b").leaves)
A, B = (leaf.counter for leaf in LEAVES)
ZVOL = "/sys/class/block/zd0/stat"


def reading(at_s: float, *written: int) -> CounterReading:
    files = (CounterFile("", A), CounterFile("", B), CounterFile("", ZVOL))
    return CounterReading(at_s, tuple(Counters(read_bytes=2 * count, write_bytes=count) for count in written), files)


def test_each_level_from_fio_to_the_disks() -> None:
    places = [
        CountingPoint("zvol", "/dev/zvol/tank/v", 1, (ZVOL,)),
        CountingPoint(DATASET, "tank", 2),
        CountingPoint("zfs", "tank", 2, (A, B)),
        CountingPoint(DEVICE, "a", 3, (A,)),
        CountingPoint(DEVICE, "b", 3, (B,)),
    ]
    window = Window(reading(0, 10, 20, 100), reading(1, 15, 30, 160), reading(2, 40, 50, 170))
    use = ZfsUse(datasets=(DatasetUse("tank", 7, 8),))
    assert levels_of((5, 60), places, window, use) == (
        Level("fio", "fio", 0, 5, 60),
        Level("zvol", "/dev/zvol/tank/v", 1, 120, 60, 70),
        Level("dataset", "tank", 2, 7, 8),
        Level("zfs", "tank", 2, 30, 15, 60),
        Level("device", "a", 3, 10, 5, 30),
        Level("device", "b", 3, 20, 10, 30),
    )


def test_a_dataset_without_counters_is_left_out() -> None:
    window = Window(reading(0), reading(1), reading(2))
    assert [level.layer for level in levels_of((1, 1), [CountingPoint(DATASET, "tank", 1)], window, None)] == ["fio"]


@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=2), st.integers(0, 2**40))
def test_a_pool_is_the_sum_of_its_devices(start: list[int], more: int) -> None:
    window = Window(reading(0, *start), reading(1, *(count + more for count in start)), reading(2, *start))
    _, pool, *devices = levels_of(
        (0, 0),
        [
            CountingPoint("zfs", "tank", 1, (A, B)),
            CountingPoint(DEVICE, "a", 2, (A,)),
            CountingPoint(DEVICE, "b", 2, (B,)),
        ],
        window,
        None,
    )
    assert pool.write_bytes == sum(level.write_bytes for level in devices) == 2 * more
