"""Trials that other work on the machine disturbed, and when the results leave them out.

Only evidence that does not depend on the result may leave out a trial: the processor time that other virtual machines
and other programs took during the trial. If a trial were left out because its own value is unusual, the remaining
trials would look more precise than they are. `views.py` has the same conditions in SQL.
"""

from collections.abc import Sequence

from poolproof.results.runs.model import Trial
from poolproof.rules.other_work import OTHER_WORK, PROCESSOR_WEIGHTS
from poolproof.verdicts import has_values

LEAST_OTHERS = 3
"""The number of undisturbed trials that a build needs before its disturbed trials are left out."""

MOSTLY_DISTURBED = "other work disturbed most of the trials"
"""The reason why a cell is not tested if `is_mostly_disturbed` is true for its trials."""


def is_disturbed(trial: Trial) -> bool:
    """True if the result for the workload's own metric is suspect only because of other work.

    Some of that work must have taken processor time.
    """
    if trial.verdict_on(trial.metric) != "suspect":
        return False
    causes = [finding for finding in trial.findings_on() if finding.effect == "suspects"]
    return all(cause.rule == OTHER_WORK for cause in causes) and any(
        cause.weight in PROCESSOR_WEIGHTS for cause in causes
    )


def can_leave_out(disturbed: int, others: int) -> bool:
    """True if a build with this many disturbed trials and other trials leaves out the disturbed ones.

    At least three others must remain, and at most half of the trials are left out.
    """
    return disturbed > 0 and others >= max(LEAST_OTHERS, disturbed)


def without_disturbed(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return the trials of a build without the disturbed ones, or all of them if too few others would remain."""
    others = tuple(trial for trial in trials if not is_disturbed(trial))
    disturbed = len(trials) - len(others)
    return others if can_leave_out(disturbed, _with_values(others)) else tuple(trials)


def is_mostly_disturbed(trials: Sequence[Trial]) -> bool:
    """True if other work disturbed more than half of the trials that a result is based on.

    Even the best of them may then be too slow, so the range of their values doesn't have to contain the value of an
    undisturbed trial, and nothing can be tested.
    """
    return 2 * sum(map(is_disturbed, trials)) > len(trials)


def may_still_leave_out(trials: Sequence[Trial], most: int) -> bool:
    """True if the disturbed trials of a build still count, but further trials may allow them to be left out.

    `most`: the maximum number of trials of a build.
    """
    kept = without_disturbed(trials)
    others = [trial for trial in kept if not is_disturbed(trial)]
    ahead = most - len(trials)
    return ahead > 0 and can_leave_out(len(kept) - len(others), _with_values(others) + ahead)


def _with_values(trials: Sequence[Trial]) -> int:
    return sum(has_values(trial.verdict) for trial in trials)
