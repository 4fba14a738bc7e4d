"""How busy each disk was in the course of a trial."""

from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.model import Column, Lines, TrialChart
from poolproof.presentation.charts.trial_data import Sample, TrialData, short
from poolproof.results.runs.loading import LoadedRun


def _lines(trial: TrialData) -> list[Lines]:
    values = {}
    for disk in trial.samples[0].leaves:
        shares = [_share(earlier, later, disk) for earlier, later in trial.steps]
        values[disk] = [*shares, shares[-1]]
    return [Lines([short(at) for at in trial.times_s], values)]


def _share(earlier: Sample, later: Sample, disk: str) -> float | None:
    """Return the percentage of the time between two samples during which the disk was busy, or None if unknown."""
    seconds = later.at_s - earlier.at_s
    if seconds <= 0 or disk not in later.leaves or disk not in earlier.leaves:
        return None
    busy_ms = later.leaves[disk].busy_ms - earlier.leaves[disk].busy_ms
    return round(min(100.0, max(0, busy_ms) / 10 / seconds))


def _draw(data: alt.InlineData, run: LoadedRun) -> Any:
    disks = list(dict.fromkeys(leaf.device for cell in run.cells for leaf in cell.leaves))
    axis = alt.Axis(labelExpr="datum.value + '%'", tickCount=3, minExtent=48)
    return look.step_lines(
        data,
        alt.Y("busy:Q", title="busy", scale=alt.Scale(domain=[0, 100]), axis=axis),
        "disk",
        colours=look.series_scale(disks, look.SERIES),
        dashes=look.series_scale(disks, look.DASHES),
        height=110,
    )


CHART = TrialChart(
    name="busy",
    title="How busy each disk was",
    section="time",
    values=0,
    values_per_disk=1,
    columns=(Column("at_s", "time", "s"), Column("disk", "disk"), Column("busy", "busy", "%")),
    draw=_draw,
    lines=_lines,
    order=20,
)
