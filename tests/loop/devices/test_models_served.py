"""Compare each model, when served through nbdkit, nbdfuse and a loop device, with the model on its own.

The rate that fio measures must be within 15% of the rate that `closed_loop` computes for the same requests. These
tests produce the table in docs/emulated-disks.md: `pytest tests/loop/devices/test_models_served.py -rPs`.
"""

import random
from collections.abc import Iterator, Mapping

import pytest

from poolproof.campaign.model import Device, Emulated
from poolproof.devices.emulated.model import MODELS
from poolproof.devices.model import Site
from tests.closed_loop import Kind, Request, seconds_for

from .real_devices import KNOWN_LONG_S, KNOWN_S, Rate, compare, created, fio, measured_way_s

_SIZE = 1 << 30
_SHORT = 64 << 20
_LENGTH = 16384
_PIECE = 1 << 20
"""The block size of the sequential jobs. A block reaches the model as a single request."""

_NO_TIME = ("read_s=0", "write_s=0", "flush_s=0", "link_rate=1e12", "pipeline=0")
_RETRIES = {"retry_share": "0.1", "retry_least_s": "0.03", "retry_most_s": "0.15"}
"""Settings with which retries are frequent and short enough to have a stable mean within one second."""


@pytest.fixture(scope="module")
def free(site: Site) -> Iterator[str]:
    """A device whose model adds no time, so that a request takes only the overhead."""
    with created(Device("free", Emulated("nvme", _SIZE)), site, _NO_TIME) as volume:
        yield volume.path


@pytest.fixture(scope="module")
def known(site: Site) -> Iterator[str]:
    """A device that takes the same known time for every request. Any additional time is overhead."""
    with created(Device("known", Emulated("nvme", _SIZE)), site, _taking(KNOWN_S)) as volume:
        yield volume.path


@pytest.fixture(scope="module")
def slow(site: Site) -> Iterator[str]:
    """A device that takes the same time for every request, about as long as a hard disk."""
    with created(Device("slow", Emulated("nvme", _SIZE)), site, _taking(KNOWN_LONG_S)) as volume:
        yield volume.path


@pytest.fixture(scope="module")
def hdd(site: Site) -> Iterator[str]:
    with created(Device("hdd", Emulated("hdd-7200", _SIZE)), site) as volume:
        yield volume.path


@pytest.fixture(scope="module", params=["sata-ssd", "nvme"])
def ssd(request: pytest.FixtureRequest, site: Site) -> Iterator[tuple[str, str]]:
    with created(Device("ssd", Emulated(request.param, _SIZE)), site) as volume:
        yield request.param, volume.path


def test_hdd_random_reads(hdd: str, free: str, slow: str) -> None:
    expected = _random_reads("hdd-7200", depth=1)
    assert 110 < expected < 145, "a 7200 rpm disk reads about 75 to 140 random blocks a second"
    compare(
        "hdd-7200, random 16k reads, depth 1, IOPS",
        expected,
        lambda: _randread(hdd, 1).iops,
        free,
        way_s=lambda: _way_to_disk_s(slow),
    )


@pytest.mark.slow
def test_hdd_short_seeks_are_faster(hdd: str, free: str, slow: str) -> None:
    expected = _random_reads("hdd-7200", depth=1, span=_SHORT)
    assert expected > 1.3 * _random_reads("hdd-7200", depth=1)
    compare(
        "hdd-7200, random 16k reads within 64M, depth 1, IOPS",
        expected,
        lambda: _randread(hdd, 1, _SHORT).iops,
        free,
        way_s=lambda: _way_to_disk_s(slow),
    )


@pytest.mark.slow
def test_hdd_over_the_full_stroke_is_slower(site: Site, free: str, slow: str) -> None:
    expected = _random_reads("hdd-7200", depth=1, changes={"stroke": "1.0"})
    assert expected < 0.75 * _random_reads("hdd-7200", depth=1)
    with created(Device("full", Emulated("hdd-7200", _SIZE)), site, ("stroke=1.0",)) as volume:
        compare(
            "hdd-7200 stroke=1.0, random 16k reads, IOPS",
            expected,
            lambda: _randread(volume.path, 1).iops,
            free,
            way_s=lambda: _way_to_disk_s(slow),
        )


