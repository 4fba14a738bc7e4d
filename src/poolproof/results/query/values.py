"""Convert the values of a query result to JSON and to text."""

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any


def json_value(value: Any) -> Any:
    """Return a value for JSON: times in ISO 8601, NaN and infinity as null, other types as text."""
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
