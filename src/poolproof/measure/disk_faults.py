"""Find faults of the measured storage: errors in the kernel log, slow disks, and layers that stopped working."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from poolproof.devices.model import Leaf
from poolproof.errors import BuildError, PoolproofError
from poolproof.evidence.counters import CounterReading, Counters, difference, reading_at
from poolproof.facts.block import counted_device, whole_disk
from poolproof.hosts.base import Host, host_named
from poolproof.layers.base import LayerFault
from poolproof.layers.open_layout import faults_of
from poolproof.layers.tree import TreePlan
from poolproof.provision.stalled import DiskStalled
from poolproof.rules.model import Effect, Finding
from poolproof.rules.slow_leaf import SLOW_LEAF
from poolproof.rules.work_done import WORK_DONE
from poolproof.units import format_duration

_LIMIT_S = 20.0
_LOG = ("dmesg", "--level=emerg,alert,crit,err")
# print_req_error() in block/blk-core.c, blk_print_req_error() in block/blk-mq.c
_ERROR = re.compile(
    r"^\[\s*(?P<at>\d+\.\d+)\].* error, dev (?P<disk>\S+), sector (?P<sector>\d+)(?: op \w+:\((?P<operation>\w+)\))?"
)
_SLOWER = 10.0
_SLOW_S = 0.002
_BUSY = 0.7
_LEAST_BEFORE, _LEAST_AFTER = 20, 5


def last_error_s(run_host: Host) -> float:
    """Return the time of the last disk error in the kernel log of the run's main host, in seconds since it booted.

    0.0 if there is none. Infinity if the log can't be read.
    """
    errors = _errors(run_host)
    return float("inf") if errors is None else max((float(error["at"]) for error in errors), default=0.0)


def disk_errors(
    run_host: Host,
    leaves: Sequence[Leaf],
    since_s: float,
    *,
    failed: bool,
    cause: PoolproofError | None = None,
) -> tuple[Finding, ...]:
    """Return a finding for each disk with new errors in the kernel log of the run's main host.

    If the log can't be read, the result is empty.

    `since_s`: the result of `last_error_s` at the start of the trial. Only later errors count: the loop device of the
    previous layout, which may have failed, often has the same number as that of this one.
    `failed`: whether the trial failed. If not, the layout tolerated the errors, so the findings are only notes.
    `cause`: why the trial failed. If a disk's program stopped responding, the disk's errors are only a consequence of
    that, so they are ignored.
    """
    stalled = cause.device if isinstance(cause, DiskStalled) else None
    leaves = [leaf for leaf in leaves if leaf.kernel_name != stalled]
    found = defaultdict[str, list[re.Match[str]]](list)
    for error in _errors(run_host) or ():
        if float(error["at"]) > since_s:
            found[error["disk"]].append(error)
    return tuple(
        _error(name, found[_disk(path)], failed=failed) for name, path in _disks(leaves) if _disk(path) in found
    )


def _errors(run_host: Host) -> tuple[re.Match[str], ...] | None:
    """Return the disk errors in the kernel log, or None if the log can't be read."""
    try:
        log = host_named(run_host, "").run(_LOG, timeout_s=_LIMIT_S, check=False)
    except PoolproofError:
        return None
    return tuple(filter(None, map(_ERROR.match, log.stdout.splitlines()))) if log.returncode == 0 else None


def _disks(leaves: Sequence[Leaf]) -> Iterator[tuple[str, str]]:
    """Yield a description and the sysfs `stat` file of each leaf device, and of each disk that stores loop files.

    Leaf devices on other hosts are skipped.
    """
    for leaf in leaves:
        if not leaf.host:
            yield f"the disk {leaf.name} ({leaf.path})", leaf.counter
    below = {leaf.below.device: leaf.below.counter for leaf in leaves if leaf.below is not None and not leaf.host}
    for device, counter in below.items():
        yield f"the disk {device}, which stores the images,", counter