@pytest.mark.slow
def test_hdd_queue_is_sorted(hdd: str, free: str) -> None:
    expected = _random_reads("hdd-7200", depth=8)
    assert expected > 1.2 * _random_reads("hdd-7200", depth=1)
    compare("hdd-7200, random 16k reads, depth 8, IOPS", expected, lambda: _randread(hdd, 8).iops, free)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 4])
def test_hdd_reads_in_sequence_at_the_media_rate(hdd: str, depth: int, free: str) -> None:
    expected = _sequential("hdd-7200", "read", depth)
    assert 150e6 < expected < 210e6
    compare(
        f"hdd-7200, sequential 1m reads, depth {depth}, MB/s",
        expected / 1e6,
        lambda: fio(hdd, rw="read", bs="1m", iodepth=depth).bandwidth / 1e6,
        free,
    )


@pytest.mark.slow
def test_hdd_writes_in_sequence_at_the_media_rate_once_the_cache_is_full(hdd: str, free: str) -> None:
    expected = _sequential("hdd-7200", "write", 1)
    compare(
        "hdd-7200, sequential 1m writes, cache full, MB/s",
        expected / 1e6,
        lambda: fio(hdd, rw="write", bs="1m", iodepth=1, ramp_time=1).bandwidth / 1e6,
        free,
    )


def test_hdd_flush_costs_one_rotation(hdd: str, free: str) -> None:
    expected = _flushed_writes("hdd-7200")
    assert expected == pytest.approx(120, rel=0.02)
    _settle(hdd)
    compare(
        "hdd-7200, 4k writes each flushed, IOPS", expected, lambda: fio(hdd, rw="write", bs="4k", fsync=1).iops, free
    )


def test_hdd_cache_takes_a_burst_of_random_writes(hdd: str) -> None:
    """The first 128 writes go to the disk's cache and do not wait for the platter.

    With a flush after each, they do wait.
    """
    _settle(hdd)
    burst = fio(hdd, rw="randwrite", bs="4k", number_ios=100, time_based=0, runtime=10)
    _settle(hdd)
    flushed = fio(hdd, rw="randwrite", bs="4k", number_ios=100, time_based=0, runtime=10, fsync=1)
    assert flushed.iops < 200
    assert burst.iops > 3 * flushed.iops


@pytest.mark.slow
def test_failing_hdd_retries(site: Site, free: str, slow: str) -> None:
    expected = _random_reads("hdd-failing", depth=1, changes=_RETRIES)
    assert expected < 0.6 * _random_reads("hdd-7200", depth=1)
    settings = tuple(f"{name}={value}" for name, value in _RETRIES.items())
    with created(Device("bad", Emulated("hdd-failing", _SIZE)), site, settings) as volume:
        compare(
            "hdd-failing with many short retries, random 16k reads, IOPS",
            expected,
            lambda: fio(volume.path, rw="randread", bs="16k", runtime=3).iops,
            free,
            way_s=lambda: _way_to_disk_s(slow),
        )


@pytest.mark.slow
def test_ssd_random_reads(ssd: tuple[str, str], free: str, known: str) -> None:
    name, path = ssd
    compare(
        f"{name}, random 16k reads, depth 1, IOPS",
        _random_reads(name, depth=1),
        lambda: _randread(path, 1).iops,
        free,
        way_s=lambda: measured_way_s(known, KNOWN_S, rw="randread", bs="16k", iodepth=1),
    )


@pytest.mark.slow
def test_ssd_channels_work_in_parallel(ssd: tuple[str, str], free: str) -> None:
    name, path = ssd
    expected = _random_reads(name, depth=8)
    assert expected > 1.8 * _random_reads(name, depth=1)
    compare(f"{name}, random 16k reads, depth 8, IOPS", expected, lambda: _randread(path, 8).iops, free)


