"""Creates a run's directories on its host, and finds directories that crashed runs left behind.

Each state directory contains a file `owner.json` with the path of the run directory, which contains the journal. The
search changes nothing. It also returns state directories that must not be cleaned up, because their run is still in
progress, belongs to another user, or has no journal.
"""

import os
import re
import shlex
import socket
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

import msgspec

from poolproof.devices.model import Site
from poolproof.errors import CommandError, HostError, PoolproofError, as_word
from poolproof.facts.block import LoopFacts, loop_facts, mount_points
from poolproof.facts.machine import Machine, mark_of
from poolproof.files.reading import NOT_THE_JSON
from poolproof.hosts.base import Host, connection_mark, display_name, text_of
from poolproof.hosts.local import LocalHost
from poolproof.provision.swappable import check_not_swappable
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.trust import distrust
from poolproof.steps import Step
from poolproof.undos import MOUNTS, UndoTree, is_escaped

DEFAULT_WORK = "/var/tmp"
RAM_FILES = "/dev/shm"
SCHEMA = 1
FILE = "owner.json"

_NAME = r"poolproof-(?=\d*[a-f])[0-9a-f]{8}"  # as in `owned.new_label`: eight decimal digits could be a date
_MOUNTED = re.compile(rf"(/\S*/{_NAME})(?:/.*)?", re.DOTALL)
_LISTED = re.compile(rf"directory (\d+) (\S+) (/.*/{_NAME})")
# One `stat` for many directories, because another user could create thousands of them.
_LIST = """
id -u
for parent; do printf '%s\\0' "$parent"/poolproof-*; done | xargs -0 stat -c '%F %u %U %n' 2>/dev/null
true"""
_WRITE = 'cat >"$1.part" && sync "$1.part" && mv "$1.part" "$1"'
_WRITE_LIMIT_S = 60.0
_LIMIT_S = 20.0
_ANOTHER = ", or choose another directory with --work"


class StateOwner(msgspec.Struct, frozen=True):
    """The run that a state directory belongs to.

    `run`: the run directory on the machine where poolproof ran.
    `host`: the name of that machine.
    `machine`: the unique identifier of that machine (`facts.machine.mark_of`), or "" if it has none.
    `mark`: the mark of poolproof's processes on the host of the directory (`connection_mark`), or "" if it has none.
    """

    run: str
    host: str
    machine: str
    schema: int = SCHEMA
    mark: str = ""


def owner_of(run: Path, host: Host | None = None) -> StateOwner:
    """Return what `owner.json` must contain for a run. The run directory need not exist yet.

    `host`: the host of the state directory, or None for this machine.
    """
    mark = connection_mark(host) if host is not None else ""
    return StateOwner(str(run.resolve()), socket.gethostname(), mark_of(LocalHost()), mark=mark)


def name_owner(state_dir: str, owner: StateOwner) -> Step:
    """Return the step that writes `owner.json` atomically.

    The step has no undo, because the file is removed together with the state directory.
    """
    return Step(
        f"write {FILE}, which names the run, to {state_dir}",
        ("sh", "-c", _WRITE, "sh", f"{state_dir}/{FILE}"),
        stdin=msgspec.json.encode(owner).decode() + "\n",
        timeout_s=_WRITE_LIMIT_S,
    )


def read_owner(state_dir: str, host: Host) -> StateOwner | None:
    """Read the `owner.json` of a state directory.

    Returns None if it is missing or damaged, has another schema, or contains no path.
    """
    try:
        owner = msgspec.json.decode(text_of(host, f"{state_dir}/{FILE}"), type=StateOwner)
    except NOT_THE_JSON:
        return None
    return owner if owner.schema == SCHEMA and "\0" not in owner.run else None


def directory_steps(site: Site, owner: StateOwner, *, with_ram: bool) -> tuple[Step, ...]:
    """Return the steps that create the run's directories, which only their owner can enter, and write `owner.json`.

    With a default access control list on the work directory, or a umask of 0, other users could otherwise write to
    directories that are created inside.
    """
    paths = (site.state_dir, site.ram_dir) if with_ram else (site.state_dir,)
    first, *more = (Step(f"create {path}", ("mkdir", "-m", "0700", path), UndoTree(path)) for path in paths)
    return (first, name_owner(site.state_dir, owner), *more)


def site_of(machine: Machine, label: str, state_dir: str, ram_dir: str, *, is_here: bool) -> Site:
    """Return the run's directories and what the host can do. `is_here`: True if the host is this machine."""
    return Site(
        label=label,
        state_dir=state_dir,
        ram_dir=ram_dir,
        mount_dir=f"{state_dir}/{MOUNTS}",
        is_root=machine.is_root,
        programs=machine.programs,
        file_systems=machine.file_systems,
        ram_bytes=machine.ram_bytes,
        ram_free_bytes=machine.ram_free_bytes,
        is_here=is_here,
        modules=machine.modules,
    )


