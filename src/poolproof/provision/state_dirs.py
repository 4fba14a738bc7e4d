"""The state directories that runs have on a host, found by their names and in its table of mounts. Read-only."""

import re
from dataclasses import dataclass
from pathlib import PurePath

from poolproof.errors import CommandError
from poolproof.facts.block import LoopFacts, loop_facts
from poolproof.hosts.base import Host
from poolproof.provision.owner import StateOwner, read_owner
from poolproof.provision.place import RAM_FILES

_LIMIT_S = 20.0
_NAME = r"poolproof-[0-9a-f]{8}"
_MOUNTED = re.compile(rf"(/\S*/{_NAME})(?:/\S*)?")
_LISTED = re.compile(rf"(\d+) (\S+) (/.*/{_NAME})")
_LIST = """
id -u
for parent; do
    for folder in "$parent"/poolproof-*; do
        [ -d "$folder" ] && [ ! -L "$folder" ] && stat -c '%u %U %n' "$folder"
    done
done
true"""


@dataclass(frozen=True)
class StateDirectory:
    """One run's own directory on a host. `user`: the name of its owner, `is_mine`: the user there that we are.

    `is_mounted`: something is mounted in it. `is_elsewhere`: only its mounts led to it. `owner`: None where it does
    not say whose it is.
    """

    path: str
    user: str
    is_mine: bool
    is_mounted: bool
    is_elsewhere: bool
    owner: StateOwner | None


def state_directories(host: Host, work: str | None) -> tuple[StateDirectory, ...]:
    """Those in the work directory, a path without links, if it is given and there; and all that have mounts. By path.

    Raises:
        CommandError: the host does not answer.
    """
    mounted = {found[1] for point in _mount_points(host) if (found := _MOUNTED.fullmatch(point))}
    parents = {_parent(path) for path in mounted} | ({work} if work else set())
    if not parents:
        return ()
    own, *lines = host.run(["sh", "-c", _LIST, "sh", *sorted(parents)], timeout_s=_LIMIT_S, check=False).stdout.split(
        "\n"
    )
    rows = [row.groups() for row in map(_LISTED.fullmatch, lines) if row]
    return tuple(
        StateDirectory(path, user, uid == own, path in mounted, _parent(path) != work, read_owner(path, host))
        for uid, user, path in rows
        if path in mounted or _parent(path) == work
    )


def taken_down_by_hand(path: str, host: Host) -> tuple[str, ...]:
    """What to type where no journal knows how to take down what stands in a state directory; first, who uses it."""
    points = [point for point in _mount_points(host) if point.startswith(f"{path}/")]
    upper = [point for point in points if point.startswith(f"{path}/mnt/")]
    lower = [point for point in points if point not in upper]
    ram = f"{RAM_FILES}/{PurePath(path).name}"
    loops = [loop.number for loop in _loops(host) if loop.backing_file.startswith((f"{path}/", f"{ram}/"))]
    return (
        f"pgrep -af {PurePath(path).name}",
        *(f"umount {point}" for point in reversed(upper)),
        *(f"losetup --detach /dev/loop{number}" for number in loops),
        *(f"umount -l {point}" for point in reversed(lower)),
        f"rm -rf --one-file-system {path} {ram}",
    )


def _loops(host: Host) -> tuple[LoopFacts, ...]:
    """None where the host can't say: half of an answer is better than an error."""
    try:
        return loop_facts(host)
    except CommandError:
        return ()


def _mount_points(host: Host) -> list[str]:
    return [line.split(" ")[1] for line in host.read("/proc/self/mounts").splitlines() if line.count(" ") >= 2]


def _parent(path: str) -> str:
    return str(PurePath(path).parent)
