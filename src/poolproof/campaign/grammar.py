"""Layout expressions: text to a tree and back. The grammar stands in grammar.lark.

lark is imported when the first expression is parsed, not before: commands that parse none do not pay for it.
"""

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolproof.campaign.caret import mistake_in
from poolproof.campaign.expression import Argument, Expression, Group, Option, Place, Stage, Word
from poolproof.errors import CampaignError

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

GRAMMAR_FILE = Path(__file__).with_name("grammar.lark")
_DEEPEST = 32
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
_QUOTED = 'write a word with blanks like: dir "/srv/my data"'
_EXAMPLE = "a layout looks like: zfs mirror disk1 disk2 ashift=12 | zvol 100G | ext4"


def parse_expression(text: str, origin: str = "") -> Expression:
    """The tree of a layout expression. Braces stay as they stand; `braces.expand` multiplies them.

    `origin` says where the text stands, for error messages: "campaign.yaml:12".

    Raises:
        CampaignError: the text is no layout expression; the message points at the word.
    """
    source = Expression((), text, origin)
    _check_depth(source)
    return _layout(_tree(source), source)


def format_expression(expression: Expression) -> str:
    """The canonical line: one blank between items, quotes only where they are needed."""
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
        start = len(source.text) if error.token.type == "$END" else (error.token.start_pos or 0)
        raise _unexpected(source, start, len(error.token), error.accepts or error.expected) from None
    except UnexpectedCharacters as error:
        raise _strange_character(source, error.pos_in_stream or 0) from None


def _unexpected(source: Expression, start: int, width: int, expected: set[str]) -> CampaignError:
    place = Place(start, start + width)
    if source.text[start : start + 1] == ")":
        return mistake_in(source, place, "expected a word, key=value or `|`, found a `)` that closes nothing", _EXAMPLE)
    found = f"`{source.text[start : start + width]}`" if start < len(source.text) else "the end"
    wanted = " or ".join(dict.fromkeys(text for name, text in _EXPECTED.items() if name in expected))
    return mistake_in(source, place, f"expected {wanted}, found {found}", _EXAMPLE)


def _strange_character(source: Expression, at: int) -> CampaignError:
    place = Place(at, at + 1)
    if source.text[at] == '"':
        return mistake_in(
            source, place, 'expected a closing `"`, and quotes around a whole word or a whole value', _QUOTED
        )
    if re.match(r"(^|.*[|(])\s*[^\s|()=\"{},]+$", source.text[:at], re.DOTALL):
        return mistake_in(source, place, "expected a layer or a device at the start, found an option", _EXAMPLE)
    return mistake_in(source, place, "expected key=value, with a value and no blanks around the `=`", _OPTION)


def _check_depth(source: Expression) -> None:
    depth = 0
    for match in re.finditer(r'"[^"]*"|[()]', source.text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth > _DEEPEST:
            raise mistake_in(source, Place(*match.span()), f"expected at most {_DEEPEST} parentheses inside each other")


def _layout(tree: Any, source: Expression) -> Expression:
    stages = tuple(Stage(tuple(_argument(item, source) for item in stage.children)) for stage in tree.children)
    return Expression(stages, source.text, source.origin)


def _argument(tree: Any, source: Expression) -> Argument:
    first, last = tree.children[0], tree.children[-1]
    place = Place(first.start_pos, last.end_pos)
    if tree.data == "group":
        return Group(_layout(tree.children[1], source), place)
    if tree.data == "option":
        key, value = str(first).split("=", 1)
        return Option(key, value.strip('"'), place)
    return Word(str(first).strip('"'), place)
