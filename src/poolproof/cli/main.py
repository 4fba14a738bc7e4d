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
from poolproof.cli.stderr import say
from poolproof.errors import NO_ROOM, Interrupted, PoolproofError, UsageError

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
        _end_unheard()
    except SystemExit as ended:  # rich and typer end so where whoever read has enough, as `head` has
        if isinstance(ended.__context__, BrokenPipeError):
            _end_unheard()
        raise
    except OSError as error:
        if error.errno not in NO_ROOM:
            _fail_by_own_fault(error)
        _fail(
            f"{error.filename or 'what was to be printed'} cannot be written: {error.strerror}",
            "make room there, then type it again; of a run: poolproof show RUN",
            PoolproofError.exit_code,
        )
    except Exception as error:
        _fail_by_own_fault(error)
    if code == Interrupted.exit_code:  # typer's way to hand on a Ctrl-C that nothing of ours caught
        _fail("stopped; nothing was begun", "", code)
    raise SystemExit(code or 0)


def _end_unheard() -> NoReturn:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(0) from None


def _fail_by_own_fault(error: Exception) -> NoReturn:
    if os.environ.get("POOLPROOF_DEBUG"):
        traceback.print_exc()
    place = traceback.extract_tb(error.__traceback__)[-1]
    _fail(
        f"poolproof met a fault of its own: {type(error).__name__}: {error} ({place.filename}:{place.lineno})",
        "to see all of it: POOLPROOF_DEBUG=1 poolproof …; please report it",
        FAULT_EXIT_CODE,
    )


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
    if "--json" not in sys.argv[1:] or not _answered({"message": message, "hint": hint, "exit_code": code}):
        say(f"poolproof: {message}" + (f"\n  {hint}" if hint else ""))
    raise SystemExit(code)


def _answered(error: dict[str, str | int]) -> bool:
    """Whether the object of the error could be printed; what standard output still holds is not tried again."""
    try:
        print(json.dumps({"error": error}), flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
