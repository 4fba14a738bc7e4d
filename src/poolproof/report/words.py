"""Figures, verdicts and factors in the words that people read."""

from poolproof.campaign.model import Metric
from poolproof.rules.model import Verdict
from poolproof.runs.interval import Interval
from poolproof.runs.summary import Cell
from poolproof.units import format_count, format_duration, format_rate

MARKS: dict[Verdict, str] = {"sound": "✓", "unproven": "?", "suspect": "!", "refuted": "✗", "failed": "–"}
"""A mark for each verdict that needs no colour."""

STYLES: dict[Verdict, str] = {
    "sound": "green",
    "unproven": "yellow",
    "suspect": "yellow",
    "refuted": "red",
    "failed": "bright_black",
}

METRICS: dict[Metric, str] = {
    "iops": "IOPS",
    "bandwidth": "bandwidth",
    "p50": "median latency",
    "p99": "p99 latency",
    "p999": "p99.9 latency",
    "sync_p99": "p99 of fsync",
}


def value_text(value: float, metric: Metric) -> str:
    """A figure with its unit: `131 IOPS`, `183 MB/s`, `1.25 ms`."""
    if metric == "iops":
        return f"{format_count(value)} IOPS"
    if metric == "bandwidth":
        return format_rate(value)
    return format_duration(value / 1e9)


def interval_text(interval: Interval, metric: Metric) -> str:
    """A figure and half its interval in per cent: `131 IOPS ±1.5%`; the figure alone where one trial gave it."""
    text = value_text(interval.mean, metric)
    if interval.half_width is None or not interval.mean:
        return text
    return f"{text} ±{per_cent(interval.half_width / interval.mean)}"


def per_cent(share: float) -> str:
    """A share as per cent: `1.5%`, `12%`."""
    value = share * 100
    return f"{value:.0f}%" if value >= 10 else f"{value:.1f}%"


def figure_text(cell: Cell) -> str:
    """The cell's figure with its mark; one that must not be believed stands in parentheses."""
    mark = MARKS[cell.verdict]
    if cell.figure is None:
        return f"{mark} no figure"
    text = interval_text(cell.figure, cell.metric)
    return f"{mark} ({text})" if cell.verdict in ("refuted", "failed") else f"{mark} {text}"


def factor_text(factor: Interval) -> str:
    """A factor to the baseline: `1.35×`."""
    return f"{factor.mean:.3g}×"
