"""The contents of a run directory, as immutable values. Every key is described in docs/run-directory.md.

Adding a field with a default does not require a new `SCHEMA`: older runs use the default, and older versions of
poolproof ignore the field. Adding a field without a default, or changing the meaning of a field, requires a new
`SCHEMA`.

Classes with up to a hundred thousand instances per run have slots, because this halves their memory use.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from poolproof.campaign.cell_key import HEALTHY, CellKey
from poolproof.campaign.generator_option import DEFAULT_BIN_WIDTH
from poolproof.evidence.model import Account, Evidence, LeafUse
from poolproof.evidence.target_facts import Target
from poolproof.metrics import MetricId, TrialMetrics, metric_of
from poolproof.rules.model import VERDICTS, Case, Finding
from poolproof.stopping.model import NotConverged
from poolproof.units import parse_date
from poolproof.verdicts import WORST_FIRST, Verdict, counts, has_values

SCHEMA = 1


class TrialKey(NamedTuple):
    """The key of a trial within its run. `number`: the trial's number within its cell, starting at 1."""

    layout: str
    workload: str
    number: int
    state: str = HEALTHY

    @property
    def cell(self) -> CellKey:
        return CellKey(self.layout, self.workload, self.state)

    @property
    def layout_in_state(self) -> str:
        """Return the layout's name, followed by the state unless it is `healthy`."""
        return self.cell.layout_in_state


@dataclass(frozen=True)
class MetricResult:
    """The result of a trial for one metric.

    `value`: the measured value, or None if the trial failed or the load generator did not measure the metric.
    `precision`: half the width of the confidence interval, relative to the value. None if the trial's own time series
    yields no interval.
    """

    value: float | None
    verdict: Verdict
    precision: float | None

    @property
    def counts(self) -> bool:
        """True if the value may be compared, ranked and averaged."""
        return counts(self.verdict)


@dataclass(frozen=True, slots=True)
class Convergence:
    """The convergence of a trial in a campaign with `until`.

    `settled`: whether the trial alone is precise to within the tolerance, at the requested confidence.
    `reasons`: the reasons why it is not.
    `warmup_s`, `ran_s`: the start and the end of the time on which the results are based.
    `most_s`: the maximum length of the trial.
    `whole`: the metric as the load generator reported it for the entire trial, including the warm-up.
    `low_share`, `high_share`: the bounds of the rate's confidence interval, relative to its mean.
    `half_share`: half the width of a percentile's confidence interval, relative to the percentile.
    `least_share`, `most_share`: the lowest and highest value of the metric in any tenth of that time, relative to its
    overall value.
    `trend_share`: the mean rate in the second half of that time minus the mean rate in the first half, relative to the
    overall rate. It is None in older runs, and if the trial is too short.
    `error_share`, `freedom`: the relative standard error of the metric, and its degrees of freedom. The error is None
    without a confidence interval, and in older runs.
    """

    settled: bool
    warmup_s: float
    ran_s: float
    most_s: float
    low_share: float | None = None
    high_share: float | None = None
    reasons: tuple[NotConverged, ...] = ()
    whole: float | None = None
    half_share: float | None = None
    least_share: float | None = None
    most_share: float | None = None
    error_share: float | None = None
    freedom: float | None = None
    trend_share: float | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A finished trial, which is stored as one line of trials.jsonl.

    `number`: the trial's number within its cell, counted from 1 across all builds.
    `figures`: the results, or None if the load generator reported none.
    `verdicts`: the verdicts that differ from `verdict`, keyed by metric.
    `seconds`: the duration of each part of the trial (cool, settle, fio, drain).
    `settling`: the convergence, or None if the trial failed, ran for a fixed time or ended on its own.
    `interrupted`: whether the trial failed because the connection to the host was lost.
    `build`: the number of the layout's build, starting at 1. In older runs, it is always 1.
    `bin_width`: the width of the latency histogram's bins, relative to the latency. For older runs, this is the width
    of the histograms' bins.
    `source`: the path and line of an imported result.
    `columns`: for an imported result, the names of its file and folders, and the options of its job.
    """

    layout: str
    workload: str
    number: int
    verdict: Verdict
    findings: tuple[Finding, ...]
    metric: MetricId
    figures: TrialMetrics | None = None
    account: Account | None = None
    leaves: tuple[LeafUse, ...] = ()
    stored_bytes: Mapping[str, int] = field(default_factory=dict)
    begun_at: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    settling: Convergence | None = None
    source: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    state: str = HEALTHY
    verdicts: Mapping[MetricId, Verdict] = field(default_factory=dict)
    interrupted: bool = False
    build: int = 1
    bin_width: float = DEFAULT_BIN_WIDTH
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        metric_of(self.metric)  # an unknown metric raises a ValueError

    @property
    def begun_s(self) -> float:
        """The trial's start time, in seconds since 1970, or 0 if unknown."""
        return parse_date(self.begun_at)

    @property
    def key(self) -> TrialKey:
        return TrialKey(self.layout, self.workload, self.number, self.state)

    @property
    def cell_key(self) -> CellKey:
        return CellKey(self.layout, self.workload, self.state)

    def result(self, metric: MetricId | None = None) -> MetricResult:
        """Return the result for a metric, by default the workload's own."""
        metric = metric or self.metric
        precision = None
        if self.settling is not None and metric == self.metric:
            low, high, precision = self.settling.low_share, self.settling.high_share, self.settling.half_share
            if metric_of(metric).is_rate and low is not None and high is not None:
                precision = (high - low) / 2
        return MetricResult(self.value(metric), self.verdict_on(metric), precision)

    def value(self, metric: MetricId) -> float | None:
        """Return the value of a metric, or None if the trial failed or the load generator did not measure the metric.

        Impossible values (negative or not finite) also become None. `remarks.py` reports the trials that contain them.
        """
        value = self.figures.metric(metric) if self.figures and has_values(self.verdict) else None
        return value if value is not None and 0 <= value < math.inf else None

    @property
    def counted_s(self) -> float:
        """Return the time during which the trial's I/O was counted, in seconds, or 0 if unknown.

        Trials of a fixed length that lack the number of I/Os use the time that the load took, including its start.
        """
        if self.settling is not None:
            return max(0.0, self.settling.ran_s - self.settling.warmup_s)
        if self.figures is not None and self.figures.requests and (iops := self.value("iops")):
            return self.figures.requests / iops
        return self.seconds.get("fio", 0.0)

    def verdict_on(self, metric: MetricId) -> Verdict:
        """Return the verdict on a metric, which combines `verdict` and `verdicts`.

        Only this method and the SQL in `results/query/views.py` combine the two.
        """
        return self.verdicts.get(metric, self.verdict)

    def findings_on(self, metric: MetricId | None = None) -> tuple[Finding, ...]:
        """Return the findings on a metric, by default the workload's own.

        Findings with the effect `notes` are always included. Any other finding is excluded if it only concerns other
        metrics, or if its effect is more serious than this metric's verdict.
        """
        metric = metric or self.metric
        least = WORST_FIRST.index(self.verdict_on(metric))
        caused = ((finding, VERDICTS[finding.effect]) for finding in self.findings)
        return tuple(
            found
            for found, verdict in caused
            if verdict is None or (found.is_about(metric) and WORST_FIRST.index(verdict) >= least)
        )


