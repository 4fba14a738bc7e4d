"""Show what each test for a steady rate contributes: `python -m benchmarks.ablation [SERIES OF EACH KIND]`.

The benchmark uses the synthetic series of `benchmarks.synthetic` with both minimum lengths. It prints a row for the
full rule and a row for the rule without each test: the share of series that converged, the share that converged but
are off by more than the tolerance (wrong), and the mean length of a trial. A test whose removal changes neither of the
last two contributes nothing on these series.
"""

import math
import sys
from dataclasses import dataclass

from benchmarks.made_series import SHAPED, STATIONARY
from benchmarks.synthetic import decisions, false_settled
from poolproof.stopping.model import StoppingRule

TESTS = ("warm-up", "drift", "step", "burst", "bimodal", "periodic")
_USUAL, _TURNOVER_S = 40, 10.0


@dataclass(frozen=True)
class Weighed:
    """The shares of converged and of false-settled series, and the mean length of a trial in seconds."""

    converged: float
    false: float
    seconds: float


def weigh(ignored: str, count: int) -> Weighed:
    """Return the results without one test; `ignored` is empty for the full rule. `count`: series of each kind."""
    converged, false, seconds = [], [], []
    for turnover_s in (0.0, _TURNOVER_S):
        rule = StoppingRule(turnover_s=turnover_s, ignored=frozenset({ignored} if ignored else ()))
        for kind in (*STATIONARY, *SHAPED):
            ended = decisions(kind, rule, count)
            converged.append(sum(each.converged for each in ended) / count)
            false.append(false_settled(kind, ended, rule))
            seconds.append(math.fsum(each.used_s for each in ended) / count)
    return Weighed(*(math.fsum(each) / len(each) for each in (converged, false, seconds)))


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else _USUAL
    print("| dropped | converged | wrong | mean time |\n|---|---|---|---|")
    for test in ("", *TESTS):
        found = weigh(test, count)
        print(f"| {test or 'none'} | {found.converged:.1%} | {found.false:.2%} | {found.seconds:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
