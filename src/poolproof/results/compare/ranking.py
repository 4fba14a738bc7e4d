"""Rank a run's layouts by speed, and report their redundancy, capacity and write amplification.

All layouts are compared in pairs (`statistics/comparison.py`). Because layouts may be tied, the place of a layout is a
range: it begins after the layouts that are significantly better and ends before those that are significantly worse. If
the rate changes by an unknown amount in one of a layout's cells, or other work disturbed most of the trials of a cell,
the layout is not tested, so it may have any place. With 95% confidence, every range contains the true place of its
layout.

Source: Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for Ranks, Review of Economic Studies 91, 476-518.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Campaign, Disk, Layout
from poolproof.campaign.names import choices, did_you_mean
from poolproof.errors import RunError, UsageError, as_word
from poolproof.layers.resolve import resolve
from poolproof.layers.tree import capacity_bytes, devices, directories, redundancy, write_factor
from poolproof.metrics import MetricId
from poolproof.results.compare.cell_comparison import check_metric
from poolproof.results.compare.earlier_runs import NOT_INCLUDED, EarlierRuns, RunVariance, earlier_runs
from poolproof.results.compare.measured import Measured, in_groups, measured
from poolproof.results.runs.few_events import TOO_FEW, FewEvents
from poolproof.results.runs.in_place import are_in_place, family_of, with_margin
from poolproof.results.runs.loading import LoadedRun
from poolproof.statistics.comparison import ComparisonDecision, Difference, LogMean, decide, difference
from poolproof.statistics.intervals import CONFIDENCE, Interval
from poolproof.verdicts import Verdict, worst

_MOST_PAIRS = 150_000  # about a minute
_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")
_WEIGHTS_EXAMPLE = "write, for example, --weights etcd=2,media=1"


@dataclass(frozen=True)
class Goal:
    """The workloads by which layouts are ranked.

    `weights`: the weight of each workload, keyed by its name. The weights add up to 1.
    """

    weights: Mapping[str, float]

    @property
    def only(self) -> str | None:
        """Return the name of the goal's only workload, or None if the goal combines several workloads."""
        return next(iter(self.weights)) if len(self.weights) == 1 else None


def find_goal(campaign: Campaign, goal: str | None, weights: str | None) -> Goal:
    """Return the goal: that given by `goal` or `weights`, or the campaign's goal, or its only workload or matrix.

    The workloads of a matrix are weighted equally. Raises a UsageError if the goal can't be determined, a name is not
    that of a workload, or both `goal` and `weights` are given.
    """
    if goal is not None and weights is not None:
        raise UsageError("--goal and --weights can't be combined", "remove one of them")
    if weights is not None:
        return _normalised(campaign, parse_weights(weights))
    families = list(dict.fromkeys(workload.family for workload in campaign.workloads))
    chosen = goal or campaign.goal or (families[0] if len(families) == 1 else None)
    if chosen is None:
        raise UsageError("the campaign has no goal to rank by", f"--goal {families[0]}; {_choices(campaign)}")
    return _normalised(campaign, {chosen: 1.0})


def has_goal(campaign: Campaign) -> bool:
    """True if the campaign sets a goal, or has a single workload or matrix that can serve as the goal."""
    return campaign.goal is not None or len({workload.family for workload in campaign.workloads}) == 1


def parse_weights(text: str) -> dict[str, float]:
    """Parse weights such as `etcd=2,media=1` into a dict that is keyed by name.

    Raises a UsageError if a name is repeated, or if its weight is missing or is not greater than 0.
    """
    found: dict[str, float] = {}
    for part in split_names(text):
        name, _, number = part.rpartition("=")
        if not name or not re.fullmatch(r"\d{1,15}(\.\d{1,15})?", number) or not float(number):
            raise UsageError(
                f"--weights: expected NAME=WEIGHT with a weight above 0, found `{part[:60]}`", _WEIGHTS_EXAMPLE
            )
        if name in found:
            raise UsageError(f"--weights: `{name[:60]}` is given twice", _WEIGHTS_EXAMPLE)
        found[name] = float(number)
    return found


