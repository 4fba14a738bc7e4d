"""The contents of a run directory as immutable values; docs/run-directory.md describes every key.

A new field with a default does not change `SCHEMA`: older runs lack the key, and older versions of poolproof ignore it.
A changed meaning or a new field without a default needs a new `SCHEMA`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from poolproof.campaign.cell_key import HEALTHY, CellKey
from poolproof.campaign.generator_option import DEFAULT_BIN_WIDTH
from poolproof.evidence.model import Account, Evidence, LeafUse, Target
from poolproof.metrics import METRICS, MetricId, metric_of
from poolproof.rules.model import VERDICTS, Case, Finding
from poolproof.stopping.model import NotConverged
from poolproof.units import parse_date
from poolproof.verdicts import WORST_FIRST, Verdict, counts, has_values

SCHEMA = 1
Value = TypeVar("Value")


def _with_a_field_per_metric(kind: type[Value]) -> type[Value]:
    """Add a field for every metric that has no field yet. A new metric then needs only a row in `METRICS`."""
    for metric in METRICS:
        if metric.field not in kind.__annotations__:
            kind.__annotations__[metric.field] = float | None
            setattr(kind, metric.field, None)
    return kind


@dataclass(frozen=True)
@_with_a_field_per_metric
class TrialMetrics:
    """The results of a trial over all jobs and directions. A value that fio did not measure is None.

    Latencies are completion latencies of reads and writes. `sync_*` are latencies of fsync and fdatasync calls. `swing`
    is the standard deviation of the rate within the trial divided by the mean rate. It is computed for each job and
    direction, and the largest value is used. `requests`, `reads`, `writes` and `syncs` are the numbers of latencies
    from which the percentiles were computed, or None in older runs.
    """

    iops: float | None
    bandwidth_bytes: float | None
    read_iops: float | None = 0.0
    write_iops: float | None = 0.0
    read_bandwidth_bytes: float | None = 0.0
    write_bandwidth_bytes: float | None = 0.0
    p50_ns: float | None = None
    p99_ns: float | None = None
    p999_ns: float | None = None
    sync_p50_ns: float | None = None
    sync_p99_ns: float | None = None
    swing: float | None = None
    requests: int | None = None
    syncs: int | None = None
    reads: int | None = None
    writes: int | None = None

    def events(self, metric: MetricId) -> int | None:
        """Return the number of latencies behind a percentile, or the number of I/Os behind a rate. None if unknown."""
        field = metric_of(metric).events_field
        counted: int | None = None if field is None else getattr(self, field)
        return counted

    def metric(self, metric: MetricId) -> float | None:
        """Return the value of a metric, in I/Os per second, bytes per second or nanoseconds."""
        value: float | None = getattr(self, metric_of(metric).field)
        return value


class TrialKey(NamedTuple):
    """A trial's key within its run. `number` counts from 1 within the cell."""

    layout: str
    workload: str
    number: int
    state: str = HEALTHY

    @property
    def cell(self) -> CellKey:
        """Return the key of the cell that the trial belongs to."""
        return CellKey(self.layout, self.workload, self.state)

    @property
    def layout_in_state(self) -> str:
        """Return the layout's name, followed by the state unless it is `healthy`."""
        return self.cell.layout_in_state


@dataclass(frozen=True)
class MetricResult:
    """The result of a trial for one metric.

    `value` is None if the trial failed or the load generator did not measure the metric. `precision` is the half width
    of the interval as a share of the value. It is None if the series of this trial alone gives no interval.
    """

    value: float | None
    verdict: Verdict
    precision: float | None

    @property
    def counts(self) -> bool:
        """True if the value may be compared, ranked and averaged."""
        return counts(self.verdict)


