"""`poolproof lint`: find mistakes in a fio job before it runs."""

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from poolproof.cli.options import LOCAL, Compression, Disks, Fs, Json, Memory, Recordsize, Texts
from poolproof.cli.output import print_json

if TYPE_CHECKING:
    from poolproof.foreign.lint.job_groups import Targets
    from poolproof.foreign.lint.model import Diagnostic
    from poolproof.foreign.lint.refusals import InstalledFio
    from poolproof.foreign.lint.sources import Source


def command(
    sources: Annotated[
        Texts, Argument(metavar="SOURCES…", help="Job files, scripts, or - for stdin; or -- followed by a fio command.")
    ] = None,
    fix: Annotated[bool, Option("--fix", help="Print the source with every automatic fix applied.")] = False,
    strict: Annotated[bool, Option("--strict", help="Also exit with status 1 if there are only warnings.")] = False,
    sarif: Annotated[bool, Option("--sarif", help="Print SARIF 2.1.0, for code hosts and editors.")] = False,
    on: Annotated[
        str, Option(metavar="HOST", help="The host on which the job would run: an SSH destination or lab:NAME.")
    ] = LOCAL,
    fs: Fs = None,
    ram: Memory = None,
    recordsize: Recordsize = None,
    compression: Compression = None,
    devices: Disks = None,
    as_json: Json = False,
) -> None:
    """Find mistakes in a fio job before it runs.

    The job can be in a job file, on a command line or in a script. The checks use the options below, and look up the
    job's paths on this machine or on the host given with --on. If fio is installed there, fio also parses the values.
    The job is not run.

    The exit code is 1 if there is an error (with --strict, also if there is a warning), otherwise 0. With --fix, only
    the findings that remain count.
    """
    from poolproof.api import lint
    from poolproof.errors import UsageError
    from poolproof.foreign.audit.context import read_context
    from poolproof.foreign.lint.refusals import InstalledFio
    from poolproof.foreign.lint.sarif import sarif_of
    from poolproof.foreign.lint.sources import fio_keywords, read_sources
    from poolproof.foreign.lint.targets import TargetLookup
    from poolproof.hosts.base import display_name
    from poolproof.lab.reach import reach_host
    from poolproof.presentation.terminal.diagnostics import lines_of, unknown_target_lines

    if fix + sarif + as_json > 1:
        raise UsageError("--fix, --sarif and --json can't be combined", "choose one of them")
    context = read_context(fs=fs, ram=ram, recordsize=recordsize, compression=compression, devices=devices or ())
    with reach_host(on) as host:
        read = read_sources(sources or [], os.environ, fio_keywords(host))
        targets, fio = TargetLookup(context, host), InstalledFio(host)
        if fix:
            found = _fix(read, targets, fio)
        else:
            found = [each for source in read for each in lint(source, targets=targets, fio=fio)]
    if as_json:
        print_json([asdict(each) for each in found])
    elif sarif:
        print_json(sarif_of(found), indent=2)
    elif not fix:
        typer.echo("\n".join(lines_of(found)))
    if targets.missing and not (as_json or sarif):
        typer.echo("\n".join(unknown_target_lines(targets.missing, display_name(host))), err=True)
    if any(each.severity == "error" or (strict and each.severity == "warning") for each in found):
        raise typer.Exit(1)


def _fix(read: "tuple[Source, ...]", targets: "Targets", fio: "InstalledFio") -> "list[Diagnostic]":
    """Print the fixed source to standard output, and the findings to standard error.

    Return the findings that remain.
    """
    from poolproof.errors import UsageError
    from poolproof.foreign.lint.fix import fix_source
    from poolproof.presentation.terminal.diagnostics import fixed_lines_of

    if len(read) > 1:
        raise UsageError("--fix takes one source", "fix one at a time: poolproof lint --fix job.fio > fixed.fio")
    fixed = fix_source(read[0], targets, fio)
    typer.echo(fixed.text, nl=False)
    typer.echo("\n".join(fixed_lines_of(fixed)), err=True)
    return list(fixed.left)
