"""LVM's command lines, and the questions to an open volume. Pure but for those.

LVM is told to look at the run's own devices only, by a filter: it neither touches nor waits for those of others, and
whatever filter the host's lvm.conf has does not hide ours. `types` lets it use a zvol. It keeps no backup of what it
did in /etc/lvm and starts no dmeventd: both would outlive the run.
"""

import re
from collections.abc import Sequence

from poolproof.errors import CommandError
from poolproof.hosts.base import Host

_AWAIT_SYNC = (
    'until said=$(lvm lvs --noheadings -o sync_percent "$@" 2>&1) && [ "$(echo $said)" = 100.00 ]; do sleep 2; done'
)
_DISMISS = 'config=$1; shift; lvm vgremove --yes --force "$config" "$0" && lvm pvremove --yes "$config" "$@"'
_LIMIT_S = 30.0


def lvm(command: str, devices: Sequence[str], *arguments: str) -> tuple[str, ...]:
    """One command of LVM over these devices."""
    return ("lvm", command, "--config", _only(devices), *arguments)


def dismiss(group: str, devices: Sequence[str]) -> tuple[str, ...]:
    """Remove the volume group with all in it, and the labels of its devices."""
    return ("sh", "-c", _DISMISS, group, f"--config={_only(devices)}", *devices)


def await_sync(volume: str, devices: Sequence[str]) -> tuple[str, ...]:
    """Wait until every copy and all parity of a RAID volume is right."""
    return ("sh", "-c", _AWAIT_SYNC, "sh", "--config", _only(devices), volume)


def sync_percent(volume: str, devices: Sequence[str], host: Host) -> float | None:
    """How much of a RAID volume is in sync, 0 to 100; None where LVM does not say."""
    try:
        said = host.run(lvm("lvs", devices, "--noheadings", "-o", "sync_percent", volume), timeout_s=_LIMIT_S)
    except CommandError:
        return None
    return float(said.stdout) if re.fullmatch(r"\s*\d+(\.\d+)?\s*", said.stdout) else None


def _only(devices: Sequence[str]) -> str:
    """LVM's configuration. A sign that means something in a regular expression matches as any sign."""
    accepted = ",".join('"a|^' + re.sub(r"[^\w/-]", ".", path) + '$|"' for path in devices)
    only_ours = f'devices{{filter=[{accepted},"r|.*|"]types=["zvol",16]}}'
    return only_ours + "backup{backup=0 archive=0}activation{monitoring=0}"