@dataclass(frozen=True)
class Convergence:
    """How a trial with `until` ended.

    `settled` is true if this trial alone gives the result to within the tolerance at the requested confidence. If not,
    `reasons` says why. The results cover the time from `warmup_s` to `ran_s`. `most_s` is the maximum length of the
    trial. `whole` is the metric as fio reports it for the whole trial, warm-up included.

    `low_share` and `high_share` are the ends of the rate's interval, as shares of the mean rate. If the metric is a
    percentile, `half_share` is the half width of its interval, as a share of the metric. `least_share` and `most_share`
    are the metric in the lowest and the highest tenth of the covered time, as shares of the metric over all of that
    time. `error_share` is the relative standard error of the metric with `freedom` degrees of freedom. It is None if
    there is no interval, and in older runs.
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


@dataclass(frozen=True)
class Trial:
    """A finished trial: one line of trials.jsonl. `number` counts from 1 within the cell, over all of its builds.

    `figures` is None if fio reported no results. `verdicts` maps metrics to their verdicts if these differ from
    `verdict`. `seconds` maps each part of the trial (cool, settle, fio, drain) to its duration. `settling` is None if
    the trial ran for a fixed time. `interrupted` is true if the trial failed because the connection to the host broke.
    `build` is the build of the layout, counted from 1. In older runs, it is always 1. `bin_width` is the width of a bin
    of the latency histograms, as a share of the bin's latency. In older runs, it is the width of fio's bins.

    Only imported results have `source` (path:line) and `columns` (the names of the file and its folders, and the job's
    options).
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
        """When the trial began, in seconds since 1970, or 0 if unknown."""
        return parse_date(self.begun_at)

    @property
    def key(self) -> TrialKey:
        """Return the trial's key within its run."""
        return TrialKey(self.layout, self.workload, self.number, self.state)

    @property
    def cell_key(self) -> CellKey:
        """Return the key of the cell that the trial belongs to."""
        return CellKey(self.layout, self.workload, self.state)

    def result(self, metric: MetricId | None = None) -> MetricResult:
        """Return the result for a metric, by default the metric that the workload is compared by."""
        metric = metric or self.metric
        precision = None
        if self.settling is not None and metric == self.metric:
            low, high, precision = self.settling.low_share, self.settling.high_share, self.settling.half_share
            if metric_of(metric).is_rate and low is not None and high is not None:
                precision = (high - low) / 2
        return MetricResult(self.value(metric), self.verdict_on(metric), precision)

    def value(self, metric: MetricId) -> float | None:
        """Return the value of a metric. None if the trial failed or the load generator did not measure the metric.

        A value that no machine measures (negative or not finite) is also None. `remarks.py` names such trials.
        """
        value = self.figures.metric(metric) if self.figures and has_values(self.verdict) else None
        return value if value is not None and 0 <= value < math.inf else None

    @property
    def counted_s(self) -> float:
        """Return how many seconds of the trial's I/O were counted, or 0 if unknown."""
        if self.settling is not None:
            return max(0.0, self.settling.ran_s - self.settling.warmup_s)
        return self.seconds.get("fio", 0.0)

    def verdict_on(self, metric: MetricId) -> Verdict:
        """Return the verdict of a metric.

        Only this method and the SQL in `results/query/views.py` combine `verdict` and `verdicts`.
        """
        return self.verdicts.get(metric, self.verdict)

    def findings_on(self, metric: MetricId | None = None) -> tuple[Finding, ...]:
        """Return the findings on a metric, by default the workload's own metric. Notes are always included.

        A finding is left out if it names only other metrics, or if its effect is worse than this metric's verdict.
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
    """The content of evidence.json: the evidence, the storage under the test files, and what was requested.

    Together with the job and fio's report, this is enough to judge the trial again. Runs made before 0.1.0 have only
    the evidence, and the other fields are None.
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
    """The lab that a run starts. `zfs` is its OpenZFS series, and `acceleration` is `auto`, `kvm` or `tcg`."""

    zfs: str
    ram_bytes: int
    processors: int
    acceleration: str


@dataclass(frozen=True)
class RunRecord:
    """The content of run.json: everything that is needed to resume or repeat the run.

    `campaign` is the resolved campaign as YAML text. `state_dir` and `ram_dir` are the run's own directories on the
    host. If `imported` is true, the trials were measured by others and cannot be run again. `changes` maps facts and
    programs that differed when the run was resumed to their old and new values: `16.0 GiB → 64.0 GiB`.
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
    schema: int = SCHEMA

    @property
    def begun_s(self) -> float:
        """When the run began, in seconds since 1970, or 0 if unknown."""
        return parse_date(self.begun_at)
