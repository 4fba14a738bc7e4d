"""The cells of a run: each combines its trials into a result with an interval, a verdict and the byte accounting."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import calibrated_device, calibration_of
from poolproof.campaign.model import HEALTHY, Campaign, Measure
from poolproof.evidence.model import LeafUse
from poolproof.metrics import METRICS, MetricId, metric_of
from poolproof.results.runs.convergence import CellConvergence, convergence_of, priors_among, unsteady_reasons
from poolproof.results.runs.groups import Group, groups_of
from poolproof.results.runs.model import CellKey, Trial
from poolproof.rules.model import Finding
from poolproof.statistics.comparison import ratio_interval
from poolproof.statistics.intervals import Interval, mean_interval
from poolproof.verdicts import Verdict, counts, has_values, worst


@dataclass(frozen=True)
class LeafShare:
    """One disk's share (0 to 1) of the bytes that a cell read, wrote and stores, and its mean utilisation (0 to 1).

    `latency_s`: the mean latency per request at the disk, including the queue; None if the disk had no requests.
    """

    device: str
    read_share: float | None
    write_share: float | None
    stored_share: float | None
    utilisation: float
    latency_s: float | None = None


@dataclass(frozen=True)
class AccountSum:
    """The byte accounting of a cell, summed over its trials. `write_factor` is the expected write amplification."""

    fio_read_bytes: int
    leaf_read_bytes: int
    fio_write_bytes: int
    leaf_write_bytes: int
    write_factor: float


@dataclass(frozen=True)
class CellResult:
    """One metric of a cell. `values`: one for each trial that measured it. `interval`: their mean with its interval."""

    values: tuple[float, ...]
    verdict: Verdict
    interval: Interval | None

    @property
    def counts(self) -> bool:
        """True if the values may be compared, ranked and averaged."""
        return counts(self.verdict)


@dataclass(frozen=True)
class Cell:
    """One layout under one workload in one state. Failed trials have no results.

    `figure`: the result for the workload's own metric. `verdict`: the worst verdict of its trials. `findings`: those of
    all trials, each rule once, the strongest first. `settling`: None for trials of a fixed time.
    """

    layout: str
    workload: str
    trials: tuple[Trial, ...]
    metric: MetricId
    verdict: Verdict
    findings: tuple[Finding, ...]
    figure: Interval | None
    iops: Interval | None
    bandwidth: Interval | None
    latency_ns: Mapping[str, float | None]
    sync_latency_ns: Mapping[str, float | None]
    account: AccountSum | None
    leaves: tuple[LeafShare, ...]
    settling: CellConvergence | None = None
    state: str = HEALTHY

    @property
    def key(self) -> CellKey:
        """Return the name of the cell within its run."""
        return CellKey(self.layout, self.workload, self.state)

    @property
    def is_unsettled(self) -> bool:
        """True if the result is not precise to within the requested tolerance: its mean is not reliable."""
        return self.settling is not None and not self.settling.converged

    @property
    def disagrees(self) -> bool:
        """True if the trials differ by more than the variation within each explains; the mean may still be precise."""
        return (
            self.settling is not None
            and self.settling.across_trials is not None
            and self.settling.across_trials.disagree
        )

    @property
    def unsteady(self) -> tuple[str, ...]:
        """Return the names of the reasons why the rate of its trials was not steady.

        Trials that agree prove nothing then. The result is also empty if there are only too few trials, or if they
        differ too much: the interval over the trials shows that.
        """
        return unsteady_reasons(self.trials) if self.is_unsettled else ()

    @property
    def seconds(self) -> Mapping[str, float]:
        """Return the seconds of each part of its trials, summed over the trials."""
        parts = dict.fromkeys(part for trial in self.trials for part in trial.seconds)
        return {part: sum(trial.seconds.get(part, 0.0) for trial in self.trials) for part in parts}

    @property
    def warmup_s(self) -> float | None:
        """Return the longest warm-up in seconds that a trial excludes; None with a fixed time."""
        return max((trial.settling.warmup_s for trial in self.trials if trial.settling is not None), default=None)

    @property
    def counts(self) -> bool:
        """True if the cell's own metric counts."""
        return self.result().counts

    def result(self, metric: MetricId | None = None) -> CellResult:
        """Return the result of a metric, by default of the workload's own; its verdict is the worst of its trials."""
        metric = metric or self.metric
        values = self.values_of(metric)
        interval = self.figure if metric == self.metric else mean_interval(values)
        return CellResult(values, worst(trial.result(metric).verdict for trial in self.trials), interval)

    def values(self) -> tuple[float, ...]:
        """Return the metric of each trial that did not fail."""
        return self.values_of(self.metric)

    def values_of(self, metric: MetricId) -> tuple[float, ...]:
        """Return a metric of each trial that did not fail; empty if it was not measured."""
        return _values(self.trials, metric)

    def groups(self) -> tuple[Group, ...]:
        """Return the trials that did not fail as one group, or as two if a mean of all describes neither."""
        return groups_of(self.values(), max(_attribute(self.trials, "swing"), default=0.0))


def cells_of(trials: Sequence[Trial], campaign: Campaign) -> tuple[Cell, ...]:
    """Return the cells with a finished trial in the campaign's order: by layout, then by workload.

    Disks that were measured alone are not included, because they do not compete with layouts.
    """
    own = [trial for trial in trials if calibrated_device(trial.layout) is None]
    keys = [
        CellKey(layout.name, workload.name, state)
        for layout in campaign.layouts
        for state in campaign.states
        for workload in campaign.workloads
    ]
    return _cells(own, keys, campaign.measure)


