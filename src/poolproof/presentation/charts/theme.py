"""How every chart looks: colours that the colour-blind tell apart, marks of verdicts, light and dark.

Colours of layouts: Okabe and Ito (2008), Color Universal Design, without its yellow, which white swallows. Colours of
factors: the ends of ColorBrewer's RdYlBu (Brewer 2003), which stay apart in all common kinds of colour blindness.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Theme = Literal["light", "dark"]

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
READ, WRITE, FIO = "#0072b2", "#d55e00", "#7f7f7f"
"""Reads, writes, and what fio says of itself; the same everywhere."""

LIGHTER: Mapping[str, str] = {
    "#0072b2": "#4c8df6",
    "#56b4e9": "#a5dcff",
    "#d55e00": "#f0883e",
    "#009e73": "#2fc79c",
    "#8c6bb1": "#b99be0",
    "#7f7f7f": "#a8a8a8",
}
"""What takes the place of a colour on a dark page."""

HEAT = ("#08306b", "#2171b5", "#6baed6", "#c6dbef", "#fdd49e", "#fc8d59", "#b30000")
"""From the best of a workload to a hundredth of it and less: equal steps on a logarithmic scale."""
HEAT_DECADES = 2.0

_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_INK: Mapping[Theme, Mapping[str, str]] = {
    "light": {"text": "#1b1f24", "quiet": "#57606a", "line": "#d0d7de", "paper": "#ffffff"},
    "dark": {"text": "#e6edf3", "quiet": "#9da7b3", "line": "#30363d", "paper": "#0d1117"},
}


def series_scale(names: Sequence[str], among: Sequence[Any]) -> dict[str, Any]:
    """A scale that gives each name its own of `among`, again from the first when they run out."""
    return {"domain": list(names), "range": [among[number % len(among)] for number, _ in enumerate(names)]}


def dash_scale(names: Sequence[str]) -> dict[str, Any]:
    """A dash for each name: whole lines until the colours begin again."""
    dashes = [DASHES[number // len(SERIES) % len(DASHES)] for number, _ in enumerate(names)]
    return {"domain": list(names), "range": [list(dash) for dash in dashes]}


def config(theme: Theme) -> dict[str, Any]:
    """Vega-Lite's `config` for paper or screen, light or dark."""
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
    """What a page's own script needs to dress charts by its theme, as `dressed` does."""
    return {"themes": {"light": config("light"), "dark": config("dark")}, "lighter": dict(LIGHTER)}


def dressed(chart: Any, theme: Theme = "light") -> dict[str, Any]:
    """A chart as a Vega-Lite specification with its looks, ready to be drawn (vl_convert) or embedded."""
    return {**(bare(chart) if theme == "light" else _lighter(bare(chart))), "config": config(theme)}


def _lighter(part: Any) -> Any:
    """The same specification with colours that a dark page needs."""
    if isinstance(part, dict):
        return {key: _lighter(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_lighter(each) for each in part]
    return LIGHTER.get(part, part) if isinstance(part, str) else part


def bare(chart: Any) -> dict[str, Any]:
    """A chart as a Vega-Lite specification without looks: the page gives it those of its theme.

    Its rows stand in `data.values`, so that others can be put in their place.
    """
    made: dict[str, Any] = chart.to_dict(validate=False)  # tests do that, once; it takes half the time of a page
    made.pop("config", None)
    sets = made.pop("datasets", {})
    if sets:
        made["data"] = {"values": sets[made["data"]["name"]]}
    return made
