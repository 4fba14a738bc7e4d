"""What `compare` and `rank` ask for in the same words: the metric, the effect that matters."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.errors import UsageError

if TYPE_CHECKING:
    from poolproof.campaign.model import Metric

MetricName = Annotated[
    str | None,
    typer.Option("--metric", help="Judge by this metric, as p99. Default: each workload's own."),
]
Effect = Annotated[str, typer.Option("--effect", help="The least difference that matters, as 2%.")]


def per_cent(text: str, option: str) -> float:
    """The share in `2%`: 0.02.

    Raises:
        UsageError: no per cent, or not from 0 to below 100.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if match is None or float(match[1]) >= 100:
        raise UsageError(f"{option} {text[:60]}: this is no share from 0% to below 100%", f"write {option} 2%")
    return float(match[1]) / 100


def metric_named(text: str | None) -> "Metric | None":
    """The metric of that name; None for none.

    Raises:
        UsageError: there is no such metric.
    """
    from poolproof.campaign.nearest import did_you_mean, listed
    from poolproof.campaign.workload_source import METRICS

    for metric in METRICS:
        if metric == text:
            return metric
    if text is None:
        return None
    guess = did_you_mean(text, METRICS)
    raise UsageError(f"--metric {text[:60]}: there is no such metric{guess}", f"metrics are {listed(METRICS)}")
