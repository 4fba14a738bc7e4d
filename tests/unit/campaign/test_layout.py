"""Braces in layout expressions and option values are expanded as in bash, and mistakes in them are located."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.expression import Expression, format_expression, parse_expression
from poolproof.campaign.layout import BraceMistake, expand, expand_text
from poolproof.errors import CampaignError
from poolproof.process import run


def lines(text: str) -> list[str]:
    return [format_expression(each.expression) for each in expand(parse_expression(text))]


def test_an_option_in_braces_is_a_layout_for_each_value() -> None:
    variants = expand(parse_expression("zfs mirror a b recordsize={16k,1m}"))
    assert [format_expression(each.expression) for each in variants] == [
        "zfs mirror a b recordsize=16k",
        "zfs mirror a b recordsize=1m",
    ]
    assert [each.varies for each in variants] == [(("recordsize", "16k"),), (("recordsize", "1m"),)]


def test_a_word_in_braces_varies_without_a_key() -> None:
    variants = expand(parse_expression("zfs {mirror,raidz1} a b c"))
    assert [each.varies for each in variants] == [(("", "mirror"),), (("", "raidz1"),)]


def test_every_brace_multiplies_and_the_last_varies_fastest() -> None:
    assert lines("mergerfs ({a,b} | {xfs,ext4}) | x k=v{1,2}") == [
        f"mergerfs ({device} | {system}) | x k=v{number}"
        for device, system, number in itertools.product("ab", ("xfs", "ext4"), "12")
    ]


def test_without_braces_there_is_one_layout_that_varies_in_nothing() -> None:
    (only,) = expand(parse_expression("zfs a"))
    assert only.varies == ()


def test_a_variant_remembers_what_the_user_wrote() -> None:
    source = parse_expression("zfs a k={1,2}", "c.yaml:3")
    second = expand(source)[1].expression
    assert (second.text, second.origin) == ("zfs a k={1,2}", "c.yaml:3")
    assert second.stages[0].arguments[2].span == source.stages[0].arguments[2].span


@pytest.mark.parametrize(
    "text",
    ["a", "{a,b}", "x{a,b}y", "{a,b}{c,d}", "{a,b{1,2}c}", "{,a}b", "{1..3}", "{3..1}", "{01..03}", "{-1..1}", "a,b"],
)
def test_braces_are_those_of_bash(text: str) -> None:
    said = run(["bash", "-c", f"printf '%s\\n' {text}"], timeout_s=10).stdout
    assert list(expand_text(text)) == said.splitlines()


@given(st.text("ab,{}.1", max_size=20))
def test_any_text_expands_or_is_a_brace_mistake_within_it(text: str) -> None:
    try:
        found = expand_text(text)
    except BraceMistake as mistake:
        assert 0 <= mistake.offset <= len(text)
    else:
        assert found
        assert all("{" not in each and "}" not in each for each in found)


@given(st.lists(st.lists(st.text("abc1", min_size=1, max_size=3), min_size=2, max_size=4, unique=True), max_size=3))
def test_there_are_as_many_layouts_as_the_product_of_the_choices(choices: list[list[str]]) -> None:
    text = " ".join(["zfs", *(f"k{number}={{{','.join(each)}}}" for number, each in enumerate(choices))])
    variants = expand(parse_expression(text))
    assert [tuple(value for _, value in each.varies) for each in variants] == list(itertools.product(*choices))


MISTAKES = [
    ("zfs a k={1,2", "not closed", 8),
    ("zfs {a, b}", "not closed", 4),
    ("zfs a k=1}", "`{`", 9),
    ("zfs a k={1}", "two choices", 8),
    ("zfs a k={}", "two choices", 8),
    ("zfs {mirror,} a", "empty", 4),
    ("zfs {a,a}", "choice `a`", 4),
    ("zfs " + "{" * 9000, "more than 32", 36),
    ("zfs a k={1..99999}", "more than 10000 values", 8),
    ("zfs {1..200} {1..200}", "more than 10000 layouts", 0),
]


@pytest.mark.parametrize(("text", "fact", "column"), MISTAKES)
def test_a_mistake_in_braces_is_pointed_at(text: str, fact: str, column: int) -> None:
    with pytest.raises(CampaignError) as caught:
        expand(parse_expression(text))
    first, _, carets = caught.value.message.split("\n")
    assert fact in first
    assert carets.index("^") == column + 2


def test_the_messages_about_mistakes_in_braces(wording: Callable[[str], str]) -> None:
    for text in (text for text, _, _ in MISTAKES if len(text) < 100):
        with pytest.raises(CampaignError) as caught:
            expand(parse_expression(text))
        wording(str(caught.value))


def test_the_count_of_choices_is_limited_before_they_are_made() -> None:
    expression = parse_expression("zfs " + "{a,b}" * 60)
    with pytest.raises(CampaignError, match="more than 10000 choices"):
        expand(expression)


def test_an_expression_without_its_text_expands_too() -> None:
    bare = Expression(parse_expression("zfs a k={1,2}").stages)
    assert [format_expression(each.expression) for each in expand(bare)] == ["zfs a k=1", "zfs a k=2"]
