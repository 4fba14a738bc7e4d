"""Devices that really stand: brought up by the provisioning that a run uses, measured with fio, taken down again."""

import contextlib
import json
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.model import Device
from poolproof.devices.model import DevicePlan, Site, Volume
from poolproof.devices.plan import DeviceFacts, plan_device
from poolproof.facts.block import used_loops
from poolproof.hosts.local import LocalHost
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step

HOST = LocalHost()
_TOLERANCE = 0.15
_ROUNDS = 6
_PAUSE_S = 1.0
_PROGRAMS = ("losetup", "truncate", "touch", "tee", "nbdkit", "nbdfuse", "qemu-img", "qemu-nbd", "wipefs")


@dataclass(frozen=True)
class Rate:
    """What fio measured: operations and bytes per second."""

    iops: float
    bandwidth: float


def site_in(directory: Path, ram: Path) -> Site:
    """A site of this machine's own programs."""
    programs = frozenset(name for name in _PROGRAMS if shutil.which(name))
    return Site("t", str(directory), str(ram), str(directory), True, programs, frozenset(), 1 << 34, 1 << 33)


def free_loop() -> int:
    """A loop number that nobody uses; far from the numbers that others start to count at."""
    taken = used_loops(HOST)
    first = 200 + os.getpid() % 500
    return next(number for number in range(first, first + 100) if number not in taken)


@contextlib.contextmanager
def standing(device: Device, site: Site, settings: tuple[str, ...] = ()) -> Iterator[Volume]:
    """The device up, with more `settings` for the nbdkit plugin; down at the end, whatever happens."""
    plan = plan_device(device, site, DeviceFacts(loops=(free_loop(),)))
    journal = Journal(Path(site.state_dir) / f"{device.name}.journal")
    try:
        apply(_with_settings(plan, settings), HOST, journal, may_overwrite=frozenset())
        yield plan.volume
    finally:
        assert undo_all(journal, HOST) == ()


def _with_settings(plan: DevicePlan, settings: tuple[str, ...]) -> tuple[Step, ...]:
    return tuple(
        replace(step, argv=(*step.argv, *settings)) if step.argv[0] == "nbdkit" else step for step in plan.steps
    )


def fio(path: str, **options: object) -> Rate:
    """One fio run on the device, one second unless told otherwise."""
    asked: dict[str, object] = {
        "name": "x",
        "filename": path,
        "direct": 1,
        "ioengine": "libaio",
        "norandommap": 1,
        "randrepeat": 0,
        "runtime": 1,
        "time_based": 1,
        "output-format": "json",
        "allow_mounted_write": 0,
        "size": "100%",
        **options,
    }
    argv = [
        "fio",
        *(f"--{name.replace('_', '-') if name == 'output_format' else name}={asked[name]}" for name in asked),
    ]
    job = json.loads(HOST.run(argv, timeout_s=60).stdout)["jobs"][0]
    return Rate(
        sum(job[way]["iops"] for way in ("read", "write")), sum(job[way]["bw_bytes"] for way in ("read", "write"))
    )


def close_to(expected: float, measure: Callable[[], float]) -> tuple[bool, str]:
    """Whether the median of three measurements lies within 15 %.

    Where other work disturbs the machine a round of three may not; up to six rounds are tried. A model that is off by
    itself is off in all of them.
    """
    rounds = []
    for _ in range(_ROUNDS):
        rounds.append(statistics.median(measure() for _ in range(3)))
        if abs(rounds[-1] / expected - 1) <= _TOLERANCE:
            break
        time.sleep(_PAUSE_S)
    off = rounds[-1] / expected - 1
    told = ", ".join(f"{value:.0f}" for value in rounds)
    return abs(off) <= _TOLERANCE, f"the model says {expected:.0f}, measured {told} ({off:+.0%})"
