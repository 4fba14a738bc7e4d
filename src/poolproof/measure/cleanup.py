"""Clean up after crashed runs: undo the changes in their journals, or remove the labs that they started."""

import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.yaml import parse_campaign
from poolproof.devices.permission import forget_permission
from poolproof.errors import BuildError, CampaignError, PoolproofError, RunError, as_word
from poolproof.facts.machine import mark_of
from poolproof.hosts.base import Host, HostUnreachable, display_name
from poolproof.hosts.local import LocalHost
from poolproof.lab.labs import folder_of, remove
from poolproof.lab.reach import reach_host, reach_others
from poolproof.measure.host_lock import label_locked
from poolproof.provision.directories import (
    Leftover,
    StateDirectory,
    find_leftovers,
    lost,
    read_owner,
    removal_commands,
)
from poolproof.provision.journal import Journal, JournalDamaged
from poolproof.provision.other_machine import is_using
from poolproof.provision.owned import check_only_label, check_places, check_unproven, owned_by_run
from poolproof.provision.stalled import StalledDisks
from poolproof.provision.undo import complain, undo_all
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord
from poolproof.results.runs.trust import check_trusted
from poolproof.undos import Owned

_LIMIT_S = 20.0
_MOST_TITLES = 5
_MOST_HOSTS = 32  # connecting to an unreachable host takes 15 s
_MOST_CHANGES = 10_000  # a layout with hundreds of disks has a tenth of that, and each undo takes some milliseconds

Tell = Callable[[str], None]


@dataclass(frozen=True)
class CleanupResult:
    """A crashed run that was completely cleaned up, and the number of changes that were undone."""

    state: StateDirectory
    run: str
    changes: int


class StateDirectoryLeft(BuildError):
    """After the cleanup, the run's state directory still exists, because its journal was damaged or replaced."""


def clean(path: Path, tell: Tell, *, on: str | None = None) -> int:
    """Remove everything that a crashed run left on its host, and return the number of changes undone.

    `on`: another name for the same host.

    Raises:
        RunError: the path is not a run directory, or the run is in use, is from another machine, or could have been
            written by another user.
        UsageError: `on` is not an ssh destination.
        HostError: the host can't be reached.
        BuildError: a change can't be undone, or the journal does not mention everything that the run left.
    """
    try:
        run = RunDirectory.open(path)
    except RunError as error:
        lost_run = "to find what a run without its directory left behind: poolproof clean"
        raise RunError(error.message, f"{error.hint}; {lost_run}" if error.hint else lost_run) from None
    run_owned(run)
    record = run.record()
    if record.lab is not None:
        with locked(run):
            return end_own_lab(run, record) + undo_leftovers(run, LocalHost(), tell)
    with locked(run), unreachable_explained(run, "clean"), reach_host(on or record.host) as host:
        check_machine(path, record, host)
        undone = undo_leftovers(run, host, tell)
        check_removed(run, record, host)
        forget_disks(record, host)
        return undone


def check_removed(run: RunDirectory, record: RunRecord, host: Host) -> None:
    """Check that the run's state directory does not exist after the cleanup.

    Raises a StateDirectoryLeft with the commands that remove it. The journal then does not mention it, because it was
    damaged or replaced. If the run was resumed nevertheless, `clean` could no longer print these commands.
    """
    if host.run(("test", "-e", record.state_dir), timeout_s=_LIMIT_S, check=False).returncode == 0:
        raise StateDirectoryLeft(
            f"{record.state_dir} still exists, but the journal of {run.path} does not mention it",
            _by_hand(record.state_dir, host),
        )


def _by_hand(state_dir: str, host: Host) -> str:
    commands = "\n  ".join(removal_commands(state_dir, host))
    return f"end the programs that the first command lists if you don't need them, then run the others:\n  {commands}"