def real_directory(host: Host, path: str) -> str:
    """Return the path of the work directory without symbolic links, as the kernel's mount table shows it.

    Raises a HostError if the directory does not exist. Also raises a HostError if the path contains whitespace or a
    backslash, because the mount table would show them escaped.
    """
    real = existing_directory(host, path, instead=_ANOTHER)
    if is_escaped(real):
        raise HostError(f"the path {real} contains a space or a backslash", "choose another directory with --work")
    return real


def existing_directory(host: Host, path: str, *, instead: str = "") -> str:
    """Return the path of a directory without symbolic links.

    `instead`: text to append to the error's hint.

    Raises a HostError if nothing exists at the path, if it is not a directory, or if the user may not look there.
    """
    found = host.run(["realpath", "--canonicalize-existing", f"{path}/."], timeout_s=_LIMIT_S, check=False)
    if "Not a directory" in found.stderr:
        raise HostError(f"{path} is not a directory", f"ls -ld {as_word(path)}{instead}")
    if "Permission denied" in found.stderr:
        raise HostError(f"no permission to access {path}", f"namei -l {as_word(path)}{instead}")
    if found.returncode != 0:
        raise HostError(f"the directory {path} does not exist", f"mkdir -p {as_word(path)}{instead}")
    return found.stdout.rstrip("\n")


def check_writable(host: Host, path: str, *, instead: str = "") -> None:
    """Raise a HostError if the directory is not writable. `instead`: text to append to the error's hint."""
    if host.run(["test", "-w", path], timeout_s=_LIMIT_S, check=False).returncode != 0:
        raise HostError(f"the directory {path} is not writable", f"ls -ld {as_word(path)}{instead}")


def check_work(host: Host, state_dir: str) -> None:
    """Check the work directory, in which the run creates its state directory.

    Raises a HostError if the work directory is not writable, or if another user could replace it with a link during the
    run.
    """
    work = state_dir.rpartition("/")[0] or "/"
    check_writable(host, work, instead=_ANOTHER)
    check_not_swappable(host, work)


Condition = Literal["dead", "going", "foreign", "lost", "failed"]
"""The condition of a state directory.

`dead`: its run has crashed, and has a journal.
`going`: a poolproof process is using it.
`foreign`: it or the run's files belong to another user, another user could have written them, or the run was started
from another machine.
`lost`: its run has no journal that poolproof can find.
`failed`: it could not be cleaned up.
"""


@dataclass(frozen=True)
class StateDirectory:
    """The state directory of a run on a host.

    `user`: the owner of the directory.
    `is_mine`: True if poolproof's commands run as this user.
    `is_elsewhere`: True if the directory is not in the work directory, but was found because it contains mounts.
    `owner`: the run that the directory belongs to, or None if `owner.json` cannot be read or `is_mine` is False.
    """

    path: str
    user: str
    is_mine: bool
    is_elsewhere: bool
    owner: StateOwner | None


@dataclass(frozen=True)
class Leftover:
    """A state directory that still exists, with its condition and the reason for that condition.

    `run`: the run directory, or "" if unknown.
    `next`: the commands that the user should run next.
    """

    state: StateDirectory
    condition: Condition
    why: str
    run: str = ""
    next: tuple[str, ...] = ()


def find_leftovers(host: Host, work: str | None) -> tuple[Leftover, ...]:
    """Return all state directories in `work`, and all others on the host that contain mounts.

    If `work` is None, only directories with mounts are returned. Raises a CommandError if the host does not respond.
    """
    return tuple(_classify(state, host) for state in state_directories(host, work))


def crash_warning(host: Host) -> str | None:
    """Return a warning if crashed runs have left mounts on the host, otherwise None.

    If the mounts can't be examined in time, the warning says so. A FUSE file system of another user may hang.
    """
    try:
        found = [each for each in find_leftovers(host, None) if each.state.owner is not None]
    except CommandError as error:
        return f"warning: the mounts of crashed runs could not be searched for: {error.message}"
    crashed = [each for each in found if each.condition in ("dead", "lost")]
    if not crashed:
        return None
    paths = ", ".join(each.state.path for each in crashed)
    whose = "a crashed run" if len(crashed) == 1 else "crashed runs"
    commands = "; ".join(sorted({_clean_command(each, host) for each in crashed}))
    return (
        f"warning: {display_name(host)} has mounts of {whose} ({paths}). Programs that read every mount, such as "
        f"mkfs.btrfs, can fail on them. To remove them: {commands}"
    )


def state_directories(host: Host, work: str | None) -> tuple[StateDirectory, ...]:
    """Return the state directories in `work`, and all others on the host that contain mounts.

    `work`: a path without symbolic links, or None to return only directories with mounts.

    Raises a CommandError if the host does not respond.
    """
    mounted = {found[1] for point in mount_points(host) if (found := _MOUNTED.fullmatch(point))}
    parents = {_parent(path) for path in mounted} | ({work} if work else set())
    if not parents:
        return ()
    listed = host.run(["sh", "-c", _LIST, "sh", *sorted(parents)], timeout_s=_LIMIT_S, check=False).stdout
    own, *lines = listed.split("\n")
    rows = [row.groups() for row in map(_LISTED.fullmatch, lines) if row]
    return tuple(
        # The files of another user are not read: on a host over SSH, reading a FIFO would take a minute.
        StateDirectory(path, user, uid == own, _parent(path) != work, read_owner(path, host) if uid == own else None)
        for uid, user, path in rows
        if path in mounted or _parent(path) == work
    )


