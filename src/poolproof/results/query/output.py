"""Print a query result: as a table for people, and its values for JSON and CSV."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from poolproof.results.query.statement import QueryResult

_MOST_ROWS = 1000
_WIDEST = 60


def table_lines(answer: QueryResult) -> Iterator[str]:
    """Yield the headings and at most 1000 rows; numbers are right-aligned, long texts are shortened."""
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
        yield f"… and {more} more rows; print all of them with --csv or --json"


def _line(fields: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        field.rjust(width) if to_right else field.ljust(width)
        for field, width, to_right in zip(fields, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


def _is_number(kind: str) -> bool:
    return kind.startswith(("DOUBLE", "FLOAT", "DECIMAL")) or kind.endswith(("INT", "INTEGER"))


def _text(value: Any) -> str:
    """Return a value as one line without control characters."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "".join(letter if letter.isprintable() else " " for letter in str(text_value(value)))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def json_value(value: Any) -> Any:
    """Return a value for JSON: times in ISO 8601, NaN and infinity as None, other types as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(inner) for inner in value]
    return text_value(value)


def text_value(value: Any) -> Any:
    """Return a value for CSV: numbers unchanged, None as an empty field, times in ISO 8601."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds" if value.microsecond else "seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, int | float | str) else str(value)
