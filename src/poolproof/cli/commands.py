"""All subcommands by name. Only the subcommand on the command line is imported, because each import takes 2 ms."""

import importlib
import keyword
from collections.abc import Sequence

import typer

from poolproof.version import __version__

NAMES = (
    "run", "demo", "resume", "watch", "clean", "show", "compare", "rank", "report", "runs", "query", "export", "plots",
    "lint", "audit", "import", "check", "devices", "presets", "rules", "explain", "lab",
)  # fmt: skip
"""The subcommands in the order of the help. Each has a module of the same name, except `import` (`import_`)."""

_HIDDEN = ("import", "plots")


def app_for(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the Typer app for these arguments. If the first argument is a subcommand, the app has only that one."""
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
            app.command(name, hidden=name in _HIDDEN)(module.command)
    return app


def _version(given: bool) -> None:
    if given:
        typer.echo(f"poolproof {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    del version
