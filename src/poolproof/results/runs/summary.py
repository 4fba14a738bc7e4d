"""The cells of a run. Each cell combines its trials into results, verdicts and byte accounting."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from poolproof.campaign.calibration import calibrated_device, calibration_of, cell_keys
from poolproof.campaign.cell_key import HEALTHY, CellKey
from poolproof.campaign.claims import claimed_metrics
from poolproof.campaign.emulation import emulated_models
from poolproof.campaign.generator_option import DEFAULT_GENERATOR
from poolproof.campaign.model import Campaign
from poolproof.metrics import METRICS, MetricId, metric_of
from poolproof.results.runs import cell_builds
from poolproof.results.runs.changing_rates import unsteady_reasons
from poolproof.results.runs.convergence import CellConvergence, VariancePriors, convergence_of, priors_among
from poolproof.results.runs.disturbed import is_mostly_disturbed
from poolproof.results.runs.few_events import FewEvents, few_events
from poolproof.results.runs.in_place import family_of
from poolproof.results.runs.model import Trial
from poolproof.results.runs.remarks import coarsest_bin, disturbed_remarks, remarks_on, warm_remark
from poolproof.results.runs.shares import AccountSum, LeafShare, account_sum, leaf_shares, with_values
from poolproof.results.runs.usability import Usability
from poolproof.rules.model import Finding
from poolproof.rules.rule_catalogue import rules_of
from poolproof.statistics.build_samples import Samples
from poolproof.statistics.comparison import LogMean
from poolproof.statistics.intervals import Interval, mean_interval
from poolproof.statistics.shared_variance import LEAST_DEVIATION, VariancePrior, fit_prior
from poolproof.statistics.two_groups import ValueGroup, groups_of
from poolproof.verdicts import Verdict, counts, worst

Widening = Callable[[CellKey, MetricId, LogMean], LogMean]
"""A function that adds the between-run variance, if known from earlier runs, to the mean of a cell's metric."""


@dataclass(frozen=True)
class CellResult:
    """The result of a cell for one metric.

    `values`: the value in each trial that measured the metric.
    `interval`: the mean and its confidence interval.
    """

    values: tuple[float, ...]
    verdict: Verdict
    interval: Interval | None

    @property
    def counts(self) -> bool:
        """True if the values may be compared, ranked and averaged."""
        return counts(self.verdict)


@dataclass(frozen=True)
class OtherVerdict:
    """Metrics of a cell that have the same verdict because of the same findings.

    The verdict differs from that of the workload's own metric.
    """

    metrics: tuple[MetricId, ...]
    verdict: Verdict
    reasons: tuple[Finding, ...]


