"""A query's answer as lines of a table, for people."""

from collections.abc import Iterator, Sequence
from typing import Any

from poolproof.results.query.session import QueryResult
from poolproof.results.query.values import text_value

_MOST_ROWS = 1000
_WIDEST = 60


def table_lines(answer: QueryResult) -> Iterator[str]:
    """Headings, rows, and how many more there are; numbers to the right, long texts cut."""
    shown = [[_text(value) for value in row] for row in answer.rows[:_MOST_ROWS]]
    names = [_text(name) for name in answer.columns]
    right = [_is_number(kind) for kind in answer.types]
    widths = [max(map(len, column)) for column in zip(names, *shown, strict=True)]
    yield _line(names, widths, right)
    yield _line(["-" * width for width in widths], widths, right)
    for row in shown:
        yield _line(row, widths, right)
    more = len(answer.rows) - len(shown)
    if more:
        yield f"… and {more} more rows; all of them: --csv or --json"


def _line(fields: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        field.rjust(width) if to_right else field.ljust(width)
        for field, width, to_right in zip(fields, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


def _is_number(kind: str) -> bool:
    return kind.startswith(("DOUBLE", "FLOAT", "DECIMAL")) or kind.endswith(("INT", "INTEGER"))


def _text(value: Any) -> str:
    """One line, nothing that a terminal would obey."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "".join(letter if letter.isprintable() else " " for letter in str(text_value(value)))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
