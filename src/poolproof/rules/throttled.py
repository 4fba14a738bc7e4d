"""External limits: control groups that limit I/O or processors, and processors that slow down when they are hot."""

from poolproof.evidence.model import DeviceLimit
from poolproof.load.merge import direction_of
from poolproof.rules.model import Case, Findings, Rule, finding, linux_source, notes, suspects
from poolproof.rules.tolerances import percent
from poolproof.units import format_count, format_duration, format_number, format_rate

_REACHED = 0.7
_EXCEEDED = 1.5
_STOPPED = 0.02


def _in_result(case: Case) -> Findings:
    throttling = case.evidence.throttling if case.evidence else None
    if throttling is None:
        return
    for limit in throttling.devices:
        yield from _of_device(case, limit)
    others = case.evidence.others if case.evidence else None
    seconds = others.seconds if others else 0.0
    if throttling.processors is not None and seconds and throttling.cpu_s >= _STOPPED * seconds:
        yield suspects(
            f"a control group limits its processes to {100 * throttling.processors:.3g}% of one processor (cpu.max), "
            f"and stopped them {_times(throttling.cpu_periods)}, for a total of {format_duration(throttling.cpu_s)} "
            f"out of {format_duration(seconds)}",
            weight=87,
        )
    if throttling.heat_events:
        yield notes(f"a processor slowed down {_times(throttling.heat_events)} because of heat", weight=60)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _of_device(case: Case, limit: DeviceLimit) -> Findings:
    """Yield a finding if the limit applies to this load.

    The finding has the effect `suspects` if the rate reached `_REACHED` of the limit. If a disk was much faster than
    the limit, the limit did not apply to its I/O, for example because a kernel thread outside the group sent it.
    """
    rates = _rates(case, limit)
    if rates is None:
        return
    share, of_disk = (rate / limit.most for rate in rates)
    is_bytes = limit.kind.endswith("bps")
    most = format_rate(limit.most) if is_bytes else f"{format_count(limit.most)} requests/s"
    way = "reads" if limit.kind.startswith("r") else "writes"
    if of_disk >= _EXCEEDED:
        seen = f"were {format_number(of_disk)} times as fast, so the limit did not apply to them"
    else:
        seen = f"{'reached at least' if share >= _REACHED else 'stayed below'} {percent(_REACHED)} of this limit"
    yield finding(
        "suspects" if share >= _REACHED and of_disk < _EXCEEDED else "notes",
        f"a control group limits {way} of {limit.device} to {most} (io.max or blkio.throttle), and the {way} {seen}",
        weight=87,
    )


def _rates(case: Case, limit: DeviceLimit) -> tuple[float, float] | None:
    """Return the rate to compare with the limit, and the rate of the fastest disk.

    The former is the highest of the load's rate and the disks' rates, because the kernel may apply the limit before or
    after it merges and splits I/Os. None if the load did no I/O of the limited kind.
    """
    is_bytes, way = limit.kind.endswith("bps"), "read" if limit.kind.startswith("r") else "write"
    moved = direction_of(case.outcome, way) if case.outcome else None
    if moved is None or not moved.io_bytes:
        return None
    of_load = (moved.bandwidth_bytes if is_bytes else moved.iops) or 0.0
    window_s = case.evidence.account.window_s if case.evidence and case.evidence.account else 0.0
    counted = [getattr(leaf, f"{way}_{'bytes' if is_bytes else 'ios'}") for leaf in case.leaves]
    of_disk = max(counted, default=0) / window_s if window_s > 0 else 0.0
    return max(of_load, of_disk), of_disk


RULE = Rule(
    title="The benchmark is throttled from outside",
    wrong="A control group (systemd, Docker, Kubernetes) limits the I/O or the processors of the benchmark. The kernel "
    "delays the requests before they reach the disk, so all counters agree.",
    shows="In a result: a limit in io.max or blkio.throttle applies to a device of the layout, and the load reached at "
    "least 70% of it, while no disk reached 150%; or a processor quota (cpu.max, cpu.cfs_quota_us) stopped the "
    "processes for at least 2% of the time. If the load stayed further below a limit, if a disk exceeded it, or if "
    "processors slowed down because of heat, the finding is a note.",
    error="Too low. Measured: 107 random reads/s with a limit of 100, 43,306 without it; a quota of 20% of a "
    "processor halved the IOPS and raised the p99 by a factor of 3 to 9.",
    fix="run poolproof outside the control group, or remove the limit (to see it: systemctl show UNIT; docker inspect)",
    sources=(
        linux_source("6.12", "block/blk-throttle.c", "__blk_throtl_bio"),
        linux_source("6.12", "kernel/sched/fair.c", "throttle_cfs_rq"),
        "Linux Documentation/admin-guide/cgroup-v2.rst (io.max, cpu.max)",
        "Linux Documentation/admin-guide/cgroup-v1/blkio-controller.rst",
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Needs root and systemd.",
    is_about_data=False,
    commands='systemd-run --quiet --pty --property=IOReadIOPSMax="$PWD 100" --working-directory="$PWD" fio --name=trap '
    "--filename=trap --rw=randread --bs=4k --size=256m --direct=1 --time_based --runtime=5",
)