def split_names(text: str) -> list[str]:
    """Split names at commas, but not inside brackets: `mirror[atime=off,recordsize=16k]` is a single name."""
    return [part.strip() for part in _OUTSIDE_BRACKETS.split(text)]


def _normalised(campaign: Campaign, given: Mapping[str, float]) -> Goal:
    whole = sum(given.values())
    weights: dict[str, float] = {}
    for name, weight in given.items():
        members = _members(campaign, name)
        for member in members:
            weights[member] = weights.get(member, 0.0) + weight / whole / len(members)
    return Goal(weights)


def _members(campaign: Campaign, name: str) -> list[str]:
    """Return the workload or, for a matrix, all of its workloads. Raises a UsageError if neither has this name."""
    exact = [workload.name for workload in campaign.workloads if workload.name == name]
    members = exact or [workload.name for workload in campaign.workloads if workload.family == name]
    if not members:
        names = [text for workload in campaign.workloads for text in (workload.family, workload.name)]
        raise UsageError(f"the goal `{name[:60]}` is not a workload{did_you_mean(name, names)}", _choices(campaign))
    return members


def _choices(campaign: Campaign) -> str:
    names = list(dict.fromkeys(workload.family for workload in campaign.workloads))
    return choices("workload", names)


@dataclass(frozen=True)
class Safety:
    """A layout's redundancy, capacity and write amplification.

    `redundancy`: the number of devices that can always fail without data loss, whichever devices they are. None for an
    existing directory, whose devices are unknown.
    `devices`: the number of devices.
    `capacity_bytes`: the usable capacity. None for existing directories and real disks, whose sizes the campaign does
    not specify.
    """

    redundancy: int | None
    devices: int
    capacity_bytes: int | None
    write_factor: float


_OF_IMPORTED = Safety(redundancy=None, devices=1, capacity_bytes=None, write_factor=1.0)
"""Placeholder values for an imported result, whose layout is unknown."""


def safety(layout: Layout, campaign: Campaign) -> Safety:
    """Return a layout's redundancy, number of devices, capacity and write amplification.

    Raises a CampaignError if this version of poolproof can't parse the layout's expression.
    """
    sources = [(each.name, each.source) for each in campaign.devices]
    sizes = {name: source.size_bytes for name, source in sources if not isinstance(source, Disk)}
    node = resolve(layout.expression, {device.name for device in campaign.devices})
    has_sizes = not directories(node) and sizes.keys() >= set(devices(node))
    return Safety(
        redundancy=redundancy(node),
        devices=len(devices(node)),
        capacity_bytes=capacity_bytes(node, sizes) if has_sizes else None,
        write_factor=write_factor(node),
    )


@dataclass(frozen=True)
class Entry:
    """A layout to be ranked.

    `cells`: the layout's value for each workload.
    `score`: the weighted mean of the logarithms of these values.
    """

    layout: str
    cells: Mapping[str, Measured]
    score: LogMean

    @property
    def untested(self) -> tuple[str, ...]:
        """Return the workloads for which the layout can't be tested.

        This is because its rate changes by an unknown amount, or because other work disturbed most of its trials. If
        there is at least one such workload, the layout is not tested at all.
        """
        return tuple(name for name, each in self.cells.items() if each.untested)

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict among the layout's cells."""
        return worst(each.verdict for each in self.cells.values())


@dataclass(frozen=True)
class Ranked:
    """A layout and its range of places, from `first` to `last`. They are equal unless the layout is tied with others.

    `to_leader`: the layout's speed relative to the leader, which is the first of the ranked layouts. None for the
    leader itself.
    """

    entry: Entry
    first: int
    last: int
    to_leader: Difference | None
    safety: Safety


@dataclass(frozen=True)
class Pair:
    """A pair of layouts, of which `better` comes first in `Ranking.ranked`.

    `decision`: `faster` if the two layouts differ significantly.
    """

    better: str
    worse: str
    difference: Difference
    decision: ComparisonDecision

    @property
    def is_tie(self) -> bool:
        return self.decision.word != "faster"


