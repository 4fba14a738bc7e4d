"""The quotes in docs/adding-a-layer.md match the code, and scripts/setup installs the programs of the layers."""

import re
from pathlib import Path

import pytest

from poolproof.layers.layer_catalogue import all_layers

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adding-a-layer.md").read_text(encoding="utf-8")
QUOTES = re.findall(r"<!-- (\S+) -->\n```python\n(.*?)\n```", PAGE, re.DOTALL)
SETUP = (ROOT / "scripts" / "setup").read_text(encoding="utf-8")


@pytest.mark.parametrize(("path", "quote"), QUOTES)
def test_a_quote_is_in_the_code(path: str, quote: str) -> None:
    assert f"{quote}\n" in (ROOT / path).read_text(encoding="utf-8")


def test_all_code_on_the_page_is_quoted() -> None:
    assert len(QUOTES) == PAGE.count("```python") > 0


def test_setup_installs_each_layer_that_needs_no_kernel_module_package() -> None:
    """`truncate` is part of coreutils, which is always installed."""
    rows = dict(re.findall(r"^(\S+) +(\S+)(?: +\S+){3}$", SETUP, re.MULTILINE))
    for layer in all_layers().values():
        if layer.packages and not layer.module_packages and layer.packages != ("coreutils",):
            assert {rows.get(program) for program in layer.programs} <= set(layer.packages), layer.word
