"""Layout expressions are parsed and formatted. Mistakes are shown with a caret under the word."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.expression import (
    Expression,
    Group,
    Option,
    Stage,
    TextSpan,
    Word,
    format_expression,
    parse_expression,
)
from poolproof.errors import CampaignError
from poolproof.process import run

from .expressions import DESIGN_LINES, expressions


@given(expressions)
def test_parsing_undoes_formatting(expression: Expression) -> None:
    assert parse_expression(format_expression(expression)) == expression


@given(st.text(st.sampled_from('ab1 |()={},."\t\n') | st.characters(), max_size=40))
def test_any_text_is_an_expression_or_one_clear_error(text: str) -> None:
    try:
        expression = parse_expression(text)
    except CampaignError as error:
        assert error.message.startswith(("expected", "a layout expression", "parentheses"))
        assert "^" in error.message
    else:
        assert parse_expression(format_expression(expression)) == expression


@pytest.mark.parametrize("line", DESIGN_LINES)
def test_lines_of_the_design_are_canonical(line: str) -> None:
    assert format_expression(parse_expression(line)) == line


def test_a_line_becomes_a_tree() -> None:
    assert parse_expression("zfs mirror (nvme1 | luks) ashift=12 | ext4") == Expression(
        (
            Stage(
                (
                    Word("zfs"),
                    Word("mirror"),
                    Group(Expression((Stage((Word("nvme1"),)), Stage((Word("luks"),))))),
                    Option("ashift", "12"),
                )
            ),
            Stage((Word("ext4"),)),
        )
    )


def test_blanks_and_line_ends_are_all_one() -> None:
    assert format_expression(parse_expression("  zfs\tmirror  a\n   b|ext4 ")) == "zfs mirror a b | ext4"


def test_quotes_keep_blanks_bars_and_parentheses() -> None:
    expression = parse_expression('dir "/srv/my (old) data" note="a | b" empty=""')
    assert expression.stages[0].arguments[1:] == (
        Word("/srv/my (old) data"),
        Option("note", "a | b"),
        Option("empty", ""),
    )
    assert format_expression(expression) == 'dir "/srv/my (old) data" note="a | b" empty=""'


def test_a_value_may_hold_equal_signs() -> None:
    assert parse_expression("btrfs a mount=compress=zstd:3").stages[0].arguments[2] == Option(
        "mount", "compress=zstd:3"
    )


def test_places_point_into_the_whole_text_from_inside_groups() -> None:
    text = "mergerfs (hdd1 | xfs) func=all"
    group, option = parse_expression(text).stages[0].arguments[1:]
    assert isinstance(group, Group)
    word = group.expression.stages[1].arguments[0]
    assert text[word.span.start : word.span.end] == "xfs"
    assert group.expression.text == text
    assert (group.span, option.span) == (TextSpan(9, 21), TextSpan(22, 30))


MISTAKES = [
    ("", "the end", ""),
    ("zfs a |", "the end", ""),
    ("| ext4", "`|`", "|"),
    ("zfs a | | ext4", "`|`", "|"),
    ("zfs (a | luks", "the end", ""),
    ("zfs a) b", "`)`", ")"),
    ("zfs ()", "`)`", ")"),
    ("ashift=12 zfs", "`ashift=12`", "ashift=12"),
    ("zfs a ashift = 12", "`=`", "="),
    ("zfs a ashift=", "`ashift=`", "ashift="),
    ("zfs a =12", "`=12`", "=12"),
    ('dir "/srv/my data', '`"/srv/my`', '"/srv/my'),
    ('dir /srv/"my data"', '`/srv/"my`', '/srv/"my'),
    ("zfs {a=1,b=2}", "`{a=1,b=2}`", "{a=1,b=2}"),
    ("zfs a\x07b", "'\\x07'", "\x07"),
    ("(" * 40 + "a" + ")" * 40, "32 levels", "("),
    (f"md raid10 a b layout=n{'9' * 41}", "40 digits", "9" * 41),
]


@pytest.mark.parametrize(("text", "fact", "pointed_at"), MISTAKES)
def test_a_mistake_is_pointed_at(text: str, fact: str, pointed_at: str) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_expression(text, "c.yaml:7")
    first, line, carets = caught.value.message.split("\n")
    assert first.startswith("c.yaml:7: ") and fact in first
    assert line == f"  {text}"
    assert line[carets.index("^") : len(carets)] == pointed_at
    assert caught.value.hint


def test_the_messages_about_mistakes_in_expressions(wording: Callable[[str], str]) -> None:
    for text in (text for text, _, _ in MISTAKES if text.isprintable()):
        with pytest.raises(CampaignError) as caught:
            parse_expression(text, "c.yaml:7")
        wording(str(caught.value))


def test_only_the_line_with_the_mistake_is_shown() -> None:
    with pytest.raises(CampaignError) as caught:
        parse_expression("zfs a b\n  | | ext4\n  | more")
    assert "`|`" in caught.value.message
    assert caught.value.message.splitlines()[1:] == ["    | | ext4", "      ^"]


def test_lark_is_not_imported_until_an_expression_is_parsed() -> None:
    program = (
        "import sys; from poolproof.campaign.yaml import read_campaign; before = 'lark' in sys.modules;"
        "from poolproof.campaign.expression import parse_expression; parse_expression('a | ext4');"
        "print(before, 'lark' in sys.modules)"
    )
    assert run([sys.executable, "-c", program], timeout_s=60).stdout == "False True\n"