@dataclass(frozen=True)
class Excluded:
    """A layout that could not be ranked, with the reason. `few` is set if a percentile has too few events."""

    layout: str
    why: str
    few: FewEvents | None = None


@dataclass(frozen=True)
class Ranking:
    """A ranking of a run's layouts.

    `metrics`: the metric used for each workload.
    `ranked`: the layouts from best to worst mean, followed by those that can't be tested.
    `in_place`: the layouts that were converted into one another in place. Differences between them include a margin.
    `run_variance`: the metrics whose intervals include the between-run variance.
    `rankings`: the number of rankings whose places were corrected together for multiple testing.
    """

    run: LoadedRun
    goal: Goal
    metrics: Mapping[str, MetricId]
    effect: float
    ranked: tuple[Ranked, ...]
    pairs: tuple[Pair, ...]
    excluded: tuple[Excluded, ...]
    in_place: tuple[str, ...] = ()
    run_variance: RunVariance = NOT_INCLUDED
    rankings: int = 1

    @property
    def too_few(self) -> tuple[str, ...]:
        """Return the layouts that were not ranked because a percentile has too few events.

        Any of them may be the best layout.
        """
        return tuple(each.layout for each in self.excluded if each.few is not None)

    @property
    def best(self) -> tuple[Ranked, ...]:
        """Return the layouts that may be the best. With 95% confidence, the best ranked layout is among them."""
        return tuple(each for each in self.ranked if each.first == 1)

    def repeated(self, each: Ranked) -> Interval | None:
        """Return a layout's speed relative to the leader, with a 95% prediction interval for a repeat of the run.

        The interval is corrected for the number of other layouts (Bonferroni), because the leader was chosen from the
        same trials. Return None for the leader, or if the difference can't be tested.
        """
        if each.to_leader is None or each.to_leader.error is None:
            return None
        return each.to_leader.repeated_at((1 - CONFIDENCE) / (len(self.ranked) - 1))

    @property
    def safer(self) -> tuple[Ranked, ...]:
        """Return the fastest layouts that survive more disk failures than the leader.

        For each redundancy above the leader's, the result contains the fastest layout with at least that redundancy.
        Layouts that can't be tested are not considered. If the leader's redundancy is unknown, the result is empty.
        """
        chosen: dict[str, Ranked] = {}
        survived = self.ranked[0].safety.redundancy
        if survived is None:
            return ()
        steady = [(each.safety.redundancy or 0, each) for each in self.ranked if not each.entry.untested]
        for level in sorted({survives for survives, _ in steady if survives > survived}):
            fastest = next(each for survives, each in steady if survives >= level)
            chosen.setdefault(fastest.entry.layout, fastest)
        return tuple(chosen.values())


class NothingRanked(RunError):
    """Raised if no layout has a usable value for each of the goal's workloads."""

    def __init__(self, run: LoadedRun, excluded: Sequence[Excluded]) -> None:
        reasons = "; ".join(in_groups((each.layout, each.why) for each in excluded))
        self.few = max(
            (each.few for each in excluded if each.few is not None), key=lambda few: few.needed_s or 0, default=None
        )
        hint = f"poolproof show {as_word(run.path)}"
        if self.few is not None and self.few.trial_s is not None:
            option = "--min" if run.campaign.measure.until else "--time"
            hint = f"measure longer trials ({option} {self.few.trial_s}s), or choose another --metric; {hint}"
        super().__init__(f"no layout can be ranked: {reasons or 'the run has no layout'}", hint)


