"""The pages of docs/ that the code itself writes: the command line, the exit codes, the rules; for `make docs`."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer.main

from poolproof.cli.commands import app_for
from poolproof.cli.main import FAULT_EXIT_CODE
from poolproof.errors import PoolproofError
from poolproof.rules.catalogue import all_rules
from poolproof.rules.docs import markdown_of

_WIDTH = 100
_ANSWERS_NO = (
    "`audit`: a result is refuted or failed. `lint`: an error was found; with `--strict` a warning too.",
    "`compare --fail-if-slower`: a cell is surely slower by more, or has lost its figure: refuted, failed, missing.",
)
"""Commands that did their work, and whose answer a script should stop at."""

_MADE = "<!-- Written by `make docs` from {source}; a test compares. -->\n"


def cli_page() -> str:
    """Every command with its help, as `--help` prints it."""
    group: Any = typer.main.get_command(app_for())  # Any: typer keeps its own copy of click, without public names
    top = group.context_class(group, info_name="poolproof", terminal_width=_WIDTH)
    parts = ["# The command line\n", _MADE.format(source="the commands' own help"), _fenced(group.get_help(top))]
    parts += _help_of(group, top)
    parts.append("How each can end: [exit-codes.md](exit-codes.md). What `--json` prints: [json.md](json.md).\n")
    return "\n".join(parts)


def _help_of(group: Any, parent: Any) -> Iterator[str]:
    """Each command of a group, and where it is a group itself, each of its own."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        context = parent.__class__(command, info_name=name, parent=parent, terminal_width=_WIDTH)
        yield f"## {context.command_path}\n"
        yield _fenced(command.get_help(context))
        if hasattr(command, "commands"):
            yield from _help_of(command, context)


def exit_codes_page() -> str:
    """Every way that a command can end, by its number."""
    rows = ["| 0 | | The command did what it was asked; a run with refuted or failed figures has completed too. |"]
    rows += [f"| 1 | | {when} |" for when in _ANSWERS_NO]
    rows += [f"| {kind.exit_code} | `{kind.__name__}` | {_first_line(kind)} |" for kind in _kinds()]
    rows.append(f"| {FAULT_EXIT_CODE} | | poolproof itself is at fault; `POOLPROOF_DEBUG=1` shows where. |")
    return "\n".join(
        [
            "# Exit codes\n",
            _MADE.format(source="errors.py"),
            "An error is one line on standard error and a second one with what to type next. With `--json` it is an\n"
            'object `{"error": {"message": …, "hint": …, "exit_code": …}}` on standard output.\n',
            "| code | error | when |",
            "|---|---|---|",
            *sorted(rows, key=lambda row: int(row.split("|")[1])),
            "",
        ]
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "exit-codes.md": exit_codes_page,
    "rules.md": lambda: markdown_of(all_rules()),
}
"""Each generated page by its name in docs/."""


def _kinds() -> Iterator[type[PoolproofError]]:
    """The errors that have an exit code of their own."""
    yield PoolproofError
    yield from (kind for kind in PoolproofError.__subclasses__() if "exit_code" in vars(kind))


def _first_line(kind: type[PoolproofError]) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]


def _fenced(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"```text\n{lines}\n```\n"


def _write(folder: Path) -> None:
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
