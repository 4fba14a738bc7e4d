"""Determine the storage targets of jobs, from the user's options or from the paths of the jobs' files on the host."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from poolproof.devices.guard import found_on
from poolproof.devices.model import Leaf, Volume
from poolproof.errors import CommandError, PoolproofError
from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
from poolproof.evidence.test_files import inspect
from poolproof.facts.block import BlockFacts, block_below, block_devices, examine
from poolproof.facts.machine import survey
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.context import target_of as target_from_options
from poolproof.foreign.lint.job_groups import JobFiles
from poolproof.foreign.lint.model import RunsIn, WrittenDevice
from poolproof.hosts.base import Host, HostUnreachable
from poolproof.layers.existing_storage import FoundStorage
from poolproof.layers.layer_catalogue import busy_on, describe_found, device_under, disks_of, storage_at
from poolproof.measure.target import target_of

_HERE = "local"
_MOST_FILES = 64
_LIMIT_S = 20.0
_BLOCK = "block special file"
_REGULAR = ("regular file", "regular empty file", "directory")
_LINK_FOLDERS = ("/dev/disk", "/dev/mapper", "/dev/zvol")
TARGET_AT = (
    'for path in "$1" "$(dirname -- "$1")"; do '
    '[ -e "$path" ] && { stat -L --format=%F -- "$path"; realpath -- "$path"; exit 0; }; '
    "done; true"
)
"""A shell script that prints the type and real path of a file, or of its directory if the file does not exist.

It prints nothing if neither exists.
"""

FILES = 'for path; do [ -f "$path" ] && printf "%s\\\\0" "$path"; done; true'
"""A shell script that prints each of its arguments that is a regular file, followed by a NUL byte."""

_REAL_DEVICE = r"""
IFS=
for given in $1; do
  [ -e "$given" ] || continue
  path=$(realpath -- "$given") || exit; name=${path##*/}
  if [ -c "$path" ]; then
    case $name in
      ng*n*) path=/dev/nvme${name#ng} ;;
      sg*) set -- /sys/class/scsi_generic/"$name"/device/block/*; path=/dev/${1##*/} ;;
    esac
  fi
  if [ -b "$path" ]; then echo "block $(realpath -- "$path")"; else echo other; fi
done
"""
"""A shell script that prints a line for each existing file at a path, which may be a pattern such as `/dev/sd?`.

The line is `block` and the real path for a block device, and `other` for anything else. An NVMe or SCSI generic
character device counts as the corresponding block device.
"""
_PATTERN = re.compile(r"[*?\[]")

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class _Existing:
    """An existing file, directory or block device. `path` is absolute, with all symbolic links resolved."""

    path: str
    is_block: bool = False


class TargetLookup:
    """Looks up the storage targets of jobs on a host, with each lookup done only once.

    If the host cannot answer, the target is None (unknown). If `looks` is False or the user names the file system
    (`--fs`), only the user's options count, and the host is not queried. Raises HostUnreachable if the connection to
    the host is lost.
    """

    def __init__(self, context: Context, host: Host, *, looks: bool = True) -> None:
        devices = cache(lambda: block_devices(host, ()))
        self._context = context
        self._host = host
        self._looks = looks and context.file_system is None
        self._existing = cache(lambda path: none_if_it_fails(lambda: _existing_at(host, path)))
        self._target = cache(lambda place: none_if_it_fails(lambda: self._find_target(place)))
        self._leaves = cache(self._find_leaves)
        self._files = cache(lambda paths: inspect(host, _existing_files(host, paths)[:_MOST_FILES]))
        self._busy = cache(lambda disks: busy_on(disks, host))
        self._written = cache(lambda path: none_if_it_fails(lambda: _device_at(host, path, devices)))
        self._machine = cache(lambda: survey(host, ()))
        self._missing: dict[str, None] = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """The paths of jobs that were looked up, although neither they nor their directories exist on the host."""
        return tuple(self._missing)

    def target(self, place: JobFiles) -> Target | None:
        """Return the target that contains the job's first file, or its directory if no files are known.

        None if the target is unknown.
        """
        if not self._looks:
            return target_from_options(self._context)
        existing = self._existing(_path(place))
        if existing is None:
            self._missing[_path(place)] = None
        return target_from_options(self._context, None if existing is None else self._target(existing))

    def described(self) -> Target | None:
        """Return the target that the user's options describe, or None if there are no such options."""
        return target_from_options(self._context)

    def evidence(self, places: Sequence[JobFiles]) -> Evidence | None:
        """Return facts about existing test files, and about background work on their disks.

        None if there are no such facts, or if `--fs` describes a different target.
        """
        if not self._looks:
            return None
        paths = tuple(sorted({file for place in places for file in place.files}))
        found = none_if_it_fails(lambda: (self._files(paths), self._busy_with(places)))
        return Evidence(None, files=found[0], busy_with=found[1]) if found and any(found) else None

    def seen_from(self, place: RunsIn) -> "TargetLookup | None":
        """Return what is known about the targets of jobs that run in this place.

        For jobs in another place, only the user's options count, unless `--on` was given. None if there are no such
        options.
        """
        if not place or self._host.name != _HERE:
            return self
        return TargetLookup(self._context, self._host, looks=False) if self._context != Context() else None

    def written(self, path: str) -> WrittenDevice | None:
        """Look up the file or device at a path to which a job would write.

        None if unknown, or if `--fs` describes a different target.
        """
        return self._written(path) if self._looks else None

    def _busy_with(self, places: Sequence[JobFiles]) -> tuple[str, ...]:
        """Return the background work, such as a scrub, on the disks that contain the files."""
        existing = {found for place in places if (found := self._existing(_path(place))) is not None}
        disks = frozenset(leaf.name for each in existing for leaf in self._leaves(each))
        return self._busy(disks)

    def _find_target(self, place: _Existing) -> Target:
        leaves = self._leaves(place)
        target = target_of(self._host, Volume(place.path, place.is_block, leaves), leaves, self._machine())
        name = place.path.rpartition("/")[2]
        found = FoundStorage(None, (name,)) if place.is_block else storage_at(self._host, place.path)
        return describe_found(self._host, found, target) if found else target

    def _find_leaves(self, place: _Existing) -> tuple[Leaf, ...]:
        if place.is_block:
            below = tuple(block_below(name) for name in disks_of(self._host, place.path.rpartition("/")[2]))
        else:
            below = device_under(self._host, place.path)
        return tuple(Leaf(each.device, f"/dev/{each.device}", each.counter) for each in below)


