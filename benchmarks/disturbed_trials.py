"""Simulate comparisons on a disturbed machine: `python -m benchmarks.disturbed_trials [RUNS] [--without-extremes]`.

Two runs measure the same 24 cells. The trials of a cell vary by about 3%, and this deviation differs from cell to cell,
as in `benchmarks.false_winners`. In a given share of the trials of each run, other virtual machines take up to 40% of
the processor time, and the trial becomes slower by as much. `other-work` reports the trials that lost at least 5%; the
others are disturbed unnoticed. Trials either have a fixed number, or are repeated until each cell is precise to within
5%, as in `benchmarks.court`.

Each row of the table shows the results with these trials in use and left out (`results/runs/disturbed.py`): the share
of comparisons in which at least one cell is called faster or slower although nothing changed, the share of 95%
intervals that contain the true value, and the share of cells that are called faster if they are 20% faster. With
`--without-extremes`, cells whose disturbed trials cannot be left out are tested like any other cell, instead of at
their lowest or highest trial.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.arguments import arguments
from poolproof.campaign.model import Measure, Until
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.cell_builds import counting, left_out, samples_of
from poolproof.results.runs.changing_rates import mean_to_test
from poolproof.results.runs.convergence import convergence_of, metric_log_mean, needs_trial, priors_among
from poolproof.results.runs.model import Convergence, Trial
from poolproof.rules.model import Finding
from poolproof.rules.other_work import OTHER_WORK, PROCESSOR_WEIGHTS
from poolproof.statistics.build_samples import Samples
from poolproof.statistics.comparison import Difference, decide, difference
from poolproof.statistics.paired_variance import estimated_together
from poolproof.statistics.shared_variance import fit_prior

_SEED, _CELLS, _NOISE, _SIGMA = 5, 24, 0.03, 0.5
_MOST_STOLEN, _LEAST_REPORTED = 0.4, 0.05
_WITHIN, _FREEDOM = 0.01, 20.0
_PLANTED = 0.2
_STOLEN = Finding(OTHER_WORK, "suspects", "", "", PROCESSOR_WEIGHTS[0])
_UNTIL = Measure(trials=3, most_trials=10, until=Until(tolerance=0.05))


@dataclass(frozen=True)
class Setting:
    """A row of the table.

    `shares`: the share of disturbed trials in each of the two runs.
    `trials`: the number of trials, or None for `until`.
    """

    shares: tuple[float, float]
    trials: int | None

    @property
    def measure(self) -> Measure:
        return _UNTIL if self.trials is None else Measure(trials=self.trials)

    @property
    def text(self) -> str:
        """Return the first columns of the row, as text."""
        trials = "3..10, until" if self.trials is None else str(self.trials)
        return f"{self.shares[0]:.0%}, {self.shares[1]:.0%} | {trials}"


@dataclass(frozen=True)
class Found:
    """The results of a setting, as shares. `trials`: the mean number of trials of a cell, including those left out."""

    false: float
    coverage: float
    power: float
    trials: float
    left_out: float


SETTINGS = tuple(
    Setting(shares, trials) for shares in ((0.15, 0.15), (0.3, 0.3), (0.1, 0.4), (0.0, 1.0)) for trials in (3, 6, None)
)


def simulate(setting: Setting, runs: int, *, uses_evidence: bool, uses_extremes: bool = True) -> Found:
    """Return the results of this number of comparisons. Without `uses_evidence`, no trial is left out.

    `uses_extremes`: whether cells with disturbed trials that are not left out are tested at their extremes.
    """
    rng = random.Random(_SEED)
    false = covered = tested = found = trials = aside = 0
    for _ in range(runs):
        cells = _measured(setting, rng, uses_evidence=uses_evidence)
        differences = _differences(cells, setting.measure, uses_extremes=uses_extremes)
        false += any(decision.word in ("faster", "slower") for decision in decide(differences, 0.0))
        for each in differences:
            low, high = each.interval.low, each.interval.high
            tested += low is not None
            covered += low is not None and high is not None and low <= 1 <= high
        planted = [replace(each, log=each.log + math.log1p(_PLANTED)) for each in differences]
        found += sum(decision.word == "faster" for decision in decide(planted, 0.0))
        trials += sum(map(len, cells))
        aside += sum(len(left_out(cell)) for cell in cells)
    cells_tested = runs * _CELLS
    return Found(false / runs, covered / tested, found / cells_tested, trials / cells_tested / 2, aside / trials)


def _measured(setting: Setting, rng: random.Random, *, uses_evidence: bool) -> list[list[Trial]]:
    """Return the trials of the cells of the first run, followed by those of the second."""
    deviations = [_NOISE * math.exp(rng.gauss(0, _SIGMA)) for _ in range(2 * _CELLS)]
    cells: list[list[Trial]] = [[] for _ in deviations]
    ahead = list(range(len(cells)))
    while ahead:
        for at in ahead:
            share = setting.shares[at // _CELLS]
            cells[at].append(_trial(rng, at, len(cells[at]) + 1, deviations[at], share, uses_evidence=uses_evidence))
        runs = (cells[:_CELLS], cells[_CELLS:])
        priors = [priors_among(own) if setting.trials is None else None for own in runs]
        ahead = [at for at, cell in enumerate(cells) if needs_trial(cell, setting.measure, priors[at // _CELLS])]
    return cells


def _trial(rng: random.Random, cell: int, number: int, deviation: float, share: float, *, uses_evidence: bool) -> Trial:
    stolen = rng.uniform(0, _MOST_STOLEN) if rng.random() < share else 0.0
    findings = (_STOLEN,) if stolen >= _LEAST_REPORTED and uses_evidence else ()
    iops = 1000 * math.exp(rng.gauss(0, deviation)) * (1 - stolen)
    return Trial(
        layout="layout",
        workload=str(cell),
        number=number,
        verdict="suspect" if findings else "sound",
        findings=findings,
        metric="iops",
        figures=TrialMetrics(iops=iops, bandwidth_bytes=4096 * iops),
        settling=Convergence(True, 0, 2, 2, 1 - 2 * _WITHIN, 1 + 2 * _WITHIN, error_share=_WITHIN, freedom=_FREEDOM),
    )


def _differences(cells: Sequence[Sequence[Trial]], measure: Measure, *, uses_extremes: bool) -> list[Difference]:
    samples = [_samples(cell, measure) for cell in cells]
    prior = fit_prior([each.values for each in samples])
    found = zip(cells, (metric_log_mean(each, "iops", prior) for each in samples), strict=True)
    means = [
        mean_to_test(mean, counting(cell), "iops") if uses_extremes else mean
        for cell, mean in found
        if mean is not None
    ]
    pairs = list(zip(means[:_CELLS], means[_CELLS:], strict=True))
    return [difference(b, a) for a, b in estimated_together(pairs)]


def _samples(cell: Sequence[Trial], measure: Measure) -> Samples:
    settling = convergence_of(cell, measure)
    samples = samples_of(counting(cell), "iops", by_build=False)
    return replace(samples, least_count=settling.least_count if settling else None)


def rows(runs: int, *, uses_extremes: bool = True) -> Iterator[str]:
    """Yield the table in docs/compare.md."""
    yield (
        "| disturbed in A, B | trials | false winner: all, left out | coverage: all, left out "
        "| 20% found: all, left out | mean trials: all, left out |"
    )
    yield "|---|---|---|---|---|---|"
    for setting in SETTINGS:
        both = [
            simulate(setting, runs, uses_evidence=uses_evidence, uses_extremes=uses_extremes)
            for uses_evidence in (False, True)
        ]
        shown = (
            ", ".join(f"{each.false:.1%}" for each in both),
            ", ".join(f"{each.coverage:.1%}" for each in both),
            ", ".join(f"{each.power:.0%}" for each in both),
            ", ".join(f"{each.trials:.1f}" for each in both),
        )
        yield f"| {setting.text} | {' | '.join(shown)} |"


def main() -> None:
    """Print the table, row by row."""
    words = arguments(__doc__)
    numbers = [int(word) for word in words if word != "--without-extremes"]
    for row in rows(numbers[0] if numbers else 200, uses_extremes="--without-extremes" not in words):
        print(row, flush=True)


if __name__ == "__main__":
    main()
