"""Simulate comparisons of two runs whose rates change during the trials: `python -m benchmarks.changing_rates [RUNS]`.

Each run has 12 cells. In all of them or in every fourth, the rate changes as the first column says; the others are
steady. A rate has a sample every 0.1 s, with noise of 6% that is correlated (AR(1), 0.6). Between two trials of a cell,
it continues for 6 s. The true mean of every cell is 1, so each `faster` and each `slower` is false. In the rows marked
`B`, only the cells of the second run change, always from the start of a trial on, and their rate after the change is 1.
Trials last 1 to 2 s, and are repeated until each cell is precise to within 5%, as in `benchmarks.court`.

Each row of the table has three values for each of three rules, always in this order: if the rate changed in any trial,
the cell is tested at its extremes; the rule in use (`results/runs/changing_rates.py`); cells are never tested at their
extremes. The values are the share of comparisons with at least one false conclusion and, for the cells whose rate
changes, the share of 95% intervals of the ratio that contain 1 and the shares of cells that are found if they are 20%
or 50% faster.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.arguments import arguments
from benchmarks.playing import play
from benchmarks.redecided import convergence
from poolproof.campaign.model import Measure, Until
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.cell_builds import samples_of
from poolproof.results.runs.changing_rates import unsteady_reasons, with_changes, with_extremes
from poolproof.results.runs.convergence import convergence_of, metric_log_mean, needs_trial, priors_among, stopping_rule
from poolproof.results.runs.model import Convergence, Trial
from poolproof.statistics.comparison import LEAST_EFFECT, Difference, LogMean, decide, difference
from poolproof.statistics.paired_variance import Pair, estimated_together

Rule = Literal["any", "used", "none"]
Series = Callable[[], Sequence[float]]
"""Returns the rates of a cell's next trial."""

RULES: tuple[Rule, ...] = ("any", "used", "none")
_SEED, _CELLS = 6, 12
_INTERVAL_S, _SAMPLES, _GAP = 0.1, 20, 60
_NOISE, _CORRELATION = 0.06, 0.6
_LEVELS, _LEVELS_SIGMA = 0.02, 0.5
_PLANTED = (0.2, 0.5)
_UNTIL = Until(tolerance=0.05, min_s=1.0, max_s=2.0)


@dataclass(frozen=True)
class Setting:
    """A row of the table.

    `kind`: the name of the change, from `KINDS` or `FROM_START`.
    `every`: 1 if all cells change, 4 if every fourth does.
    `trials`: the minimum and maximum number of trials.
    """

    kind: str
    every: int = 4
    trials: tuple[int, int] = (3, 10)

    @property
    def measure(self) -> Measure:
        return Measure(trials=self.trials[0], most_trials=self.trials[1], until=_UNTIL)

    @property
    def text(self) -> str:
        """Return the first columns of the row, as text."""
        name = f"{self.kind}, B" if self.kind in FROM_START else self.kind
        return f"{name} | {_CELLS // self.every} | {self.trials[0]}..{self.trials[1]}"


@dataclass
class Found:
    """The results of a rule, as counts. `cells`: the number of cells whose rate changes."""

    runs: int = 0
    false: int = 0
    cells: int = 0
    covered: int = 0
    power: tuple[int, ...] = (0,) * len(_PLANTED)


def _alternating(low: float, high: float, low_s: float, high_s: float) -> Callable[[random.Random], Iterator[float]]:
    """Return a function that makes an endless rate with two speeds. Each lasts for a random time, with this mean."""

    def rates(rng: random.Random) -> Iterator[float]:
        is_low = rng.random() < low_s / (low_s + high_s)
        while True:
            yield low if is_low else high
            is_low ^= rng.random() < _INTERVAL_S / (low_s if is_low else high_s)

    return rates


def _wandering(correlation: float, deviation: float) -> Callable[[random.Random], Iterator[float]]:
    """Return a function that makes an endless rate which drifts up and down."""

    def rates(rng: random.Random) -> Iterator[float]:
        now = rng.gauss(0, deviation)
        while True:
            yield 1 + now
            now = correlation * now + rng.gauss(0, deviation * math.sqrt(1 - correlation**2))

    return rates


