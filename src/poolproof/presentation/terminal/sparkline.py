"""A row of numbers as a row of bars, one letter each."""

from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None], width: int, top: float) -> str:
    """The last `width` values as bars between nothing and `top`; a blank where a value is not known."""
    return "".join(_bar(value, top) for value in values[-width:]) if width > 0 else ""


def _bar(value: float | None, top: float) -> str:
    if value is None:
        return " "
    share = min(1.0, max(0.0, value / top)) if top > 0 else 0.0
    return _BARS[min(len(_BARS) - 1, int(share * len(_BARS)))]
