"""Parse layout expressions such as `zfs mirror hdd1 hdd2 log (nvme1 | luks) | zvol 100G | ext4` into trees.

A tree consists of stages, words, options and groups. The parser accepts any words. The layers (`layers/`) check them
later. Each argument has its position in the source, for error messages. Positions are ignored when trees are compared.

The grammar is in grammar.lark. lark is imported only when the first expression is parsed, so that commands that parse
no expressions start faster.
"""

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolproof.errors import CampaignError, as_word

if TYPE_CHECKING:
    from lark import Lark, Token

GRAMMAR_FILE = Path(__file__).with_name("grammar.lark")
_DEEPEST = 32
_HIGHEST = 64  # layers on top of each other
_CHUNK = re.compile(r"[^\s|()]+")
_MOST_DIGITS = 40
_LONG_NUMBER = re.compile(rf"[0-9]{{{_MOST_DIGITS + 1},}}")
_UNFIT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_NEEDS_QUOTES = re.compile(r'[\s|()="]')
_EXPECTED = {
    "BARE": "a word",
    "QUOTED": "a word",
    "OPTION": "key=value",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "VBAR": "`|`",
    "$END": "the end of the expression",
}
_OPTION = "write an option like: compression=lz4"
_QUOTED = 'quote a word that contains spaces, for example: dir "/srv/my data"'
_BRACES = "write choices like: compression={lz4,zstd}"
_EXAMPLE = "a layout looks like: zfs mirror disk1 disk2 ashift=12 | zvol 100G | ext4"


@dataclass(frozen=True)
class TextSpan:
    """A token's position in the source, as character offsets from 0. `end` is exclusive."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Word:
    """A word: the name of a layer or device, a vdev kind, a size or a path."""

    text: str
    span: TextSpan = field(default=TextSpan(), compare=False)


@dataclass(frozen=True)
class Option:
    """An option, written as `key=value`. The layer determines which keys and values are valid."""

    key: str
    value: str
    span: TextSpan = field(default=TextSpan(), compare=False)


@dataclass(frozen=True)
class Group:
    """A layout in parentheses that is used as a device."""

    expression: "Expression"
    span: TextSpan = field(default=TextSpan(), compare=False)


Argument = Word | Option | Group


@dataclass(frozen=True)
class Stage:
    """The part of an expression up to the next `|`, such as `zfs mirror hdd1 hdd2`.

    A stage has at least one argument, the first of which is a word or a group.
    """

    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Expression:
    """A layout's stages, from bottom to top.

    `text`: the source before brace expansion. All spans in the expression and its groups refer to it.
    `origin`: the location of the source ("campaign.yaml:12"), for error messages.
    """

    stages: tuple[Stage, ...]
    text: str = field(default="", compare=False)
    origin: str = field(default="", compare=False)


def pointed(text: str, span: TextSpan, message: str) -> str:
    """Return the message, followed by the source line that contains the span, with carets below the span."""
    start = min(span.start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end].replace("\t", " ")
    width = max(1, min(span.end, line_start + len(line)) - start)
    return f"{message}\n  {line}\n  {' ' * (start - line_start)}{'^' * width}"


def mistake_in(expression: Expression, span: TextSpan, message: str, hint: str = "") -> CampaignError:
    """Return an error that points at the span, prefixed with the expression's origin if known."""
    file, _, line = expression.origin.rpartition(":")
    if not hint and file and line.isdecimal():
        hint = f"to check the campaign after the fix: poolproof check {as_word(file)}"
    prefix = f"{expression.origin}: " if expression.origin else ""
    hint = hint or "docs/layout-expressions.md lists the layers and their options"
    return CampaignError(prefix + pointed(expression.text, span, message), hint)


