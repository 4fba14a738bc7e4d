"""Numbers as they stand in a page: four significant digits, which no picture can show the lack of."""

import math

_DIGITS = 4


def short(value: float | None) -> float | None:
    """The value in four significant digits; whole numbers without a point; None stays, and so becomes no number."""
    if value is None or not math.isfinite(value):
        return None
    if value == 0:
        return 0
    rounded = round(value, _DIGITS - 1 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded
