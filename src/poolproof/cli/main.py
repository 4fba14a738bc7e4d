"""The `poolproof` command: all subcommands, and the one place where an error becomes text and an exit code."""

import json
import os
import sys
import traceback

import typer

from poolproof import __version__
from poolproof.cli import check, clean, demo, devices, explain, presets, resume, rules, run, show
from poolproof.errors import Interrupted, PoolproofError

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
for module in (run, demo, resume, clean, show, check, devices, presets, rules, explain):
    app.command(module.__name__.rpartition(".")[2])(module.command)


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
        app()
    except PoolproofError as error:
        _fail(error.message, error.hint, error.exit_code)
    except KeyboardInterrupt:
        _fail("stopped", "", Interrupted.exit_code)
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


def _fail(message: str, hint: str, code: int) -> None:
    if "--json" in sys.argv[1:]:
        print(json.dumps({"error": {"message": message, "hint": hint, "exit_code": code}}))
    else:
        print(f"poolproof: {message}", file=sys.stderr)
        if hint:
            print(f"  {hint}", file=sys.stderr)
    raise SystemExit(code)
