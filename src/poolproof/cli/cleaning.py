"""Undoing what one dead run left: on its host from its journal, or with the lab that was its own."""

from pathlib import Path

from poolproof.cli.reached_host import own_lab_folder, reached
from poolproof.cli.saying import say
from poolproof.errors import RunError
from poolproof.facts.machine import mark_of
from poolproof.hosts.base import Host
from poolproof.provision.journal import Journal
from poolproof.provision.undo import complain, undo_all
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord


def clean(path: Path, *, on: str | None = None) -> int:
    """Undo what a dead run left on its host; returns how many changes that were. `on`: another name of the same host.

    Raises:
        RunError: no run directory, or a poolproof is working on it, or it was made on another machine.
        BuildError: something can't be undone.
    """
    run = RunDirectory.open(path)
    record = run.record()
    if record.lab is not None:
        with run.locked():
            return end_own_lab(run, record)
    with run.locked(), reached(on or record.host) as host:
        check_machine(path, record, host)
        return undo_leftovers(run, host)


def check_machine(path: Path, record: RunRecord, host: Host) -> None:
    """On another machine none of what the journal names would be found, and all of it be counted as undone."""
    made_on, here = record.facts.get("machine", ""), mark_of(host)
    if made_on and here and made_on != here:
        raise RunError(
            f"{path} was made on another machine than {host.name}", "go there, or name it with --on USER@HOST"
        )


def end_own_lab(run: RunDirectory, record: RunRecord) -> int:
    """End the lab of a run with all that the run had made in it; returns how many changes are undone by that."""
    from poolproof.lab.standing import remove

    folder = own_lab_folder(record.label)
    ended = len(Journal(folder / "journal.jsonl").standing()) if folder.exists() else 0
    remove(folder)
    journal = Journal(run.journal_path)
    inside = journal.standing()
    for change in inside:
        journal.mark_undone(change)
    return ended + len(inside)


def undo_leftovers(run: RunDirectory, host: Host) -> int:
    """Undo all that the run's journal names; returns how many changes that were. The run has to be locked.

    Raises:
        BuildError: something can't be undone.
    """
    journal = Journal(run.journal_path)
    standing = len(journal.standing())
    complain(undo_all(journal, host, tell=say), str(run.path))
    return standing
