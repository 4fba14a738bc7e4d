"""How long a run will go on, by what its trials and the building of its layouts have taken so far.

A trial that has been made tells of the next one of its cell; other trials of the layout, and the same workload on
others, tell of a cell that has none: `layout factor × workload`. Of a layout that has not been built yet those speak
that stand on the same devices, by number and kind; of one on a disk and an SSD, whatever took longer on either alone.
docs/method.md has how far off that was half-way through real runs.
"""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping

from poolproof.campaign.calibration import all_cells
from poolproof.campaign.device_source import format_source
from poolproof.campaign.expression import Expression, Group, Word
from poolproof.campaign.least_trial import least_trials_s
from poolproof.campaign.model import Campaign
from poolproof.results.runs.timing import Took
from poolproof.units import format_duration

_LARGEST_FACTOR = 4.0

Kinds = Mapping[str, tuple[str, ...]]
"""By layout: the kinds of the devices that it stands on, sorted, a kind as often as there are such devices."""


class Forecast:
    """What trials and layouts ahead will take, by those that are over."""

    def __init__(self, campaign: Campaign, found: Took) -> None:
        self._kinds, self._took = kinds_of(campaign), found
        self._least = least_trials_s(campaign)
        self._means = {cell: statistics.fmean(times) for cell, times in found.trials.items()}

    @property
    def knows(self) -> bool:
        """Whether a trial is over; nothing can be told before."""
        return bool(self._means)

    def build_s(self, layout: str) -> float:
        """Seconds until a layout stands and is filled; 0 where none was built yet."""
        return self._by_like(layout, self._took.builds, by_devices=True) or 0.0

    def trial_s(self, layout: str, workload: str) -> float:
        """Seconds of one trial of the cell."""
        own = self._means.get((layout, workload))
        if own is not None:
            return own
        elsewhere = self._elsewhere(layout, workload)
        if elsewhere is None:
            here = [value for (name, _), value in self._means.items() if name == layout]
            return max(self._least_s(layout, workload), statistics.fmean(here or self._means.values()))
        return max(self._least_s(layout, workload), elsewhere * self._factor(layout))

    def _least_s(self, layout: str, workload: str) -> float:
        """What holds the trial up at least; 0 where others that are held up alike have shown how long that is."""
        least_s = self._least.get((layout, workload), 0.0)
        shown = any(self._least.get(cell, 0.0) >= least_s for cell in self._means if cell[1] == workload)
        return 0.0 if shown else least_s

    def _elsewhere(self, layout: str, workload: str) -> float | None:
        """What the workload took on layouts like this one; None where no other had it."""
        others = {name: value for (name, each), value in self._means.items() if each == workload and name != layout}
        least_s = self._least.get((layout, workload), 0.0)
        alike = {name: value for name, value in others.items() if self._least.get((name, workload), 0.0) == least_s}
        return self._by_like(layout, alike or others)

    def _factor(self, layout: str) -> float:
        """How much longer trials took on this layout than on those like it, by the workloads that both had."""
        pairs = [
            (value, other)
            for (name, workload), value in self._means.items()
            if name == layout and (other := self._elsewhere(layout, workload)) is not None
        ]
        if not pairs:
            return 1.0
        factor = sum(value for value, _ in pairs) / sum(other for _, other in pairs)
        return min(_LARGEST_FACTOR, max(1 / _LARGEST_FACTOR, factor))

    def _by_like(self, layout: str, known: Mapping[str, float], *, by_devices: bool = False) -> float | None:
        """A layout's own; else the mean of those on the same devices; else the most that each kind of device took.

        `by_devices`: it takes longer on more of them, though not as much as they are more, for the filling is shared.
        """
        if not known or layout in known:
            return known.get(layout)
        own = self._kinds.get(layout, ())
        same = [value for name, value in known.items() if self._kinds.get(name) == own]
        if same:
            return statistics.fmean(same)
        others = {name: self._kinds.get(name, ()) for name in known}
        scaled = {
            name: known[name] * (math.sqrt(len(own) / len(devices)) if by_devices and own and devices else 1.0)
            for name, devices in others.items()
        }
        means = [_of_kind(kind, others, scaled) for kind in set(own)]
        return max((mean for mean in means if mean is not None), default=statistics.fmean(scaled.values()))


def _of_kind(kind: str, devices: Kinds, known: Mapping[str, float]) -> float | None:
    """The mean over the layouts that have this kind of device and the fewest other kinds."""
    having = {name: len(set(kinds)) for name, kinds in devices.items() if kind in kinds}
    if not having:
        return None
    return statistics.fmean(known[name] for name, kinds in having.items() if kinds == min(having.values()))


def kinds_of(campaign: Campaign) -> Kinds:
    """What each layout stands on: a model of disk, a file, a real disk; a path for a directory."""
    sources = {device.name: format_source(device.source) for device in campaign.devices}
    return {
        layout.name: tuple(
            sorted(
                sources.get(word, word) for word in _words(layout.expression) if word in sources or word.startswith("/")
            )
        )
        for layout, _ in all_cells(campaign)
    }


def _words(expression: Expression) -> Iterator[str]:
    for stage in expression.stages:
        for argument in stage.arguments:
            if isinstance(argument, Word):
                yield argument.text
            elif isinstance(argument, Group):
                yield from _words(argument.expression)


def time_left_s(
    forecast: Forecast,
    ahead: Mapping[tuple[str, str], float],
    builds: Iterable[str],
    *,
    at: tuple[str, str] | str | None,
    since_s: float,
) -> float | None:
    """Seconds until all is done; None as long as no trial is.

    `ahead` counts the trials still to make, by cell, the one at hand among them; `builds` are the layouts still to
    build. `at`: the cell whose trial is at hand, or the layout that is being built, None between the two. `since_s`:
    how long that has taken. A trial that takes longer than was expected speaks for the others of its cell, too.
    """
    if not forecast.knows:
        return None
    since_s = max(0.0, since_s)
    left_s = sum(forecast.build_s(layout) for layout in builds)
    left_s += sum(count * forecast.trial_s(*cell) for cell, count in ahead.items())
    if at is None:
        return left_s
    if isinstance(at, str):
        return left_s - min(since_s, forecast.build_s(at), left_s)
    expected_s = forecast.trial_s(*at)
    others = max(0.0, ahead.get(at, 0.0) - 1)
    return left_s - min(since_s, expected_s, left_s) + others * max(0.0, since_s - expected_s)


def race_s(forecast: Forecast, race: Mapping[tuple[str, str], int]) -> float:
    """Seconds that a race takes to its end: trials of these cells, a round at a time, each layout built for each."""
    rounds = max(race.values(), default=0)
    builds = sum(forecast.build_s(layout) for layout in {layout for layout, _workload in race})
    return rounds * builds + sum(count * forecast.trial_s(*cell) for cell, count in race.items())


def whole_seconds(value: float) -> str:
    """A span of time without tenths, which are nothing to look at: `7 s`, `1 min 12 s`."""
    return format_duration(value) if value >= 60 else f"{max(1.0, value):.0f} s"
