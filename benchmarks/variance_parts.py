"""Measure the parts of the variance of results: `python -m benchmarks.variance_parts [--runs] RUN…`.

Each run must have several builds of each layout, and several trials of each build (`measure: {builds: 4, trials: 2}`),
as `benchmarks/campaigns/variance.yaml` does. All standard deviations are relative. For each cell, they are printed for
three levels:

- within trials: the standard error of a trial's mean rate, computed from its autocorrelated series. The median over all
  trials is used, because the error of a short series is very uncertain.
- between trials: the standard deviation of the trials of a build, without the part from within trials.
- between builds: the standard deviation of the builds' means, without the part from between trials.

The next lines show which shares of these variances are explained by order: by the position of a layout in its round of
builds, by the round itself, and by the position of a trial in its build. The last lines derive how many trials a build
needs. With N builds of m trials, the variance of a result is B / N + T / (N m), and its time is N (b + m t). B and T
are the variances between builds and between trials, and b and t are the times for a build and for a trial. For a given
time, the variance is smallest if m = √(T / B × b / t).

With `--runs`, the runs are repetitions of one campaign with one build each, for example those of benchmarks.court. The
table then has the variance between runs instead of that between builds. Each run builds its layouts anew, so this
includes the variance between builds.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arguments import arguments
from poolproof.presentation.charts.trial_data import trial_data
from poolproof.results.runs.cell_builds import split_builds
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.model import Trial
from poolproof.results.runs.timing import took
from poolproof.statistics.autocorrelation import long_run
from poolproof.statistics.shared_variance import variance_of

_LEAST_RATES = 10
_ALL_SAMPLES = 10**9
_IDLE = 3  # the number of successive rates of 0 that separate the measured I/O from what happens before and after
_EDGE = 2  # the number of rates at each end during which fio starts or ends


@dataclass(frozen=True)
class Parts:
    """The relative variances of a cell.

    `within`: None if no trial has a series.
    """

    name: str
    within: float | None
    trials: float
    builds: float


@dataclass(frozen=True)
class Placed:
    """A deviation from the mean of its cell or build, in units of the cell's standard deviation, and its position."""

    position: int
    deviation: float


def parts_of(name: str, builds: Sequence[Sequence[float]], within: float | None = None) -> Parts | None:
    """Return the parts of the variance of a cell.

    Return None if there are fewer than two builds with at least two trials each, or if a value is 0. Builds with fewer
    trials than the others are left out.

    `within`: the variance of a trial's mean.
    """
    count = max(map(len, builds), default=0)
    whole = [build for build in builds if len(build) == count]
    if count < 2 or len(whole) < 2 or min(map(min, whole)) <= 0:
        return None
    logs = [[math.log(value) for value in build] for build in whole]
    trials = statistics.fmean(map(variance_of, logs))
    between = variance_of([statistics.fmean(build) for build in logs])
    return Parts(name, within, max(0.0, trials - (within or 0.0)), max(0.0, between - trials / count))


def share_of_positions(placed: Sequence[Placed]) -> float:
    """Return the share of a variance that the positions explain (ω² in an analysis of variance). It is at least 0."""
    groups: dict[int, list[float]] = {}
    for each in placed:
        groups.setdefault(each.position, []).append(each.deviation)
    total = math.fsum(each.deviation**2 for each in placed)
    between = math.fsum(len(own) * statistics.fmean(own) ** 2 for own in groups.values())
    freedom, rest = len(groups) - 1, len(placed) - len(groups)
    if freedom < 1 or rest < 1 or not total:
        return 0.0
    mean_square = (total - between) / rest
    return max(0.0, (between - freedom * mean_square) / (total + mean_square))


def within_trial(run: LoadedRun, trial: Trial) -> float | None:
    """Return the relative variance of a trial's mean rate, or None if the trial has no series.

    It is the variance that the stopping rule computed or, for a trial of fixed length, the variance of the bytes that
    its disks moved. fio takes most of a second to start and some time to end. The samples from these times, in which no
    disk moves a byte, are left out.
    """
    if trial.settling is not None:
        return None if trial.settling.error_share is None else trial.settling.error_share**2
    data = trial_data(run.path, trial, _ALL_SAMPLES)
    if data is None:
        return None
    rates = busy_rates([(each.at_s, each.read_bytes + each.write_bytes) for each in data.samples])
    if len(rates) < _LEAST_RATES:
        return None
    found = long_run(rates)
    return (found.standard_error / found.mean) ** 2


def busy_rates(totals: Sequence[tuple[float, int]]) -> list[float]:
    """Return the rates between totals (time in seconds, bytes) in the longest part without three zeros in a row.

    Two rates at each end of it are left out, because fio starts or ends during them.
    """
    pairs = itertools.pairwise(totals)
    rates = [(moved - before) / (now - then) for (then, before), (now, moved) in pairs if now > then]
    stretches: list[list[int]] = [[]]
    for at, rate in enumerate(rates):
        if rate > 0 and stretches[-1] and at - stretches[-1][-1] > _IDLE:
            stretches.append([])
        stretches[-1] += [at] if rate > 0 else []
    longest = max(stretches, key=len)
    return rates[longest[0] + _EDGE : longest[-1] + 1 - _EDGE] if longest else []


def cells_of(run: LoadedRun) -> list[Parts]:
    """Return the parts of the variance of each cell."""
    found = []
    for cell in run.cells:
        if not cell.counts:
            continue
        errors = [error for trial in cell.trials if (error := within_trial(run, trial)) is not None]
        builds = [_values(own) for own in split_builds(cell.trials)]
        parts = parts_of(str(cell.key), builds, statistics.median(errors) if errors else None)
        found += [parts] if parts else []
    return found


