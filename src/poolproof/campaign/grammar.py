"""Parse a layout expression into a tree, and format it back as text. The grammar is grammar.lark.

lark is imported when the first expression is parsed, so commands that parse none do not pay for it.
"""

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolproof.campaign.expression import Argument, Expression, Group, Option, Stage, TextSpan, Word, mistake_in
from poolproof.errors import CampaignError

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

GRAMMAR_FILE = Path(__file__).with_name("grammar.lark")
_DEEPEST = 32
_CHUNK = re.compile(r"[^\s|()]+")
_UNFIT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_NEEDS_QUOTES = re.compile(r'[\s|()="]')
_EXPECTED = {
    "BARE": "a word",
    "QUOTED": "a word",
    "OPTION": "key=value",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "VBAR": "`|`",
    "$END": "the end",
}
_OPTION = "write an option like: compression=lz4"
_QUOTED = 'write a word with spaces like: dir "/srv/my data"'
_BRACES = "write choices like: compression={lz4,zstd}"
_EXAMPLE = "a layout looks like: zfs mirror disk1 disk2 ashift=12 | zvol 100G | ext4"


def parse_expression(text: str, origin: str = "") -> Expression:
    """Return the tree of a layout expression. Braces are kept; `braces.expand` multiplies them.

    `origin` says where the text is written, for error messages: "campaign.yaml:12".

    Raises:
        CampaignError: the text is not a layout expression; the message points at the word.
    """
    source = Expression((), text, origin)
    _check_characters(source)
    _check_depth(source)
    return _layout(_tree(source), source)


def format_expression(expression: Expression) -> str:
    """Return the canonical line: one space between items, and quotes only around words that need them."""
    return " | ".join(" ".join(map(_format_argument, stage.arguments)) for stage in expression.stages)


def _format_argument(argument: Argument) -> str:
    if isinstance(argument, Word):
        return f'"{argument.text}"' if _NEEDS_QUOTES.search(argument.text) else argument.text
    if isinstance(argument, Option):
        return f"{argument.key}={_format_value(argument.value)}"
    return f"({format_expression(argument.expression)})"


def _format_value(value: str) -> str:
    needs_quotes = not value or _NEEDS_QUOTES.search(value.replace("=", ""))
    return f'"{value}"' if needs_quotes else value


@functools.cache
def _parser() -> "Lark":
    from lark import Lark

    return Lark(GRAMMAR_FILE.read_text(encoding="utf-8"), start="layout", parser="lalr")


def _tree(source: Expression) -> "Tree[Token]":
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return _parser().parse(source.text)
    except UnexpectedToken as error:
        raise _unexpected(source, error.token, error.accepts or error.expected) from None
    except UnexpectedCharacters as error:
        raise _not_a_word(source, error.pos_in_stream or 0) from None


def _unexpected(source: Expression, token: "Token", expected: set[str]) -> CampaignError:
    """Return the error for a word in the wrong position."""
    if token.type == "$END":
        span, found = TextSpan(len(source.text), len(source.text)), "the end"
    else:
        span, found = TextSpan(token.start_pos or 0, token.end_pos or 0), f"`{token}`"
    if token.type == "OPTION":
        return mistake_in(source, span, f"expected a layer or a device before any option, found {found}", _EXAMPLE)
    expected_text = " or ".join(dict.fromkeys(text for name, text in _EXPECTED.items() if name in expected))
    if not expected_text:
        return mistake_in(source, span, f"expected a word, key=value or `|`, found an unmatched {found}", _EXAMPLE)
    return mistake_in(source, span, f"expected {expected_text}, found {found}", _EXAMPLE)


def _not_a_word(source: Expression, start: int) -> CampaignError:
    """Return the error for text that is neither a word nor an option."""
    match = _CHUNK.match(source.text, start)
    end = match.end() if match else start + 1
    found = source.text[start:end]
    span = TextSpan(start, end)
    if '"' in found:
        return mistake_in(
            source, span, f"expected quotes around a whole word or a whole value, found `{found}`", _QUOTED
        )
    if found.startswith("=") or found.endswith("="):
        return mistake_in(source, span, f"expected key=value without spaces, found `{found}`", _OPTION)
    return mistake_in(source, span, f"expected a word or key=value, found `{found}`", _BRACES)


def _check_characters(source: Expression) -> None:
    """Refuse characters that no command line can contain."""
    match = _UNFIT.search(source.text)
    if match:
        raise mistake_in(source, TextSpan(*match.span()), f"expected words, found the character {match[0]!r}", _EXAMPLE)


def _check_depth(source: Expression) -> None:
    depth = 0
    for match in re.finditer(r'"[^"]*"|[()]', source.text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth > _DEEPEST:
            message = f"expected at most {_DEEPEST} nested parentheses"
            raise mistake_in(source, TextSpan(*match.span()), message, _EXAMPLE)


def _layout(tree: Any, source: Expression) -> Expression:
    stages = tuple(Stage(tuple(_argument(item, source) for item in stage.children)) for stage in tree.children)
    return Expression(stages, source.text, source.origin)


def _argument(tree: Any, source: Expression) -> Argument:
    first, last = tree.children[0], tree.children[-1]
    span = TextSpan(first.start_pos, last.end_pos)
    if tree.data == "group":
        return Group(_layout(tree.children[1], source), span)
    if tree.data == "option":
        key, value = str(first).split("=", 1)
        return Option(key, value.strip('"'), span)
    return Word(str(first).strip('"'), span)
