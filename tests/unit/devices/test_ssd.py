"""The solid-state disk's model on its own (latency, channels, link, flush), and the models by name."""

import random

import pytest

from poolproof.devices.emulated.model import MODELS
from poolproof.devices.emulated.ssd import Ssd, SsdParameters
from tests.closed_loop import Kind, Request, seconds_for

_PLAIN = SsdParameters(channels=4, read_s=1e-3, write_s=0.5e-3, flush_s=2e-3, link_rate=500e6)


def _ssd() -> Ssd:
    return Ssd(1 << 30, _PLAIN, 1)


def _rate(kind: Kind, length: int, depth: int) -> float:
    requests = [Request(kind, index * length, length) for index in range(400)]
    return 400 / seconds_for(_ssd(), requests, depth)


@pytest.mark.parametrize(("depth", "iops"), [(1, 1000), (2, 2000), (4, 4000), (16, 4000)])
def test_channels_work_side_by_side_up_to_their_number(depth: int, iops: float) -> None:
    assert _rate("read", 512, depth) == pytest.approx(iops, rel=0.02)


def test_the_link_carries_no_more_than_its_rate() -> None:
    assert _rate("read", 1 << 20, 16) * (1 << 20) == pytest.approx(500e6, rel=0.02)
    assert _rate("write", 1 << 20, 16) * (1 << 20) == pytest.approx(500e6, rel=0.02)


def test_a_lone_request_takes_the_flash_and_then_the_link() -> None:
    assert _ssd().read(0.0, 0, 500_000) == pytest.approx(1e-3 + 1e-3)


def test_a_small_write_does_not_wait_for_a_read_that_has_not_reached_the_link() -> None:
    ssd = _ssd()
    ssd.read(0.0, 0, 4096)
    assert ssd.write(0.0, 0, 4096) == pytest.approx(0.5e-3, rel=0.05)


def test_a_flush_costs_only_after_a_write() -> None:
    ssd = _ssd()
    assert ssd.flush(1.0) == 1.0
    written = ssd.write(2.0, 0, 4096)
    assert ssd.flush(2.0) == pytest.approx(written + 2e-3)
    assert ssd.flush(5.0) == 5.0


def test_a_durable_write_costs_a_flush() -> None:
    assert _ssd().write(0.0, 0, 512, durable=True) == pytest.approx(0.5e-3 + 2e-3, rel=0.01)


def test_the_models_are_those_of_the_design() -> None:
    assert set(MODELS) == {"hdd-7200", "sata-ssd", "nvme", "hdd-failing"}
    assert [name for name, kind in MODELS.items() if kind.rotational] == ["hdd-7200", "hdd-failing"]
    for name, kind in MODELS.items():
        assert kind.name == name
        assert kind.build(1 << 30).rotational == kind.rotational


def test_a_failing_disk_is_about_half_as_fast() -> None:
    chance = random.Random(5)
    requests = [Request("read", chance.randrange(1 << 16) * 16384, 16384) for _ in range(5000)]
    good, bad = (seconds_for(MODELS[name].build(1 << 30), requests, 1) for name in ("hdd-7200", "hdd-failing"))
    assert 1.7 < bad / good < 3


def test_parameters_change_by_name() -> None:
    slow = MODELS["nvme"].build(1 << 30, changes={"read_s": "0.1", "channels": "1"})
    assert slow.read(0.0, 0, 512) == pytest.approx(0.1, rel=0.01)
    assert slow.read(0.0, 0, 512) == pytest.approx(0.2, rel=0.01)


@pytest.mark.parametrize("changes", [{"spindles": "2"}, {"read_s": "fast"}, {"channels": "2.5"}])
def test_a_wrong_parameter_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"spindles|fast|2\.5"):
        MODELS["nvme"].build(1 << 30, changes=changes)