@dataclass(frozen=True)
class Cell:
    """The results of one layout under one workload in one state.

    Failed trials contribute no results.

    `figure`: the result for the workload's own metric.
    `verdict`: the worst verdict of the trials.
    `findings`: the most serious finding of each rule in any trial, most serious first.
    `settling`: the convergence, or None if the trials ran for a fixed time.
    `emulated`: the models of the emulated disks that the layout uses.
    `claimed`: the metrics of this cell that the campaign's claims use.
    `by_build`: whether confidence intervals and comparisons use each build's mean as one sample.
    `failed_builds`: a note about the failed builds, whose trials are not in `trials`.
    `left_out`: the trials that other work disturbed and that are therefore not in `trials`.
    `family`: the number of the layout's family (`in_place.family_of`).
    `cold`: False if the caches stayed warm between the trials (`cold: false`).
    """

    layout: str
    workload: str
    trials: tuple[Trial, ...]
    metric: MetricId
    verdict: Verdict
    findings: tuple[Finding, ...]
    figure: Interval | None
    account: AccountSum | None
    leaves: tuple[LeafShare, ...]
    settling: CellConvergence | None = None
    state: str = HEALTHY
    emulated: tuple[str, ...] = ()
    claimed: frozenset[MetricId] = frozenset()
    generator: str = DEFAULT_GENERATOR
    by_build: bool = False
    failed_builds: Finding | None = None
    left_out: tuple[Trial, ...] = ()
    family: int | None = None
    cold: bool = True

    @property
    def key(self) -> CellKey:
        return CellKey(self.layout, self.workload, self.state)

    @property
    def layout_in_state(self) -> str:
        """Return the layout's name, followed by the state unless it is `healthy`."""
        return self.key.layout_in_state

    @property
    def did_not_converge(self) -> bool:
        """True if the cell should have converged (`until`) but did not. Its mean is then unreliable."""
        return self.settling is not None and not self.settling.converged

    @property
    def disagrees(self) -> bool:
        """True if the trials differ by more than the within-trial variation explains. The mean may still be precise."""
        across = self.settling.across_trials if self.settling else None
        return across is not None and across.disagree

    @property
    def unsteady(self) -> tuple[str, ...]:
        """Return the reasons why the rate changed within trials.

        Trials with a changing rate may agree with each other and still all be wrong. The result is empty if the only
        problem is that the cell has too few trials or that its trials differ too much, because the confidence interval
        across trials already shows this.
        """
        return unsteady_reasons(self.trials) if self.did_not_converge else ()

    @property
    def all_trials(self) -> tuple[Trial, ...]:
        """Return the trials, including those that are left out because other work disturbed them, by number."""
        return tuple(sorted((*self.trials, *self.left_out), key=lambda trial: trial.number))

    @property
    def seconds(self) -> Mapping[str, float]:
        """Return the duration of each part of a trial, in seconds, summed over all trials, including those left out."""
        every = self.all_trials
        parts = dict.fromkeys(part for trial in every for part in trial.seconds)
        return {part: sum(trial.seconds.get(part, 0.0) for trial in every) for part in parts}

    @property
    def warmup_s(self) -> float | None:
        """Return the longest warm-up of all trials in seconds. None if no trial used the stopping rule."""
        return max((trial.settling.warmup_s for trial in self.trials if trial.settling is not None), default=None)

    @property
    def counts(self) -> bool:
        """True if the result for the workload's own metric may be compared, ranked and averaged."""
        return self.result().counts

    def result(self, metric: MetricId | None = None) -> CellResult:
        """Return the result for a metric, by default the workload's own, with the worst verdict of all trials."""
        metric = metric or self.metric
        if metric not in self._results:
            self._results[metric] = self._result(metric)
        return self._results[metric]

    @cached_property
    def _results(self) -> dict[MetricId, CellResult]:
        return {}

    @cached_property
    def _samples(self) -> dict[MetricId, Samples]:
        return {}

    def _result(self, metric: MetricId) -> CellResult:
        values = tuple(value for trial in self.trials if (value := trial.value(metric)) is not None)
        interval = self.figure
        if metric != self.metric:
            samples = self.samples(metric)
            interval = mean_interval(samples.values, resolution=samples.error)
            if interval is not None and self.few_events(metric) is not None:
                interval = Interval(interval.mean)
        return CellResult(values, worst(trial.verdict_on(metric) for trial in self.trials), interval)

    def interval(self, metric: MetricId | None = None) -> Interval | None:
        """Return the mean and confidence interval of a metric as all outputs show them, or None if there are no values.

        A metric with the same values as the workload's own metric has the same interval. An example is `read_iops` for
        a read-only workload that is compared by `iops`.
        """
        result = self.result(metric)
        return self.figure if result.values == self.values() else result.interval

    def usability(self, metric: MetricId | None = None) -> Usability:
        """Return what the result for a metric can be used for. The default is the workload's own metric."""
        result = self.result(metric)
        causes = () if result.counts else self.reasons(metric)
        about = (finding for finding in self.findings_on(metric) if finding.is_about(metric or self.metric))
        limited = next((f"{rule.not_compared} ({rule.id})" for rule in rules_of(about) if rule.not_compared), "")
        few, disturbed = self.few_events(metric), is_mostly_disturbed(self.trials)
        return Usability(result.verdict, causes, few, not self.did_not_converge, self.unsteady, limited, disturbed)

    def few_events(self, metric: MetricId | None = None) -> FewEvents | None:
        """Return the number of events that a percentile has and needs, if it has too few, otherwise None.

        For rates, the result is always None.
        """
        return few_events(self.trials, metric or self.metric)

    @property
    def too_few(self) -> Mapping[MetricId, FewEvents]:
        """Return the measured percentiles with too few events, each with the number of events that it has and needs."""
        found = {metric.id: self.few_events(metric.id) for metric in METRICS if not metric.is_rate}
        return {metric: few for metric, few in found.items() if few is not None}

    def reasons(self, metric: MetricId | None = None) -> tuple[Finding, ...]:
        """Return the findings that led to the verdict on a metric (default: the workload's own), most serious first."""
        return tuple(finding for finding in self.findings_on(metric) if finding.effect != "notes")

    def findings_on(self, metric: MetricId | None = None) -> tuple[Finding, ...]:
        """Return the findings on a metric from all trials, one per rule and most serious first."""
        found = [finding for trial in self.trials for finding in trial.findings_on(metric)]
        return _strongest([*found, *([self.failed_builds] if self.failed_builds else [])])

    @property
    def other_verdicts(self) -> tuple[OtherVerdict, ...]:
        """Return the verdicts on measured metrics that differ from the verdict on the workload's own metric.

        Metrics with the same verdict and findings are grouped.
        """
        if not any(trial.verdicts for trial in self.trials):
            return ()
        own, groups = self.result().verdict, dict[tuple[Verdict, tuple[Finding, ...]], list[MetricId]]()
        for metric in METRICS:
            if (result := self.result(metric.id)).values and result.verdict != own:
                groups.setdefault((result.verdict, self.reasons(metric.id)), []).append(metric.id)
        return tuple(OtherVerdict(tuple(metrics), *key) for key, metrics in groups.items())

    @property
    def claimed_verdicts(self) -> tuple[OtherVerdict, ...]:
        """Return the part of `other_verdicts` that concerns metrics used in claims."""
        return self._other_verdicts_of(self.claimed.__contains__)

    @property
    def distinct_verdicts(self) -> tuple[OtherVerdict, ...]:
        """Return `other_verdicts` without read-only and write-only metrics that merely repeat the combined metric."""
        return self._other_verdicts_of(lambda metric: not self.is_repeated(metric))

    def _other_verdicts_of(self, is_wanted: Callable[[MetricId], bool]) -> tuple[OtherVerdict, ...]:
        wanted = (replace(each, metrics=tuple(filter(is_wanted, each.metrics))) for each in self.other_verdicts)
        return tuple(each for each in wanted if each.metrics)

    def values(self, metric: MetricId | None = None) -> tuple[float, ...]:
        """Return the value of a metric, by default the workload's own, in each trial that did not fail."""
        return self.result(metric).values

    def is_repeated(self, metric: MetricId) -> bool:
        """True if this is a read-only or write-only metric that merely repeats the combined metric.

        This means that both have the same values and the same verdict.
        """
        if (both := metric_of(metric).of_both) is None:
            return False
        one, all_ios = self.result(metric), self.result(both)
        return (one.values, one.verdict) == (all_ios.values, all_ios.verdict)

    def samples(self, metric: MetricId | None = None) -> Samples:
        """Return a metric's independent samples: the trials' values, or the builds' means if there are several."""
        metric = metric or self.metric
        if metric not in self._samples:
            samples = cell_builds.samples_of(self.trials, metric, by_build=self.by_build)
            self._samples[metric] = replace(samples, least_count=self.settling.least_count if self.settling else None)
        return self._samples[metric]

    def remarks(self, metric: MetricId | None = None) -> tuple[str, ...]:
        """Return remarks on the cell's trials (`remarks.py`) and failed builds, as sentences without full stops."""
        metric = metric or self.metric
        found = remarks_on(self.trials, self.samples(metric).values, metric, by_build=self.by_build)
        found = (*found, *disturbed_remarks(self.trials, len(self.left_out)))
        found = found if self.cold else (*found, *warm_remark(self.account, metric))
        return found if self.failed_builds is None else (*found, self.failed_builds.message)

    @property
    def builds(self) -> int:
        """Return the number of builds whose trials are used."""
        return len(cell_builds.split_builds(self.trials))

    def groups(self) -> tuple[ValueGroup, ...]:
        """Return the trials' values as one group, or as two groups if the overall mean would represent neither.

        Failed trials are excluded.
        """
        swings = [trial.figures.swing for trial in with_values(self.trials) if trial.figures is not None]
        return groups_of(self.values(), max((swing for swing in swings if swing is not None), default=0.0))


