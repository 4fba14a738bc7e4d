"""fio's arithmetic in option values: `(4k*2)`, `(1g/(3+1))k`; a value is one only when it starts with a parenthesis.

Source: HOWTO "parameter types", fio's exp/expression-parse.y. Not every fio was built with it.
"""

import re
from collections.abc import Callable

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?|\.\d+)([a-z]*)|([-+*/^%()])([a-z]*))", re.IGNORECASE)
_LONGEST = 200
_DEEPEST = 30


def evaluate(text: str, factor: Callable[[str], int]) -> float:
    """The value of an expression; `factor` gives what a suffix (lower case, '' for none) multiplies by.

    Raises:
        ValueError: the text is no expression, or divides by zero.
    """
    if len(text) > _LONGEST or text.count("(") > _DEEPEST or text.count("-") > _DEEPEST:
        raise ValueError("the expression is too long")
    parser = _Parser(_tokens(text), factor, text)
    value = parser.sum()
    if parser.peek() is not None:
        raise ValueError(f"{text!r} does not end where the expression ends")
    return value if parser.has_units else value * factor("")


Token = tuple[str, str]


def _tokens(text: str) -> list[Token]:
    """(number or operator, suffix) pairs."""
    tokens: list[Token] = []
    place = 0
    text = text.strip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"{text!r} is no expression: {text[place]!r} was not expected")
        tokens.append((match[1] or match[3], (match[2] or match[4] or "").lower()))
        place = match.end()
    return tokens


class _Parser:
    """Recursive descent: sum, product, power, atom."""

    def __init__(self, tokens: list[Token], factor: Callable[[str], int], text: str) -> None:
        self._tokens = tokens
        self._factor = factor
        self._text = text
        self._place = 0
        self.has_units = False

    def peek(self) -> str | None:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else None

    def sum(self) -> float:
        value = self._product()
        while self.peek() in ("+", "-"):
            sign = 1 if self._take()[0] == "+" else -1
            value += sign * self._product()
        return value

    def _product(self) -> float:
        value = self._power()
        while (operator := self.peek()) in ("*", "/", "%"):
            self._take()
            right = self._power()
            if operator != "*" and right == 0:
                raise ValueError(f"{self._text!r} divides by zero")
            value = value * right if operator == "*" else value / right if operator == "/" else value % right
        return value

    def _power(self) -> float:
        value = self._atom()
        if self.peek() == "^":
            self._take()
            try:
                value = float(value ** self._atom())
            except (OverflowError, ZeroDivisionError, TypeError):
                raise ValueError(f"{self._text!r} has no value") from None
        return value

    def _atom(self) -> float:
        word, suffix = self._take()
        if word == "-":
            return -self._atom()
        if word == "(":
            value = self.sum()
            closing, suffix = self._take()
            if closing != ")":
                raise ValueError(f"{self._text!r} lacks a closing parenthesis")
            return value * self._unit(suffix)
        if word in "+*/^%)":
            raise ValueError(f"{self._text!r} is no expression: {word!r} was not expected")
        return float(word) * self._unit(suffix)

    def _unit(self, suffix: str) -> int:
        self.has_units = self.has_units or bool(suffix)
        return self._factor(suffix) if suffix else 1

    def _take(self) -> Token:
        if self._place >= len(self._tokens):
            raise ValueError(f"{self._text!r} ends too early")
        token = self._tokens[self._place]
        self._place += 1
        return token