def lost(state: StateDirectory, host: Host, why: str) -> Leftover:
    """Return a leftover whose run has no journal, with the commands that remove it manually.

    The first command lists the processes whose command line contains the directory's name. If the directory is outside
    the work directory, the only command is `poolproof clean`, which then prints the others.
    """
    run = state.owner.run if state.owner is not None else ""
    if state.is_elsewhere:
        return Leftover(state, "lost", why, run, (clean_all(state, host),))
    return Leftover(state, "lost", why, run, removal_commands(state.path, host))


def _clean_command(found: Leftover, host: Host) -> str:
    """Return the command that cleans up a leftover.

    Without an argument, `poolproof clean` cleans up the default work directory and explains what to do about lost runs.
    """
    if found.condition == "dead" and _parent(found.state.path) != DEFAULT_WORK:
        return found.next[0]
    return _clean_default(host)


def clean_all(state: StateDirectory, host: Host) -> str:
    """Return the command that cleans up after all crashed runs in the work directory of this state directory."""
    work = _parent(state.path)
    return _clean_default(host) if work == DEFAULT_WORK else f"{_clean_default(host)} --work {as_word(work)}"


def _clean_default(host: Host) -> str:
    return "poolproof clean" if host.name == LocalHost.name else f"poolproof clean --on {host.name}"


def _classify(state: StateDirectory, host: Host) -> Leftover:
    if not state.is_mine:
        next_ = (f"as {state.user}: poolproof clean",)
        return Leftover(state, "foreign", f"it belongs to user {state.user}", next=next_)
    if state.owner is None:
        return lost(state, host, f"it has no readable {FILE}: another version created it, or its run is just starting")
    here = mark_of(LocalHost())
    if state.owner.machine and here and state.owner.machine != here:
        why = f"its run was started from another machine ({state.owner.host})"
        return Leftover(state, "foreign", why, state.owner.run, (f"there: {_clean(state.owner)}",))
    try:
        return _classify_by_run(state, state.owner, host)
    except (PoolproofError, OSError) as error:
        return lost(state, host, f"its run directory cannot be read: {error}".splitlines()[0])


def _classify_by_run(state: StateDirectory, owner: StateOwner, host: Host) -> Leftover:
    if not Path(owner.run, "run.json").is_file():
        return lost(state, host, f"its run directory {owner.run} does not exist or has no run.json")
    run = RunDirectory.open(Path(owner.run))
    if run.record().state_dir != state.path:
        return lost(state, host, f"its run directory {owner.run} now contains another run")
    if run.is_going():
        return Leftover(state, "going", f"its run {owner.run} is still running", owner.run)
    if not run.journal_path.exists():
        return lost(state, host, f"its run {owner.run} has no journal")
    if (reason := distrust(run.path)) is not None:
        why = f"its run {owner.run} is not trusted: {reason}"
        return Leftover(state, "foreign", why, owner.run, (f"ls -ld {shlex.quote(owner.run)}",))
    if {path.lstat().st_uid for path in (run.path / "run.json", run.journal_path)} != {os.geteuid()}:
        why = f"the files of its run {owner.run} belong to another user"
        return Leftover(state, "foreign", why, owner.run, (f"if you trust them: {_clean(owner)}",))
    return Leftover(state, "dead", f"its run {owner.run} has crashed", owner.run, (_clean(owner),))


def _clean(owner: StateOwner) -> str:
    return f"poolproof clean {shlex.quote(owner.run)}"


def removal_commands(path: str, host: Host) -> tuple[str, ...]:
    """Return the commands that remove the state directory `path` manually.

    The first command lists the processes whose command line contains the directory's name.
    """
    points = [point for point in mount_points(host) if point.startswith(f"{path}/")]
    upper = [point for point in points if point.startswith(f"{path}/mnt/")]
    lower = [point for point in points if point not in upper]
    ram = f"{RAM_FILES}/{PurePath(path).name}"
    loops = [loop.number for loop in _loops(host) if loop.backing_file.startswith((f"{path}/", f"{ram}/"))]
    return (
        f"pgrep -af {PurePath(path).name}",
        *(f"umount {as_word(point)}" for point in reversed(upper)),
        *(f"losetup --detach /dev/loop{number}" for number in loops),
        *(f"umount -l {as_word(point)}" for point in reversed(lower)),
        f"rm -rf --one-file-system {as_word(path)} {as_word(ram)}",
    )


def _loops(host: Host) -> tuple[LoopFacts, ...]:
    """Return the loop devices, or an empty tuple if the host can't list them.

    The other removal commands are useful even without those for loop devices.
    """
    try:
        return loop_facts(host)
    except (CommandError, HostError):
        return ()


def _parent(path: str) -> str:
    return str(PurePath(path).parent)
