"""Checks right before each load that the storage is still the run's own, so that nobody else's data is overwritten.

A path may lead to other storage by now: someone may have mounted a file system over a directory or one of its parents,
unmounted the run's file system, or moved the directory. A block device without a file system looks empty, so someone
may have made a file system on it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from poolproof.devices.model import IdentityCheck
from poolproof.errors import GuardError, as_word
from poolproof.facts.block import parse_mountinfo
from poolproof.hosts.base import Host, host_named, lines_of, text_of
from poolproof.layers.base import LayerNode, LayerPlan
from poolproof.layers.directory import Dir
from poolproof.layers.tree import TreePlan, from_bottom
from poolproof.load.model import Load
from poolproof.provision.apply import check_identity, check_not_busy
from poolproof.provision.covered import covered, replaced
from poolproof.undos import UndoMount

_LIMIT_S = 60.0
IDENTIFY = 'stat --file-system --format="%t %i" -- "$@" && stat --format="%d %i" -- "$@"'
"""A shell command that prints the type and ID of each directory's file system, then each device and inode number."""

_LASTING_INODES = frozenset({"ef53", "58465342", "9123683e", "2fc12fc1", "1021994", "f2f52010", "ca451a4e", "6969"})
"""The types of ext4, XFS, btrfs, ZFS, tmpfs, F2FS, bcachefs and NFS.

Others, such as FAT and FUSE, may give a directory another inode number while they are mounted.
"""

SIGNATURES = ("wipefs", "--no-act", "--noheadings", "--output", "OFFSET,TYPE,UUID,LABEL")
"""The command that lists the signatures on a block device."""


@dataclass
class OwnStorage:
    """The storage of a built layout, as the run made it.

    `tree`: the layout's layers.
    `checks`: the identity checks of its devices.
    `scratch`: the directory for the load generator's files.

    `begin` must be called after the layout was built, and `renew` after it was remounted.
    """

    tree: TreePlan
    checks: Sequence[IdentityCheck]
    scratch: str
    _places: dict[str, list[str]] = field(default_factory=dict)
    _found: dict[str, list[str]] = field(default_factory=dict)
    _signatures: frozenset[str] = frozenset()

    def begin(self, host: Host) -> None:
        """Remember the layout's directories. If its top layer is a block device, remember the signatures on it.

        They are remnants of earlier data on the disks. A bare device has none, because it was checked.
        """
        self._places = {"": [self.scratch]}
        for built in from_bottom(self.tree.top):
            if built.plan is not None and not built.volume.is_block:
                self._places.setdefault(built.volume.host, []).append(built.volume.path)
        self._found = self._identified("use the layout", host)
        if self.tree.volume.is_block and self.tree.top.plan is not None:
            self._signatures = frozenset(self._listed(host))

    def add(self, host: Host, directories: Iterable[str]) -> None:
        """Remember further directories on the main host: those in which a load creates its files."""
        more = sorted(directories)
        self._places[""] += more
        self._found[""] += _identified("use the layout", more, host)

    def renew(self, host: Host) -> None:
        """Remember the directories again, because a file system gets another device number when it is remounted.

        Raises the same errors as `check`.
        """
        self._check_mounts("use the layout", host)
        self._found = self._identified("use the layout", host)

    def check(self, title: str, host: Host, loads: Iterable[Load] = ()) -> None:
        """Check that the layout is still the run's own storage.

        `title`: the title of what is about to be done. If this method raises an error, it must not be done.
        `loads`: the loads that are about to run.

        Raises:
            GuardError: a device was replaced, a directory leads to other storage, something else is mounted there, or
                someone else uses the layout's block device or has made a file system on it.
            CommandError: a check did not end in time.
        """
        check_identity(title, self.checks, host)
        self._check_mounts(title, host)
        for name, now in self._identified(title, host).items():
            for path, before, after in zip(self._places[name], self._found[name], now, strict=False):
                if before != after:
                    raise _refused(title, f"{path} leads to another directory ({after}, not {before})", path)
        if self.tree.volume.is_block:
            self._check_block(title, host, loads)

    def _identified(self, title: str, host: Host) -> dict[str, list[str]]:
        return {name: _identified(title, paths, host_named(host, name)) for name, paths in self._places.items()}

    def _check_mounts(self, title: str, host: Host) -> None:
        for built in from_bottom(self.tree.top):
            if built.plan is None or built.volume.is_block or not isinstance(built.node, LayerNode):
                continue
            there, point = host_named(host, built.volume.host), built.volume.path
            is_mounted = not isinstance(built.node.spec, Dir)
            kind = built.node.layer.file_system or ""
            other = _not_own(point, built.plan, kind, there) if is_mounted else None
            if (other := other or covered(point, there)) is not None:
                raise _refused(title, f"{point}: {other}", point)

    def _check_block(self, title: str, host: Host, loads: Iterable[Load]) -> None:
        path = self.tree.volume.path
        check_not_busy(title, path, host)
        if not any(part.writes or part.trims for load in loads for part in load.parts):
            return
        new = [line for line in self._listed(host) if line not in self._signatures]
        if new:
            kinds = ", ".join(dict.fromkeys(" ".join(line.split()[1:2]) for line in new))
            raise GuardError(
                f"refused to {title}: {path} now contains {kinds}, which this run did not make",
                f"to see what it is: wipefs --no-act {as_word(path)}",
            )

    def _listed(self, host: Host) -> Iterator[str]:
        """Yield the signatures on the layout's block device."""
        argv = (*SIGNATURES, self.tree.volume.path)
        printed = host_named(host, self.tree.volume.host).run(argv, timeout_s=_LIMIT_S).stdout
        return (line for line in lines_of(printed) if line.strip())


def _not_own(point: str, plan: LayerPlan, kind: str, host: Host) -> str | None:
    """Return an error message if the run's file system is not mounted at the mount point, otherwise None."""
    here = [each for each in parse_mountinfo(text_of(host, "/proc/self/mountinfo")) if each.point == point]
    if not here:
        return "the run's file system is no longer mounted there"
    for step in plan.open:
        if isinstance(step.undo, UndoMount):
            return replaced(point, step.argv, host, is_fuse=step.undo.lazy)
    if here[-1].file_system != kind:
        return f"{here[-1].source} ({here[-1].file_system}) is mounted there instead"
    return None


def _identified(title: str, paths: Sequence[str], host: Host) -> list[str]:
    """Return a text for each directory, which changes if the path leads to another one.

    Raises a GuardError if a directory no longer exists.
    """
    done = host.run(("sh", "-c", IDENTIFY, "sh", *paths), timeout_s=_LIMIT_S, check=False)
    if done.returncode != 0:
        reason = done.stderr.strip().removeprefix("stat: ") or f"exit code {done.returncode}"
        raise GuardError(f"refused to {title}, because a directory of the run cannot be found: {reason}", "findmnt")
    lines = done.stdout.splitlines()
    return [_described(of_file_system, own) for of_file_system, own in zip(lines, lines[len(paths) :], strict=False)]


def _described(file_system: str, own: str) -> str:
    kind, (device, inode) = file_system.partition(" ")[0], own.split(" ", 1)
    return f"device {device}, inode {inode if kind in _LASTING_INODES else '-'}, file system {file_system}"


def _refused(title: str, what: str, path: str) -> GuardError:
    return GuardError(f"refused to {title}: {what}", f"to see what is mounted: findmnt --target {as_word(path)}")
