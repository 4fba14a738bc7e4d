"""Find the targets of jobs: from the flags, or else by asking the host about the paths of their files."""

from collections.abc import Callable, Sequence
from functools import cache

from poolproof.devices.model import Leaf, Volume
from poolproof.errors import PoolproofError
from poolproof.evidence.files import inspect
from poolproof.evidence.model import Evidence, Target
from poolproof.facts.block import mount_of, parse_mountinfo
from poolproof.facts.machine import Machine, survey
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.context import target_of as target_from_flags
from poolproof.foreign.lint.job_groups import JobFiles
from poolproof.foreign.lint.paths import PathTarget, existing_files, target_at
from poolproof.hosts.base import Host, HostUnreachable
from poolproof.layers.catalogue import busy_on, device_under
from poolproof.layers.zfs_status import FoundDataset, find_dataset, on_dataset, volume_of
from poolproof.measure.target import target_of

_MOST_FILES = 64


class TargetLookup:
    """Looks up each target once. If the host can't answer, the target is unknown (None).

    Raises:
        HostUnreachable: the connection to the host is lost.
    """

    def __init__(self, context: Context, host: Host) -> None:
        self._context = context
        self._host = host
        self._existing = cache(self._find_existing)
        self._target = cache(self._find_target)
        self._leaves = cache(lambda place: _leaves(host, place))
        self._files = cache(lambda paths: inspect(host, existing_files(host, paths)[:_MOST_FILES]))
        self._busy = cache(lambda disks: busy_on(disks, host))
        self._zfs = cache(lambda place: _zfs_below(host, place, self._leaves(place)))
        self._machine: Callable[[], Machine] = cache(lambda: survey(host, ()))

    def target(self, place: JobFiles) -> Target | None:
        """Return the target of the first file, or of the directory."""
        if self._context.file_system is not None:
            return target_from_flags(self._context)
        existing = self._existing(_path(place))
        return target_from_flags(self._context, None if existing is None else self._target(existing))

    def evidence(self, places: Sequence[JobFiles]) -> Evidence | None:
        """Return the existing files, and the background work on their disks; None if the flags name the file system."""
        if self._context.file_system is not None:
            return None
        paths = sorted({file for place in places for file in place.files})
        try:
            files = self._files(tuple(paths))
            busy = self._busy_with(places)
        except HostUnreachable:
            raise
        except PoolproofError:
            return None
        return Evidence(None, files=files, busy_with=busy) if files or busy else None

    def _busy_with(self, places: Sequence[JobFiles]) -> tuple[str, ...]:
        """Return background work on the disks and in the pools."""
        existing = {found for place in places if (found := self._existing(_path(place))) is not None}
        disks = frozenset(leaf.name for each in existing for leaf in self._leaves(each))
        pools = {f"a {work} of ZFS" for each in existing if (work := self._scan(each))}
        return (*self._busy(disks), *sorted(pools))

    def _scan(self, place: PathTarget) -> str | None:
        """Return "scrub" or "resilver" if the pool is doing that; None if not, or if it cannot be asked."""
        try:
            facts = self._zfs(place)
        except HostUnreachable:
            raise
        except PoolproofError:
            return None
        return facts.busy_with if facts is not None else None

    def _find_existing(self, path: str) -> PathTarget | None:
        try:
            return target_at(self._host, path)
        except HostUnreachable:
            raise
        except PoolproofError:
            return None

    def _find_target(self, place: PathTarget) -> Target | None:
        try:
            return _target(self._host, place, self._leaves(place), self._machine(), self._zfs(place))
        except HostUnreachable:
            raise
        except PoolproofError:
            return None


def _path(place: JobFiles) -> str:
    return place.files[0] if place.files else place.directory or "."


def _leaves(host: Host, place: PathTarget) -> tuple[Leaf, ...]:
    if place.is_block:
        name = place.path.rpartition("/")[2]
        return (Leaf(name, place.path, f"/sys/class/block/{name}/stat"),)
    below = device_under(host, place.path)
    return tuple(Leaf(each.device, f"/dev/{each.device}", each.counter) for each in below)


def _target(
    host: Host, place: PathTarget, leaves: tuple[Leaf, ...], machine: Machine, facts: FoundDataset | None
) -> Target:
    target = target_of(host, Volume(place.path, place.is_block, leaves), leaves, machine)
    return target if facts is None else on_dataset(target, facts.properties, facts.zfs)


def _zfs_below(host: Host, place: PathTarget, leaves: Sequence[Leaf]) -> FoundDataset | None:
    mount = None if place.is_block else mount_of(parse_mountinfo(host.read("/proc/self/mountinfo")), place.path)
    if mount is not None and mount.file_system == "zfs":
        return find_dataset(host, mount.source, is_zvol=False)
    volume = next(filter(None, (volume_of(host, leaf.path) for leaf in leaves)), None)
    return find_dataset(host, volume, is_zvol=True) if volume else None
