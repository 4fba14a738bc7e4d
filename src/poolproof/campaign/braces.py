"""Braces multiply, as in a shell: `recordsize={16k,1m}` is two layouts, `{1..3}` three, `{a,b{1,2}}` three."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from poolproof.campaign.expression import Argument, Expression, Group, Option, Stage, TextSpan, Word, mistake_in

MOST_VARIANTS = 10_000
_DEEPEST = 32
_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")
_TEXT = re.compile(r"[^{},]+")


@dataclass(frozen=True)
class Variant:
    """One choice of a matrix. `varies` names each choice: an option by its key, a bare word by an empty key."""

    expression: Expression
    varies: tuple[tuple[str, str], ...] = ()


class BraceMistake(ValueError):
    """The braces cannot be read. `offset` is the position in the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def expand(expression: Expression) -> tuple[Variant, ...]:
    """Return all layouts that an expression with braces describes; the last brace varies fastest.

    The variants keep the text and the spans of the source, so an error points at what the user wrote.

    Raises:
        CampaignError: a brace is not closed, contains only one choice, an empty or a repeated one, or there are more
            than MOST_VARIANTS layouts.
    """
    words = tuple(_with_braces(expression))
    choices = [_choices(word, expression) for word in words]
    _check_count(choices, expression)
    return tuple(_variant(expression, words, chosen) for chosen in itertools.product(*choices))


def expand_text(text: str) -> tuple[str, ...]:
    """Return all texts that a text with braces describes; only the text itself if it has no braces.

    Raises:
        BraceMistake: a brace is not closed or not opened, contains only one choice, or there are too many choices.
    """
    _check_depth(text)
    found, end = _sequence(text, 0, inside=False)
    if end < len(text):
        raise BraceMistake("this `}` has no matching `{`", end)
    return found


def _check_depth(text: str) -> None:
    depth = 0
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth > _DEEPEST:
            raise BraceMistake(f"more than {_DEEPEST} nested braces", at)


def _sequence(text: str, at: int, *, inside: bool) -> tuple[tuple[str, ...], int]:
    """Return the texts that `text` describes from `at` on, and where they end: inside a brace at `,` or `}`."""
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
            raise BraceMistake(f"more than {MOST_VARIANTS} choices", 0)
        found = tuple(head + tail for head in found for tail in piece)
    return found, at


def _brace(text: str, opened: int) -> tuple[tuple[str, ...], int]:
    """Return the choices of the brace that opens at `opened`, and the position after it."""
    found: list[str] = []
    at = opened
    while at == opened or text[at] == ",":
        choice, at = _sequence(text, at + 1, inside=True)
        found.extend(choice)
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
        raise BraceMistake(f"more than {MOST_VARIANTS} choices", opened)
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
        raise mistake_in(source, argument.span, "an empty choice would leave no word here", "write two layouts instead")
    repeated = next((text for text in found if found.count(text) > 1), None) if len(set(found)) < len(found) else None
    if repeated is not None:
        raise mistake_in(source, argument.span, f"the choice `{repeated}` is given twice", "each choice makes a layout")
    return found


def _inside(argument: Word | Option, offset: int, text: str) -> TextSpan:
    """Return the span of one character of an argument, or of the whole argument if its source text is unknown."""
    start = text.find(_text(argument), argument.span.start)
    return TextSpan(start + offset, start + offset + 1) if 0 <= start < argument.span.end else argument.span


def _check_count(choices: list[tuple[str, ...]], source: Expression) -> None:
    count = 1
    for found in choices:
        count *= len(found)
        if count > MOST_VARIANTS:
            raise mistake_in(
                source, TextSpan(0, len(source.text)), f"the braces describe more than {MOST_VARIANTS} layouts"
            )


def _variant(source: Expression, words: tuple[Word | Option, ...], chosen: tuple[str, ...]) -> Variant:
    varies = tuple(
        (word.key if isinstance(word, Option) else "", text) for word, text in zip(words, chosen, strict=True)
    )
    return Variant(_fill(source, iter(chosen)), varies)


def _fill(expression: Expression, chosen: Iterator[str]) -> Expression:
    """Return the expression with each word that has braces replaced by the next choice, in reading order."""
    stages = tuple(
        Stage(tuple(_filled(argument, chosen) for argument in stage.arguments)) for stage in expression.stages
    )
    return replace(expression, stages=stages)


def _filled(argument: Argument, chosen: Iterator[str]) -> Argument:
    if isinstance(argument, Group):
        return replace(argument, expression=_fill(argument.expression, chosen))
    if "{" not in _text(argument):
        return argument
    if isinstance(argument, Option):
        return replace(argument, value=next(chosen))
    return replace(argument, text=next(chosen))
