"""Create real devices as a run does, measure them with fio, and remove them."""

import contextlib
import json
import os
import shutil
import statistics
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.model import Device
from poolproof.devices.emulate import PIPELINE_S
from poolproof.devices.model import DevicePlan, Site, Volume
from poolproof.devices.plan import DeviceFacts, plan_devices
from poolproof.facts.block import used_loops
from poolproof.hosts.local import LocalHost
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.provision.owned import owned_by_site
from poolproof.provision.undo import undo_all
from poolproof.steps import Step

HOST = LocalHost()
_TOLERANCE = 0.15
_ROUNDS = 6
_QUIET_ALONE = 3300
"""The minimum reads per second, at depth 1, of a model without service time.

Each read then takes at most 0.3 ms to the model and back.
"""

_QUIET_TOGETHER = 7500
"""The same at depth 8. This is a third more than any model needs."""

KNOWN_S = 400e-6
"""The service time, in seconds, of the device that measures the overhead for SSDs. It is similar to that of an SSD."""

KNOWN_LONG_S = 7e-3
"""The same for hard disks.

A separate device is needed, because a guest's processor wakes up much later from a sleep of several milliseconds than
from one that is shorter than its host's polling. On a machine that served short requests in time, the delay was 4 ms.
"""

_LONG_WAY = 0.5
"""If the overhead exceeds this share of the model's service time, the model can't be judged."""

_PROGRAMS = ("losetup", "truncate", "touch", "tee", "nbdkit", "nbdfuse", "qemu-img", "qemu-nbd", "wipefs")


@dataclass(frozen=True)
class Rate:
    """A rate measured by fio, in operations and bytes per second."""

    iops: float
    bandwidth: float


def site_in(directory: Path, ram: Path) -> Site:
    """Return a site that uses this machine's programs."""
    programs = frozenset(name for name in _PROGRAMS if shutil.which(name))
    return Site("t", str(directory), str(ram), str(directory), True, programs, frozenset(), 1 << 34, 1 << 33)


def free_loop() -> int:
    """Return an unused loop device number that is far from those that other programs use first."""
    taken = used_loops(HOST)
    first = 200 + os.getpid() % 500
    return next(number for number in range(first, first + 100) if number not in taken)


@contextlib.contextmanager
def created(device: Device, site: Site, settings: tuple[str, ...] = ()) -> Iterator[Volume]:
    """Create the device, and remove it at the end in any case.

    `settings`: additional arguments of nbdkit.
    """
    (plan,) = plan_devices((device,), site, DeviceFacts(loops=(free_loop(),)))
    journal = Journal(Path(site.state_dir) / f"{device.name}.journal")
    try:
        apply(_with_settings(plan, settings), HOST, journal, may_overwrite=frozenset())
        yield plan.volume
    finally:
        assert undo_all(journal, HOST, owned_by_site(site)) == ()


def _with_settings(plan: DevicePlan, settings: tuple[str, ...]) -> tuple[Step, ...]:
    return tuple(
        replace(step, argv=(*step.argv, *settings)) if step.argv[0] == "nbdkit" else step for step in plan.steps
    )


def fio(path: str, **options: object) -> Rate:
    """Run fio on the device, by default for one second, and return the rate."""
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


def is_quiet(free: str) -> bool:
    """True if the machine is currently fast enough to serve a model.

    `free`: the path of a device whose model adds no time.
    """
    alone = fio(free, rw="randread", bs="4k", iodepth=1, runtime="500ms").iops
    together = fio(free, rw="randread", bs="4k", iodepth=8, runtime="500ms").iops
    return alone >= _QUIET_ALONE and together >= _QUIET_TOGETHER


def measured_way_s(known: str, takes_s: float, **options: object) -> float:
    """Return the overhead of a request to a model in seconds.

    Every request to the device `known` takes `takes_s` in the plugin, including its sleep and wake-up. `options` must
    be those of the job to be compared, because reads and writes have different overheads.
    """
    return 1 / fio(known, **options).iops - takes_s


def compare(
    what: str, expected: float, measure: Callable[[], float], free: str, *, way_s: Callable[[], float] | None = None
) -> None:
    """Pass if, in one of six rounds, the median of three measurements is within 15% of the expected value.

    A wrong model fails in every round. If the machine was too busy in every round, as measured on the `free` device
    before and after, the device can only be slower than the model. In this case, all rounds must be below the upper
    limit, and a warning says that the lower limit was not tested.

    `way_s`: measures the overhead of a request in seconds, for rates at queue depth 1. The expected time of each
    request is corrected by the difference between this overhead and the one that the plugin subtracts.
    """
    told, fair, fastest = [], False, -1.0
    for _ in range(_ROUNDS):
        quiet = is_quiet(free)
        way = PIPELINE_S if way_s is None else way_s()
        here = 1 / (1 / expected + way - PIPELINE_S)
        value = statistics.median(measure() for _ in range(3))
        off = value / here - 1
        told.append(f"{value:.0f} ({off:+.0%})")
        if abs(off) <= _TOLERANCE:
            print(f"{what}: the model says {expected:.0f}, by the way here {here:.0f}, measured {told[-1]}")
            return
        fastest = max(fastest, off)
        fair = fair or (quiet and way * expected < _LONG_WAY and is_quiet(free))
    said = f"{what}: the model says {expected:.0f}, measured {', '.join(told)}"
    assert not fair and fastest <= _TOLERANCE, said
    warnings.warn(f"the machine is too busy for the lower limit: {said}", stacklevel=2)