@pytest.mark.slow
def test_ssd_link_is_the_ceiling(ssd: tuple[str, str], free: str) -> None:
    name, path = ssd
    compare(
        f"{name}, sequential 1m reads, depth 4, MB/s",
        _sequential(name, "read", 4) / 1e6,
        lambda: fio(path, rw="read", bs="1m", iodepth=4).bandwidth / 1e6,
        free,
    )


@pytest.mark.slow
def test_ssd_random_writes(ssd: tuple[str, str], free: str, known: str) -> None:
    name, path = ssd
    requests = _random("write", _SIZE, 4096)
    expected = len(requests) / seconds_for(MODELS[name].build(_SIZE), requests, 1)
    compare(
        f"{name}, random 4k writes, depth 1, IOPS",
        expected,
        lambda: fio(path, rw="randwrite", bs="4k", iodepth=1).iops,
        free,
        way_s=lambda: measured_way_s(known, KNOWN_S, rw="randwrite", bs="4k", iodepth=1),
    )


@pytest.mark.slow
def test_sata_ssd_flush_costs_its_time(site: Site, free: str) -> None:
    with created(Device("s", Emulated("sata-ssd", _SIZE)), site) as volume:
        expected = _flushed_writes("sata-ssd")
        compare(
            "sata-ssd, 4k writes each flushed, IOPS",
            expected,
            lambda: fio(volume.path, rw="write", bs="4k", fsync=1).iops,
            free,
        )


@pytest.mark.slow
def test_the_models_differ_in_the_expected_order(site: Site) -> None:
    """The models that a user compares, slowest first: a failing disk, a hard disk, an SSD and an NVMe SSD."""
    rates = []
    for name in ("hdd-failing", "hdd-7200", "sata-ssd", "nvme"):
        with created(Device("o", Emulated(name, _SIZE)), site) as volume:
            rates.append(fio(volume.path, rw="randread", bs="16k", iodepth=4, runtime=4).iops)
    assert rates == sorted(rates)


def _taking(takes_s: float) -> tuple[str, ...]:
    return f"read_s={takes_s}", f"write_s={takes_s}", "link_rate=1e12", "pipeline=0"


def _way_to_disk_s(slow: str) -> float:
    return measured_way_s(slow, KNOWN_LONG_S, rw="randread", bs="16k", iodepth=1)


def _randread(path: str, depth: int, span: int = _SIZE) -> Rate:
    return fio(path, rw="randread", bs="16k", iodepth=depth, size=span, runtime=2 if depth == 1 else 1)


def _settle(path: str) -> None:
    """Wait until the disk has written its cache to the medium."""
    fio(path, rw="write", bs="4k", number_ios=1, time_based=0, fsync=1)


def _random(kind: Kind, span: int, length: int, count: int = 3000) -> list[Request]:
    chance = random.Random(7)
    return [Request(kind, chance.randrange(span // length) * length, length) for _ in range(count)]


def _random_reads(name: str, depth: int, span: int = _SIZE, changes: Mapping[str, str] | None = None) -> float:
    requests = _random("read", span, _LENGTH)
    return len(requests) / seconds_for(MODELS[name].build(_SIZE, 7, changes), requests, depth)


def _sequential(name: str, kind: Kind, depth: int) -> float:
    """Return the rate over 1 GiB in bytes per second, with requests of the size that reaches the device."""
    requests = [Request(kind, offset, _PIECE) for offset in range(0, _SIZE, _PIECE)]
    return _SIZE / seconds_for(MODELS[name].build(_SIZE), requests, depth)


def _flushed_writes(name: str) -> float:
    requests = [request for i in range(500) for request in (Request("write", i * 4096, 4096), Request("flush"))]
    return 500 / seconds_for(MODELS[name].build(_SIZE), requests, 1)
