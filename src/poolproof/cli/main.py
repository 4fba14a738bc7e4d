"""The `poolproof` command: the one place where an error becomes text and an exit code."""

import atexit
import gc
import json
import os
import sys
import traceback
from typing import NoReturn

from typer.exceptions import TyperException

from poolproof.cli.commands import NAMES, app_for
from poolproof.errors import Interrupted, PoolproofError, UsageError

FAULT_EXIT_CODE = 70
"""poolproof itself is at fault (sysexits.h: EX_SOFTWARE)."""

_NEW_OBJECTS = 50_000


def main() -> None:
    """Run the command line; ends the process with one of the documented exit codes."""
    _spare_garbage()
    try:
        arguments = sys.argv[1:] or ["--help"]
        code = app_for(arguments)(arguments, standalone_mode=False)
    except PoolproofError as error:
        _fail(error.message, error.hint, error.exit_code)
    except TyperException as error:
        _fail(error.format_message(), _help_for(sys.argv[1:]), UsageError.exit_code)
    except KeyboardInterrupt:  # while it was still starting
        code = Interrupted.exit_code
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


def _spare_garbage() -> None:
    """Look for garbage seldom, and not at the end: in modules is none, and looking took 8 % of the start and 60 ms."""
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(_leave_garbage)


def _leave_garbage() -> None:
    """But where DuckDB was used: what binds it says on standard error that all that was left there has leaked."""
    if "_duckdb" not in sys.modules:
        gc.freeze()


def _help_for(arguments: list[str]) -> str:
    """The command that says how the one that was mistaken is used."""
    words = [word for word in arguments[:1] if word in NAMES]
    return " ".join(["poolproof", *words, "--help"])


def _fail(message: str, hint: str, code: int) -> NoReturn:
    if "--json" in sys.argv[1:]:
        print(json.dumps({"error": {"message": message, "hint": hint, "exit_code": code}}))
    else:
        print(f"poolproof: {message}", file=sys.stderr)
        if hint:
            print(f"  {hint}", file=sys.stderr)
    raise SystemExit(code)
