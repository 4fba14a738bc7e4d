"""Find earlier runs of the same campaign, and estimate the between-run variance from them.

Earlier runs are searched for in the folder that contains the run. They must be from the same machine, as identified by
its ID, and must not differ in anything that may affect results (`run_differences`). If only some layouts or workloads
differ, only the cells with these layouts or workloads are excluded.
"""

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.claims import claimed_metrics
from poolproof.errors import PoolproofError
from poolproof.metrics import MetricId, metric_of
from poolproof.results.compare.measured import Measured, measured
from poolproof.results.compare.run_differences import run_differences
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.model import RunRecord
from poolproof.results.runs.trust import distrust
from poolproof.statistics.between_runs import BetweenRuns, between_runs
from poolproof.statistics.comparison import Difference, LogMean, difference, mixture
from poolproof.statistics.paired_variance import estimated_together

MOST_RUNS = 20
"""The maximum number of earlier runs to use. If there are more, the newest ones are used."""
_MOST_FOLDERS = 200
_MOST_BYTES = 16_000_000
"""The maximum total size, in bytes, of the trials.jsonl files to read. Reading 10 MB takes about a second."""


@dataclass(frozen=True)
class RunVariance:
    """Which intervals include the between-run variance. Rates and percentiles have separate variances.

    `runs`: the number of earlier runs from which the variance was estimated, or 0 if no interval includes it.
    `known`, `unknown`: the kinds of metrics, `rates` or `percentiles`, whose intervals do or do not include it.
    """

    runs: int = 0
    known: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()

    def __add__(self, other: "RunVariance") -> "RunVariance":
        unknown = self.unknown | other.unknown
        known = (self.known | other.known) - unknown
        return RunVariance(max(self.runs, other.runs) if known else 0, known, unknown)


NOT_INCLUDED = RunVariance()
"""No interval includes the between-run variance."""


@dataclass(frozen=True)
class EarlierRuns:
    """The between-run variance of each cell, for one metric per workload.

    `count`: the number of earlier runs that share a testable cell with the run, or 0 if the variance is unknown for
    rates as well as for percentiles.
    """

    count: int = 0
    _rates: BetweenRuns[CellKey] | None = None
    _percentiles: BetweenRuns[CellKey] | None = None

    def widened(self, found: Measured) -> Measured:
        """Return the cell's value with the between-run variance, if known, added to its error."""
        return replace(found, log=self.widened_mean(found.cell.key, found.metric, found.log))

    def widened_mean(self, key: CellKey, metric: MetricId, mean: LogMean) -> LogMean:
        """Return the cell's mean with the between-run variance, if known, added to its error."""
        between = self._of(metric)
        return mean if between is None else between.widened(key, mean)

    def mixed(self, weighted: Sequence[tuple[float, Measured]]) -> LogMean:
        """Return the weighted mean of a layout's cells, with the between-run variance, if known, added to its error.

        Trials of different workloads are independent. Builds are not, because a build may change all workloads in the
        same way, and neither are the changes between runs.
        """
        independent = not any(each.cell.by_build for _, each in weighted)
        total = mixture(((weight, each.log) for weight, each in weighted), independent=independent)
        for weight, each in weighted:
            between = self._of(each.metric)
            total = total if between is None else between.added(total, each.cell.key, each.log, weight)
        return total

    def apart(self, one: Measured, other: Measured, *, same_run: bool) -> Difference:
        """Return the difference between two values, with an error that includes the between-run variance.

        The difference is positive if `one` is better.
        """
        between = self._of(one.metric)
        if between is None or same_run or one.cell.key != other.cell.key:
            return difference(self.widened(one).log, self.widened(other).log)
        return between.between_two(one.cell.key, difference(one.log, other.log))

    def all_apart(self, pairs: Sequence[tuple[Measured, Measured]], *, same_run: bool) -> list[Difference]:
        """Do the same as `apart` for each pair, and estimate the variances of the two cells of a pair together."""
        logs = estimated_together([(other.log, one.log) for one, other in pairs])
        return [
            self.apart(replace(one, log=log), replace(other, log=log_other), same_run=same_run)
            for (one, other), (log_other, log) in zip(pairs, logs, strict=True)
        ]

    def variance(self, metrics: Iterable[MetricId]) -> RunVariance:
        """Return which intervals of these metrics include the between-run variance."""
        kinds = {_kind(metric): self._is_known(metric) for metric in metrics}
        known = frozenset(kind for kind, is_known in kinds.items() if is_known)
        return RunVariance(self.count if known else 0, known, frozenset(kinds) - known)

    def _is_known(self, metric: MetricId) -> bool:
        between = self._of(metric)
        return between is not None and between.is_known

    def _of(self, metric: MetricId) -> BetweenRuns[CellKey] | None:
        return self._rates if metric_of(metric).is_rate else self._percentiles


