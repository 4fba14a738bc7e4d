"""The help of each command: arguments and values have names, not types."""

import re

import pytest
from typer.testing import CliRunner

from poolproof.cli.main import NAMES, app_for

_OF_LAB = ("build", "start", "run", "ssh", "stop", "list", "rm")


@pytest.mark.parametrize("words", [*((name,) for name in NAMES), *(("lab", name) for name in _OF_LAB)], ids=" ".join)
def test_arguments_and_values_are_named_in_capitals(words: tuple[str, ...]) -> None:
    text = CliRunner().invoke(app_for(words), [*words, "--help"]).stdout
    usage = text.splitlines()[0]
    assert f" {' '.join(words)} [OPTIONS]" in usage
    assert not re.search(r"\{|\[[a-z]", usage), "an argument is `RUN` or `[RUN]`"
    assert not re.search(r"^ +(-\w, )?--\S+ <(str|path|int)", text, re.MULTILINE), "a value is named, as in `--out DIR`"