def _disk(counter: str) -> str:
    """Return the kernel's name for the whole disk, because errors on a partition are also logged under this name."""
    return whole_disk(counted_device(counter))


def _error(name: str, errors: Sequence[re.Match[str]], *, failed: bool) -> Finding:
    first = errors[0]
    operation = f" ({first['operation']})" if first["operation"] else ""
    counted = "an error for" if len(errors) == 1 else f"{len(errors):,} errors, the first for"
    return Finding(
        WORK_DONE,
        "fails" if failed else "notes",
        f"{name} returned {counted} sector {first['sector']}{operation}, according to the kernel log",
        "check the disk and its connection (dmesg; smartctl -x), fix or replace them, and run the campaign again",
        weight=85,
    )


def layer_faults(run_host: Host, tree: TreePlan, *, failed: bool) -> tuple[Finding, ...]:
    """Return a finding for each layer that stopped working, such as a suspended pool or a degraded array.

    If the layers don't respond, the result is empty.

    `failed`: whether the trial failed. If not, the findings are only notes.
    """
    effect: Effect = "fails" if failed else "notes"
    faults = _layer_faults(run_host, tree)
    return tuple(Finding(WORK_DONE, effect, fault.message, fault.fix, weight=90) for fault in faults)


def check_layers(run_host: Host, tree: TreePlan) -> None:
    """Raise a BuildError if a layer has stopped working since it was built."""
    for fault in _layer_faults(run_host, tree):
        raise BuildError(fault.message, fault.fix)


def _layer_faults(run_host: Host, tree: TreePlan) -> tuple[LayerFault, ...]:
    try:
        return faults_of(tree, run_host)
    except PoolproofError:
        return ()


def slowed_disks(
    leaves: Sequence[Leaf], readings: Sequence[CounterReading], start_s: float, end_s: float
) -> list[Finding]:
    """Return a note for each disk that was at least 10 times slower in the window's last third than in its first.

    Both the time per request and the time per byte must have grown tenfold. Otherwise, a change of the load could look
    like a slower disk. In the last third, the disk must also have been busy for at least 70% of the time, and a request
    must have taken at least 2 ms. Thirds with very few requests are not compared.
    """
    third_s = (end_s - start_s) / 3
    if len(readings) < 2 or third_s <= 0:
        return []
    moments = [reading_at(readings, at_s) for at_s in (start_s, start_s + third_s, end_s - third_s, end_s)]
    found = []
    for index, leaf in enumerate(leaves):
        first, second, third, fourth = (each.counters[index] for each in moments)
        before, after = _per_request(difference(second, first)), _per_request(difference(fourth, third))
        if _is_slower(difference(second, first), difference(fourth, third), third_s) and before and after:
            found.append(
                Finding(
                    SLOW_LEAF,
                    "notes",
                    f"{leaf.name} slowed down: on average, a request kept it busy for {format_duration(before)} in the "
                    f"first third of the trial and for {format_duration(after)} in the last third",
                    "if its cache was full, measure for longer; if not, check the disk with smartctl -x (temperature, "
                    "errors, reallocated sectors)",
                    weight=75,
                )
            )
    return found


def _is_slower(before: Counters, after: Counters, seconds: float) -> bool:
    if _requests(before) < _LEAST_BEFORE or _requests(after) < _LEAST_AFTER or after.busy_ms < _BUSY * 1000 * seconds:
        return False
    moved_before, moved_after = (each.read_bytes + each.write_bytes for each in (before, after))
    per_request = _per_request(after) >= max(_SLOW_S, _SLOWER * _per_request(before))
    return per_request and after.busy_ms * moved_before >= _SLOWER * before.busy_ms * moved_after


def _requests(counters: Counters) -> int:
    return counters.read_ios + counters.write_ios


def _per_request(counters: Counters) -> float:
    """Return the mean time in seconds that a request kept the disk busy, or 0 if there were no requests."""
    return counters.busy_ms / 1000 / _requests(counters) if _requests(counters) else 0.0