def bare_cells_of(trials: Sequence[Trial], campaign: Campaign) -> tuple[Cell, ...]:
    """Return the cells of the disks that were measured alone (`calibrate`), each with the adapted workloads."""
    calibration = calibration_of(campaign)
    own = [trial for trial in trials if calibrated_device(trial.layout) is not None]
    keys = [CellKey(layout.name, each.name) for layout in calibration.layouts for each in calibration.workloads]
    return _cells(own, keys, campaign.measure)


def _cells(trials: Iterable[Trial], keys: Iterable[CellKey], measure: Measure) -> tuple[Cell, ...]:
    groups: dict[CellKey, list[Trial]] = {key: [] for key in keys}
    for trial in trials:
        groups.setdefault(trial.cell_key, []).append(trial)
    ordered = [tuple(sorted(group, key=lambda trial: trial.number)) for group in groups.values() if group]
    spread = priors_among(ordered) if measure.until else None
    return tuple(_cell(group, convergence_of(group, measure, spread)) for group in ordered)


def factor_to(cell: Cell, base: Cell) -> Interval | None:
    """Return the ratio of a cell to the base; None if one of them does not count or is not steady."""
    if not cell.counts or not base.counts or cell.unsteady or base.unsteady:
        return None
    return ratio_interval(cell.values(), base.values(), metric_of(cell.metric).resolution)


def _cell(trials: tuple[Trial, ...], settling: CellConvergence | None) -> Cell:
    first = trials[0]
    return Cell(
        layout=first.layout,
        workload=first.workload,
        trials=trials,
        metric=first.metric,
        verdict=worst(trial.result().verdict for trial in trials),
        findings=_findings(trials),
        figure=_figure(_values(trials, first.metric), settling),
        iops=mean_interval(_values(trials, "iops")),
        bandwidth=mean_interval(_values(trials, "bandwidth")),
        latency_ns=_percentiles(trials, "requests"),
        sync_latency_ns=_percentiles(trials, "syncs"),
        account=_account(trials),
        leaves=_leaves(trials),
        settling=settling,
        state=first.state,
    )


def _figure(values: Sequence[float], settling: CellConvergence | None) -> Interval | None:
    """Return the mean with its 95 % interval, or with the requested confidence if the campaign uses `until`."""
    between = settling.across_trials if settling else None
    if between is None or between.low is None or between.high is None:
        return mean_interval(values)
    return Interval(between.mean, max(0.0, between.low), between.high)


def _measured(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that did not fail."""
    return [trial for trial in trials if has_values(trial.verdict)]


def _values(trials: Iterable[Trial], metric: MetricId) -> tuple[float, ...]:
    values = [trial.result(metric).value for trial in trials]
    return tuple(value for value in values if value is not None)


def _attribute(trials: Iterable[Trial], name: str) -> list[float]:
    found = [getattr(trial.figures, name) for trial in _measured(trials) if trial.figures is not None]
    return [value for value in found if value is not None]


def _percentiles(trials: Iterable[Trial], of: str) -> dict[str, float | None]:
    """Return the mean of each percentile, by its name without `sync_`."""
    measured = list(trials)
    return {
        metric.id.removeprefix("sync_"): _mean(_attribute(measured, metric.field))
        for metric in METRICS
        if metric.of == of
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _findings(trials: Sequence[Trial]) -> tuple[Finding, ...]:
    """Return the strongest finding of each rule, the strongest first."""
    effects = ("fails", "refutes", "suspects", "notes")
    everything = [finding for trial in trials for finding in trial.findings]
    everything.sort(key=lambda finding: (effects.index(finding.effect), -finding.weight))
    by_rule: dict[str, Finding] = {}
    for finding in everything:
        by_rule.setdefault(finding.rule, finding)
    return tuple(by_rule.values())


def _account(trials: Sequence[Trial]) -> AccountSum | None:
    accounts = [trial.account for trial in _measured(trials) if trial.account is not None]
    if not accounts:
        return None
    return AccountSum(
        fio_read_bytes=sum(account.fio_read_bytes for account in accounts),
        leaf_read_bytes=sum(account.leaf_read_bytes for account in accounts),
        fio_write_bytes=sum(account.fio_write_bytes for account in accounts),
        leaf_write_bytes=sum(account.leaf_drained_write_bytes for account in accounts),
        write_factor=accounts[0].write_factor,
    )


def _leaves(trials: Sequence[Trial]) -> tuple[LeafShare, ...]:
    uses = [leaf for trial in _measured(trials) for leaf in trial.leaves]
    names = tuple(dict.fromkeys(leaf.device for leaf in uses))
    read = {name: sum(leaf.read_bytes for leaf in uses if leaf.device == name) for name in names}
    written = {name: sum(leaf.drained_write_bytes for leaf in uses if leaf.device == name) for name in names}
    stored = next((trial.stored_bytes for trial in reversed(trials) if trial.stored_bytes), {})
    return tuple(
        LeafShare(
            device=name,
            read_share=_share(read, name),
            write_share=_share(written, name),
            stored_share=_share(stored, name),
            utilisation=_mean([leaf.utilisation for leaf in uses if leaf.device == name]) or 0.0,
            latency_s=_latency_s([leaf for leaf in uses if leaf.device == name]),
        )
        for name in names
    )


def _latency_s(uses: Sequence[LeafUse]) -> float | None:
    """Return the mean latency of a request in seconds, over all trials."""
    timed = [(use.latency_s, use.read_ios + use.write_ios) for use in uses if use.latency_s is not None]
    requests = sum(count for _, count in timed)
    return sum(latency * count for latency, count in timed) / requests if requests else None


def _share(bytes_by_name: Mapping[str, int], name: str) -> float | None:
    total = sum(bytes_by_name.values())
    return bytes_by_name.get(name, 0) / total if total else None
