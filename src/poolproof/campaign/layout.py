"""A campaign's layouts, each with a name and an expression. An expression with braces describes several layouts.

Braces are expanded as in a shell: `recordsize={16k,1m}` describes two layouts, while `{1..3}` and `{a,b{1,2}}` describe
three each.
"""

import itertools
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from poolproof.campaign.document import Spot
from poolproof.campaign.expression import (
    Argument,
    Expression,
    Group,
    Option,
    Stage,
    TextSpan,
    Word,
    mistake_in,
    parse_expression,
)
from poolproof.campaign.model import Layout
from poolproof.campaign.names import NAME_RULE, is_name, matrix_name

_PATH_LAYER = "dir"  # the words of a `dir` layout are directories, never devices
MOST_VARIANTS = 10_000
_MOST_CHARACTERS = 10_000_000  # of all layouts that one expression describes
_DEEPEST = 32
_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")
_TEXT = re.compile(r"[^{},]+")


@dataclass(frozen=True)
class Variant:
    """One layout of a matrix.

    `varies`: the choices made in the braces, as pairs of an option's key and its value. The key is empty for braces in
    a word.
    """

    expression: Expression
    varies: tuple[tuple[str, str], ...] = ()


class BraceMistake(ValueError):
    """The braces cannot be expanded. `offset`: the position of the mistake in the string."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def make_layouts(name: str, text: str, spot: Spot) -> tuple[Layout, ...]:
    """Return the layouts that an expression describes. The choices made in braces become part of a layout's name.

    Raises a CampaignError if the name or the expression has a mistake.
    """
    if not is_name(name):
        raise spot.mistake(f"`{name}` is not a valid layout name", f"use {NAME_RULE}")
    variants = expand(parse_expression(text, str(spot)))
    return tuple(Layout(matrix_name(name, each.varies), each.expression, each.varies) for each in variants)


def check_devices_once(layout: Layout, devices: Collection[str]) -> None:
    """Check that the layout uses each device at most once.

    Raises a CampaignError if a device is used twice. The message points at the second use.
    """
    used: set[str] = set()
    for word in _words(layout.expression):
        if word.text in devices and word.text in used:
            raise mistake_in(
                layout.expression,
                word.span,
                f"layout `{layout.name}` uses device `{word.text}` twice",
                "use a different device, or add one under `devices:`",
            )
        used.add(word.text)


def devices_of(layout: Layout, devices: Collection[str]) -> frozenset[str]:
    """Return the names of the devices that the layout uses, out of the campaign's `devices`."""
    return frozenset(word.text for word in _words(layout.expression) if word.text in devices)


def _words(expression: Expression) -> Iterator[Word]:
    for stage in expression.stages:
        head = stage.arguments[0]
        if isinstance(head, Word) and head.text == _PATH_LAYER:
            continue
        for argument in stage.arguments:
            if isinstance(argument, Word):
                yield argument
            elif isinstance(argument, Group):
                yield from _words(argument.expression)


def expand(expression: Expression) -> tuple[Variant, ...]:
    """Expand an expression's braces into all layouts that it describes. The last brace varies fastest.

    Each layout keeps the original source and its spans, so that error messages can point at the user's input. Raises a
    CampaignError if a brace is unmatched, is nested too deeply, has only one choice, repeats a choice, or has an empty
    choice for a word, or if the braces describe more than MOST_VARIANTS layouts.
    """
    words = tuple(_with_braces(expression))
    choices = [_choices(word, expression) for word in words]
    if math.prod(map(len, choices)) > MOST_VARIANTS:
        message = f"the braces expand to more than {MOST_VARIANTS} layouts"
        raise mistake_in(expression, TextSpan(0, len(expression.text)), message)
    if math.prod(map(len, choices)) * len(expression.text) > _MOST_CHARACTERS:
        message = f"the braces expand to more than {_MOST_CHARACTERS} characters"
        raise mistake_in(expression, TextSpan(0, len(expression.text)), message)
    keys = [word.key if isinstance(word, Option) else "" for word in words]
    return tuple(
        Variant(_fill(expression, iter(chosen)), tuple(zip(keys, chosen, strict=True)))
        for chosen in itertools.product(*choices)
    )


def expand_text(text: str) -> tuple[str, ...]:
    """Expand a string's braces into all strings that it describes. A string without braces is returned unchanged.

    Raises a BraceMistake if a brace is unmatched, is nested too deeply or has only one choice, or if there are too many
    choices.
    """
    depth = 0
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth > _DEEPEST:
            raise BraceMistake(f"braces are nested more than {_DEEPEST} levels deep", at)
    found, end = _sequence(text, 0, inside=False)
    if end < len(text):
        raise BraceMistake("this `}` has no matching `{`", end)
    return found


