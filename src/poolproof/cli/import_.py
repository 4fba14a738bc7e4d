"""`poolproof import`: results of others as a run directory."""

import gc
import json
from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.audit import Compression, Devices, Fs, Ram, Recordsize
from poolproof.cli.run import Json


def command(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILES…", help="fio's output in any form, or folders of it, as bench-fio's.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The run directory to make.")],
    layout_from: Annotated[
        str | None,
        typer.Option("--layout-from", metavar="WHAT", help="What names the layouts: folder, file, or a fio option."),
    ] = None,
    fs: Fs = None,
    ram: Ram = None,
    recordsize: Recordsize = None,
    compression: Compression = None,
    devices: Devices = None,
    warm: Annotated[bool, typer.Option("--warm", help="RAM is meant to be part of what was measured.")] = False,
    as_json: Json = False,
) -> None:
    """Turn results of others into a run directory, each with its verdict, for `show` and all that reads runs.

    What varies in the jobs tells workloads apart, folders tell layouts apart. A file that cannot be read is named and
    left out: then the exit code is 8.
    """
    from poolproof.errors import FioError
    from poolproof.foreign.audit.context import read_context
    from poolproof.foreign.audit.texts import AuditContext
    from poolproof.foreign.importing.run import import_results

    gc.disable()  # thousands of values that all live until the process ends
    context = read_context(fs=fs, ram=ram, recordsize=recordsize, compression=compression, devices=devices or ())
    done = import_results(sources, out, AuditContext(context, cold=not warm), layout_from=layout_from)
    layouts = dict.fromkeys(trial.layout for trial in done.trials)
    workloads = dict.fromkeys(trial.workload for trial in done.trials)
    for unread in done.unread:
        typer.echo(f"poolproof: left out {unread.source}: {unread.why}", err=True)
    if as_json:
        left_out = [{"source": unread.source, "why": unread.why} for unread in done.unread]
        found = {"run": str(done.path), "trials": len(done.trials), "layouts": list(layouts), "left_out": left_out}
        typer.echo(json.dumps(found))
    else:
        typer.echo(f"{len(done.trials)} results, {len(layouts)} layouts, {len(workloads)} workloads: {done.path}")
        typer.echo(f"  poolproof show {done.path}")
    if done.unread:
        raise typer.Exit(FioError.exit_code)
