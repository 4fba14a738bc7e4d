"""The `poolproof` command: all subcommands, and the one place where an error becomes text and an exit code."""

import json
import os
import sys
import traceback
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from poolproof import __version__
from poolproof.cli import (
    audit,
    check,
    clean,
    compare,
    demo,
    devices,
    explain,
    export,
    import_,
    lab,
    lint,
    plots,
    presets,
    query,
    rank,
    report,
    resume,
    rules,
    run,
    runs,
    show,
    watch,
)
from poolproof.errors import Interrupted, PoolproofError, UsageError

FAULT_EXIT_CODE = 70
"""poolproof itself is at fault (sysexits.h: EX_SOFTWARE)."""

app = typer.Typer(
    name="poolproof",
    help="Storage benchmarks that prove what they measured.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (
    run,
    demo,
    resume,
    watch,
    clean,
    show,
    compare,
    rank,
    report,
    runs,
    query,
    export,
    plots,
    lint,
    audit,
    import_,
    check,
    devices,
    presets,
    rules,
    explain,
):
    app.command(module.__name__.rpartition(".")[2].rstrip("_"))(module.command)
app.add_typer(lab.app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"poolproof {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    del version


def main() -> None:
    """Run the command line; ends the process with one of the documented exit codes."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except PoolproofError as error:
        _fail(error.message, error.hint, error.exit_code)
    except TyperException as error:
        _fail(error.format_message(), _help_for(sys.argv[1:]), UsageError.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except Exception as error:
        if os.environ.get("POOLPROOF_DEBUG"):
            traceback.print_exc()
        place = traceback.extract_tb(error.__traceback__)[-1]
        _fail(
            f"poolproof met a fault of its own: {type(error).__name__}: {error} ({place.filename}:{place.lineno})",
            "to see all of it: POOLPROOF_DEBUG=1 poolproof …; please report it",
            FAULT_EXIT_CODE,
        )
    if code == Interrupted.exit_code:  # typer's way to hand on a Ctrl-C that nothing of ours caught
        _fail("stopped; nothing was begun", "", code)
    raise SystemExit(code or 0)


def _help_for(arguments: list[str]) -> str:
    """The command that says how the one that was mistaken is used."""
    known = {command.name for command in app.registered_commands}
    words = [word for word in arguments[:1] if word in known]
    return " ".join(["poolproof", *words, "--help"])


def _fail(message: str, hint: str, code: int) -> NoReturn:
    if "--json" in sys.argv[1:]:
        print(json.dumps({"error": {"message": message, "hint": hint, "exit_code": code}}))
    else:
        print(f"poolproof: {message}", file=sys.stderr)
        if hint:
            print(f"  {hint}", file=sys.stderr)
    raise SystemExit(code)
