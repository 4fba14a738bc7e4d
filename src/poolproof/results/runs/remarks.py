"""Remarks on a cell's trials: those without a usable value, disturbed ones, equal values, warm caches, notes of rules.

A trial may lack a metric, or contain an impossible value (negative or not finite). Such a trial is excluded, and every
output that uses the cell mentions it. Trials whose values agree to the last digit do not reveal how much trials vary.
Their confidence interval is therefore at least as wide as the measurement's resolution, which is limited to whole I/Os
and whole milliseconds.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from poolproof.campaign.generator_option import DEFAULT_BIN_WIDTH
from poolproof.metrics import MetricId, metric_of
from poolproof.results.runs.disturbed import is_disturbed, is_mostly_disturbed
from poolproof.results.runs.model import Trial
from poolproof.results.runs.shares import AccountSum
from poolproof.rules.model import Finding
from poolproof.rules.rule_catalogue import rules_of
from poolproof.statistics.resolution import step_deviation, widest_bin_deviation
from poolproof.statistics.shared_variance import LEAST_DEVIATION
from poolproof.units import format_number, format_number_of
from poolproof.verdicts import has_values

_TICK_S = 1e-3
"""The resolution of the trial lengths that fio reports, in seconds."""
_MOST_NAMED = 4


@dataclass(frozen=True)
class Resolution:
    """The smallest possible relative standard error of a metric, and what causes it."""

    share: float
    what: str


_FINEST = Resolution(LEAST_DEVIATION, f"1 part in {1 / LEAST_DEVIATION:,.0f}")


def resolution_of(trials: Iterable[Trial], metric: MetricId) -> Resolution:
    """Return a metric's resolution in the trial where it is coarsest.

    The resolution of a rate is one I/O or 1 ms of the trial length, if these are known, which they aren't for some
    imports and older runs. The resolution of a latency is its histogram bin. The resolution is never finer than 1 part
    in 10,000.
    """
    if not metric_of(metric).is_rate:
        share = coarsest_bin(trials)
        return Resolution(share, "the width of a histogram bin") if share > LEAST_DEVIATION else _FINEST
    coarsest = _FINEST
    for trial in trials:
        if trial.figures is None or not trial.value(metric):
            continue
        counted, length_s = trial.figures.events(metric), trial.counted_s
        if counted and (share := step_deviation(1, counted)) > coarsest.share:
            coarsest = Resolution(share, f"one I/O of {counted:,} in a trial")
        if length_s and (share := step_deviation(_TICK_S, length_s)) > coarsest.share:
            coarsest = Resolution(share, f"1 ms of {1000 * length_s:,.0f} ms in a trial")
    return coarsest


def coarsest_bin(trials: Iterable[Trial]) -> float:
    """Return the relative standard deviation that results from the widest histogram bin of these trials.

    It is at least `LEAST_DEVIATION`.
    """
    return widest_bin_deviation((trial.bin_width for trial in trials), DEFAULT_BIN_WIDTH)


def remarks_on(
    trials: Sequence[Trial], samples: Sequence[float], metric: MetricId, *, by_build: bool
) -> tuple[str, ...]:
    """Return remarks on a cell's values of a metric, as sentences without full stops.

    `samples`: the values used for confidence intervals and tests: one per trial, or one mean per build.
    """
    equal = _equal(trials, samples, metric, "build" if by_build else "trial")
    return (*without_value(trials, metric), *_some_zero(trials, metric), *equal, *_of_rules(trials, metric))


def _of_rules(trials: Sequence[Trial], metric: MetricId) -> Iterator[str]:
    """Yield the notes that every output of a result shows, from the first trial that has them."""
    notes: dict[str, Finding] = {}
    for finding in (finding for trial in trials for finding in trial.findings_on(metric)):
        if finding.effect == "notes" and finding.is_about(metric):
            notes.setdefault(finding.rule, finding)
    yield from (notes[rule.id].message for rule in rules_of(notes.values()) if rule.notes_are_remarks)


def disturbed_remarks(trials: Sequence[Trial], left_out: int) -> tuple[str, ...]:
    """Return sentences about the trials that other work disturbed (`disturbed.py`).

    `trials`: the trials that are used.
    `left_out`: the number of trials that are left out.
    """
    finished = format_number_of(len(trials) + left_out, "trial")
    disturbed = sum(map(is_disturbed, trials))
    found = []
    if left_out:
        are, them = ("is", "it") if left_out == 1 else ("are", "them")
        found.append(f"{left_out} of {finished} {are} left out: other work disturbed {them}")
    if disturbed:
        kept = _kept(disturbed, len(trials) + left_out, are_most=is_mostly_disturbed(trials))
        found.append(f"other work disturbed {kept}")
    return tuple(found)


def warm_remark(account: AccountSum | None, metric: MetricId) -> tuple[str, ...]:
    """Return a sentence about the reads of a cell whose caches stayed warm (`cold: false`).

    The tuple is empty if the cell's byte accounting is unknown, if fio read nothing, or if the metric excludes reads.
    """
    if account is None or not account.fio_read_bytes or metric_of(metric).of not in ("all", "ios", "read"):
        return ()
    share = 100 * account.leaf_read_bytes / account.fio_read_bytes
    return (
        "the caches stayed warm (cold: false), so RAM can be part of the result: the disks read "
        f"{format_number(share, 3)}% of the bytes that fio read",
    )


def _kept(disturbed: int, finished: int, *, are_most: bool) -> str:
    """Return the end of a sentence about disturbed trials that cannot be left out."""
    ends = "so the result is not compared" if are_most else "so comparisons use the lowest and the highest result"
    if finished == 1:
        return f"the only trial, {ends}"
    if disturbed == finished:
        return f"{'both' if finished == 2 else f'all {finished}'} trials, {ends}"
    few = f"too few others remain to leave {'it' if disturbed == 1 else 'them'} out"
    return f"{disturbed} of {finished} trials; {few}, {ends}"


def without_value(trials: Sequence[Trial], metric: MetricId) -> tuple[str, ...]:
    """Return sentences that list the trials without a usable value of a metric, and the reason.

    Failed trials are ignored. If no trial measured the metric, there are no sentences, unless it is the workload's own
    metric.
    """
    measured = [trial for trial in trials if has_values(trial.verdict)]
    used = sum(trial.value(metric) is not None for trial in measured)
    raw = {trial.number: trial.figures.metric(metric) if trial.figures else None for trial in measured}
    if not used and all(value is None for value in raw.values()) and any(trial.metric != metric for trial in measured):
        return ()
    title = metric_of(metric).title
    absent = [number for number, value in raw.items() if value is None]
    wrong = {
        trial.number: raw[trial.number]
        for trial in measured
        if trial.value(metric) is None and raw[trial.number] is not None
    }
    left = (
        f": the result is from {used} of {format_number_of(len(measured), 'trial')}"
        if used
        else ", so there is no result"
    )
    found = []
    if absent:
        found.append(f"{_named(absent)} {'has' if len(absent) == 1 else 'have'} no {title}{left}")
    if wrong:
        values = ", ".join(_value_text(value, metric) for value in list(wrong.values())[:_MOST_NAMED])
        found.append(f"{_named(list(wrong))} measured {values}, which is impossible{left}")
    return tuple(found)


def _some_zero(trials: Sequence[Trial], metric: MetricId) -> tuple[str, ...]:
    zero = [trial.number for trial in trials if trial.value(metric) == 0]
    return (f"{_named(zero)} measured 0",) if zero and any(trial.value(metric) for trial in trials) else ()


def _equal(trials: Sequence[Trial], samples: Sequence[float], metric: MetricId, what: str) -> tuple[str, ...]:
    if len(samples) < 2 or min(samples) != max(samples):
        return ()
    which = f"all {len(samples)} {what}s" if len(samples) > 2 else f"both {what}s"
    if samples[0] == 0:
        return (f"{which} measured 0",)
    agree = f"{which} agree to the last digit, so they do not show how much {what}s vary"
    return (
        f"{agree}: the interval is at least the resolution of the measurement ({resolution_of(trials, metric).what})",
    )


def _named(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return f"trial{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers[:_MOST_NAMED]))}{more}"


def _value_text(value: float | None, metric: MetricId) -> str:
    if value is None or not math.isfinite(value):
        return "a value that is not finite"
    text = metric_of(metric).unit.text(abs(value))
    return f"−{text}" if value < 0 else text
