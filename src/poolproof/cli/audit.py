"""`poolproof audit`: judge existing results, your own or other people's, or save them as a run with --save."""

import gc
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from poolproof.cli.options import Compression, Disks, Fs, Json, LayoutFrom, Memory, Recordsize, Text, Warm
from poolproof.cli.output import print_answer, print_json
from poolproof.errors import FioError, UsageError, as_word

if TYPE_CHECKING:
    from poolproof.foreign.audit.context import Context


def command(
    sources: Annotated[
        list[str],
        Argument(
            metavar="FILES…",
            help="Files with results of fio or another benchmark, texts that quote such results, the fio job files of "
            "these results, folders, or runs; - for stdin.",
        ),
    ],
    save: Annotated[
        Path | None, Option(metavar="DIR", help="Save the results as a run directory instead of printing verdicts.")
    ] = None,
    layout_from: LayoutFrom = None,
    fs: Fs = None,
    ram: Memory = None,
    recordsize: Recordsize = None,
    compression: Compression = None,
    devices: Disks = None,
    warm: Warm = False,
    as_json: Json = False,
) -> None:
    """Judge results of fio and other benchmarks, found in any text.

    For each result, print the verdict, the reasons, and a command to run instead. With --save, write the results to a
    run directory for `show`, `compare`, `report` and the other commands that read runs. In the saved run, jobs with
    different options are different workloads. Results in different folders belong to different layouts, unless
    --layout-from says otherwise.

    The exit code is 1 if a result is refuted or failed (but not with --save), and otherwise 8 if a file could not be
    read or no result was found.
    """
    from poolproof.api import audit_context

    context = audit_context(
        fs=fs, ram=ram, recordsize=recordsize, compression=compression, devices=devices or (), cold=not warm
    )
    if save is not None:
        save_as_run(sources, save, context, layout_from, as_json=as_json)
    elif layout_from is not None:
        raise UsageError(f"--layout-from {layout_from} needs --save", "poolproof audit FILES --save DIR")
    else:
        _judge(sources, context, as_json=as_json)


def save_as_run(sources: list[str], out: Path, context: "Context", layout_from: Text, *, as_json: bool) -> None:
    """Save the results to a new run directory.

    Files that are unreadable or contain no result are reported. If there are any, exit with code 8 afterwards.
    """
    from poolproof.foreign.importing.imported_run import import_results
    from poolproof.units import format_number_of

    gc.disable()  # thousands of objects are created, and all of them are needed until the process ends
    done = import_results([Path(source) for source in sources], out, context, layout_from=layout_from)
    layouts = dict.fromkeys(trial.layout for trial in done.trials)
    workloads = dict.fromkeys(trial.workload for trial in done.trials)
    for unread in done.unread:
        typer.echo(f"poolproof: skipped {unread.source}: {unread.why}", err=True)
    left_out = [{"source": unread.source, "why": unread.why} for unread in done.unread]
    answer = {"run": str(done.path), "trials": len(done.trials), "layouts": list(layouts), "left_out": left_out}
    counted = {"result": done.trials, "layout": layouts, "workload": workloads}
    counts = ", ".join(format_number_of(len(found), noun) for noun, found in counted.items())
    print_answer(answer, f"{counts}: {done.path}\n  poolproof show {as_word(done.path)}", as_json=as_json)
    if done.unread:
        raise typer.Exit(FioError.exit_code)


def _standard_input() -> bytes:
    from poolproof.foreign.audit.sources import LARGEST_TEXT_BYTES

    return sys.stdin.buffer.read(LARGEST_TEXT_BYTES + 1)


def _judge(sources: list[str], context: "Context", *, as_json: bool) -> None:
    from poolproof.api import audit_files
    from poolproof.foreign.audit.model import audited_object
    from poolproof.presentation.terminal.audited import audited_lines, summary_line
    from poolproof.presentation.terminal.visible import unfiltered
    from poolproof.verdicts import counts

    audit = audit_files(sources, context, stdin=_standard_input)
    for unread in audit.unread:
        typer.echo(f"poolproof: cannot read {unread.source}: {unread.why}", err=True)
    if not audit.results:
        raise FioError(
            f"no result in {', '.join(sources)}",
            "specify a file or folder with benchmark results; to create some: fio --output-format=json+ "
            "--output=result.json …",
        )
    if as_json:
        print_json([audited_object(audited) for audited in audit.results])
    else:
        width = min(shutil.get_terminal_size((120, 24)).columns, 120)
        for audited in audit.results:
            lines = audited_lines(audited, width, colour=sys.stdout.isatty())  # filtered before they are coloured
            typer.echo("\n".join(lines) + "\n", file=unfiltered(sys.stdout))
        typer.echo(summary_line(audit.results))
    if any(not counts(audited.verdict) for audited in audit.results):
        raise typer.Exit(1)
    if audit.unread:
        raise typer.Exit(FioError.exit_code)