def _kind(metric: MetricId) -> str:
    return "rates" if metric_of(metric).is_rate else "percentiles"


def earlier_runs(
    run: LoadedRun, metrics: Mapping[str, MetricId], *, apart_from: LoadedRun | None = None
) -> EarlierRuns:
    """Estimate the between-run variance from all cells of `run` and its earlier runs.

    Rates and percentiles have separate variances, because percentiles vary more.

    `metrics`: the metric to use for each workload. Workloads that are not listed use their own metric.
    `apart_from`: the run with which `run` is compared. It is excluded, so that the difference under test does not
    inflate the variance.
    """
    if not run.record.facts.get("machine") or run.record.imported:
        return EarlierRuns()
    own = _own_metrics(run)
    others = frozenset((name, metric) for name, metric in metrics.items() if own.get(name) != metric)
    return _found(_RunIdentity(run), others, None if apart_from is None else _identity(apart_from.record))


@dataclass(frozen=True)
class AcrossRuns:
    """The between-run variance for any metric, for use in claims and in speeds relative to the baseline."""

    run: LoadedRun

    def variance(self, *, speeds: bool, claims: bool) -> RunVariance:
        """Return which intervals of the speeds, the claims or both include the between-run variance."""
        used = {(cell.workload, cell.metric) for cell in self.run.cells} if speeds else set()
        if claims:
            found = claimed_metrics(self.run.campaign.expect)
            used |= {(key.workload, metric) for key, metrics in found.items() for metric in metrics}
        return sum((self._earlier(*each).variance([each[1]]) for each in sorted(used)), RunVariance())

    def widened(self, key: CellKey, metric: MetricId, mean: LogMean) -> LogMean:
        """Return the cell's mean with the between-run variance, if known, added to its error."""
        return self._earlier(key.workload, metric).widened_mean(key, metric, mean)

    def _earlier(self, workload: str, metric: MetricId) -> EarlierRuns:
        own = _own_metrics(self.run)
        return earlier_runs(self.run, {} if own.get(workload) == metric else dict.fromkeys(own, metric))


class EarlierAmong:
    """For the history page, finds a run's earlier runs among those in memory.

    Each cell is evaluated only once.
    """

    def __init__(self, runs: Iterable[LoadedRun]) -> None:
        """Keep only the runs that are complete and that no other user could have written."""
        whole = ((run.path.resolve(), run) for run in runs if run.has_record and not run.left_out)
        self._runs = {path: run for path, run in whole if distrust(path) is None}
        self._logs: dict[Path, Mapping[CellKey, LogMean]] = {}
        self._measured: dict[tuple[Path, CellKey, MetricId], Measured | str] = {}

    def measured(self, run: LoadedRun, key: CellKey, metric: MetricId) -> Measured | str:
        """Do the same as the function of this name, and remember the result."""
        place = (run.path, key, metric)
        if place not in self._measured:
            self._measured[place] = measured(run, key, metric)
        return self._measured[place]

    def of(self, run: LoadedRun) -> EarlierRuns:
        """Do the same as `earlier_runs`, but search only the runs in memory. `run` must be one of them."""
        path, machine = run.path.resolve(), run.record.facts.get("machine")
        if path not in self._runs or not machine or run.record.imported:
            return EarlierRuns()
        near = ((each, other.record) for each, other in self._runs.items() if each.parent == path.parent)
        found = [self._runs[each] for each in _newest(run.record.begun_s, run.record.seed, machine, path, near)]
        return _estimated(run, self._tested(run), ((each, self._tested(each)) for each in found), _own_metrics(run))

    def _tested(self, run: LoadedRun) -> Mapping[CellKey, LogMean]:
        path = run.path.resolve()
        if path not in self._logs:
            self._logs[path] = _all_tested(run, _own_metrics(run), self.measured)
        return self._logs[path]


class _RunIdentity:
    """A cache key for a run. Keys are compared by identity, because comparing all values of two runs would be slow."""

    def __init__(self, run: LoadedRun) -> None:
        self.run = run

    def __hash__(self) -> int:
        return id(self.run)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RunIdentity) and other.run is self.run


@functools.lru_cache(maxsize=16)  # the workloads' own metrics, and those that claims can name
def _found(
    of: _RunIdentity, others: frozenset[tuple[str, MetricId]], left_out: tuple[float, int] | None
) -> EarlierRuns:
    """Return the result of `earlier_runs`. It is cached, because the ranking of every workload needs it."""
    run = of.run
    metrics = {**_own_metrics(run), **dict(others)}
    earlier = _earlier(run.path.resolve(), run.record.begun_s, run.record.seed, run.record.facts["machine"])
    used = ((each, _all_tested(each, metrics)) for each in earlier if _identity(each.record) != left_out)
    return _estimated(run, _all_tested(run, metrics), used, metrics)


