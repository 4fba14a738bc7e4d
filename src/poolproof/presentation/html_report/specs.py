"""The specifications of a page's charts, each without rows: the page puts in those that were chosen on it."""

from collections.abc import Sequence
from typing import Any

from poolproof.metrics import MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import places
from poolproof.presentation.charts.curves import Scale, curves
from poolproof.presentation.charts.figures import figures
from poolproof.presentation.charts.latency import latencies
from poolproof.presentation.charts.latency_time import latency_time
from poolproof.presentation.charts.limit import Distance, limit
from poolproof.presentation.charts.rates import rates
from poolproof.presentation.charts.shares import shares
from poolproof.presentation.charts.utilisation import utilisation
from poolproof.presentation.html_report.reading import LoadedRun

_SCALES: tuple[Scale, ...] = ("log", "linear")


def specs(seen: LoadedRun, metrics: Sequence[MetricId], distances: Sequence[Distance]) -> dict[str, Any]:
    """By name. Curves by metric and scale where there is an axis to draw them over, else figures by metric."""
    layouts = [layout.name for layout in seen.campaign.layouts]
    made: dict[str, Any] = {
        "rates": look.bare(rates((), ())),
        "busy": look.bare(utilisation((), (), leaves=_leaves(seen))),
        "latency": look.bare(latencies(())),
        "latency time": look.bare(latency_time((), ())),
        "shares": look.bare(shares(())),
    }
    has_curves = bool(places(seen.campaign.workloads))
    for metric in metrics:
        if has_curves:
            made |= _curves(seen, metric, layouts)
        else:
            made[f"figures {metric}"] = look.bare(figures((), metric, layouts=layouts))
    if distances:
        made["limit"] = look.bare(limit(distances, layouts=layouts))
    return made


def _curves(seen: LoadedRun, metric: MetricId, layouts: Sequence[str]) -> dict[str, Any]:
    return {
        f"curves {metric} {scale}": look.bare(
            curves((), metric, layouts=layouts, workloads=seen.campaign.workloads, scale=scale)
        )
        for scale in _SCALES
    }


def _leaves(seen: LoadedRun) -> list[str]:
    found = [leaf.device for cell in seen.run.cells.values() for leaf in cell.leaves]
    return list(dict.fromkeys(found))
