"""Find what crashed runs left on a host: their state directories, by name and in the host's table of mounts. Read-only.

Runs that are still going, runs of other users, and directories without a journal are found too, but not cleaned up.
"""

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from poolproof.errors import CommandError, PoolproofError
from poolproof.facts.block import LoopFacts, loop_facts
from poolproof.facts.machine import mark_of
from poolproof.hosts.base import Host
from poolproof.hosts.local import LocalHost
from poolproof.provision.directories import DEFAULT_WORK, RAM_FILES, StateOwner, read_owner
from poolproof.results.runs.directory import RunDirectory

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

Condition = Literal["dead", "going", "foreign", "lost", "failed"]
"""dead: crashed, with a journal; going: a poolproof process works on it; foreign: of another user, or started from
another machine; lost: no journal leads to it; failed: it could not be cleaned up."""


@dataclass(frozen=True)
class StateDirectory:
    """The directory of one run on a host. `user`: the name of its owner; `is_mine`: that is our user there.

    `is_elsewhere`: it is not in the work directory, only its mounts led to it. `owner`: None if no file in it names its
    run.
    """

    path: str
    user: str
    is_mine: bool
    is_elsewhere: bool
    owner: StateOwner | None


@dataclass(frozen=True)
class Leftover:
    """A state directory, its condition and the reason. `run`: the run's directory, or empty; `next`: what to type."""

    state: StateDirectory
    condition: Condition
    why: str
    run: str = ""
    next: tuple[str, ...] = ()


def find_leftovers(host: Host, work: str | None) -> tuple[Leftover, ...]:
    """Return what runs have in the work directory, if one is given, and what has mounts elsewhere on the host."""
    return tuple(_classify(state, host) for state in state_directories(host, work))


def crash_warning(host: Host) -> str | None:
    """Return a warning if mounts of crashed runs are on the host: programs that read every mount can fail on them."""
    found = [each for each in find_leftovers(host, None) if each.state.owner is not None]
    crashed = [each for each in found if each.condition in ("dead", "lost")]
    if not crashed:
        return None
    paths = ", ".join(each.state.path for each in crashed)
    commands = "; ".join(sorted({_clean_command(each, host) for each in crashed}))
    return (
        f"warning: mounts of a crashed run are on this machine ({paths}). Programs that read every mount, such as "
        f"mkfs.btrfs, can fail on them. To remove them: {commands}"
    )


def state_directories(host: Host, work: str | None) -> tuple[StateDirectory, ...]:
    """Return the state directories in `work` (a path without links), and all that have mounts, sorted by path.

    Raises a CommandError if the host does not answer.
    """
    mounted = {found[1] for point in _mount_points(host) if (found := _MOUNTED.fullmatch(point))}
    parents = {_parent(path) for path in mounted} | ({work} if work else set())
    if not parents:
        return ()
    listed = host.run(["sh", "-c", _LIST, "sh", *sorted(parents)], timeout_s=_LIMIT_S, check=False).stdout
    own, *lines = listed.split("\n")
    rows = [row.groups() for row in map(_LISTED.fullmatch, lines) if row]
    return tuple(
        StateDirectory(path, user, uid == own, _parent(path) != work, read_owner(path, host))
        for uid, user, path in rows
        if path in mounted or _parent(path) == work
    )


def lost(state: StateDirectory, host: Host, why: str) -> Leftover:
    """Return a leftover without a journal, with the commands that remove it by hand; the first shows who uses it.

    A directory outside the work directory only gets the command that would show these commands.
    """
    run = state.owner.run if state.owner is not None else ""
    if state.is_elsewhere:
        return Leftover(state, "lost", why, run, (f"poolproof clean --work {_parent(state.path)}",))
    return Leftover(state, "lost", why, run, _removal_commands(state.path, host))


def _clean_command(found: Leftover, host: Host) -> str:
    """Return the command that cleans up. `poolproof clean` covers the default work directory and explains lost ones."""
    if found.condition == "dead" and _parent(found.state.path) != DEFAULT_WORK:
        return found.next[0]
    return "poolproof clean" if host.name == LocalHost.name else f"poolproof clean --on {host.name}"


def _classify(state: StateDirectory, host: Host) -> Leftover:
    if not state.is_mine:
        next_ = (f"as {state.user}: poolproof clean",)
        return Leftover(state, "foreign", f"it belongs to the user {state.user}", next=next_)
    if state.owner is None:
        return lost(state, host, "no file in it names its run: made by another version, or only just begun")
    here = mark_of(LocalHost())
    if state.owner.machine and here and state.owner.machine != here:
        why = f"its run was started from another machine, {state.owner.host}"
        return Leftover(state, "foreign", why, state.owner.run, (f"there: {_clean(state.owner)}",))
    try:
        return _classify_by_run(state, state.owner, host)
    except (PoolproofError, OSError) as error:
        return lost(state, host, f"its run directory cannot be read: {error}".splitlines()[0])


def _classify_by_run(state: StateDirectory, owner: StateOwner, host: Host) -> Leftover:
    if not Path(owner.run, "run.json").is_file():
        return lost(state, host, f"its run directory {owner.run} is gone")
    run = RunDirectory.open(Path(owner.run))
    if run.record().state_dir != state.path:
        return lost(state, host, f"its run directory {owner.run} now holds another run")
    if run.is_going():
        return Leftover(state, "going", f"its run {owner.run} is still running", owner.run)
    if not run.journal_path.exists():
        return lost(state, host, f"the journal of its run {owner.run} is gone")
    if {path.lstat().st_uid for path in (run.path / "run.json", run.journal_path)} != {os.geteuid()}:
        why = f"the files of its run {owner.run} belong to another user"
        return Leftover(state, "foreign", why, owner.run, (f"if you trust them: {_clean(owner)}",))
    return Leftover(state, "dead", f"its run {owner.run} has crashed", owner.run, (_clean(owner),))


def _clean(owner: StateOwner) -> str:
    return f"poolproof clean {shlex.quote(owner.run)}"


def _removal_commands(path: str, host: Host) -> tuple[str, ...]:
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
    """Return the loop devices; none if the host can't list them, because the other commands are useful alone."""
    try:
        return loop_facts(host)
    except CommandError:
        return ()


def _mount_points(host: Host) -> list[str]:
    return [line.split(" ")[1] for line in host.read("/proc/self/mounts").splitlines() if line.count(" ") >= 2]


def _parent(path: str) -> str:
    return str(PurePath(path).parent)