def _estimated(
    run: LoadedRun,
    own: Mapping[CellKey, LogMean],
    earlier: Iterable[tuple[LoadedRun, Mapping[CellKey, LogMean]]],
    metrics: Mapping[str, MetricId],
) -> EarlierRuns:
    """Estimate the between-run variance from a run and its earlier runs.

    `own`: the mean of each testable cell of the run.
    `earlier`: each earlier run with the means of its testable cells.
    """
    samples, count = {key: [log] for key, log in own.items()}, 0
    for found, logs in earlier:
        differs = _differing_names(run, found)
        if differs is None:
            continue
        same = [key for key in samples if key.layout not in differs and key.workload not in differs and key in logs]
        for key in same:
            samples[key].append(logs[key])
        count += bool(same)
    rates, percentiles = (
        between_runs(
            {key: means for key, means in samples.items() if metric_of(metrics[key.workload]).is_rate is is_rate}
        )
        for is_rate in (True, False)
    )
    return EarlierRuns(count, rates, percentiles) if rates.is_known or percentiles.is_known else EarlierRuns()


def _own_metrics(run: LoadedRun) -> dict[str, MetricId]:
    return {workload.name: workload.metric for workload in run.campaign.workloads}


def _all_tested(
    run: LoadedRun,
    metrics: Mapping[str, MetricId],
    look: Callable[[LoadedRun, CellKey, MetricId], Measured | str] = measured,
) -> dict[CellKey, LogMean]:
    """Return the mean of each testable cell of the run. `metrics`: the metric to use for each workload."""
    found = ((key, look(run, key, metrics[key.workload])) for key in run.by_key if key.workload in metrics)
    return {
        key: each.log for key, each in found if isinstance(each, Measured) and not each.untested and not each.changing
    }


def _differing_names(run: LoadedRun, other: LoadedRun) -> frozenset[str] | None:
    """Return the names of the layouts and workloads that differ between the runs.

    Return None if the runs differ in anything else, because none of their cells can then be compared.
    """
    names = set()
    for each in run_differences(run, other):
        kind, _, rest = each.what.partition(" ")
        if kind not in ("layout", "workload"):
            return None
        names.add(rest if kind == "layout" else rest.partition(": ")[0])
    return frozenset(names)


def _identity(record: RunRecord) -> tuple[float, int]:
    """Return the start time and the seed of a run, which identify the run and its copies."""
    return record.begun_s, record.seed


@functools.lru_cache(maxsize=2)
def _earlier(path: Path, begun_s: float, seed: int, machine: str) -> tuple[LoadedRun, ...]:
    """Return the newest earlier runs in the folder that contains `path`. Damaged runs are skipped."""
    records = ((folder, record) for folder in _folders(path) if (record := _record(folder)) is not None)
    runs = map(_loaded, _newest(begun_s, seed, machine, path, records))
    return tuple(run for run in runs if run is not None)


def _newest(
    begun_s: float, seed: int, machine: str, path: Path, candidates: Iterable[tuple[Path, RunRecord]]
) -> list[Path]:
    """Return the directories of the newest earlier runs, newest first, with only one copy of each run.

    The list contains at most `MOST_RUNS` runs, whose trials.jsonl files are at most `_MOST_BYTES` bytes in total.
    """
    found = {(begun_s, seed): path}
    records = []
    for folder, record in candidates:
        if record.imported or record.facts.get("machine") != machine or record.begun_s >= begun_s:
            continue
        if found.setdefault(_identity(record), folder) == folder:
            records.append((record.begun_s, folder))
    chosen, left_bytes = [], _MOST_BYTES
    for _, folder in sorted(records, reverse=True)[:MOST_RUNS]:
        left_bytes -= _trials_bytes(folder)
        if left_bytes >= 0:
            chosen.append(folder)
    return chosen


def _folders(path: Path) -> Iterator[Path]:
    """Yield up to 200 sibling folders of the run at `path`, newest first. Symbolic links are not followed."""
    try:
        with os.scandir(path.parent) as entries:
            folders = [(each.stat().st_mtime_ns, each.path) for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return
    yield from (Path(name) for _, name in sorted(folders, reverse=True)[:_MOST_FOLDERS] if Path(name) != path)


def _record(folder: Path) -> RunRecord | None:
    """Return the folder's run record. Return None if it is unreadable, or if another user could have written it."""
    try:
        return RunDirectory.open(folder).record() if distrust(folder) is None else None
    except PoolproofError:
        return None


def _loaded(folder: Path) -> LoadedRun | None:
    try:
        return load_run(folder)
    except (OSError, PoolproofError):
        return None


def _trials_bytes(folder: Path) -> int:
    try:
        return (folder / "trials.jsonl").stat().st_size
    except OSError:
        return 0
