"""Test the stopping rule for a cell's trials with known true means: `python -m benchmarks.synthetic_trials`.

The standard deviation of the trials differs from cell to cell. Each cell gets two trials, and then more (six at most)
until its result is precise to within 3%. The table shows how often the confidence intervals contain the true value,
and how many trials were needed, both with and without the typical variance of the run's other cells.
"""

import random
from collections.abc import Iterator

from benchmarks.arguments import arguments
from poolproof.statistics.shared_variance import fit_prior
from poolproof.stopping.across import across
from poolproof.stopping.model import StoppingRule, TrialMean

_SEED, _RUNS, _CELLS = 9, 40, 40
_TRUTH, _WITHIN, _UNEQUAL = 100.0, 0.5, 0.6
_DEVIATIONS = (0.5, 0.8, 1.2, 2.0)
_T = 2.042  # assuming that a trial's own interval has 30 degrees of freedom


class _Cell:
    def __init__(self, rng: random.Random, typical: float) -> None:
        self._rng = rng
        self._deviation = (float(typical * rng.lognormvariate(0, _UNEQUAL)) ** 2 + _WITHIN**2) ** 0.5
        self.trials: list[TrialMean] = []
        self.run_one()
        self.run_one()

    def run_one(self) -> None:
        mean = self._rng.gauss(_TRUTH, self._deviation)
        self.trials.append(TrialMean(mean, mean - _T * _WITHIN, mean + _T * _WITHIN))


def held(typical: float, *, shared: bool) -> Iterator[tuple[bool, int]]:
    """For each cell, yield whether its confidence interval contains the true value, and the number of its trials.

    `typical`: the typical standard deviation in per cent.
    `shared`: whether to use the typical variance of all cells.
    """
    rng, rule = random.Random(_SEED), StoppingRule()
    for _ in range(_RUNS):
        cells = [_Cell(rng, typical) for _ in range(_CELLS)]
        spread = fit_prior([trial.mean for trial in cell.trials] for cell in cells) if shared else None
        for cell in cells:
            while not (between := across(cell.trials, rule, spread)).done:
                cell.run_one()
            assert between.low is not None and between.high is not None, "two trials have an interval"
            yield between.low <= _TRUTH <= between.high, len(cell.trials)


def main() -> None:
    """Print the table in docs/stopping.md."""
    print(
        "| deviation between trials | with the variances of the other cells: coverage, trials | from the cell's own "
        "trials only: coverage, trials |"
    )
    print("|---|---|---|")
    for typical in _DEVIATIONS:
        found = [list(held(typical, shared=shared)) for shared in (True, False)]
        words = [f"{100 * sum(h for h, _ in f) / len(f):.1f}, {sum(n for _, n in f) / len(f):.1f}" for f in found]
        print(f"| {typical:g}% | {words[0]} | {words[1]} |")


if __name__ == "__main__":
    arguments(__doc__)
    main()
