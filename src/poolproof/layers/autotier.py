"""45Drives' autotier: `autotier (zfs mirror nvme1 ssd1) quota=20% (mergerfs (hdd1 | ext4)) quota=100% tier-period=-1`.

The tiers are directories, from the fastest to the slowest. Each `quota=` applies to the tier on its left. A quota is a
percentage or a size, and defaults to 100%. Keys of the [Global] section are written with dashes: `log-level`,
`tier-period` (in seconds), `copy-buffer-size`.

autotierfs may crash or hang. Each command therefore has a time limit, a health check runs during each measurement, and
the file system is unmounted lazily. The process ID is recorded, so that a hung process can be killed. The database and
the socket (`Run Path`) are stored with the run's files and removed with them.

Debian has no autotier package. The tests therefore use output that was captured from release 1.2.0, and a stand-in
program that hangs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from poolproof.campaign.expression import Argument, Option
from poolproof.devices.model import Site, Volume
from poolproof.errors import CommandError
from poolproof.evidence.target_facts import Target
from poolproof.layers import arguments
from poolproof.layers.arguments import Input, words
from poolproof.layers.base import HealthCheck, Layer, LayerNode, LayerPlan, OpenLayer, StageReader
from poolproof.layers.branches import with_facts_of_branches
from poolproof.layers.file_system import make_mount_point, mount_point, stored_as_files
from poolproof.layers.option_values import NUMBER, values
from poolproof.steps import Step, daemon
from poolproof.undos import UndoDaemon, UndoMount, UndoTree
from poolproof.units import format_size, parse_size

_SIZE_KEY = "copy-buffer-size"
_KEYS = words(f"log-level tier-period {_SIZE_KEY}")
_LIMIT_S = 60.0
_QUOTA_TOLERANCE_PERCENT = 0.5
_QUOTA_TOLERANCE = 0.01
_START = (
    '"$@"; n=0; until mountpoint -q "$0"; do n=$((n + 1)); '
    '[ "$n" -lt 300 ] || { echo "autotierfs did not mount within 30 s" >&2; exit 1; }; sleep 0.1; done'
)
_IS_OURS = 'grep -q -F -- "$0" "/proc/$pid/cmdline" 2>/dev/null'
_NOTE_PROCESS = (
    f'for pid in $(pgrep -x autotierfs); do {_IS_OURS} && echo "$pid" >"$1" && exit 0; done; '
    'echo "autotierfs is not running" >&2; exit 1'
)
_STOP = (
    'n=0; until output=$(umount "$0" 2>&1); do n=$((n + 1)); '
    '[ "$n" -lt 50 ] || { echo "$output" >&2; exit 1; }; sleep 0.1; done; '
    'pid=$(cat "$1"); n=0; while grep -q -F -- "$2" "/proc/$pid/cmdline" 2>/dev/null; do n=$((n + 1)); '
    '[ "$n" -ne 100 ] || kill -KILL "$pid"; '
    '[ "$n" -lt 150 ] || { echo "autotierfs did not exit" >&2; exit 1; }; sleep 0.1; done; '
    'find "$3" -name adhoc.socket -delete'
)
_PERCENTAGE = re.compile(r"(\d+(?:\.\d+)?)%")
# a row of `autotier status` in release 1.2: name, size, quota, quota in percent …
_STATUS_ROW = re.compile(r"^(\S+)\s+[\d.]+\s*\w+\s+([\d.]+)\s*([KMGTPEZY]?)i?B\s+(\d+(?:\.\d+)?)\s*%", re.MULTILINE)
_POWERS = " KMGTPEZY"


@dataclass(frozen=True)
class Quota:
    """The share of a tier that autotier may fill: `size_bytes`, or a percentage of the tier if `size_bytes` is None."""

    percent: float = 100.0
    size_bytes: int | None = None

    def of(self, tier_bytes: int) -> int:
        if self.size_bytes is not None:
            return min(self.size_bytes, tier_bytes)
        return int(tier_bytes * self.percent / 100)


@dataclass(frozen=True)
class Autotier:
    """The quota of each tier, and the options of the [Global] section. Their keys are written with dashes."""

    quotas: tuple[Quota, ...]
    options: tuple[tuple[str, str], ...]


class AutotierLayer(Layer[Autotier]):
    """autotier, a FUSE file system that moves files between tiers depending on how often they are used."""

    word = "autotier"
    summary = "directories as tiers, fastest first: `autotier (nvme1 | ext4) quota=20% (hdd1 | ext4)`"
    programs = ("autotierfs", "autotier")
    file_system = "fuse"
    daemons = ("autotierfs",)
    values = MappingProxyType({"tier-period": NUMBER, "quota": values(r"\d+(\.\d+)?(%|[kmgtpe]?(i?b)?)", "20% or 5T")})

    def read(self, reading: StageReader) -> LayerNode:
        if reading.below is not None:
            raise reading.mistake(None, "autotier joins tiers; put each in parentheses: autotier (a | ext4) (b | ext4)")
        tiers: list[Input] = []
        quotas: list[Quota] = []
        options: dict[str, str] = {}
        for argument in reading.arguments:
            match argument:
                case Option("quota", value):
                    if len(quotas) == len(tiers):
                        raise reading.mistake(argument, "quota= must follow its tier, at most once per tier")
                    quotas.append(_quota(reading, argument, value))
                case Option(key, value) if key in _KEYS:
                    options[key] = value
                    if key == _SIZE_KEY:
                        # without the unit B, autotier keeps the default and says so only in its log
                        options[key] = f"{arguments.size_of(reading, argument, value, f'{_SIZE_KEY}=4M')} B"
                case Option():
                    raise arguments.unknown(reading, argument, "option of autotier", {"quota", *_KEYS})
                case _:
                    quotas += [Quota()] * (len(tiers) - len(quotas))
                    tiers.append((argument, reading.node(argument)))
        quotas += [Quota()] * (len(tiers) - len(quotas))
        if len(tiers) < 2:
            raise reading.mistake(None, f"autotier needs at least 2 tiers, found {len(tiers)}")
        arguments.check_directories(reading, tiers, self.word)
        return LayerNode(self, Autotier(tuple(quotas), tuple(options.items())), tuple(node for _, node in tiers))

    def plan(self, spec: Autotier, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        point = mount_point(site, name)
        configuration, state, log, pidfile = _files(point)
        process = UndoDaemon(pidfile, configuration)
        # in its own session, with output to a file; otherwise poolproof would wait until the daemon closes the pipe
        argv = ("autotierfs", "-c", configuration, point, "-o", "allow_other,default_permissions")
        start = ("sh", "-c", _START, point, *daemon(argv, log))
        note = ("sh", "-c", _NOTE_PROCESS, configuration, pidfile)
        # unmount, wait until the process has closed its database, and remove its socket for the next start
        stop = ("sh", "-c", _STOP, point, pidfile, configuration, state)
        return LayerPlan(
            make=(
                make_mount_point(point),
                Step(f"create the directory {state}", ("mkdir", "-p", state), undo=UndoTree(state)),
                Step(
                    "write the configuration of autotier",
                    ("tee", configuration),
                    stdin=_configuration(spec, inputs, state),
                    undo=UndoTree(configuration),
                ),
            ),
            open=(
                Step(f"mount autotier on {point}", start, UndoMount(point, lazy=True), timeout_s=_LIMIT_S, log=log),
                Step("record the process id of autotierfs", note, process, timeout_s=_LIMIT_S, log=log),
            ),
            close=(Step(f"unmount {point}", stop, timeout_s=_LIMIT_S, unmounts=point),),
            volume=self.volume(spec, point, inputs),
            health_check=HealthCheck(f"autotierfs on {point}", ("stat", "--file-system", point), process),
        )

    def capacity_bytes(self, spec: Autotier, inputs: Sequence[int]) -> int:
        return sum(quota.of(size) for quota, size in zip(spec.quotas, inputs, strict=True))

    def largest_file_bytes(self, spec: Autotier, inputs: Sequence[int]) -> int:
        """Return the size of the first tier, because new files are written there."""
        return inputs[0]

    def describe(self, built: OpenLayer[Autotier], target: Target) -> Target:
        return with_facts_of_branches(built, target)

    def stored(self, built: OpenLayer[Autotier], total_bytes: int) -> tuple[int, ...]:
        return stored_as_files(built.inputs, total_bytes, built.host)

    def deviations(self, built: OpenLayer[Autotier]) -> str | None:
        """Describe how the quotas that autotier uses differ from those in the layout, or return None if they do not.

        autotier misreads quotas without an error: it takes an invalid quota as 100%, and `20` without a percent sign as
        2000%. If `autotier status` fails, the returned description says so.
        """
        configuration, *_ = _files(built.volume.path)
        try:
            status = built.host.run(("autotier", "-c", configuration, "status"), timeout_s=_LIMIT_S).stdout
        except CommandError as error:
            return f"autotier did not report its quotas: {error.message}"
        pairs = zip(built.spec.quotas, reported_quotas(status), strict=False)
        differences = [_difference(quota, found) for quota, found in pairs]
        wrong = [f"tier{number} has {text}" for number, text in enumerate(differences, start=1) if text]
        return f"autotier's quotas differ from those of the layout: {'; '.join(wrong)}" if wrong else None


def _files(point: str) -> tuple[str, ...]:
    """Return the paths of the configuration file, the folder for database and socket, the log, and the pid file."""
    return tuple(f"{point}.{kind}" for kind in ("conf", "d", "log", "pid"))


def _configuration(spec: Autotier, tiers: Sequence[Volume], state: str) -> str:
    lines = ["[Global]", *(f"{key.replace('-', ' ').title()} = {value}" for key, value in spec.options)]
    lines += [f"Run Path = {state}"]
    for number, (tier, quota) in enumerate(zip(tiers, spec.quotas, strict=True), start=1):
        lines += [f"[tier{number}]", f"Path = {tier.path}", f"Quota = {_quota_text(quota)}"]
    return "\n".join(lines) + "\n"


def _quota_text(quota: Quota) -> str:
    """Format a quota without an exponent. autotier cannot parse exponents and would use 100% instead."""
    return f"{Decimal(f'{quota.percent:g}'):f} %" if quota.size_bytes is None else f"{quota.size_bytes} B"


@dataclass(frozen=True)
class ReportedQuota:
    """The quota that autotier reports for a tier: a percentage of the tier and a size in bytes, both rounded."""

    percent: float
    size_bytes: float


def reported_quotas(status: str) -> tuple[ReportedQuota, ...]:
    """Parse the quotas of all tiers, fastest first, from the output of `autotier status`. Empty if it has no table."""
    return tuple(
        ReportedQuota(float(percent), float(size) * 1024.0 ** _POWERS.index(unit or " "))
        for name, size, unit, percent in _STATUS_ROW.findall(status)
        if name != "combined"
    )


def _difference(quota: Quota, found: ReportedQuota) -> str | None:
    if quota.size_bytes is None:
        same = abs(found.percent - quota.percent) <= _QUOTA_TOLERANCE_PERCENT
        return None if same else f"{found.percent:g}% instead of {quota.percent:g}%"
    same = abs(found.size_bytes - quota.size_bytes) <= _QUOTA_TOLERANCE * quota.size_bytes
    return None if same else f"{format_size(found.size_bytes)} instead of {format_size(quota.size_bytes)}"


def _quota(reading: StageReader, argument: Argument, text: str) -> Quota:
    percentage = _PERCENTAGE.fullmatch(text)
    if percentage is not None and 0 < float(percentage[1]) <= 100:
        return Quota(percent=float(percentage[1]))
    try:
        return Quota(size_bytes=parse_size(text))
    except ValueError:
        raise reading.mistake(argument, f"`{text}` is not a quota; write quota=20% or quota=5T") from None


LAYER = AutotierLayer()
