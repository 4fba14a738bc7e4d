"""The `poolproof` command with its subcommands. This module turns exceptions into messages and exit codes.

If the command line begins with a subcommand, only that one is imported, because each import takes 2 ms.
"""

import atexit
import gc
import importlib
import io
import json
import keyword
import os
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from poolproof.cli.output import say
from poolproof.cli.usage import PlainCommand
from poolproof.errors import LOST_DISK, NO_ROOM, Interrupted, PoolproofError, RunError, UsageError, as_word
from poolproof.files.folder import FileRefused
from poolproof.presentation.terminal.visible import filtered_output
from poolproof.version import __version__

NAMES = (
    "run", "demo", "resume", "watch", "clean", "show", "compare", "rank", "report", "runs", "query", "export", "plots",
    "lint", "audit", "import", "check", "devices", "presets", "rules", "explain", "lab",
)  # fmt: skip
"""The subcommands, in the order in which --help lists them. It does not list the two old names, `plots` and `import`.

The module of each subcommand has the same name, except for `import`, whose module is `import_`.
"""

_HIDDEN = ("import", "plots")
_GROUPS: tuple[list[str], ...] = ([], ["lab"])
"""Command lines that name no command, only a group of commands. For them, the help is printed."""

FAULT_EXIT_CODE = 70
"""The exit code for a bug in poolproof, which is EX_SOFTWARE in sysexits.h."""

_NEW_OBJECTS = 50_000
_FIRST_OF_LINE = re.compile(r"\n(?! )")
"""The beginning of a line that is not indented.

All lines of an error message except the first one are indented, so that a text from a stranger cannot look like another
message.
"""


def main() -> None:
    """Run the command line, and exit with one of the documented exit codes.

    Control characters in the output are escaped.
    """
    _repair_surroundings()
    with filtered_output():
        _run()


def _repair_surroundings() -> None:
    """Replace closed standard streams with /dev/null, and let the output streams escape what they can't encode.

    If a standard stream stayed closed, the next file to be opened would become the standard stream of the programs that
    poolproof starts. COLUMNS and LINES are unset if they are not positive numbers in ASCII.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            handle = os.open(os.devnull, os.O_RDWR)  # its file descriptor is `number`, unless another file uses that
            setattr(sys, name, os.fdopen(handle, "w" if number else "r", closefd=False))
        elif isinstance(stream, io.TextIOWrapper) and number:
            stream.reconfigure(errors="backslashreplace")
    for name in ("COLUMNS", "LINES"):
        text = os.environ.get(name, "1")
        if not (text.isascii() and text.strip().isdecimal() and int(text[:20]) > 0):
            del os.environ[name]


def _run() -> NoReturn:
    # garbage collection took 8% of the start-up time, and 60 ms at exit; modules are not garbage
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(_skip_last_collection)
    try:
        arguments = sys.argv[1:] if sys.argv[1:] not in _GROUPS else [*sys.argv[1:], "--help"]
        app = app_for(arguments)
        if callable(signal.getsignal(signal.SIGINT)):  # not done if the process was started with SIGINT ignored
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = app(arguments, standalone_mode=False, prog_name="poolproof")
    except PoolproofError as error:
        _fail(error.message, error.hint, error.exit_code)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "poolproof"
        _fail(error.format_message(), f"{command} --help", UsageError.exit_code)
    except KeyboardInterrupt:  # during startup
        code = Interrupted.exit_code
    except BrokenPipeError:
        _end_quietly()
    except SystemExit as ended:  # rich and typer exit in this way if the reader, such as `head`, has closed the pipe
        if isinstance(ended.__context__, BrokenPipeError):
            _end_quietly()
        raise
    except FileRefused as error:
        message = f"{error.filename} cannot be used: {error.strerror}"
        _fail(message, f"ls -ld {as_word(error.filename)}", RunError.exit_code)
    except OSError as error:
        if error.errno in LOST_DISK:
            place = f"{error.filename}: " if error.filename else "a file cannot be read or written: "
            hint = "check the file system and its disk (dmesg | tail), then run the command again"
            _fail(f"{place}{error.strerror}", hint, PoolproofError.exit_code)
        if error.errno not in NO_ROOM:
            _fail_with_bug(error)
        _fail(
            f"cannot write {error.filename or 'the output'}: {error.strerror}",
            "free some space, then run the command again",
            PoolproofError.exit_code,
        )
    except MemoryError:
        hint = "free some RAM, or raise the limit (ulimit -v), then run the command again"
        _fail("not enough memory", hint, PoolproofError.exit_code)
    except Exception as error:
        _fail_with_bug(error)
    if code == Interrupted.exit_code:  # typer's way to report a Ctrl-C that our code did not catch
        _fail("interrupted", "", code)
    raise SystemExit(code or 0)


def _end_quietly() -> NoReturn:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(0) from None


def _fail_with_bug(error: Exception) -> NoReturn:
    if os.environ.get("POOLPROOF_DEBUG"):
        traceback.print_exc()
    place = traceback.extract_tb(error.__traceback__)[-1]
    _fail(
        f"bug in poolproof: {type(error).__name__}: {error} ({place.filename}:{place.lineno})",
        "please report it, with the output of: POOLPROOF_DEBUG=1 poolproof …",
        FAULT_EXIT_CODE,
    )


def _skip_last_collection() -> None:
    """Skip Python's final garbage collection.

    With DuckDB, it is not skipped, because DuckDB would then report leaks.
    """
    if "_duckdb" not in sys.modules:
        gc.freeze()


def _fail(message: str, hint: str, code: int) -> NoReturn:
    if "--json" not in sys.argv[1:] or not _print_error({"message": message, "hint": hint, "exit_code": code}):
        text = f"poolproof: {message}" + (f"\n  {hint}" if hint else "")
        say(_FIRST_OF_LINE.sub("\n  ", text))
    raise SystemExit(code)


def _print_error(error: dict[str, str | int]) -> bool:
    """Print the error as a JSON object. If that fails, discard the buffered output and return False."""
    try:
        print(json.dumps({"error": error}), flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def app_for(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the Typer app. If the first argument is a subcommand, the app contains no other subcommands."""
    app = typer.Typer(
        name="poolproof",
        help="Benchmark storage layouts and prove each result.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for name in [name for name in NAMES if [name] == list(arguments[:1])] or NAMES:
        module = importlib.import_module(f"poolproof.cli.{name}{'_' if keyword.iskeyword(name) else ''}")
        if hasattr(module, "app"):
            app.add_typer(module.app)
        else:
            app.command(name, cls=PlainCommand, hidden=name in _HIDDEN)(module.command)
    return app


def _version(given: bool) -> None:
    if given:
        typer.echo(f"poolproof {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    del version
