"""`poolproof import`: the old name of `poolproof audit --save`. It still works, but the help does not list it."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from poolproof.cli.options import Compression, Disks, Fs, Json, LayoutFrom, Memory, Recordsize, Warm


def command(
    sources: Annotated[
        list[str], Argument(metavar="FILES…", help="Results of fio or another benchmark, or folders that contain them.")
    ],
    out: Annotated[Path, Option(metavar="DIR", help="The run directory to create.")],
    layout_from: LayoutFrom = None,
    fs: Fs = None,
    ram: Memory = None,
    recordsize: Recordsize = None,
    compression: Compression = None,
    devices: Disks = None,
    warm: Warm = False,
    as_json: Json = False,
) -> None:
    """Save benchmark results as a run directory: the same as `poolproof audit FILES --save DIR`."""
    from poolproof.cli.audit import command as audit

    audit(sources, out, layout_from, fs, ram, recordsize, compression, devices, warm, as_json)
