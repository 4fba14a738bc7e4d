"""What the jobs stand on: as the flags say, and else as this machine tells of the paths of their files."""

import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from poolproof.audit.context import Context
from poolproof.audit.context import target_of as told_by
from poolproof.devices.model import Leaf, Volume
from poolproof.errors import PoolproofError
from poolproof.evidence.files import inspect
from poolproof.evidence.model import Evidence, Target, Zfs
from poolproof.facts.background import busy_with
from poolproof.facts.block import device_under
from poolproof.facts.machine import Machine, survey
from poolproof.facts.mountinfo import mount_of, parse_mountinfo
from poolproof.facts.zfs import DatasetFacts, dataset_facts, volume_of
from poolproof.hosts.base import Host
from poolproof.lint.grounds import Place
from poolproof.measure.target import target_of

_MOST_FILES = 64


class Places:
    """Answers for each place, and remembers. What the host can't tell is not known; nothing is raised."""

    def __init__(self, context: Context, host: Host) -> None:
        self._context = context
        self._host = host
        self._found = cache(self._look)
        self._leaves = cache(self._leaves_under)
        self._busy = cache(lambda devices: busy_with(host, devices))
        self._machine: Callable[[], Machine] = cache(lambda: survey(host, ()))

    def target(self, place: Place) -> Target | None:
        """The target of the first file, or of the directory."""
        if self._context.file_system is not None:
            return told_by(self._context)
        return told_by(self._context, self._found(_path(place)))

    def evidence(self, places: Sequence[Place]) -> Evidence | None:
        """The files that are there already, and what their disks are busy with; None where flags tell of elsewhere."""
        if self._context.file_system is not None:
            return None
        paths = sorted({file for place in places for file in place.files if _is_there(Path(file))})
        try:
            files = inspect(self._host, paths[:_MOST_FILES])
            busy = self._busy(frozenset(leaf.name for place in places for leaf in self._leaves(_path(place))))
        except PoolproofError:
            return None
        return Evidence(None, files=files, busy_with=busy) if files or busy else None

    def _look(self, path: Path) -> Target | None:
        standing = _standing(path)
        if standing is None:
            return None
        try:
            return _target(self._host, standing, self._machine())
        except PoolproofError:
            return None

    def _leaves_under(self, path: Path) -> tuple[Leaf, ...]:
        standing = _standing(path)
        return () if standing is None else _leaves(self._host, standing)


def _path(place: Place) -> Path:
    return Path(place.files[0] if place.files else place.directory).absolute()


def _standing(path: Path) -> Path | None:
    """The file where it is there, else its directory; None where that is not there either, or no disk is behind it."""
    for each in (path, path.parent):
        try:
            mode = each.stat().st_mode
        except (OSError, ValueError):
            continue
        return each.resolve() if stat.S_ISBLK(mode) or stat.S_ISREG(mode) or stat.S_ISDIR(mode) else None
    return None


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _leaves(host: Host, path: Path) -> tuple[Leaf, ...]:
    if path.is_block_device():
        return (Leaf(path.name, str(path), f"/sys/class/block/{path.name}/stat"),)
    below = device_under(host, str(path))
    return tuple(Leaf(each.device, f"/dev/{each.device}", each.counter) for each in below)


def _target(host: Host, path: Path, machine: Machine) -> Target:
    leaves = _leaves(host, path)
    volume = Volume(str(path), path.is_block_device(), leaves)
    target = target_of(host, volume, leaves, machine)
    facts = _zfs_below(host, path, volume.is_block, leaves)
    return target if facts is None else _on_zfs(target, facts, is_zvol=target.file_system != "zfs")


def _zfs_below(host: Host, path: Path, is_block: bool, leaves: Sequence[Leaf]) -> DatasetFacts | None:
    mount = None if is_block else mount_of(parse_mountinfo(host.read("/proc/self/mountinfo")), str(path))
    if mount is not None and mount.file_system == "zfs":
        return dataset_facts(host, mount.source)
    volume = next(filter(None, (volume_of(host, leaf.path) for leaf in leaves)), None)
    return dataset_facts(host, volume) if volume else None


def _on_zfs(target: Target, facts: DatasetFacts, *, is_zvol: bool) -> Target:
    said = facts.properties
    unit, compression = said.get("volblocksize" if is_zvol else "recordsize"), said.get("compression")
    return replace(
        target,
        record_bytes=int(unit) if unit and unit.isdigit() else None,
        compression=None if compression in (None, "off") else compression,
        zfs=Zfs(
            version=facts.version,
            is_zvol=is_zvol,
            direct=said.get("direct"),
            sync=said.get("sync"),
            logbias=said.get("logbias"),
            primarycache=said.get("primarycache"),
            dedup=said.get("dedup"),
            arc_max_bytes=facts.arc_max_bytes,
            has_log=facts.has_log,
            has_cache=facts.has_cache,
        ),
    )