def rank(run: LoadedRun, goal: Goal, *, metric: MetricId | None, effect: float) -> Ranking:
    """Rank a run's layouts by the goal, using each workload's own metric, or `metric` if given.

    Raises:
        RunError: no layout has a usable value for each of the goal's workloads, or there are too many pairs of layouts.
        CampaignError: this version of poolproof can't parse a layout's expression.
        UsageError: no trial measured `metric`.
    """
    check_metric(metric, [cell for cell in run.cells if cell.workload in goal.weights], "trial of the goal")
    own = {workload.name: workload.metric for workload in run.campaign.workloads}
    metrics = {name: metric or own[name] for name in goal.weights}
    earlier = earlier_runs(run, metrics)
    entries, others = _entries(run, goal, metrics, earlier)
    if not entries:
        raise NothingRanked(run, others)
    check_pairs(math.comb(len(entries), 2), f"{len(entries)} layouts")
    family = family_of(run.campaign)
    pairs = _pairs(entries, effect, family)
    layouts = {layout.name: layout for layout in run.campaign.layouts}
    found = places([entry.layout for entry in entries], pairs)
    ranked = tuple(
        Ranked(
            entry,
            *found[entry.layout],
            to_leader=None if entry is entries[0] else _apart(entry, entries[0], family),
            safety=_OF_IMPORTED if run.record.imported else safety(layouts[entry.layout], run.campaign),
        )
        for entry in entries
    )
    members = Counter(family.get(entry.layout) for entry in entries)
    in_place = tuple(each.layout for each in entries if each.layout in family and members[family[each.layout]] > 1)
    return Ranking(run, goal, metrics, effect, ranked, pairs, (*others,), in_place, earlier.variance(metrics.values()))


def check_pairs(count: int, what: str) -> None:
    """Raise a RunError if this number of pairs takes too long to test."""
    if count > _MOST_PAIRS:
        why = f"{what} have {count:,} pairs, too many to test for a ranking (at most {_MOST_PAIRS:,})"
        raise RunError(why, "to compare two layouts: poolproof compare RUN --layouts X,Y")


def places(layouts: Sequence[str], pairs: Iterable[Pair]) -> Mapping[str, tuple[int, int]]:
    """Return the first and last place that each layout may have, according to the pairs of these layouts."""
    decided = [pair for pair in pairs if not pair.is_tie]
    above, below = Counter(pair.worse for pair in decided), Counter(pair.better for pair in decided)
    return {layout: (1 + above[layout], len(layouts) - below[layout]) for layout in layouts}


def _apart(one: Entry, other: Entry, family: Mapping[str, int]) -> Difference:
    apart = difference(one.score, other.score)
    return with_margin(apart) if are_in_place(family, one.layout, other.layout) else apart


def _entries(
    run: LoadedRun, goal: Goal, metrics: Mapping[str, MetricId], earlier: EarlierRuns
) -> tuple[list[Entry], list[Excluded]]:
    """Separate the layouts with a usable value for each of the goal's workloads from the other layouts.

    The layouts to be ranked are sorted by score, best first. Layouts that can't be tested come last.
    """
    entries, excluded = [], []
    for layout in run.campaign.layouts:
        found = {name: measured(run, CellKey(layout.name, name), metrics[name]) for name in goal.weights}
        usable = {name: each for name, each in found.items() if isinstance(each, Measured) and each.few is None}
        cells = {name: earlier.widened(each) for name, each in usable.items()}
        if len(cells) == len(found):
            score = earlier.mixed([(goal.weights[name], each) for name, each in usable.items()])
            entries.append(Entry(layout.name, cells, score))
        else:
            few = [each.few for each in found.values() if isinstance(each, Measured) and each.few is not None]
            excluded.append(Excluded(layout.name, _why(found, is_mix=goal.only is None), next(iter(few), None)))
    return sorted(entries, key=lambda entry: (bool(entry.untested), -entry.score.mean)), excluded


def _why(found: Mapping[str, Measured | str], *, is_mix: bool) -> str:
    whys = [(name, each) for name, each in found.items() if isinstance(each, str)]
    whys += [
        (name, f"{TOO_FEW}: {each.few.sentence}")
        for name, each in found.items()
        if isinstance(each, Measured) and each.few is not None
    ]
    return "; ".join(in_groups(whys, between=" ")) if is_mix else whys[0][1]


def _pairs(entries: Sequence[Entry], effect: float, family: Mapping[str, int]) -> tuple[Pair, ...]:
    both = list(itertools.combinations(entries, 2))
    differences = [_apart(better, worse, family) for better, worse in both]
    return tuple(
        Pair(better.layout, worse.layout, apart, decision)
        for (better, worse), apart, decision in zip(both, differences, decide(differences, effect), strict=True)
    )
