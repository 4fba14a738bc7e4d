"""`poolproof clean`: undo what dead runs left on the machine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poolproof.cli.run import LOCAL, Json
from poolproof.errors import BuildError, UsageError

if TYPE_CHECKING:
    from poolproof.cli.left_behind import CleanupResult, Leftover

Work = Annotated[
    str | None,
    typer.Option("--work", help="Without a run: where to look for what dead runs left. Default: /var/tmp."),
]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="HOST", help="Another name of the run's host; without a run: the host to look at."),
]


def command(
    run: Annotated[Path | None, typer.Argument(help="The run directory. Without: every run that is dead.")] = None,
    work: Work = None,
    on: On = None,
    as_json: Json = False,
) -> None:
    """Undo, from its journal, what a dead run left on the machine; its results stay.

    Without a run directory: undo what every dead run left in the work directory, end the labs whose run is dead, and
    name what is left alone: runs under way, those of other users, and what no journal leads to.
    """
    if run is None:
        _clean_all(on or LOCAL, work, as_json=as_json)
        return
    if work is not None:
        raise UsageError(f"--work {work}: a run directory says itself where its work directory is", "leave --work out")
    from poolproof.cli.cleaning import clean

    undone = clean(run, on=on)
    typer.echo(json.dumps({"undone": undone}) if as_json else _told(undone))


def _told(undone: int) -> str:
    from poolproof.units import format_number_of

    return f"{format_number_of(undone, 'change')} undone; nothing of this run is left"


def _clean_all(on: str, work: str | None, *, as_json: bool) -> None:
    """Raises SystemExit, with the exit code of a BuildError, where something of the dead could not be undone."""
    from poolproof.cli.left_behind import undo_the_dead
    from poolproof.cli.reached_host import reached
    from poolproof.provision.place import DEFAULT_WORK, real_directory

    with reached(on) as host:
        undone, left = undo_the_dead(host, real_directory(host, work or DEFAULT_WORK))
    labs = _end_orphans() if on == LOCAL else []
    if as_json:
        typer.echo(json.dumps(_object(undone, left, labs)))
    else:
        for line in _lines(undone, left, labs):
            typer.echo(line)
    if any(found.standing in ("lost", "failed") and not found.state.is_elsewhere for found in left):
        raise SystemExit(BuildError.exit_code)


def _end_orphans() -> list[str]:
    from poolproof.lab.standing import orphans, remove

    ended = []
    for folder in orphans():
        remove(folder)
        ended.append(folder.name)
    return ended


def _object(undone: Sequence["CleanupResult"], left: Sequence["Leftover"], labs: Sequence[str]) -> dict[str, Any]:
    return {
        "runs_undone": [{"run": each.run, "state_dir": each.state.path, "undone": each.changes} for each in undone],
        "left": [
            {
                "state_dir": each.state.path,
                "run": each.run or None,
                "standing": each.standing,
                "why": each.why,
                "next": list(each.next),
            }
            for each in left
        ],
        "labs_ended": list(labs),
    }


def _lines(undone: Sequence["CleanupResult"], left: Sequence["Leftover"], labs: Sequence[str]) -> list[str]:
    lines = [f"{each.run}: {_told(each.changes)}" for each in undone]
    for each in left:
        by_hand = "; if no program that the first command shows is wanted:" if len(each.next) > 1 else ""
        lines += [f"left alone: {each.state.path}: {each.why}{by_hand}", *(f"  {command}" for command in each.next)]
    lines.append(
        f"labs whose run was dead, and which are ended: {', '.join(labs)}" if labs else "no lab outlived its run"
    )
    return lines if undone or left else ["no dead run left anything here", *lines]