def none_if_it_fails(ask: Callable[[], _Answer]) -> _Answer | None:
    """Call `ask` and return its result, or None if it raises a PoolproofError other than HostUnreachable.

    Raises HostUnreachable if the connection to the host is lost.
    """
    try:
        return ask()
    except HostUnreachable:
        raise
    except PoolproofError:
        return None


def _path(place: JobFiles) -> str:
    return place.files[0] if place.files else place.directory or "."


def _existing_at(host: Host, path: str) -> _Existing | None:
    """Return the file, directory or block device at the path, or its parent directory if nothing exists there.

    None if the parent directory does not exist either, or if the existing object cannot hold test files. Relative paths
    are resolved against the directory in which the host runs commands: the working directory on this machine, or the
    user's home over SSH.
    """
    printed = host.run(["sh", "-c", TARGET_AT, "sh", path], timeout_s=_LIMIT_S).stdout
    kind, _, real = printed.removesuffix("\n").partition("\n")
    if kind == _BLOCK:
        return _Existing(real, is_block=True)
    # A missing disk's path is not a target, although fio would create a file in /dev or in one of its link folders.
    is_device_folder = real == "/dev" or real.startswith(_LINK_FOLDERS)
    return _Existing(real) if kind in _REGULAR and not is_device_folder else None


def _existing_files(host: Host, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that are regular files."""
    if not paths:
        return ()
    printed = host.run(["sh", "-c", FILES, "sh", *paths], timeout_s=_LIMIT_S).stdout
    return tuple(path for path in printed.split("\0") if path)


def _device_at(host: Host, path: str, devices: Callable[[], Sequence[BlockFacts]]) -> WrittenDevice:
    """Look up the file or device at a path on the host.

    Raises a PoolproofError if it is a block device that is not in `devices`, or whose signatures cannot be read.
    """
    printed = host.run(["sh", "-c", _REAL_DEVICE, "sh", path], timeout_s=_LIMIT_S).stdout.splitlines()
    real = [name for kind, _, name in (line.partition(" ") for line in printed) if kind == "block"]
    if not real:
        here = WrittenDevice(bool(printed))
        return here if host.name == _HERE else replace(here, host=host.name)
    known = [each for disk in devices() for each in disk.tree() if {each.path, f"/dev/{each.name}"} & set(real)]
    examined = [_examined(host, device) for device in known]
    for device in examined:
        if found := found_on(device):
            return WrittenDevice(True, True, f"{device.path} {found}" if _PATTERN.search(path) else found)
    if len(known) < len(real) or any(device.signatures is None for device in examined):
        raise CommandError(f"lsblk and wipefs do not show what is on {', '.join(real)}")
    return WrittenDevice(True, True)


def _examined(host: Host, device: BlockFacts) -> BlockFacts:
    """Return what is on the device. If the programs that examine it fail or are missing, return what lsblk shows."""
    return none_if_it_fails(lambda: examine(host, [device])[0]) or device