KINDS: Mapping[str, Callable[[random.Random], Iterator[float]]] = {
    "steady": _wandering(0.0, 0.0),
    "drift up and down": _wandering(0.95, 0.08),
    "±20%, 0.3 s each": _alternating(0.8, 1.2, 0.3, 0.3),
    "±20%, 1 s each": _alternating(0.8, 1.2, 1.0, 1.0),
    "±20%, 4 s each": _alternating(0.8, 1.2, 4.0, 4.0),
    "±20%, 20 s each": _alternating(0.8, 1.2, 20.0, 20.0),
    "±10%, 20 s each": _alternating(0.9, 1.1, 20.0, 20.0),
    "half the speed, 1 s in 10 s": _alternating(0.53, 1.05, 1.0, 9.0),
    "stalls, 0.2 s in 2 s": _alternating(0.1, 1.1, 0.2, 1.8),
}
FROM_START: Mapping[str, Callable[[random.Random], tuple[float, float]]] = {
    "first 0.1 s fast": lambda _: (0.1, 8.0),
    "step after 0.7 s": lambda rng: (rng.uniform(0.6, 0.8), 1.4),
    "step after 1.2 s": lambda rng: (rng.uniform(1.1, 1.3), 1.4),
    "step after 0.5 to 3 s": lambda rng: (rng.uniform(0.5, 3.0), 1.4),
    "decay in 0.7 s": lambda _: (-0.7, 1.5),
}
"""For each trial, the time of a step in seconds, and the rate before it. A negative time is that of a decay."""

SETTINGS = (
    *map(Setting, KINDS),
    *(Setting(kind, 1) for kind in ("drift up and down", "±20%, 4 s each", "±20%, 20 s each")),
    *(Setting(kind, trials=(2, 6)) for kind in ("±20%, 4 s each", "±20%, 20 s each")),
    *map(Setting, FROM_START),
)


def simulate(setting: Setting, runs: int) -> Mapping[Rule, Found]:
    """Return the results of this number of comparisons for each rule."""
    rng = random.Random(_SEED)
    found = {rule: Found() for rule in RULES}
    for _ in range(runs):
        cells = _measured(setting, rng)
        pairs = _pairs(cells, setting.measure)
        for rule, own in found.items():
            _count(own, _differences(cells, pairs, rule), setting.every)
    return found


def _count(found: Found, differences: Sequence[Difference], every: int) -> None:
    found.runs += 1
    found.false += any(each.word in ("faster", "slower") for each in decide(differences, LEAST_EFFECT))
    for each in differences[::every]:
        low, high = each.interval.low, each.interval.high
        found.cells += 1
        found.covered += low is None or high is None or low <= 1 <= high  # an untested cell may have any ratio
    power = []
    for count, gap in zip(found.power, _PLANTED, strict=True):
        planted = [replace(each, log=each.log + math.log1p(gap)) for each in differences]
        power.append(count + sum(each.word == "faster" for each in decide(planted, LEAST_EFFECT)[::every]))
    found.power = tuple(power)