def cells_of(trials: Sequence[Trial], campaign: Campaign) -> tuple[Cell, ...]:
    """Return the cells with a finished trial, sorted by layout, state and workload in the order of the campaign.

    Disks that were measured individually are excluded, because they are not compared with layouts.
    """
    keys = cell_keys(campaign.layouts, campaign.workloads, campaign.states)
    return _cells([trial for trial in trials if calibrated_device(trial.layout) is None], keys, campaign)


def bare_cells_of(trials: Sequence[Trial], campaign: Campaign) -> tuple[Cell, ...]:
    """Return the cells of the disks that `calibrate` measured individually, under workloads adapted to a bare disk."""
    calibration = calibration_of(campaign)
    keys = cell_keys(calibration.layouts, calibration.workloads)
    return _cells([trial for trial in trials if calibrated_device(trial.layout) is not None], keys, campaign)


def _cells(trials: Iterable[Trial], keys: Iterable[CellKey], campaign: Campaign) -> tuple[Cell, ...]:
    measure, models, claimed = campaign.measure, emulated_models(campaign), claimed_metrics(campaign.expect)
    generators = {workload.name: workload.generator_name for workload in campaign.workloads}
    warm = {each.name for each in campaign.workloads if not measure.is_cold(each, reads=True)}
    groups: dict[CellKey, list[Trial]] = {key: [] for key in keys}
    for trial in trials:
        groups.setdefault(trial.cell_key, []).append(trial)
    every = [sorted(group, key=lambda trial: trial.number) for group in groups.values() if group]
    ordered = [cell_builds.counting(group) for group in every]
    by_build = cell_builds.are_apart(ordered)
    priors, family = priors_among(ordered, by_build=by_build), family_of(campaign)
    cells = []
    for group, trials in zip(every, ordered, strict=True):
        cell = _cell(trials, convergence_of(group, measure, priors, by_build=by_build), priors, by_build=by_build)
        note = cell_builds.failed_builds_note(group, measure.builds)
        cell = replace(
            cell,
            emulated=models.get(cell.layout, ()),
            generator=generators.get(cell.workload, DEFAULT_GENERATOR),
            claimed=claimed.get(cell.key, frozenset()),
            failed_builds=note,
            left_out=cell_builds.left_out(group),
            family=family.get(cell.layout),
            cold=cell.workload not in warm,
            findings=_strongest([*cell.findings, *([note] if note else [])]),
        )
        cells.append(cell)
    return tuple(cells)


