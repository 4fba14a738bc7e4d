"""`poolproof import`: the former name of `poolproof audit --save`; still accepted, hidden from the help."""

from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.audit import LayoutFrom, save_as_run
from poolproof.cli.options import Compression, Disks, Fs, Json, Memory, Recordsize, Warm


def command(
    sources: Annotated[list[Path], typer.Argument(metavar="FILES…", help="fio's output in any form, or folders.")],
    out: Annotated[Path, typer.Option("--out", help="The run directory to create.")],
    layout_from: LayoutFrom = None,
    fs: Fs = None,
    ram: Memory = None,
    recordsize: Recordsize = None,
    compression: Compression = None,
    devices: Disks = None,
    warm: Warm = False,
    as_json: Json = False,
) -> None:
    """Save fio results as a run directory: the same as `poolproof audit FILES --save DIR`."""
    from poolproof.foreign.audit.context import read_context
    from poolproof.foreign.audit.texts import AuditContext

    described = read_context(fs=fs, ram=ram, recordsize=recordsize, compression=compression, devices=devices or ())
    save_as_run(sources, out, AuditContext(described, cold=not warm), layout_from, as_json=as_json)