def _measured(setting: Setting, rng: random.Random) -> list[list[Trial]]:
    """Return the trials of the cells of the first run, followed by those of the second."""
    measure = setting.measure
    made = [_series(rng, setting, at) for at in range(2 * _CELLS)]
    cells: list[list[Trial]] = [[] for _ in made]
    ahead = list(range(len(cells)))
    while ahead:
        for at in ahead:
            cells[at].append(_trial(made[at](), at, len(cells[at]) + 1, measure))
        priors = [priors_among(own) for own in (cells[:_CELLS], cells[_CELLS:])]
        ahead = [at for at in ahead if needs_trial(cells[at], measure, priors[at // _CELLS])]
    return cells


def _series(rng: random.Random, setting: Setting, at: int) -> Series:
    changes = at % setting.every == 0
    kind = setting.kind if changes and setting.kind in KINDS else "steady"
    starts = FROM_START.get(setting.kind) if changes and at >= _CELLS else None
    rates, noise = KINDS[kind](rng), _wandering(_CORRELATION, _NOISE)(rng)
    deviation = _LEVELS * math.exp(rng.gauss(0, _LEVELS_SIGMA))

    def trial() -> Sequence[float]:
        level = math.exp(rng.gauss(0, deviation))
        values = [level * max(0.01, next(rates) * next(noise)) for _ in range(_SAMPLES)]
        for _ in range(_GAP):
            next(rates)
        return values if starts is None else _with_start(values, *starts(rng))

    return trial


def _with_start(values: Sequence[float], until_s: float, rate: float) -> Sequence[float]:
    times = [number * _INTERVAL_S for number in range(len(values))]
    if until_s < 0:
        return [value * (1 + (rate - 1) * math.exp(at / until_s)) for at, value in zip(times, values, strict=True)]
    return [value * (rate if at < until_s - _INTERVAL_S / 2 else 1) for at, value in zip(times, values, strict=True)]


def _trial(values: Sequence[float], cell: int, number: int, measure: Measure) -> Trial:
    found = play(values, _INTERVAL_S, stopping_rule(measure))
    assert found.mean is not None, "a series has a mean"
    return Trial(
        layout="layout",
        workload=str(cell),
        number=number,
        verdict="sound",
        findings=(),
        metric="iops",
        figures=TrialMetrics(iops=1000 * found.mean, bandwidth_bytes=4096 * 1000 * found.mean),
        settling=convergence(found, found.mean, Convergence(False, 0, found.used_s, _UNTIL.max_s)),
    )


def _pairs(cells: Sequence[Sequence[Trial]], measure: Measure) -> list[Pair]:
    """Return the mean of each cell in the first run and in the second, with errors that were estimated together."""
    means = []
    for own in (cells[:_CELLS], cells[_CELLS:]):
        prior = priors_among(own).rates
        for cell in own:
            convergence = convergence_of(cell, measure)
            assert convergence is not None, "each trial has a value"
            samples = replace(samples_of(cell, "iops", by_build=False), least_count=convergence.least_count)
            mean = metric_log_mean(samples, "iops", prior)
            assert mean is not None, "no rate is 0"
            means.append(mean)
    return estimated_together(list(zip(means[:_CELLS], means[_CELLS:], strict=True)))


def _differences(cells: Sequence[Sequence[Trial]], pairs: Sequence[Pair], rule: Rule) -> list[Difference]:
    return [
        difference(_tested(cells[_CELLS + at], b, rule), _tested(cells[at], a, rule)) for at, (a, b) in enumerate(pairs)
    ]


def _tested(cell: Sequence[Trial], mean: LogMean, rule: Rule) -> LogMean:
    is_changing = {
        "any": any(unsteady_reasons([trial]) for trial in cell),
        "used": bool(unsteady_reasons(cell)),
        "none": False,
    }
    if not is_changing[rule]:
        return mean
    extend = with_changes if rule == "used" else with_extremes
    return extend(mean, cell, "iops") or LogMean(mean.mean, None)


def rows(runs: int, settings: Sequence[Setting] = SETTINGS) -> Iterator[str]:
    """Yield the table in docs/compare.md."""
    yield "| rate | cells | trials | false conclusion | coverage | 20% found | 50% found |"
    yield "|---|---|---|---|---|---|---|"
    for setting in settings:
        found = [*simulate(setting, runs).values()]
        shares = (
            ", ".join(f"{each.false / each.runs:.0%}" for each in found),
            ", ".join(f"{each.covered / each.cells:.0%}" for each in found),
            *(", ".join(f"{each.power[at] / each.cells:.0%}" for each in found) for at in range(len(_PLANTED))),
        )
        yield f"| {setting.text} | {' | '.join(shares)} |"


def main() -> None:
    """Print the table, row by row."""
    words = arguments(__doc__)
    for row in rows(int(words[0]) if words else 200):
        print(row, flush=True)


if __name__ == "__main__":
    main()
