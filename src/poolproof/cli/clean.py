"""`poolproof clean`: remove what crashed runs left behind on a host."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from poolproof.cli.options import LOCAL, Json, Text
from poolproof.cli.output import print_answer, say
from poolproof.errors import BuildError, UsageError


def command(
    run: Annotated[
        Path | None, Argument(metavar="RUN", readable=False, help="The run directory. Default: every crashed run.")
    ] = None,
    work: Annotated[
        Text, Option(metavar="DIR", help="Without a run: the work directory to search. Default: /var/tmp.")
    ] = None,
    on: Annotated[
        Text, Option(metavar="HOST", help="The host to search. With a run: a different address for the run's host.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Remove what a crashed run left on the system. The run's results are kept.

    Without a run directory, clean up after every crashed run in the work directory, and remove the labs of crashed
    runs. The output also lists what was not touched: runs that are still running, runs of other users, and directories
    without a journal.
    """
    if run is None:
        _clean_all(on or LOCAL, work, as_json=as_json)
        return
    if work is not None:
        raise UsageError(
            f"--work {work} can't be combined with a run, which already names its work directory", "remove --work"
        )
    from poolproof.measure.cleanup import clean

    undone = clean(run, say, on=on)
    print_answer({"undone": undone}, _undone_text(undone), as_json=as_json)


def _undone_text(undone: int) -> str:
    from poolproof.units import format_number_of

    return f"{format_number_of(undone, 'change')} undone; nothing from this run is left"


def _clean_all(on: str, work: str | None, *, as_json: bool) -> None:
    """Clean up after all crashed runs.

    If something in the work directory could not be removed or has no journal, exit with a BuildError's exit code.
    """
    from poolproof.lab.reach import reach_host
    from poolproof.measure.cleanup import clean_crashed_runs
    from poolproof.provision.directories import DEFAULT_WORK, real_directory

    with reach_host(on) as host:
        searched = real_directory(host, work or DEFAULT_WORK)
        cleaned, left = clean_crashed_runs(host, searched, say)
    labs = _remove_orphaned_labs() if on == LOCAL else []
    lines = [f"{each.run}: {_undone_text(each.changes)}" for each in cleaned]
    for each in left:
        by_hand = (
            "; end the programs that the first command lists (kill PID) if you don't need them, then run the others:"
            if len(each.next) > 1
            else ""
        )
        lines += [f"left alone: {each.state.path}: {each.why}{by_hand}", *(f"  {command}" for command in each.next)]
    if not cleaned and all(each.state.is_elsewhere or each.condition == "going" for each in left):
        lines.append(f"no crashed run left anything in {searched}")
    lines.append(f"removed the labs of crashed runs: {', '.join(labs)}" if labs else "no crashed run left a lab behind")
    answer = {
        "runs_undone": [{"run": each.run, "state_dir": each.state.path, "undone": each.changes} for each in cleaned],
        "left": [
            {
                "state_dir": each.state.path,
                "run": each.run or None,
                "standing": each.condition,
                "why": each.why,
                "next": list(each.next),
            }
            for each in left
        ],
        "labs_ended": labs,
    }
    print_answer(answer, lines, as_json=as_json)
    if any(found.condition in ("lost", "failed") and not found.state.is_elsewhere for found in left):
        raise SystemExit(BuildError.exit_code)


def _remove_orphaned_labs() -> list[str]:
    from poolproof.lab.labs import orphans, remove

    removed = []
    for folder in orphans():
        remove(folder)
        removed.append(folder.name)
    return removed
