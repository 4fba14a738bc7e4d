"""The appearance of all charts: light and dark themes, in colours that colour-blind readers can distinguish.

The first six layout colours are from Okabe and Ito (2008), Color Universal Design. Their yellow is not used, because it
is barely visible on white. The results map uses ColorBrewer's Blues and OrRd (Brewer 2003), because blue and red remain
distinct in all common kinds of colour blindness.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

Theme = Literal["light", "dark"]

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
READ, WRITE, LOAD = "#0072b2", "#d55e00", "#7f7f7f"
"""The colours used in all charts for reads, for writes, and for the load generator's reports."""

LIGHTER: Mapping[str, str] = {
    "#0072b2": "#4c8df6",
    "#56b4e9": "#a5dcff",
    "#d55e00": "#f0883e",
    "#009e73": "#2fc79c",
    "#8c6bb1": "#b99be0",
    "#7f7f7f": "#a8a8a8",
}
"""The colours to replace on dark pages, mapped to their replacements."""

HEAT = ("#08306b", "#2171b5", "#6baed6", "#c6dbef", "#fdd49e", "#fc8d59", "#b30000")
"""The colours of the results map, in equal logarithmic steps from a workload's best result to a hundredth of it.

Results below a hundredth get the last colour.
"""
HEAT_DECADES = 2.0

_INK: Mapping[Theme, Mapping[str, str]] = {
    "light": {"text": "#1b1f24", "quiet": "#57606a", "line": "#d0d7de", "background": "#ffffff"},
    "dark": {"text": "#e6edf3", "quiet": "#9da7b3", "line": "#30363d", "background": "transparent"},
}


def series_scale(names: Sequence[str], among: Sequence[Any]) -> alt.Scale:
    """Return a scale that assigns the values of `among` to the names in order, starting over when they run out."""
    return alt.Scale(domain=list(names), range=[among[number % len(among)] for number, _ in enumerate(names)])


def dash_scale(names: Sequence[str]) -> alt.Scale:
    """Return a scale that assigns a dash pattern to each name. Lines are solid until colours start to repeat."""
    return series_scale(names, [dash for dash in DASHES for _ in SERIES])


def seconds() -> alt.X:
    """Return the time axis for charts of a trial. The report's script gives these charts a common time range."""
    return alt.X("at_s:Q", title="seconds from the start of the window", scale=alt.Scale(nice=False, zero=False))


def step_lines(data: alt.InlineData, y: alt.Y, name: str, *, colours: alt.Scale, dashes: alt.Scale, height: int) -> Any:
    """Return a step chart of a trial over time, with one line per value of the field `name` and the legend on top."""
    return (
        alt.Chart(data)
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            x=seconds(),
            y=y,
            color=alt.Color(f"{name}:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            strokeDash=alt.StrokeDash(f"{name}:N", title=None, scale=dashes),
        )
        .properties(width=640, height=height)
    )


def tooltips(*fields: str) -> list[alt.Tooltip]:
    """Return tooltips that show these fields without formatting them."""
    return [alt.Tooltip(f"{field}:N") for field in fields]


def config(theme: Theme) -> dict[str, Any]:
    """Return Vega-Lite's `config` for a theme."""
    text, quiet, line, background = _INK[theme].values()
    return {
        "background": background,
        "font": "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
        "view": {"stroke": line},
        "axis": {
            "labelColor": quiet,
            "titleColor": text,
            "gridColor": line,
            "gridOpacity": 0.7,
            "domainColor": line,
            "tickColor": line,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 220,
            "labelSeparation": 8,
        },
        "header": {"labelColor": text, "titleColor": text, "labelFontSize": 12, "labelFontWeight": "bold"},
        "legend": {"labelColor": text, "titleColor": text, "labelLimit": 320, "symbolOpacity": 1},
        "title": {"color": text, "subtitleColor": quiet, "anchor": "start", "fontSize": 14},
        "text": {"color": text},
        "rule": {"color": quiet},
    }


def for_pages() -> dict[str, Any]:
    """Return the data with which a page's script switches charts between the light and the dark theme."""
    return {"themes": {"light": config("light"), "dark": config("dark")}, "lighter": dict(LIGHTER)}


def dressed(chart: Any) -> dict[str, Any]:
    """Return a chart as a Vega-Lite specification with the light theme, ready for vl_convert."""
    return {**bare(chart), "config": config("light")}


def bare(chart: Any) -> dict[str, Any]:
    """Return a chart as a Vega-Lite specification without a theme, because the page applies one later.

    The rows are placed in `data.values`, where the page's script can replace them.
    """
    # validation would take half of the time for a page; the tests validate instead
    made: dict[str, Any] = chart.to_dict(validate=False)
    made.pop("config", None)
    if sets := made.pop("datasets", {}):
        made["data"] = {"values": sets[made["data"]["name"]]}
    return made
