"""docs/adding-a-layer.md quotes code that stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adding-a-layer.md").read_text(encoding="utf-8")
QUOTES = re.findall(r"<!-- (\S+) -->\n```python\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("path", "quote"), QUOTES)
def test_a_quote_stands_in_the_code(path: str, quote: str) -> None:
    assert f"{quote}\n" in (ROOT / path).read_text(encoding="utf-8")


def test_all_code_on_the_page_is_quoted() -> None:
    assert len(QUOTES) == PAGE.count("```python") > 0