def parse_expression(text: str, origin: str = "") -> Expression:
    """Parse a layout expression into a tree, without expanding its braces.

    `origin`: the location of the expression ("campaign.yaml:12"). Error messages begin with it.

    Raises a CampaignError if `text` is not a valid layout expression. The message points at the mistake.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    source = Expression((), text, origin)
    unfit = _UNFIT.search(text)
    if unfit:  # a command line cannot contain this character
        message = f"a layout expression cannot contain the character {unfit[0]!r}"
        raise mistake_in(source, TextSpan(*unfit.span()), message, _EXAMPLE)
    if long := _LONG_NUMBER.search(text):  # Python converts at most 4,300 digits
        raise mistake_in(source, TextSpan(*long.span()), f"a number can have at most {_MOST_DIGITS} digits", _EXAMPLE)
    depth = 0
    for match in re.finditer(r'"[^"]*"|[()]', text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth > _DEEPEST:
            message = f"parentheses are nested more than {_DEEPEST} levels deep"
            raise mistake_in(source, TextSpan(*match.span()), message, _EXAMPLE)
    try:
        tree = _parser().parse(text)
    except UnexpectedToken as error:
        raise _wrong_place(source, error.token, error.accepts or error.expected) from None
    except UnexpectedCharacters as error:
        raise _not_a_word(source, error.pos_in_stream or 0) from None
    found = _expression(tree, source)
    if (height := _height(found)) > _HIGHEST:
        message = f"{height} layers are on top of each other, but a layout can have at most {_HIGHEST}"
        raise mistake_in(source, TextSpan(0, len(text)), message, _EXAMPLE)
    return found


def format_expression(expression: Expression) -> str:
    """Format an expression in canonical form: single spaces between words, and quotes only where necessary."""
    return " | ".join(" ".join(map(_format_argument, stage.arguments)) for stage in expression.stages)


def _format_argument(argument: Argument) -> str:
    if isinstance(argument, Word):
        return f'"{argument.text}"' if _NEEDS_QUOTES.search(argument.text) else argument.text
    if isinstance(argument, Group):
        return f"({format_expression(argument.expression)})"
    needs_quotes = not argument.value or _NEEDS_QUOTES.search(argument.value.replace("=", ""))
    return f'{argument.key}="{argument.value}"' if needs_quotes else f"{argument.key}={argument.value}"


@functools.cache
def _parser() -> "Lark":
    from lark import Lark

    return Lark(GRAMMAR_FILE.read_text(encoding="utf-8"), start="layout", parser="lalr")


def _wrong_place(source: Expression, token: "Token", expected: set[str]) -> CampaignError:
    if token.type == "$END":
        span, found = TextSpan(len(source.text), len(source.text)), "the end of the expression"
    else:
        span, found = TextSpan(token.start_pos or 0, token.end_pos or 0), f"`{token}`"
    wanted = " or ".join(dict.fromkeys(text for name, text in _EXPECTED.items() if name in expected))
    message = f"expected {wanted}, found {found}"
    if token.type == "OPTION":
        message = f"expected a layer or a device before any option, found {found}"
    elif not wanted:
        message = f"expected a word, key=value or `|`, found an unmatched {found}"
    return mistake_in(source, span, message, _EXAMPLE)


def _not_a_word(source: Expression, start: int) -> CampaignError:
    """Return the error for input that is neither a word nor an option."""
    match = _CHUNK.match(source.text, start)
    end = match.end() if match else start + 1
    found = source.text[start:end]
    expected, hint = "a word or key=value", _BRACES
    if '"' in found:
        expected, hint = "quotes around a whole word or a whole value", _QUOTED
    elif found.startswith("=") or found.endswith("="):
        expected, hint = "key=value without spaces", _OPTION
    return mistake_in(source, TextSpan(start, end), f"expected {expected}, found `{found}`", hint)


def _expression(tree: Any, source: Expression) -> Expression:
    stages = tuple(Stage(tuple(_argument(item, source) for item in stage.children)) for stage in tree.children)
    return Expression(stages, source.text, source.origin)


def _height(expression: Expression) -> int:
    """Return the largest number of stages on top of each other, including the stages of groups."""
    height = 0
    for stage in expression.stages:
        groups = (_height(each.expression) for each in stage.arguments if isinstance(each, Group))
        height = max(height, *groups, 0) + 1
    return height


def _argument(tree: Any, source: Expression) -> Argument:
    first, last = tree.children[0], tree.children[-1]
    span = TextSpan(first.start_pos, last.end_pos)
    if tree.data == "group":
        return Group(_expression(tree.children[1], source), span)
    if tree.data == "option":
        key, value = str(first).split("=", 1)
        return Option(key, value.strip('"'), span)
    return Word(str(first).strip('"'), span)
