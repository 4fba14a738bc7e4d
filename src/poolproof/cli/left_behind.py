"""What runs have on a host, each found by its state directory: what is dead is undone, the rest is left and named."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from poolproof.cli.cleaning import clean
from poolproof.cli.saying import say
from poolproof.errors import PoolproofError
from poolproof.facts.machine import mark_of
from poolproof.hosts.base import Host
from poolproof.hosts.local import LocalHost
from poolproof.provision.owner import StateOwner
from poolproof.provision.place import DEFAULT_WORK
from poolproof.provision.state_dirs import StateDirectory, state_directories, taken_down_by_hand
from poolproof.results.runs.directory import RunDirectory

_LIMIT_S = 20.0
Standing = Literal["dead", "going", "foreign", "lost", "failed"]


@dataclass(frozen=True)
class Leftover:
    """A state directory. `run`: the directory of its run, empty where nobody knows; `next`: what to type.

    `standing`: dead, with a journal; going, a poolproof works on its run; foreign, another user's or driven from
    another machine; lost, no journal leads to it; failed, it could not be undone. `why` says that in words.
    """

    state: StateDirectory
    standing: Standing
    why: str
    run: str = ""
    next: tuple[str, ...] = ()


@dataclass(frozen=True)
class CleanupResult:
    """A dead run of which nothing is left on the host, after so many changes were undone."""

    state: StateDirectory
    run: str
    changes: int


def undo_the_dead(host: Host, work: str) -> tuple[tuple[CleanupResult, ...], tuple[Leftover, ...]]:
    """Undo each dead run with a state directory in the work directory; also all that is left, and why.

    One that can't be undone keeps no other from it. What has mounts elsewhere is only named.
    """
    ended = [_undo(found, host) if _is_ours_to_undo(found) else found for found in find_leftovers(host, work)]
    return (
        tuple(each for each in ended if isinstance(each, CleanupResult)),
        tuple(each for each in ended if isinstance(each, Leftover)),
    )


def find_leftovers(host: Host, work: str | None) -> tuple[Leftover, ...]:
    """What runs have in the work directory, if there is one to look into, and what has mounts elsewhere."""
    return tuple(_judged(state, host) for state in state_directories(host, work))


def warn_of_the_dead(host: Host) -> None:
    """Say so where mounts of dead runs are on the host: a program that looks at every mount can fail on them."""
    dead = [
        found
        for found in find_leftovers(host, None)
        if found.state.owner is not None and found.standing in ("dead", "lost")
    ]
    if not dead:
        return
    paths = ", ".join(found.state.path for found in dead)
    ways = "; ".join(sorted({_way_out(found, host) for found in dead}))
    say(
        f"warning: mounts of a dead run are on this machine ({paths}): programs that look at all mounts can fail on "
        f"them, as mkfs.btrfs does; to undo them: {ways}"
    )


def _way_out(found: Leftover, host: Host) -> str:
    """`clean` alone looks into the default work directory, and names by what commands the lost are taken down."""
    if found.standing == "dead" and str(PurePath(found.state.path).parent) != DEFAULT_WORK:
        return found.next[0]
    return "poolproof clean" if host.name == LocalHost.name else f"poolproof clean --on {host.name}"


def _judged(state: StateDirectory, host: Host) -> Leftover:
    if not state.is_mine:
        why = f"it belongs to the user {state.user}"
        return Leftover(state, "foreign", why, next=(f"as {state.user}: poolproof clean",))
    if state.owner is None:
        return _lost(state, host, "it does not say whose it is: a run of another version, or hardly begun")
    here = mark_of(LocalHost())
    if state.owner.machine and here and state.owner.machine != here:
        why = f"its run was driven from another machine, {state.owner.host}"
        return Leftover(state, "foreign", why, state.owner.run, (f"there: {_clean(state.owner)}",))
    try:
        return _judged_by_run(state, state.owner, host)
    except (PoolproofError, OSError) as error:
        return _lost(state, host, f"its run directory cannot be read: {error}".splitlines()[0])


def _judged_by_run(state: StateDirectory, owner: StateOwner, host: Host) -> Leftover:
    """By the run directory that it names, which may be gone, or by now be another run's."""
    if not Path(owner.run, "run.json").is_file():
        return _lost(state, host, f"its run directory {owner.run} is gone")
    run = RunDirectory.open(Path(owner.run))
    if run.record().state_dir != state.path:
        return _lost(state, host, f"another run is in its run directory {owner.run} by now")
    if run.is_going():
        return Leftover(state, "going", f"its run {owner.run} is under way", owner.run)
    if not run.journal_path.exists():
        return _lost(state, host, f"the journal of its run {owner.run} is gone")
    if {path.lstat().st_uid for path in (run.path / "run.json", run.journal_path)} != {os.geteuid()}:
        why = f"the files of its run {owner.run} belong to another user"
        return Leftover(state, "foreign", why, owner.run, (f"if you trust them: {_clean(owner)}",))
    return Leftover(state, "dead", f"its run {owner.run} is dead", owner.run, (_clean(owner),))


def _clean(owner: StateOwner) -> str:
    return f"poolproof clean {shlex.quote(owner.run)}"


def _lost(state: StateDirectory, host: Host, why: str) -> Leftover:
    """With the way to take it down by hand; of one elsewhere only where that is told, as nobody asked for it."""
    run = state.owner.run if state.owner is not None else ""
    if state.is_elsewhere:
        return Leftover(state, "lost", why, run, (f"poolproof clean --work {PurePath(state.path).parent}",))
    return Leftover(state, "lost", why, run, taken_down_by_hand(state.path, host))


def _is_ours_to_undo(found: Leftover) -> bool:
    return found.standing == "dead" and not found.state.is_elsewhere


def _undo(found: Leftover, host: Host) -> CleanupResult | Leftover:
    try:
        changes = clean(Path(found.run), on=host.name)
    except PoolproofError as error:
        return Leftover(found.state, "failed", error.message, found.run, (error.hint,) if error.hint else found.next)
    except OSError as error:
        return Leftover(found.state, "failed", f"its run directory cannot be written: {error}", found.run, found.next)
    if host.run(("test", "-e", found.state.path), timeout_s=_LIMIT_S, check=False).returncode == 0:
        return _lost(found.state, host, f"the journal of its run {found.run} does not name it any more")
    return CleanupResult(found.state, found.run, changes)