def _sequence(text: str, at: int, *, inside: bool) -> tuple[tuple[str, ...], int]:
    """Expand the braces in `text` from position `at`. Return the resulting strings and the end position.

    Inside a brace, the expansion ends at the next `,` or `}`. Otherwise, it ends at an unmatched `}` or at the end of
    `text`. Raises a BraceMistake if a brace is not closed, or if there are too many resulting strings.
    """
    found: tuple[str, ...] = ("",)
    while at < len(text) and text[at] != "}" and not (inside and text[at] == ","):
        if text[at] == "{":
            piece, at = _brace(text, at)
        elif text[at] == ",":
            piece, at = (",",), at + 1
        else:
            match = _TEXT.match(text, at)
            assert match is not None
            piece, at = (match[0],), match.end()
        if len(found) * len(piece) > MOST_VARIANTS:
            raise BraceMistake(f"the braces expand to more than {MOST_VARIANTS} choices", 0)
        found = tuple(head + tail for head in found for tail in piece)
    return found, at


def _brace(text: str, opened: int) -> tuple[tuple[str, ...], int]:
    """Return the choices of the brace that opens at position `opened`, and the position after its closing brace.

    Raises a BraceMistake if the brace is not closed.
    """
    found: list[str] = []
    at = opened
    while at == opened or text[at] == ",":
        choice, at = _sequence(text, at + 1, inside=True)
        found.extend(choice)
        if len(found) > MOST_VARIANTS:
            raise BraceMistake(f"the braces expand to more than {MOST_VARIANTS} choices", opened)
        if at >= len(text):
            raise BraceMistake("this `{` is not closed; write {16k,128k} without spaces", opened)
    if "," not in text[opened:at]:
        return _range(text[opened + 1 : at], opened), at + 1
    return tuple(found), at + 1


def _range(text: str, opened: int) -> tuple[str, ...]:
    match = _RANGE.fullmatch(text)
    if match is None or int(match[1]) == int(match[2]):
        raise BraceMistake("a brace needs at least two choices, such as {16k,128k}, or a range, such as {1..3}", opened)
    first, last = int(match[1]), int(match[2])
    if abs(last - first) >= MOST_VARIANTS:
        raise BraceMistake(f"this range has more than {MOST_VARIANTS} values", opened)
    width = max(map(len, match.groups())) if any(re.match(r"-?0\d", end) for end in match.groups()) else 0
    step = 1 if last >= first else -1
    return tuple(f"{number:0{width}d}" for number in range(first, last + step, step))


def _with_braces(expression: Expression) -> Iterator[Word | Option]:
    for stage in expression.stages:
        for argument in stage.arguments:
            if isinstance(argument, Group):
                yield from _with_braces(argument.expression)
            elif "{" in _text(argument) or "}" in _text(argument):
                yield argument


def _text(argument: Word | Option) -> str:
    return argument.value if isinstance(argument, Option) else argument.text


def _choices(argument: Word | Option, source: Expression) -> tuple[str, ...]:
    try:
        found = expand_text(_text(argument))
    except BraceMistake as mistake:
        raise mistake_in(source, _inside(argument, mistake.offset, source.text), str(mistake)) from None
    if "" in found and isinstance(argument, Word):
        message = "one of the choices is empty, which would remove this word"
        raise mistake_in(source, argument.span, message, "write two layouts instead")
    if len(set(found)) < len(found):
        repeated = next(text for text in found if found.count(text) > 1)
        raise mistake_in(source, argument.span, f"the choice `{repeated}` is given twice", "remove one of them")
    return found


def _inside(argument: Word | Option, offset: int, text: str) -> TextSpan:
    """Return the span of one character in an argument, or of the whole argument if the character cannot be located."""
    start = text.find(_text(argument), argument.span.start)
    return TextSpan(start + offset, start + offset + 1) if 0 <= start < argument.span.end else argument.span


def _fill(expression: Expression, chosen: Iterator[str]) -> Expression:
    """Replace each word or option value that contains braces with the next chosen string, from left to right."""
    stages = tuple(Stage(tuple(_filled(each, chosen) for each in stage.arguments)) for stage in expression.stages)
    return replace(expression, stages=stages)


def _filled(argument: Argument, chosen: Iterator[str]) -> Argument:
    if isinstance(argument, Group):
        return replace(argument, expression=_fill(argument.expression, chosen))
    if "{" not in _text(argument):
        return argument
    if isinstance(argument, Option):
        return replace(argument, value=next(chosen))
    return replace(argument, text=next(chosen))
