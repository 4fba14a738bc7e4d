"""The documentation of campaigns and layout expressions agrees with the code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.campaign.expression import GRAMMAR_FILE, format_expression, parse_expression
from poolproof.campaign.layout import expand, expand_text
from poolproof.campaign.measure import KEYS as MEASURE_KEYS
from poolproof.campaign.presets import PRESETS
from poolproof.campaign.workload import OWN_KEYS
from poolproof.campaign.yaml import KEYS, parse_campaign
from poolproof.layers.layer_catalogue import all_layers
from poolproof.metrics import COMPARABLE

DOCS = Path(__file__).parents[3] / "docs"
EXPRESSIONS = (DOCS / "layout-expressions.md").read_text(encoding="utf-8")
CAMPAIGN = (DOCS / "campaign.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def layout_examples() -> list[str]:
    return [line for block in blocks(EXPRESSIONS, "layout") for line in block.splitlines()]


def whole_campaigns() -> Iterator[str]:
    """Yield the YAML blocks of the page, each completed with the smallest version of the parts that it leaves out."""
    for block in blocks(CAMPAIGN, "yaml"):
        rest = ("layouts: {one: dir /srv}\n" if "layouts:" not in block else "") + (
            "workloads: {etcd: etcd}\n" if "workloads:" not in block else ""
        )
        yield block + rest


@pytest.mark.parametrize("line", layout_examples())
def test_every_layout_on_the_page_is_canonical_and_expands(line: str) -> None:
    expression = parse_expression(line)
    assert format_expression(expression) == line
    assert len(expand(expression)) >= (2 if "{" in line else 1)


def test_every_layer_has_its_row_with_its_own_words() -> None:
    table = EXPRESSIONS.partition("\n## The layers\n")[2].partition("\n## ")[0].replace(r"\|", "BAR")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE))
    assert {word: summary.replace("BAR", "|") for word, summary in rows.items()} == {
        word: layer.summary for word, layer in all_layers().items()
    }


def test_the_grammar_on_the_page_is_the_grammar() -> None:
    assert blocks(EXPRESSIONS, "lark") == [GRAMMAR_FILE.read_text(encoding="utf-8")]


def test_the_braces_on_the_page_choose_what_it_says() -> None:
    rows = re.findall(r"^\| `([^`]*\{[^`]*)` \| (`.*`) \|$", EXPRESSIONS, re.MULTILINE)
    assert len(rows) == 5
    for braces, choices in rows:
        assert list(expand_text(braces)) == re.findall(r"`([^`]+)`", choices)


@pytest.mark.parametrize("text", list(whole_campaigns()))
def test_every_campaign_on_the_page_is_read(text: str) -> None:
    found = parse_campaign(text, "docs.yaml")
    assert found.layouts
    assert found.workloads


def test_every_key_is_on_the_page() -> None:
    for key in (*KEYS, *OWN_KEYS, *MEASURE_KEYS):
        assert f"| `{key}` |" in CAMPAIGN, key
    for word in COMPARABLE:
        assert f"`{word}`" in CAMPAIGN, word


def test_the_presets_on_the_page_are_the_presets() -> None:
    rows = [f"| `{each.name}` | {each.summary} | `{each.metric}` | {each.source} |" for each in PRESETS.values()]
    table = CAMPAIGN.partition("| name | what it stands for |")[2].partition("\n\n")[0]
    assert table.splitlines()[2:] == rows
