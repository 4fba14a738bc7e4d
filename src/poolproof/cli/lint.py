"""`poolproof lint`: find the mistakes in a fio job before it runs."""

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.cli.options import LOCAL, Compression, Disks, Fs, Json, Memory, Recordsize

if TYPE_CHECKING:
    from poolproof.foreign.lint.installed_fio import Fio
    from poolproof.foreign.lint.job_groups import Targets
    from poolproof.foreign.lint.model import Diagnostic
    from poolproof.foreign.lint.source import Source


def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Job files, shell scripts or - for stdin; or -- and a fio command."),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Print the source with every automatic fix applied.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="End with exit code 1 for warnings too.")] = False,
    sarif: Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for code hosts and editors.")] = False,
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="HOST",
            help="The host where it would run: an ssh destination or lab:NAME.",
        ),
    ] = LOCAL,
    fs: Fs = None,
    ram: Memory = None,
    recordsize: Recordsize = None,
    compression: Compression = None,
    devices: Disks = None,
    as_json: Json = False,
) -> None:
    """Find mistakes in a fio job before it runs: in job files, command lines and shell scripts.

    The checks use what is known about the target: the job's own paths on this machine or on the host --on, and the
    options below. If fio is installed there, it also parses the values; nothing is run.

    The exit code is 1 if there is an error (with --strict also for a warning), otherwise 0.
    """
    from poolproof.errors import UsageError
    from poolproof.foreign.audit.context import read_context
    from poolproof.foreign.lint.check import lint
    from poolproof.foreign.lint.installed_fio import InstalledFio
    from poolproof.foreign.lint.machine import fio_keywords
    from poolproof.foreign.lint.sources import read_sources
    from poolproof.foreign.lint.target_lookup import TargetLookup
    from poolproof.lab.reach import reach_host

    if fix + sarif + as_json > 1:
        raise UsageError("--fix, --sarif and --json can't be combined", "choose one of them")
    context = read_context(fs=fs, ram=ram, recordsize=recordsize, compression=compression, devices=devices or ())
    with reach_host(on) as host:
        read = read_sources(sources or [], os.environ, fio_keywords(host))
        where, fio = TargetLookup(context, host), InstalledFio(host)
        if fix:
            found = _fix(read, where, fio)
        else:
            found = [each for source in read for each in lint(source, where, fio)]
            _print(found, as_json=as_json, sarif=sarif)
    grave = ("error", "warning") if strict else ("error",)
    if any(each.severity in grave for each in found):
        raise typer.Exit(1)


def _print(found: "list[Diagnostic]", *, as_json: bool, sarif: bool) -> None:
    from poolproof.foreign.lint.sarif import sarif_of
    from poolproof.presentation.terminal.diagnostics import lines_of

    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found]))
    elif sarif:
        typer.echo(json.dumps(sarif_of(found), indent=2))
    else:
        typer.echo("\n".join(lines_of(found)))


def _fix(read: "tuple[Source, ...]", where: "Targets", fio: "Fio") -> "list[Diagnostic]":
    """Print the fixed text on standard output; what was fixed and what remains on standard error."""
    from poolproof.errors import UsageError
    from poolproof.foreign.lint.check import fix_source
    from poolproof.presentation.terminal.diagnostics import lines_of, mended_lines_of

    if len(read) > 1:
        raise UsageError("--fix prints one source", "name one at a time: poolproof lint --fix job.fio > fixed.fio")
    fixed = fix_source(read[0], where, fio)
    typer.echo(fixed.text, nl=False)
    typer.echo("\n".join([*mended_lines_of(fixed.fixed, fixed.resolved), *lines_of(list(fixed.left))]), err=True)
    return list(fixed.left)