def clean_crashed_runs(host: Host, work: str, tell: Tell) -> tuple[tuple[CleanupResult, ...], tuple[Leftover, ...]]:
    """Clean up every crashed run that has a state directory in the work directory.

    Return the runs that were cleaned up, and what remains of the others, with the reason. If one run can't be cleaned
    up, the others still are. Runs whose state directory is outside the work directory are only reported.
    """
    done = [
        _clean_one(found, host, tell) if found.condition == "dead" and not found.state.is_elsewhere else found
        for found in find_leftovers(host, work)
    ]
    return (
        tuple(each for each in done if isinstance(each, CleanupResult)),
        tuple(each for each in done if isinstance(each, Leftover)),
    )


@contextlib.contextmanager
def unreachable_explained(run: RunDirectory, command: str) -> Iterator[None]:
    """If the run's main host can't be reached, raise an error that says what is left there and how to continue.

    `command`: the command that should be repeated when the host can be reached again.
    """
    try:
        yield
    except HostUnreachable as error:
        left = [change.title for change in Journal(run.journal_path, root=run.root).outstanding() if not change.host]
        listed = "; ".join(left[:_MOST_TITLES])
        listed += f"; and {len(left) - _MOST_TITLES} more" if len(left) > _MOST_TITLES else ""
        nothing = "nothing from this run is left there"
        remains = f"these changes have not been undone there: {listed}" if left else nothing
        address = "if the host has a new address, add --on USER@HOST"
        hint = f"to test the connection: {error.hint}; {address}; then: poolproof {command} {as_word(run.path)}"
        raise HostUnreachable(f"{error.message}; {remains}", hint) from None


def check_machine(path: Path, record: RunRecord, host: Host) -> None:
    """Raise a RunError if the run was made on another machine.

    Undoing its changes on this host would have no effect, but would mark them all as undone.
    """
    made_on, here = record.facts.get("machine", ""), mark_of(host)
    if made_on and here and made_on != here:
        raise RunError(
            f"{path} was not created on {display_name(host)}",
            "run this command on that machine, or give its address: --on USER@HOST",
        )


def forget_disks(record: RunRecord, host: Host) -> None:
    """Remove the host's records of the disks that the run may overwrite, and of those that it has released.

    After that, `resume` needs `--wipe` again. Another version's campaign that can't be read is ignored.
    """
    with contextlib.suppress(CampaignError):
        campaign = parse_campaign(record.campaign, "run.json", recorded=True)
        forget_permission(host, record.state_dir, [device.name for device in campaign.devices])


def own_lab_name(label: str) -> str:
    """Return the name of the lab started by the run with this label."""
    return f"run-{label}"


def end_own_lab(run: RunDirectory, record: RunRecord) -> int:
    """Remove the lab that the run started, and return the number of changes undone.

    Everything in the lab is removed with it. The run's changes on other hosts stay in the journal.
    """
    folder = folder_of(own_lab_name(record.label))
    ended = len(Journal(folder / "journal.jsonl").outstanding()) if folder.exists() else 0
    remove(folder)
    journal = Journal(run.journal_path, root=run.root)
    inside = [change for change in journal.outstanding() if not change.host]
    for change in inside:
        journal.mark_undone(change)
    return ended + len(inside)


