"""The generated pages in docs/ are up to date, and all commands and options have a help text."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from poolproof.cli.main import app_for

ROOT = Path(__file__).parents[3]
PAGES: dict[str, Callable[[], str]] = runpy.run_path(str(ROOT / "scripts" / "cli_pages.py"))["PAGES"]


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all commands with their names, including those in groups, such as `lab start`."""
    for name, command in vars(group)["commands"].items():
        if "commands" in vars(command):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


COMMANDS: dict[str, Any] = dict(_commands(typer.main.get_command(app_for())))


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), "run: make docs"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_and_all_its_options_say_what_they_do(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    assert not [parameter.name for parameter in command.params if not parameter.help]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_speaks_to_machines(name: str) -> None:
    assert "--json" in {option for parameter in COMMANDS[name].params for option in parameter.opts}
