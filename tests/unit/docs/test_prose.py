"""What the docs say about the code is true: quotes match it, links lead somewhere, and tables are complete."""

import re
from pathlib import Path

import pytest

from poolproof.load.fio.jobs import ADDED
from tests.prose import pages

from .pages import DOCS

ROOT = DOCS.parent
WRITTEN = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])
QUOTES = [
    (page.name, *quote)
    for page in WRITTEN
    for quote in re.findall(r"<!-- (src/\S+) -->\n```python\n(.*?)\n```", page.read_text(encoding="utf-8"), re.DOTALL)
]


@pytest.mark.parametrize(("page", "path", "quote"), QUOTES)
def test_a_quote_stands_in_the_code(page: str, path: str, quote: str) -> None:
    assert f"{quote}\n" in (ROOT / path).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if "://" not in link and not (page.parent / link).exists()]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page: Path) -> None:
    """A path in backticks, such as `measure/trial.py`, must exist in the package or in the repository."""
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w-]+/)*[\w-]+/[\w.-]+\.(?:py|lark|yaml))`", text))
    roots = (ROOT, ROOT / "src" / "poolproof", ROOT / "src" / "poolproof" / "rules")
    assert not [name for name in named if not any((root / name).exists() for root in roots)]


def test_the_prose_check_reads_every_page() -> None:
    assert {ROOT / name for name, _text in pages()} == set(ROOT.glob("*.md")) | set(DOCS.glob("*.md"))


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [page.name for page in DOCS.glob("*.md") if f"docs/{page.name}" not in readme]


def test_the_table_of_what_is_added_to_a_job_is_whole() -> None:
    rows = re.findall(r"^\| `(\w+)=(\w+)` \| (.+?) \|$", (DOCS / "method.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {(name, value) for name, value, _why in rows} == {(name, value) for name, (value, _why) in ADDED.items()}
