"""Fixtures of the lab tests: one lab for each OpenZFS series, with the disks for all tests.

With POOLPROOF_KEEP_LABS=1, the labs keep running and are used again by the next session. To list and remove them:
`poolproof lab list`, `lab rm`. With POOLPROOF_LAB_ZFS=2.3, all tests use this OpenZFS series, including those that
otherwise use only 2.1.
"""

import os
from collections.abc import Iterator

import pytest

from poolproof.campaign.model import DeviceSource, Emulated, LoopFile, Qcow2
from poolproof.campaign.yaml import read_campaign
from poolproof.lab.build import build, recipe_here
from poolproof.lab.home import lab_folder

from .machine import Machine, new_name
from .places import CAMPAIGNS, EXPERIMENTS, ZFS

LIMIT_S = 1800
"""The time limit, in seconds, for a test that waits for an emulated lab on a busy machine."""

OF_EXPERIMENTS = ("mirror-reads", "write-distribution", "shared-zvol", "tiers", "cache-and-log")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "zfs(*series): the series of OpenZFS whose labs the test wants; else 2.1 alone")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/lab" in item.path.as_posix() and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Pass each test its OpenZFS series as a parameter, so that all tests of a series run together in one lab."""
    if "lab" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("zfs")
        series = (ZFS,) if "POOLPROOF_LAB_ZFS" in os.environ else marker.args if marker else (ZFS,)
        metafunc.parametrize("lab", series, indirect=True, scope="session")


@pytest.fixture(scope="session", autouse=True)
def _image() -> None:
    """Build the image for the labs. This takes minutes the first time, and no time after that."""
    build(recipe_here(ZFS), print)


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """The lab with the OpenZFS series that the test requires."""
    series = str(request.param)
    build(recipe_here(series), print)
    kept = bool(os.environ.get("POOLPROOF_KEEP_LABS"))
    name = f"kept-{series.replace('.', '-')}" if kept else new_name()
    stands = kept and (lab_folder() / "machines" / name / "qemu.pid").exists()
    machine = Machine(name) if stands else Machine.start(name, "--zfs", series, "--cpus=1", *_disks())
    try:
        yield machine
    finally:
        if not kept:
            machine.remove()


def _disks() -> list[str]:
    """Return the devices of all campaigns.

    Devices with the same name must be identical, because one lab contains them all.
    """
    paths = [EXPERIMENTS / f"{name}.yaml" for name in OF_EXPERIMENTS] + sorted(CAMPAIGNS.glob("*.yaml"))
    devices = [device for path in paths for device in read_campaign(path).devices]
    return [f"--disk={device.name}={_word(device.source)}" for device in dict.fromkeys(devices)]


def _word(source: DeviceSource) -> str:
    match source:
        case Emulated():
            return f"emulate:{source.model},{source.size_bytes}"
        case Qcow2():
            return f"qcow2:{source.size_bytes}"
        case LoopFile():
            return f"file:{source.size_bytes}"
    raise AssertionError(f"{source} is no disk of a lab")
