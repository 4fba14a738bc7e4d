"""The look of every chart: colours that colour-blind readers can distinguish, in a light and a dark theme.

Colours of layouts: Okabe and Ito (2008), Color Universal Design, without its yellow, which is invisible on white.
Colours of factors: the ends of ColorBrewer's RdYlBu (Brewer 2003), which remain distinct in all common kinds of colour
blindness.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

Theme = Literal["light", "dark"]

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
READ, WRITE, FIO = "#0072b2", "#d55e00", "#7f7f7f"
"""Reads, writes, and what fio itself reports; the same in all charts."""

LIGHTER: Mapping[str, str] = {
    "#0072b2": "#4c8df6",
    "#56b4e9": "#a5dcff",
    "#d55e00": "#f0883e",
    "#009e73": "#2fc79c",
    "#8c6bb1": "#b99be0",
    "#7f7f7f": "#a8a8a8",
}
"""The colours that replace others on a dark page."""

HEAT = ("#08306b", "#2171b5", "#6baed6", "#c6dbef", "#fdd49e", "#fc8d59", "#b30000")
"""From the best of a workload to a hundredth of it or less, in equal steps on a logarithmic scale."""
HEAT_DECADES = 2.0

_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_INK: Mapping[Theme, Mapping[str, str]] = {
    "light": {"text": "#1b1f24", "quiet": "#57606a", "line": "#d0d7de", "paper": "#ffffff"},
    "dark": {"text": "#e6edf3", "quiet": "#9da7b3", "line": "#30363d", "paper": "#0d1117"},
}


def series_scale(names: Sequence[str], among: Sequence[Any]) -> dict[str, Any]:
    """Return a scale that gives each name one of `among`, starting again from the first when they run out."""
    return {"domain": list(names), "range": [among[number % len(among)] for number, _ in enumerate(names)]}


def dash_scale(names: Sequence[str]) -> dict[str, Any]:
    """Return a dash for each name: solid lines until the colours repeat."""
    dashes = [DASHES[number // len(SERIES) % len(DASHES)] for number, _ in enumerate(names)]
    return {"domain": list(names), "range": [list(dash) for dash in dashes]}


def seconds() -> Any:
    """Return the time axis of charts of a trial; the page sets one domain for all of them."""
    return alt.X("at_s:Q", title="seconds from the start of the window", scale=alt.Scale(nice=False, zero=False))


def config(theme: Theme) -> dict[str, Any]:
    """Return Vega-Lite's `config` for a theme."""
    ink = _INK[theme]
    axis = {
        "labelColor": ink["quiet"],
        "titleColor": ink["text"],
        "gridColor": ink["line"],
        "gridOpacity": 0.7,
        "domainColor": ink["line"],
        "tickColor": ink["line"],
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 220,
        "labelSeparation": 8,
    }
    heading = {"labelColor": ink["text"], "titleColor": ink["text"], "labelFontSize": 12, "labelFontWeight": "bold"}
    legend = {"labelColor": ink["text"], "titleColor": ink["text"], "labelLimit": 320, "symbolOpacity": 1}
    return {
        "background": ink["paper"] if theme == "light" else "transparent",
        "font": _FONT,
        "view": {"stroke": ink["line"]},
        "axis": axis,
        "header": heading,
        "legend": legend,
        "title": {"color": ink["text"], "subtitleColor": ink["quiet"], "anchor": "start", "fontSize": 14},
        "text": {"color": ink["text"]},
        "rule": {"color": ink["quiet"]},
    }


def for_pages() -> dict[str, Any]:
    """Return what a page's script needs to apply its theme to charts, as `dressed` does."""
    return {"themes": {"light": config("light"), "dark": config("dark")}, "lighter": dict(LIGHTER)}


def dressed(chart: Any, theme: Theme = "light") -> dict[str, Any]:
    """Return a chart as a Vega-Lite specification with a theme, ready for vl_convert."""
    return {**(bare(chart) if theme == "light" else _lighter(bare(chart))), "config": config(theme)}


def _lighter(part: Any) -> Any:
    """Return the specification with the colours for a dark page."""
    if isinstance(part, dict):
        return {key: _lighter(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_lighter(each) for each in part]
    return LIGHTER.get(part, part) if isinstance(part, str) else part


def bare(chart: Any) -> dict[str, Any]:
    """Return a chart as a Vega-Lite specification without a theme: the page applies its own.

    Its rows are in `data.values`, where the page's script replaces them.
    """
    made: dict[str, Any] = chart.to_dict(validate=False)  # validating takes half the time of a page; tests do it
    made.pop("config", None)
    sets = made.pop("datasets", {})
    if sets:
        made["data"] = {"values": sets[made["data"]["name"]]}
    return made