def unchanged(_key: CellKey, _metric: MetricId, mean: LogMean) -> LogMean:
    """Return the mean unchanged, without the between-run variance, for results that are only about this run."""
    return mean


def metric_prior(cells: Iterable[Cell], metric: MetricId) -> VariancePrior | None:
    """Return the typical variance of a metric between trials or builds.

    Return None if too few cells have two or more samples. Cells with a changing rate are included, because their
    extremes already account for the error that all their trials share.
    """
    every = tuple(cells)
    trials = (trial for cell in every for trial in cell.trials)
    least = LEAST_DEVIATION if metric_of(metric).is_rate else coarsest_bin(trials)
    return fit_prior([cell.samples(metric).values for cell in every], least)


def _cell(
    trials: tuple[Trial, ...], settling: CellConvergence | None, priors: VariancePriors, *, by_build: bool
) -> Cell:
    first = trials[0]
    samples = cell_builds.samples_of(trials, first.metric, by_build=by_build)
    return Cell(
        layout=first.layout,
        workload=first.workload,
        trials=trials,
        metric=first.metric,
        verdict=worst(trial.verdict_on(first.metric) for trial in trials),
        findings=_strongest(finding for trial in trials for finding in trial.findings),
        figure=_figure(samples, settling, trials, priors.of(first.metric)),
        account=account_sum(trials),
        leaves=leaf_shares(trials),
        settling=settling,
        state=first.state,
        by_build=by_build,
    )


def _figure(
    samples: Samples, settling: CellConvergence | None, trials: Sequence[Trial], prior: VariancePrior | None
) -> Interval | None:
    """Return the mean with its confidence interval, or None if there are no samples.

    The confidence level is 95% or, with `until`, the requested one. A percentile with too few events has no interval.
    """
    across = settling.across_trials if settling else None
    if across is None or across.low is None or across.high is None:
        interval = mean_interval(samples.values, prior, samples.error)
    else:
        interval = Interval(across.mean, max(0.0, across.low), across.high)
    has_few = interval is not None and few_events(trials, trials[0].metric) is not None
    return Interval(interval.mean) if interval is not None and has_few else interval


def _strongest(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each rule's most serious finding. The most serious one of all comes first."""
    by_rule: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda finding: finding.rank):
        by_rule.setdefault(finding.rule, finding)
    return tuple(by_rule.values())