def undo_leftovers(run: RunDirectory, host: Host, tell: Tell) -> int:
    """Undo every change in the run's journal, and return the number of changes undone.

    The caller must have locked the run.

    Raises:
        BuildError: a change can't be undone.
        RunError: the run is not trusted, its directories on the host belong to another user, or its journal is damaged
            or names too many hosts or changes.
    """
    owned = run_owned(run)
    check_places(owned, host)
    check_only_label(owned, host)
    owned = replace(owned, is_proven=_check_owner(run, host))
    if not owned.is_proven:
        check_unproven(owned, host)
    try:
        journal = Journal(run.journal_path, root=run.root)
    except JournalDamaged as error:
        state_dir = owned.places[0]
        if host.run(("test", "-e", state_dir), timeout_s=_LIMIT_S, check=False).returncode != 0:
            raise
        raise JournalDamaged(f"{error.message}; nothing is removed", _by_hand(state_dir, host)) from None
    changes = journal.outstanding()
    if len(changes) > _MOST_CHANGES:
        raise RunError(
            f"{run.journal_path} lists {len(changes)} changes, more than a run leaves behind; nothing is removed",
            f"less {as_word(run.journal_path)}",
        )
    names = {change.host for change in changes}
    if len(names) > _MOST_HOSTS:
        raise RunError(
            f"{run.journal_path} names {len(names)} hosts; nothing is removed", f"less {as_word(run.journal_path)}"
        )
    with reach_others(host, names, warn=tell) as hosts:
        with StalledDisks(journal, hosts, owned) as stalled:
            failed = undo_all(journal, hosts, owned, tell=tell)
        for text in stalled.found:
            tell(text)
        complain(failed, str(run.path))
    return len(changes)


def _check_owner(run: RunDirectory, host: Host) -> bool:
    """Raise a RunError if `run` is a copy of a run that is in progress here or on another machine.

    A copy must not be cleaned up, because its record refers to the state directory of the original run.

    Return True if the state directory shows that it was created by a run.
    """
    owner = read_owner(run.record().state_dir, host)
    if owner is None:
        return False
    is_same_machine = owner.machine == mark_of(LocalHost())
    # Machines that were cloned have the same ID.
    if (not is_same_machine or owner.host != socket.gethostname()) and is_using(owner, host):
        raise RunError(
            f"the run is in progress on another machine ({owner.host}: {owner.run}), and uses "
            f"{run.record().state_dir} on {display_name(host)}; nothing is removed",
            "wait until that run ends, or stop it with Ctrl-C",
        )
    if not is_same_machine:
        return True
    other = RunDirectory(Path(owner.run))
    with contextlib.suppress(OSError):
        if other.path.samefile(run.path):
            return True
    if other.is_going():
        raise RunError(
            f"{run.path} is a copy of the run {owner.run}, which is in progress and uses {run.record().state_dir}",
            "wait until that run ends, or stop it with Ctrl-C",
        )
    return True


@contextlib.contextmanager
def locked(run: RunDirectory) -> Iterator[None]:
    """Lock the run directory, and the run's label on this machine, until the context ends.

    A directory that contains a copy or a forgery of a run has the same label. The caller must have checked the record.

    Raises a RunError if another process holds one of the locks.
    """
    label = run.record().label
    with run.locked(), label_locked(label) as is_ours:
        if not is_ours:
            raise RunError(
                f"a run with the same label ({label}) as {run.path} is in progress; nothing is removed",
                "wait until that run ends, or stop it with Ctrl-C",
            )
        yield


def run_owned(run: RunDirectory) -> Owned:
    """Return everything that the run is allowed to remove.

    Raises a RunError if another user could have written the run, or if its record was not written by poolproof.
    """
    check_trusted(run.path)
    record = run.record()
    return owned_by_run(record.label, record.state_dir, record.ram_dir, str(run.path / "run.json"))


def _clean_one(found: Leftover, host: Host, tell: Tell) -> CleanupResult | Leftover:
    try:
        changes = clean(Path(found.run), tell, on=host.name)
    except StateDirectoryLeft:
        return lost(found.state, host, f"the journal of its run {found.run} no longer mentions it")
    except JournalDamaged as error:
        return lost(found.state, host, error.message.removesuffix("; nothing is removed"))
    except PoolproofError as error:
        return Leftover(found.state, "failed", error.message, found.run, (error.hint,) if error.hint else found.next)
    except OSError as error:
        return Leftover(found.state, "failed", f"its run directory cannot be written: {error}", found.run, found.next)
    return CleanupResult(found.state, found.run, changes)
