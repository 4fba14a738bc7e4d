"""The hard disk's model on its own: seek, rotation, media rate, look-ahead, cache, flush and seed."""

import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.devices.emulated.hdd import Hdd, HddParameters
from tests.closed_loop import Kind, Request, seconds_for

_SIZE = 1 << 30
_TURN_S = 60 / 7200
_WHOLE = HddParameters(stroke=1.0)


def _disk(seed: int = 1, **changes: float) -> Hdd:
    return Hdd(_SIZE, replace(HddParameters(), **changes), seed)  # type: ignore[arg-type]


def _random(kind: Kind, count: int, span: int = _SIZE, length: int = 16384) -> list[Request]:
    chance = random.Random(3)
    return [Request(kind, chance.randrange(span // length) * length, length) for _ in range(count)]


def _rate(disk: Hdd, requests: list[Request], depth: int = 1) -> float:
    return len(requests) / seconds_for(disk, requests, depth)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_a_longer_seek_never_takes_less(distances: list[float]) -> None:
    disk = _disk()
    times = [disk.seek_s(distance) for distance in sorted(distances)]
    assert times == sorted(times)


def test_the_seek_curve_meets_the_data_sheet() -> None:
    """Ultrastar DC HC310: a single-track seek takes 0.23 ms, a full stroke 16.8 ms, and the average seek 7.4 ms."""
    disk, chance = _disk(), random.Random(1)
    assert disk.seek_s(0) == 0
    assert disk.seek_s(1e-7) == pytest.approx(0.23e-3, rel=0.05)
    assert disk.seek_s(1.0) == pytest.approx(16.8e-3)
    average = statistics.mean(disk.seek_s(abs(chance.random() - chance.random())) for _ in range(50_000))
    assert average == pytest.approx(7.4e-3, rel=0.02)


def test_the_seek_curve_has_no_step_at_the_knee() -> None:
    disk = _disk()
    assert disk.seek_s(0.2 + 1e-9) == pytest.approx(disk.seek_s(0.2 - 1e-9), rel=1e-6)


def test_random_reads_of_a_whole_disk_and_of_a_slice() -> None:
    assert _rate(Hdd(_SIZE, _WHOLE, 1), _random("read", 3000)) == pytest.approx(85, rel=0.05)
    assert _rate(_disk(), _random("read", 3000)) == pytest.approx(133, rel=0.05)


def test_rotation_is_spread_over_one_turn() -> None:
    """If all seeks take the same time, only the wait for the sector varies: 0 to 8.33 ms, on average half of that."""
    disk, far, now = _disk(), _SIZE // 2, 0.0
    waits = []
    for index in range(2000):
        done = disk.read(now, far * (index % 2), 512)
        waits.append(done - now - disk.seek_s(0.1))
        now = done
    assert 0 <= min(waits[1:]) < 0.05 * _TURN_S
    assert 0.95 * _TURN_S < max(waits) < 1.01 * _TURN_S
    assert statistics.mean(waits) == pytest.approx(_TURN_S / 2, rel=0.05)


@pytest.mark.parametrize(("offset", "rate"), [(0, 200e6), (_SIZE // 2, 150e6), (_SIZE, 100e6)])
def test_the_media_rate_falls_from_the_outer_to_the_inner_edge(offset: int, rate: float) -> None:
    assert Hdd(_SIZE, _WHOLE, 1).media_rate(offset) == pytest.approx(rate)


@pytest.mark.parametrize("depth", [1, 4, 32])
def test_a_sequential_read_runs_at_the_media_rate(depth: int) -> None:
    piece = 128 << 10
    requests = [Request("read", offset, piece) for offset in range(0, 128 << 20, piece)]
    assert _rate(_disk(), requests, depth) * piece == pytest.approx(198e6, rel=0.03)


@given(st.integers(0, 2**32))
def test_pieces_of_a_stream_that_arrive_out_of_order_cost_no_seek(seed: int) -> None:
    piece, chance = 128 << 10, random.Random(seed)
    requests = [Request("read", offset, piece) for offset in range(0, 64 << 20, piece)]
    for start in range(0, len(requests), 8):
        group = requests[start : start + 8]
        chance.shuffle(group)
        requests[start : start + 8] = group
    assert _rate(_disk(), requests, 8) * piece > 0.9 * 198e6


def test_think_time_between_sequential_reads_is_hidden_by_look_ahead() -> None:
    disk, piece, now = _disk(), 128 << 10, 0.0
    for index in range(1000):
        now = disk.read(now, index * piece, piece) + 200e-6
    assert 1000 * piece / now == pytest.approx(198e6, rel=0.05)


@pytest.mark.parametrize(("step", "hit"), [(-4096, False), (4096, True), (0, True)])
def test_the_buffer_contains_nothing_before_the_start_of_a_stream(step: int, hit: bool) -> None:
    """Reads in descending order, one after another, took 44 µs each."""
    disk, now, waits = _disk(), 0.0, []
    for index in range(200):
        done = disk.read(now, _SIZE // 2 + index * step, 4096)
        waits.append(done - now)
        now = done
    assert (statistics.median(waits) < 1e-4) is hit
    assert (statistics.median(waits) > 1e-3) is not hit


def test_a_queue_shortens_seeks_but_not_rotation() -> None:
    requests = _random("read", 3000)
    assert 1.2 < _rate(_disk(), requests, 8) / _rate(_disk(), requests, 1) < 1.6
    assert _rate(_disk(), requests, 64) < 1 / (_TURN_S / 2)


def test_writes_are_acknowledged_until_the_cache_is_full() -> None:
    disk = _disk(cache_writes=16)
    waits = [disk.write(0.0, request.offset, request.length) for request in _random("write", 17)]
    assert max(waits[:16]) < 1e-3
    assert waits[16] > 2e-3


def test_the_cache_is_also_bounded_in_bytes() -> None:
    disk = _disk(cache_bytes=1 << 20)
    waits = [disk.write(0.0, offset, 256 << 10) for offset in range(0, 2 << 20, 256 << 10)]
    assert max(waits[:4]) < 1e-3
    assert waits[4] > 1e-3


def test_a_flush_waits_for_the_debt_and_a_second_one_for_nothing() -> None:
    disk = _disk()
    for request in _random("write", 50):
        disk.write(0.0, request.offset, request.length)
    done = disk.flush(0.0)
    assert 0.1 < done < 50 * 13e-3
    assert disk.flush(done) - done < 1e-3


def test_idle_time_pays_the_debt() -> None:
    disk = _disk()
    for request in _random("write", 50):
        disk.write(0.0, request.offset, request.length)
    assert disk.flush(10.0) - 10.0 < 1e-3


def test_a_read_goes_before_writes_that_wait() -> None:
    disk = _disk()
    for request in _random("write", 100):
        disk.write(0.0, request.offset, request.length)
    assert disk.read(0.0, _SIZE // 2, 4096) < 20e-3


def test_a_durable_write_waits_for_the_media() -> None:
    disk = _disk()
    assert disk.write(0.0, _SIZE // 2, 4096, durable=True) > 1e-3


@pytest.mark.parametrize("think_s", [0.0, 0.3e-3, 5e-3])
def test_sequential_writes_each_flushed_cost_one_turn_each(think_s: float) -> None:
    disk, now = _disk(), 0.0
    for index in range(200):
        now = disk.flush(disk.write(now + think_s, index * 4096, 4096))
    assert now / 200 == pytest.approx(_TURN_S, rel=0.02)


def test_retries_lengthen_a_share_of_the_reads() -> None:
    disk, now, slow = _disk(retry_share=0.05), 0.0, 0
    for request in _random("read", 2000):
        done = disk.read(now, request.offset, request.length)
        slow += done - now > 0.3
        now = done
    assert slow / 2000 == pytest.approx(0.05, rel=0.3)


def test_the_same_seed_gives_the_same_times_and_another_seed_others() -> None:
    requests = _random("read", 50)
    assert _rate(_disk(7), requests) == _rate(_disk(7), requests)
    assert _rate(_disk(7), requests) != _rate(_disk(8), requests)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "write", "durable", "flush"]),
            st.integers(0, _SIZE // 4096 - 1),
            st.integers(1, 256),
            st.floats(0, 0.05),
        ),
        max_size=60,
    )
)
def test_no_request_completes_before_it_arrives(asked: list[tuple[str, int, int, float]]) -> None:
    disk, now = _disk(cache_writes=8), 0.0
    for kind, block, blocks, pause in asked:
        now += pause
        offset, length = block * 4096, min(blocks * 4096, _SIZE - block * 4096)
        if kind == "flush":
            done = disk.flush(now)
        elif kind == "read":
            done = disk.read(now, offset, length)
        else:
            done = disk.write(now, offset, length, durable=kind == "durable")
        assert done > now
