"""Simulate how often one of two equal layouts is reported as faster: `python -m benchmarks.false_winners [RUNS]`.

Two layouts run the same workloads. The trials of a cell vary by about 3%. Their standard deviation differs from cell
to cell: σ is the standard deviation of its logarithm. A trial is a series of autocorrelated rates. If there are several
builds, part of the variance is between builds, and the mean of each build is one sample
(`statistics/build_samples.py`). As in a real run, the typical variance is estimated from the cells of the simulated
run. With `until`, trials are repeated until each cell is precise to within 3%, at least two and at most six times.

Each row of the table shows the share of runs in which at least one cell is reported as faster or slower although the
layouts are equal, the share of 95% confidence intervals of a cell's ratio that contain the true value, and the share
of cells with an added difference of 5 or 20% in which it is found. The effect is that of `compare --effect`.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.arguments import arguments
from poolproof.statistics.autocorrelation import long_run
from poolproof.statistics.build_samples import Samples, build_samples
from poolproof.statistics.comparison import Difference, LogMean, decide, difference, log_mean
from poolproof.statistics.paired_variance import estimated_together
from poolproof.statistics.shared_variance import VariancePrior, fit_prior
from poolproof.stopping.across import across
from poolproof.stopping.model import StoppingRule, TrialMean

_SEED, _NOISE, _BETWEEN_BUILDS = 4, 0.03, 0.5
_SECONDS, _CORRELATION, _WITHIN = 12, 0.6, 0.02
_PLANTED = (0.05, 0.2)


@dataclass(frozen=True)
class Setting:
    """A row of the table.

    `trials`: the number of trials per build, or None for `until`.
    `alike`: whether a workload has the same deviation on both layouts, as it usually has in two runs of one campaign.
    """

    cells: int
    trials: int | None
    builds: int = 1
    sigma: float = 0.5
    effect: float = 0.0
    alike: bool = False

    @property
    def text(self) -> str:
        """Return the first columns of the row, as text."""
        trials = "2..6, until" if self.trials is None else str(self.trials)
        sigma = f"{self.sigma:g}, alike" if self.alike else f"{self.sigma:g}"
        return f"{self.cells} | {trials} | {self.builds} | {sigma} | {100 * self.effect:g}%"


@dataclass(frozen=True)
class Found:
    """The results in a row, as shares.

    `power`: the share of added differences that were found, for each size of difference.
    """

    false: float
    coverage: float
    power: tuple[float, ...]

    @property
    def text(self) -> str:
        """Return the last columns of the row, as text."""
        power = " | ".join(f"{100 * share:.0f}%" for share in self.power)
        return f"{100 * self.false:.1f}% | {100 * self.coverage:.1f}% | {power}"


SETTINGS = (
    *(Setting(24, trials, sigma=sigma) for sigma in (0.0, 0.3, 0.5, 0.8) for trials in (2, 3)),
    *(Setting(24, trials) for trials in (1, 4, 6)),
    *(Setting(24, 2, effect=effect) for effect in (0.02, 0.05, 0.2)),
    *(Setting(24, 2, builds=builds) for builds in (2, 3, 4)),
    *(Setting(24, None, effect=effect) for effect in (0.0, 0.02)),
    *(Setting(648, trials) for trials in (2, 3)),
    *(Setting(24, trials, sigma=sigma, alike=True) for sigma in (0.5, 0.8, 1.3) for trials in (2, 3)),
    Setting(24, None, sigma=1.3, alike=True),
)


def simulate(setting: Setting, runs: int) -> Found:
    """Return the results of this number of simulated runs."""
    rng = random.Random(_SEED)
    false = covered = tested = 0
    found = [0] * len(_PLANTED)
    for _ in range(runs):
        differences = _differences(setting, rng)
        decisions = decide(differences, setting.effect)
        false += any(decision.word in ("faster", "slower") for decision in decisions)
        for each in differences:
            low, high = each.interval.low, each.interval.high
            covered += low is not None and high is not None and low <= 1 <= high
            tested += low is not None
        for at, gap in enumerate(_PLANTED):
            planted = [replace(each, log=each.log + math.log1p(gap)) for each in differences]
            found[at] += sum(decision.word == "faster" for decision in decide(planted, setting.effect))
    cells = runs * setting.cells
    return Found(false / runs, covered / tested if tested else math.nan, tuple(count / cells for count in found))


def _differences(setting: Setting, rng: random.Random) -> list[Difference]:
    count = setting.cells if setting.alike else 2 * setting.cells
    deviations = [_NOISE * math.exp(rng.gauss(0, setting.sigma)) for _ in range(count)]
    cells = [_Cell(rng, each, setting) for each in (deviations * 2 if setting.alike else deviations)]
    prior = _prior(cells, setting)
    if setting.trials is None:
        rule = StoppingRule(trials_min=2, trials_max=6)
        while going := [each for each in cells if not across(each.trials, rule, prior).done]:
            for each in going:
                each.run_one()
            prior = _prior(cells, setting)
    means = [_mean(each.samples, prior) for each in cells]
    pairs = zip(means[: setting.cells], means[setting.cells :], strict=True)
    whole = [(a, b) for a, b in pairs if a is not None and b is not None]
    return [difference(b, a) for a, b in estimated_together(whole)]


def _mean(samples: Samples, prior: VariancePrior | None) -> LogMean | None:
    return log_mean(samples.values, prior, resolution=samples.error, least_count=samples.least_count)


def _prior(cells: Sequence["_Cell"], setting: Setting) -> VariancePrior | None:
    """Return the typical variance, estimated from all cells.

    With a single trial, use sixteen cells with a second trial.
    """
    if setting.trials != 1 or setting.builds > 1:
        return fit_prior(each.samples.values for each in cells)
    for each in cells[:16]:
        each.run_one()
    return fit_prior(each.samples.values for each in cells[:16])


class _Cell:
    """A simulated cell whose true rate is 1."""

    def __init__(self, rng: random.Random, deviation: float, setting: Setting) -> None:
        self._rng, self._deviation, self._builds = rng, deviation, setting.builds
        self.trials: list[TrialMean] = []
        self._trials_of_build = setting.trials or 2
        self._least_count = 2 if setting.trials is None else None
        for _ in range(setting.builds):
            self._run_build()

    def run_one(self) -> None:
        """Add a trial to a cell with a single build."""
        self._add(0.0)

    @property
    def samples(self) -> Samples:
        """Return the cell's samples: its trials if there is one build, otherwise the means of the builds."""
        values = [each.mean for each in self.trials]
        if self._builds == 1:
            return Samples(tuple(values), least_count=self._least_count)
        step = self._trials_of_build
        return build_samples([values[at : at + step] for at in range(0, len(values), step)])

    def _run_build(self) -> None:
        level = self._rng.gauss(0, self._deviation * math.sqrt(_BETWEEN_BUILDS)) if self._builds > 1 else 0.0
        for _ in range(self._trials_of_build):
            self._add(level)

    def _add(self, level: float) -> None:
        deviation = self._deviation * (math.sqrt(1 - _BETWEEN_BUILDS) if self._builds > 1 else 1.0)
        level = math.exp(level + self._rng.gauss(0, deviation))
        run = long_run(list(_series(self._rng, level)))
        self.trials.append(TrialMean(run.mean, run.mean * 0.97, run.mean * 1.03, run.standard_error, run.freedom))


def _series(rng: random.Random, level: float) -> Iterator[float]:
    """Yield the rates during a trial: an autoregressive series around the trial's level."""
    now = rng.gauss(0, _WITHIN)
    for _ in range(_SECONDS):
        now = _CORRELATION * now + rng.gauss(0, _WITHIN * math.sqrt(1 - _CORRELATION**2))
        yield level * (1 + now)


def main() -> None:
    """Print the table in docs/compare.md."""
    words = arguments(__doc__)
    runs = int(words[0]) if words else 200
    print("| cells | trials | builds | σ | effect | false winner | coverage | 5% found | 20% found |")
    print("|---|---|---|---|---|---|---|---|---|")
    for setting in SETTINGS:
        found = simulate(setting, max(10, runs * 24 // setting.cells) if setting.cells > 24 else runs)
        print(f"| {setting.text} | {found.text} |", flush=True)


if __name__ == "__main__":
    main()
