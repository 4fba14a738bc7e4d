"""`poolproof audit`: judge finished results, one's own or a stranger's."""

import json
import shutil
import sys
from typing import Annotated

import typer

from poolproof.cli.run import Json

Fs = Annotated[str | None, typer.Option("--fs", help="The file system below, as zfs-2.2, zvol-2.3, ext4, btrfs.")]
Ram = Annotated[str | None, typer.Option("--ram", help="The machine's memory, as 64G.")]
Recordsize = Annotated[str | None, typer.Option("--recordsize", help="ZFS recordsize or volblocksize, as 128k.")]
Compression = Annotated[str | None, typer.Option("--compression", help="What the file system compresses with, as lz4.")]
Devices = Annotated[
    list[str] | None,
    typer.Option("--devices", metavar="DISKS", help='The disks, as "3x nvme 3.2GB/s" or "14x hdd"; can be repeated.'),
]

_NO_RESULT = (
    "give a file or folder that holds fio's output; to make some: fio --output-format=json+ --output=result.json …"
)


def command(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FILES…", help="fio's output, any text with it, folders, runs; - is stdin."),
    ],
    fs: Fs = None,
    ram: Ram = None,
    recordsize: Recordsize = None,
    compression: Compression = None,
    devices: Devices = None,
    warm: Annotated[bool, typer.Option("--warm", help="RAM is meant to be part of what was measured.")] = False,
    as_json: Json = False,
) -> None:
    """Find fio results in any text and judge each: its verdict, the reasons, the command to run again.

    Exit code 1 when a result is refuted or failed; 8 when a file could not be read, or nothing holds a result.
    """
    from poolproof.errors import FioError
    from poolproof.foreign.audit.context import read_context
    from poolproof.foreign.audit.contract import audited_object
    from poolproof.foreign.audit.model import BAD
    from poolproof.foreign.audit.sources import audit_sources
    from poolproof.foreign.audit.texts import AuditContext
    from poolproof.presentation.terminal.audited import audited_lines, summary_line

    context = read_context(fs=fs, ram=ram, recordsize=recordsize, compression=compression, devices=devices or ())
    audit = audit_sources(sources, AuditContext(context, cold=not warm), sys.stdin.buffer.read)
    for unread in audit.unread:
        typer.echo(f"poolproof: {unread.source} cannot be read: {unread.why}", err=True)
    if not audit.results:
        raise FioError(f"there is no fio result in {', '.join(sources)}", _NO_RESULT)
    if as_json:
        typer.echo(json.dumps([audited_object(audited) for audited in audit.results]))
    else:
        width = min(shutil.get_terminal_size((120, 24)).columns, 120)
        for audited in audit.results:
            typer.echo("\n".join(audited_lines(audited, width, colour=sys.stdout.isatty())) + "\n")
        typer.echo(summary_line(audit.results))
    if any(audited.verdict in BAD for audited in audit.results):
        raise typer.Exit(1)
    if audit.unread:
        raise typer.Exit(FioError.exit_code)