def _values(trials: Iterable[Trial]) -> list[float]:
    return [value for trial in trials if (value := trial.result().value) is not None]


def positions_of(run: LoadedRun) -> Mapping[str, list[Placed]]:
    """Return the deviations of builds by position in the round and by round, and those of trials by position."""
    order: dict[int, list[str]] = {}
    for trial in run.trials:
        layouts = order.setdefault(trial.build, [])
        layouts += [] if trial.layout in layouts else [trial.layout]
    placed: dict[str, list[Placed]] = {"position in the round": [], "round": [], "trial of the build": []}
    for cell in run.cells:
        logs = {
            own[0].build: [math.log(value) for value in _values(own)]
            for own in split_builds(cell.trials)
            if len(_values(own)) == len(own) and min(_values(own)) > 0
        }
        means = {build: statistics.fmean(own) for build, own in logs.items()}
        if len(means) < 2 or not cell.counts:
            continue
        scale = math.sqrt(variance_of(list(means.values()))) or 1.0
        inside = math.sqrt(statistics.fmean(variance_of(own) for own in logs.values())) or 1.0
        for build, mean in means.items():
            apart = (mean - statistics.fmean(means.values())) / scale
            placed["position in the round"].append(Placed(order[build].index(cell.layout), apart))
            placed["round"].append(Placed(build, apart))
            steps = enumerate(logs[build])
            placed["trial of the build"] += [Placed(number, (value - mean) / inside) for number, value in steps]
    return placed


def best_trials(trials: float, builds: float, build_s: float, trial_s: float) -> float:
    """Return the number of trials per build, at least 1, that results in the smallest variance for a given time."""
    if builds <= 0 or trial_s <= 0:
        return math.inf
    return max(1.0, math.sqrt(trials / builds * build_s / trial_s))


def _per_cent(variance: float | None) -> str:
    return "–" if variance is None else f"{float(f'{100 * math.sqrt(variance):.2g}'):g}%"


def cells_between(runs: Sequence[LoadedRun]) -> list[Parts]:
    """Return the parts of the variance of each cell that has valid results in at least two runs."""
    found: dict[str, list[tuple[list[float], list[float]]]] = {}
    for run in runs:
        for cell in run.cells:
            if cell.counts:
                errors = [error for trial in cell.trials if (error := within_trial(run, trial)) is not None]
                found.setdefault(str(cell.key), []).append((_values(cell.trials), errors))
    parts = []
    for name, own in found.items():
        errors = [error for _, each in own for error in each]
        parts.append(parts_of(name, [values for values, _ in own], statistics.median(errors) if errors else None))
    return [each for each in parts if each]


def _table(cells: Sequence[Parts], outer: str = "builds") -> Iterable[str]:
    yield f"| cell | within a trial | between trials | between {outer} |"
    yield "|---|---|---|---|"
    for each in cells:
        yield f"| {each.name} | {_per_cent(each.within)} | {_per_cent(each.trials)} | {_per_cent(each.builds)} |"
    within = [each.within for each in cells if each.within is not None]
    middle = (statistics.median(within) if 2 * len(within) > len(cells) else None, *_medians(cells))
    yield f"| median | {' | '.join(map(_per_cent, middle))} |"


def _medians(cells: Sequence[Parts]) -> tuple[float, float]:
    return statistics.median(each.trials for each in cells), statistics.median(each.builds for each in cells)


def _lines(runs: Sequence[LoadedRun]) -> Iterable[str]:
    cells = [parts for run in runs for parts in cells_of(run)]
    if not cells:
        yield "no cell has two builds of two trials each: set `measure: {builds: 4, trials: 2}`"
        return
    yield from _table(cells)
    yield ""
    places = [positions_of(run) for run in runs]
    for name in places[0]:
        share = share_of_positions([each for found in places for each in found[name]])
        of = "trials" if name.startswith("trial") else "the means of builds"
        yield f"{name}: explains {100 * share:.0f}% of the variance of {of}"
    times = [took(run.trials, _begun_s(run)) for run in runs]
    trial_s = statistics.fmean(second for found in times for own in found.trials.values() for second in own)
    build_s = statistics.fmean(found.building_s / _builds(run) for run, found in zip(runs, times, strict=True))
    workloads = statistics.fmean(len(run.campaign.workloads) for run in runs)
    yield f"\na build takes {build_s:.1f} s for {workloads:g} workloads, a trial {trial_s:.1f} s"
    trials, builds = _medians(cells)
    best = best_trials(trials, builds, build_s / workloads, trial_s)
    if math.isinf(best):
        yield "the median variance between builds is 0: one build is enough, and more trials help more"
    else:
        yield f"median variances, trials to builds: {trials / builds:.2g}; best number of trials per build: {best:.1f}"


def _begun_s(run: LoadedRun) -> float:
    from datetime import datetime

    return datetime.fromisoformat(run.record.begun_at).timestamp()


def _builds(run: LoadedRun) -> int:
    return len({(trial.layout, trial.build) for trial in run.trials})


def main() -> None:
    """Print the table and the shares."""
    words = arguments(__doc__)
    paths = [each for each in words if each != "--runs"]
    if not paths:
        raise SystemExit(__doc__)
    runs = [load_run(Path(each)) for each in paths]
    if "--runs" not in words:
        print("\n".join(_lines(runs)))
    elif cells := cells_between(runs):
        print("\n".join(_table(cells, "runs")))
    else:
        print("no cell has valid results of two trials each in two runs")


if __name__ == "__main__":
    main()
