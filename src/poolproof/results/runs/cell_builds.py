"""Select which builds and trials of a cell are used, and the samples for confidence intervals and comparisons.

If any cell of a run has values from two or more builds, the mean of each build is one sample
(`statistics/build_samples.py`). A build with a failed trial is excluded if the cell has a build without one. Trials
that other work disturbed are left out if their build has enough others (`disturbed.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from poolproof.metrics import MetricId
from poolproof.results.runs.disturbed import is_disturbed, without_disturbed
from poolproof.results.runs.model import Trial
from poolproof.results.runs.remarks import resolution_of
from poolproof.rules.model import Finding
from poolproof.rules.work_done import WORK_DONE
from poolproof.statistics.build_samples import Samples, build_samples
from poolproof.verdicts import has_values


def split_builds(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Group a cell's trials into one list per build, in the order of the builds."""
    builds: dict[int, list[Trial]] = {}
    for trial in trials:
        builds.setdefault(trial.build, []).append(trial)
    return [own for _, own in sorted(builds.items())]


def counting(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return the trials of a cell on which its results are based.

    Builds with a failed trial are excluded, unless every build has one. Trials that other work disturbed are excluded
    if their build has enough others.
    """
    return tuple(trial for build in split_builds(_of_whole_builds(trials)) for trial in without_disturbed(build))


def left_out(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return the trials of a cell that are left out because other work disturbed them, although their build is used."""
    builds = split_builds(_of_whole_builds(trials))
    shortened = (build for build in builds if len(without_disturbed(build)) < len(build))
    return tuple(trial for build in shortened for trial in build if is_disturbed(trial))


def _of_whole_builds(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    failed = {trial.build for trial in trials if not has_values(trial.verdict)}
    whole = tuple(trial for trial in trials if trial.build not in failed)
    return whole or tuple(trials)


def are_apart(cells: Iterable[Sequence[Trial]]) -> bool:
    """True if any of these cells has values from two or more builds."""
    return any(len({trial.build for trial in cell if trial.figures is not None}) > 1 for cell in cells)


def samples_of(trials: Sequence[Trial], metric: MetricId, *, by_build: bool) -> Samples:
    """Return a cell's samples of a metric: one value per trial or, with `by_build`, one mean per build.

    The standard error of the samples is at least the metric's resolution.
    """
    found = ([trial.value(metric) for trial in own] for own in split_builds(trials))
    samples = samples_among([[value for value in own if value is not None] for own in found], by_build=by_build)
    return replace(samples, error=max(samples.error, resolution_of(trials, metric).share))


def samples_among(builds: Sequence[Sequence[float]], *, by_build: bool) -> Samples:
    """Return a cell's samples. `builds`: one sequence per build, with the values of its trials."""
    return build_samples(builds) if by_build else Samples(tuple(value for build in builds for value in build))


def failed_builds_note(trials: Sequence[Trial], builds: int) -> Finding | None:
    """Return a note about the failed builds that are excluded from a cell, or None if no build is excluded.

    `builds`: the number of builds that the campaign requires.
    """
    used = {trial.build for trial in counting(trials)}
    failed = [trial for trial in trials if trial.build not in used and not has_values(trial.verdict)]
    if not failed:
        return None
    numbers = sorted({trial.build for trial in failed})
    which = f"build {numbers[0]}" if len(numbers) == 1 else f"builds {', '.join(map(str, numbers))}"
    are = "is" if len(numbers) == 1 else "are"
    cause = failed[0].findings[0] if failed[0].findings else None
    why, fix = (cause.message, cause.fix) if cause else ("a trial failed", "poolproof show RUN")
    return Finding(WORK_DONE, "notes", f"{which} of {builds} failed and {are} left out: {why}", fix)
