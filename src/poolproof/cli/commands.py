"""All subcommands by their names; a command line that names one makes only that one, since each costs 2 ms."""

import importlib
from collections.abc import Sequence

import typer

from poolproof import __version__

NAMES = (
    "run",
    "demo",
    "resume",
    "watch",
    "clean",
    "show",
    "compare",
    "rank",
    "report",
    "runs",
    "query",
    "export",
    "plots",
    "lint",
    "audit",
    "import",
    "check",
    "devices",
    "presets",
    "rules",
    "explain",
    "lab",
)
"""In the order of the help. Each is the module of its name in this folder; `import` is `import_`."""

_GROUPS = ("lab",)
_KEYWORDS = ("import",)


def app_for(arguments: Sequence[str] = ()) -> typer.Typer:
    """The program that understands these arguments: with one subcommand if they begin with its name, else whole."""
    app = typer.Typer(
        name="poolproof",
        help="Storage benchmarks that prove what they measured.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    named = [name for name in NAMES if [name] == list(arguments[:1])]
    for name in named or NAMES:
        module = importlib.import_module(f"poolproof.cli.{name}{'_' if name in _KEYWORDS else ''}")
        if name in _GROUPS:
            app.add_typer(module.app)
        else:
            app.command(name)(module.command)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"poolproof {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    del version
