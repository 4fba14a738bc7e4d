"""Remembers until the next reboot which real disks a run may overwrite, so that `resume` can continue the run.

run.json also lists these disks. But it may come from a stranger, and after a reboot, someone may have stored data on a
disk that has no signature, such as the raw data of a database. The disk then looks empty. Therefore, only a record of
the machine permits `resume` to overwrite a disk without a new `--wipe` (`records.py`).
"""

from collections.abc import Iterable

from poolproof.hosts.base import Host, lines_of
from poolproof.records import RECORDS

_LIMIT_S = 20.0
_KEEP = RECORDS + 'keep_record permission "$0" "$@"'
_READ = RECORDS + 'read_record permission "$0"'
_FORGET = RECORDS + 'forget_record permission "$0"; for note; do forget_record left "$note"; done'


def keep_permission(host: Host, state_dir: str, identities: Iterable[str]) -> None:
    """Record on the host that the run with this state directory may overwrite these disks.

    Without root, nothing can be recorded, and `resume` needs `--wipe` again.
    """
    if names := sorted(identities):
        host.run(("sh", "-c", _KEEP, state_dir, *names), timeout_s=_LIMIT_S, check=False)


def kept_permission(host: Host, state_dir: str) -> frozenset[str]:
    """Return the disks that the run may overwrite, according to the host's record. Empty if there is none."""
    found = host.run(("sh", "-c", _READ, state_dir), timeout_s=_LIMIT_S, check=False)
    return frozenset(lines_of(found.stdout)) if found.returncode == 0 else frozenset()


def forget_permission(host: Host, state_dir: str, devices: Iterable[str]) -> None:
    """Remove the record, and what is known about the devices that the run has released (`devices/disk.py`).

    This is done when the run is complete, and when the user has permitted again to overwrite these devices.
    """
    notes = [claim_note(state_dir, device) for device in devices]
    host.run(("sh", "-c", _FORGET, state_dir, *notes), timeout_s=_LIMIT_S, check=False)


def claim_note(state_dir: str, device: str) -> str:
    """Return the path of the file that shows that the run has claimed a device."""
    return f"{state_dir}/{device}.claimed"