@dataclass(frozen=True)
class TrialEvidence(Evidence):
    """The contents of evidence.json: the evidence, the storage under the test files, and the requested settings.

    Together with the job and its report, it is enough to judge the trial again. In runs made before 0.1.0, all fields
    except the evidence are None.
    """

    target: Target | None = None
    cold: bool | None = None
    asked_s: float | None = None


def trial_evidence(case: Case) -> TrialEvidence:
    """Return the content of evidence.json for this case."""
    evidence = case.evidence or Evidence(None)
    return TrialEvidence(**vars(evidence), target=case.target, cold=case.cold, asked_s=case.asked_s)


@dataclass(frozen=True)
class RunLab:
    """The lab that a run started.

    `zfs`: the OpenZFS release series that the lab uses.
    `acceleration`: `auto`, `kvm` or `tcg`.
    """

    zfs: str
    ram_bytes: int
    processors: int
    acceleration: str


@dataclass(frozen=True)
class RunRecord:
    """The contents of run.json: everything needed to resume or repeat the run.

    `campaign`: the campaign that was run, in YAML, including the options of the command line.
    `state_dir`, `ram_dir`: the run's own directories on the host.
    `imported`: whether the results were imported, so that the trials cannot be repeated.
    `changes`: the facts and program versions that had changed when the run was resumed, each with its old and new
    value, such as `16.0 GiB → 64.0 GiB`.
    """

    poolproof: str
    campaign: str
    label: str
    state_dir: str
    ram_dir: str
    seed: int
    host: str
    begun_at: str
    facts: Mapping[str, str]
    versions: Mapping[str, str]
    allowed_disks: tuple[str, ...] = ()
    imported: bool = False
    lab: RunLab | None = None
    changes: Mapping[str, str] = field(default_factory=dict)
    resumed_at: tuple[str, ...] = ()
    schema: int = SCHEMA

    @property
    def shown_host(self) -> str:
        """The host's name for messages: `this machine` instead of `local`."""
        return "this machine" if self.host == "local" else self.host

    @property
    def begun_s(self) -> float:
        """The run's start time, in seconds since 1970, or 0 if unknown."""
        return parse_date(self.begun_at)
