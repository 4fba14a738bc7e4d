"""Conditions that slow down a host's storage or processors: limits, governors, links, heat.

A single read-only shell command collects them. Values that the host does not have are omitted. The exception is a
control group's limit, which is `none` if the process is not limited. The files are described in the kernel's
Documentation: admin-guide/cgroup-v2.rst (io.max, cpu.max), admin-guide/cgroup-v1/blkio-controller.rst
(blkio.throttle.*), scheduler/sched-bwc.rst (cpu.cfs_quota_us), admin-guide/pm/cpufreq.rst, admin-guide/pm/cpuidle.rst,
ABI/stable/sysfs-block (queue settings), filesystems/proc.rst (Cpus_allowed_list), ABI/testing/sysfs-bus-pci (link
speeds) and hwmon/ (temperatures).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.hosts.base import Host

_LIMIT_S = 20.0
_ROW = re.compile("(/.*/[^/:]*|[^:]*):(.*)")  # a path may contain colons: dbus-:1.2-org.example.service
NONE = "none"
_V1_KEYS = {
    "blkio.throttle.read_bps_device": "rbps",
    "blkio.throttle.write_bps_device": "wbps",
    "blkio.throttle.read_iops_device": "riops",
    "blkio.throttle.write_iops_device": "wiops",
}
# Prints `file:line` for the limits of every control group that contains this shell, up to the root.
_GROUPS = r"""
up() {
    point=$1 group=$2; shift 2
    names=$*
    [ -d "$point$group" ] || group=
    set --
    while :; do
        for file in $names; do [ -r "$point$group/$file" ] && set -- "$@" "$point$group/$file"; done
        [ -n "${group%/}" ] || break
        group=${group%/*}
    done
    [ $# -eq 0 ] || grep -sH "" "$@"
}
while read -r _ _ _ _ point _ rest; do
    rest=" $rest"; kind=${rest##* - }
    case $kind in
    "cgroup2 "*)
        group=$(sed -n 's/^0:://p' /proc/self/cgroup)
        up "$point" "$group" io.max cpu.max cpu.stat ;;
    "cgroup "*)
        for name in blkio cpu; do
            case ",${kind##* }," in
            *",$name,"*)
                group=$(sed -n "s/^[0-9]*:\([^:]*,\)\{0,1\}$name\(,[^:]*\)\{0,1\}://p" /proc/self/cgroup)
                case $name in
                blkio) up "$point" "$group" blkio.throttle.read_bps_device blkio.throttle.write_bps_device \
                    blkio.throttle.read_iops_device blkio.throttle.write_iops_device ;;
                cpu) up "$point" "$group" cpu.cfs_quota_us cpu.cfs_period_us cpu.stat ;;
                esac ;;
            esac
        done ;;
    esac
done </proc/self/mountinfo
"""
# A locale without UTF-8 cannot pass ×, the multiplication sign, to the shell.
_REST = r"""
cpus=/sys/devices/system/cpu
grep -sH "" $cpus/cpu*/cpufreq/scaling_governor $cpus/cpu*/cpufreq/energy_performance_preference \
    $cpus/intel_pstate/no_turbo $cpus/cpufreq/boost
grep -sH "" $cpus/cpu*/thermal_throttle/*_throttle_count
for state in $cpus/cpu0/cpuidle/state*; do
    off=0
    { read -r off <"$state/disable"; } 2>/dev/null
    { read -r name <"$state/name"; } 2>/dev/null && echo "idle:$off $name"
done
sed -n 's/^Cpus_allowed_list:[[:space:]]*/allowed:0 /p' /proc/self/status
times=$(printf '\303\227')
for stat; do
    disk=${stat%/stat} name=${stat%/stat}; name=${name##*/}
    whole=$disk
    [ -e "$disk/partition" ] && whole=$(readlink -f "$disk")/..
    number=
    { read -r number <"$whole/dev"; } 2>/dev/null
    echo "number:$name $number"
    scheduler=$(sed -n 's/.*\[\(.*\)\].*/\1/p' "$disk/queue/scheduler" 2>/dev/null)
    [ -n "$scheduler" ] && echo "scheduler:$name $scheduler"
    settings=
    for setting in read_ahead_kb max_sectors_kb nomerges nr_requests write_cache; do
        { read -r value <"$whole/queue/$setting"; } 2>/dev/null && settings="$settings, $setting=$value"
    done
    [ -n "$settings" ] && echo "queue:$name ${settings#, }"
    real=$(readlink -f "$disk" 2>/dev/null)
    while [ -n "$real" ] && [ "$real" != /sys ]; do
        if [ -r "$real/current_link_speed" ]; then
            echo "link:$name $(cat "$real/current_link_speed") $times$(cat "$real/current_link_width")," \
                "at most $(cat "$real/max_link_speed") $times$(cat "$real/max_link_width")"
            break
        fi
        real=${real%/*}
    done
    for heat in "$disk"/device/hwmon*/temp1_input "$disk"/device/hwmon/hwmon*/temp1_input \
        "$disk"/device/device/hwmon/hwmon*/temp1_input; do
        [ -r "$heat" ] && echo "heat:$name $(cat "$heat")" && break
    done
done
:
"""


SCRIPT = _GROUPS + _REST
"""A shell script that prints the conditions on a host."""


@dataclass(frozen=True)
class IoLimit:
    """A limit that a control group sets on a block device.

    `number`: the device number, `major:minor`.
    `kind`: `rbps` or `wbps` (bytes per second of reads or writes), `riops` or `wiops` (requests per second).
    `most`: the limit's value.
    """

    number: str
    kind: str
    most: int


@dataclass(frozen=True)
class CpuLimits:
    """The tightest CPU limit of the process's control groups, and how often and for how long it was throttled.

    `processors`: the limit as a number of processors, or None if unlimited.
    `periods`, `seconds`: the number of throttled periods and their total duration, since the group was created.
    """

    processors: float | None = None
    periods: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Conditions:
    """The conditions on a host at one point in time.

    `facts`: the values of conditions as strings, keyed by the condition's name.
    `numbers`: device numbers (`major:minor`), keyed by the device's name.
    `heat_events`: the number of times that heat has caused processors to be throttled since the machine booted.
    """

    io_limits: tuple[IoLimit, ...] = ()
    cpu: CpuLimits = CpuLimits()
    facts: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    heat_events: int = 0

    @property
    def texts(self) -> dict[str, str]:
        """Return all conditions as strings, keyed by name."""
        names = {number: device for device, number in self.numbers.items()}
        io = ", ".join(f"{names.get(each.number, each.number)} {each.kind}={each.most}" for each in self.io_limits)
        processors = self.cpu.processors
        cpu = NONE if processors is None else f"{processors:.3g} processors"
        return {"cgroup io.max": io or NONE, "cgroup cpu.max": cpu, **self.facts}


def read_conditions(host: Host, stats: Sequence[str] = ()) -> Conditions:
    """Read the current conditions on the host. `stats`: the sysfs `stat` files of the block devices to describe.

    Raises a CommandError if the host does not respond.
    """
    argv = ["sh", "-c", SCRIPT, "sh", *stats]
    return parse_conditions(host.run(argv, timeout_s=_LIMIT_S, check=False).stdout)


def parse_conditions(text: str) -> Conditions:
    """Parse the output of the shell script."""
    rows = [(row[1], row[2]) for row in map(_ROW.fullmatch, text.splitlines()) if row]
    limits = dict.fromkeys(limit for place, value in rows for limit in _io_limits(place.rpartition("/")[2], value))
    numbers = dict(value.split(" ", 1) for place, value in rows if place == "number" and value.partition(" ")[2])
    heat = sum(int(value) for place, value in rows if place.endswith("_throttle_count") and value.isdecimal())
    return Conditions(tuple(limits), _cpu(rows), dict(_facts(rows)), numbers, heat)


def _io_limits(file: str, line: str) -> Iterator[IoLimit]:
    if file == "io.max":
        number, *pairs = line.split()
        for kind, _, most in (pair.partition("=") for pair in pairs):
            if most.isdecimal():
                yield IoLimit(number, kind, int(most))
    elif file in _V1_KEYS and (match := re.fullmatch(r"(\d+:\d+) (\d+)", line.strip())) and int(match[2]):
        yield IoLimit(match[1], _V1_KEYS[file], int(match[2]))


def _cpu(rows: Sequence[tuple[str, str]]) -> CpuLimits:
    """Return the tightest limit and the highest throttling counts, because each control group counts separately."""
    shares: list[float] = []
    quotas: dict[str, dict[str, int]] = {}
    periods, seconds = 0, 0.0
    for place, value in rows:
        folder, _, file = place.rpartition("/")
        words = value.split()
        if file == "cpu.max" and len(words) == 2 and words[0].isdecimal():
            shares.append(int(words[0]) / int(words[1]))
        elif file in ("cpu.cfs_quota_us", "cpu.cfs_period_us"):
            quotas.setdefault(folder, {})[file] = int(value)
        elif file == "cpu.stat" and words[:1] == ["nr_throttled"]:
            periods = max(periods, int(words[1]))
        elif file == "cpu.stat" and words[:1] in (["throttled_usec"], ["throttled_time"]):
            seconds = max(seconds, int(words[1]) / (1e6 if words[0] == "throttled_usec" else 1e9))
    for pair in quotas.values():
        if pair.get("cpu.cfs_quota_us", -1) > 0 and pair.get("cpu.cfs_period_us"):
            shares.append(pair["cpu.cfs_quota_us"] / pair["cpu.cfs_period_us"])
    return CpuLimits(min(shares, default=None), periods, seconds)


_FILES = {
    "scaling_governor": "cpu governor",
    "energy_performance_preference": "cpu energy preference",
    "no_turbo": "cpu no_turbo",
    "boost": "cpu boost",
}
_LINES = {"scheduler": "scheduler", "link": "link", "queue": "queue"}


def _facts(rows: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for place, value in rows:
        name, _, rest = value.partition(" ")
        if (file := place.rpartition("/")[2]) in _FILES:
            found.setdefault(_FILES[file], []).append(value.strip())
        elif place == "idle" and name == "0":
            found.setdefault("cpu idle states", []).append(rest)
        elif place == "allowed":
            found.setdefault("processors allowed", []).append(rest)
        elif place in _LINES:
            found.setdefault(f"{_LINES[place]} of {name}", []).append(rest)
        elif place == "heat" and rest.lstrip("-").isdecimal():
            found.setdefault(f"temperature of {name}", []).append(f"{int(rest) / 1000:.0f} °C")
    for name, values in found.items():
        yield name, ", ".join(dict.fromkeys(values))
