"""A chart of the rate that the load generator reports and the rates measured on the disks, over time."""

import itertools
from collections.abc import Sequence
from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.model import Column, Lines, TrialChart
from poolproof.presentation.charts.trial_data import Report, TrialData, short
from poolproof.results.runs.loading import LoadedRun
from poolproof.units import format_rate

_READS, _WRITES = _DISKS = ("disks, reads", "disks, writes")
_MEGA = 1e6
_DIGITS = 3
_SHORTEST_INTERVAL = 0.5
"""The minimum length of the last interval, as a fraction of the previous interval's length."""


def _lines(trial: TrialData) -> list[Lines]:
    values = {}
    for name, field in ((_READS, "read_bytes"), (_WRITES, "write_bytes")):
        moved = [
            (getattr(later, field) - getattr(earlier, field), later.at_s - earlier.at_s)
            for earlier, later in trial.steps
        ]
        if any(moved_bytes > 0 for moved_bytes, _ in moved):
            values[name] = _steps([_megabytes_per_s(*each) for each in moved])
    disks = Lines([short(at) for at in trial.times_s], values)
    return [each for each in (disks, _drain(trial), _load(trial)) if each is not None]


def _drain(trial: TrialData) -> Lines | None:
    """Return the disks' mean write rate while they drained after the load, or None if the drain was negligible."""
    account = trial.account
    rate = _megabytes_per_s(account.leaf_drained_write_bytes - account.leaf_write_bytes, account.drain_s)
    if not rate or not trial.has_drain:
        return None
    return Lines([short(account.window_s), short(account.window_s + account.drain_s)], {_WRITES: [rate, rate]})


def _load(trial: TrialData) -> Lines | None:
    """Return the load's rate over time.

    If the load generator reported nothing while it ran, return its mean rate, or None if that is 0.
    """
    if trial.reports:
        return load_line(trial.reports, trial.start_s, trial.most_points, trial.generator)
    mean = _megabytes_per_s(_load_bytes(trial), trial.account.window_s)
    return Lines([0, short(trial.account.window_s)], {trial.generator: [mean, mean]}) if mean else None


def load_line(reports: Sequence[Report], start_s: float, most_points: int, generator: str) -> Lines:
    """Return the load's rate over time, as lines named after the load generator.

    Times are taken from the generator's own clock, because reports can arrive late, as fio's last report does. If the
    last interval is less than half as long as the previous one, the two are merged.
    """
    clock_s = min(report.at_s - report.ran_s for report in reports) - start_s
    totals = [(0.0, 0), *((report.ran_s, report.read_bytes + report.write_bytes) for report in reports)]
    if len(totals) > 3 and totals[-1][0] - totals[-2][0] < _SHORTEST_INTERVAL * (totals[-2][0] - totals[-3][0]):
        del totals[-2]
    step = max(1, -(-len(totals) // most_points))
    picked = [*totals[:-1:step], totals[-1]]
    rates = [
        _megabytes_per_s(after - before, to_s - from_s)
        for (from_s, before), (to_s, after) in itertools.pairwise(picked)
    ]
    return Lines([short(clock_s + at) for at, _ in picked], {generator: _steps(rates)})


def _megabytes_per_s(moved_bytes: float, seconds: float) -> float | None:
    """Return the rate in MB/s, rounded to three significant digits, or None if the duration is 0."""
    return short(max(0.0, moved_bytes) / seconds / _MEGA, _DIGITS) if seconds > 0 else None


def _steps(values: list[float | None]) -> list[float | None]:
    """Append a copy of the last value, so that the last step of the line extends to the end of its interval."""
    return [*values, *values[-1:]] or [None]


def _load_bytes(trial: TrialData) -> int:
    return trial.account.fio_read_bytes + trial.account.fio_write_bytes


def _note(trial: TrialData, lines: Sequence[Lines]) -> str:
    rates = [value or 0.0 for each in lines for name, own in each.values.items() if name in _DISKS for value in own]
    window_s = trial.account.window_s
    mean = format_rate(_load_bytes(trial) / window_s) if window_s else "unknown"
    fastest = format_rate(max(rates, default=0.0) * _MEGA)
    flat = "" if trial.reports else ", drawn as a flat line"
    return f"Disks: at most {fastest}; {trial.generator}: {mean} on average{flat}."


def _draw(data: alt.InlineData, run: LoadedRun) -> Any:
    generators = sorted({workload.generator_name for workload in run.campaign.workloads})
    sources = (*generators, *_DISKS)
    return look.step_lines(
        data,
        alt.Y("rate:Q", title="MB/s", axis=alt.Axis(tickCount=5, minExtent=48), scale=alt.Scale(zero=True)),
        "source",
        colours=look.series_scale(sources, (*[look.LOAD] * len(generators), look.READ, look.WRITE)),
        dashes=look.series_scale(sources, (*[(6, 3)] * len(generators), (1, 0), (1, 0))),
        height=180,
    )


CHART = TrialChart(
    name="rates",
    title="Rates of the load and the disks",
    section="time",
    values=3,
    columns=(Column("at_s", "time", "s"), Column("source", "source"), Column("rate", "rate", "MB/s")),
    draw=_draw,
    lines=_lines,
    note=_note,
    order=10,
)
