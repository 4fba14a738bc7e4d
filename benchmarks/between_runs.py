"""Simulate comparisons of two equally fast runs: `python -m benchmarks.between_runs [COMPARISONS]`.

A run has 24 or 4 cells with three trials each, which vary by 3%. The results of a cell also vary by 5% from run to
run. Both standard deviations differ from cell to cell: σ is the standard deviation of their logarithms. The older of
the two runs may have a number of earlier runs, from which the between-run variance is estimated.

For each number of earlier runs, the table shows the share of comparisons in which at least one cell is reported as
faster or slower although nothing changed, the share of 95% confidence intervals that contain the true value, and the
share of cells with an added difference of 50% in which it is found.
"""

import math
import random
from dataclasses import dataclass, replace

from benchmarks.arguments import arguments
from poolproof.statistics.between_runs import between_runs
from poolproof.statistics.comparison import LogMean, decide, difference, log_mean
from poolproof.statistics.shared_variance import fit_prior

CELLS, TRIALS = 24, 3
_SEED, _NOISE, _BETWEEN, _PLANTED = 7, 0.03, 0.05, 0.5
_SETTINGS = ((CELLS, 0.3), (4, 0.3), (4, 0.5))
_COUNTS = (0, 1, 2, 3, 6, 12)


@dataclass(frozen=True)
class Found:
    """The results for one number of earlier runs, as shares."""

    false: float
    coverage: float
    power: float


def simulate(earlier: int, comparisons: int, cells: int = CELLS, sigma: float = 0.3) -> Found:
    """Return the results of this number of simulated comparisons."""
    rng = random.Random(_SEED)
    false = covered = found = 0
    for _ in range(comparisons):
        noises, betweens = (
            [typical * math.exp(rng.gauss(0, sigma)) for _ in range(cells)] for typical in (_NOISE, _BETWEEN)
        )
        newer, older, *others = (_run(rng, noises, betweens) for _ in range(2 + earlier))
        known = between_runs({cell: [run[cell] for run in (older, *others)] for cell in range(cells)})
        differences = [known.between_two(cell, difference(newer[cell], older[cell])) for cell in range(cells)]
        false += any(each.word in ("faster", "slower") for each in decide(differences, 0.0))
        intervals = [(each.interval.low or 0.0, each.interval.high or math.inf) for each in differences]
        covered += sum(low <= 1 <= high for low, high in intervals)
        planted = [replace(each, log=each.log + math.log1p(_PLANTED)) for each in differences]
        found += sum(each.word == "faster" for each in decide(planted, 0.0))
    return Found(false / comparisons, covered / comparisons / cells, found / comparisons / cells)


def _run(rng: random.Random, noises: list[float], betweens: list[float]) -> list[LogMean]:
    values = []
    for noise, between in zip(noises, betweens, strict=True):
        level = rng.gauss(0, between)
        values.append([math.exp(level + rng.gauss(0, noise)) for _ in range(TRIALS)])
    prior = fit_prior(values)
    means = [log_mean(each, prior, resolution=1e-4) for each in values]
    return [mean for mean in means if mean is not None]


def main() -> None:
    """Print the table in docs/compare.md."""
    words = arguments(__doc__)
    comparisons = int(words[0]) if words else 200
    print("| cells | σ | earlier runs | false winner | coverage | 50% found |")
    print("|---|---|---|---|---|---|")
    for cells, sigma in _SETTINGS:
        for count in _COUNTS:
            found = simulate(count, comparisons, cells, sigma)
            shares = f"{100 * found.false:.1f}% | {100 * found.coverage:.1f}% | {100 * found.power:.0f}%"
            print(f"| {cells} | {sigma:g} | {count} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
