"""A trial that goes on until its figure is known: when fio is to be ended, and what it said by then."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from poolproof.campaign.model import Measure, Metric, Workload
from poolproof.hosts.base import Host
from poolproof.load.fio.aliases import canonical
from poolproof.load.fio.figures import FioResult
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.json_output import read_json_stream
from poolproof.measure.asked_metric import percentile_of
from poolproof.measure.figures import figures_of
from poolproof.measure.fio_run import whole_report
from poolproof.measure.jobs import runtime_text
from poolproof.measure.latencies import LatencyInterval, latencies
from poolproof.measure.live import Ending, Watch
from poolproof.measure.ready import ReadyLayout
from poolproof.measure.status import Status, after_ramp, series_of
from poolproof.measure.turnover import turnovers
from poolproof.measure.window import since
from poolproof.process import Completed
from poolproof.results.runs.convergence import stopping_rule
from poolproof.results.runs.model import Convergence, NotConverged, TrialMetrics
from poolproof.statistics.percentiles import extremes
from poolproof.stopping.model import StoppingDecision, StoppingRule
from poolproof.stopping.snia import MOST_ROUNDS
from poolproof.stopping.window import LEAST_SAMPLES

_STATUS_S = ((4, 0.25), (16, 0.5))  # clones, and how often all of them report: the more, the longer each report
_SELDOM_S = 1.0
_OFTENEST_S = 0.1
_SHORT_S = 10.0
_SWING_S = 0.5


@dataclass(frozen=True)
class FioRun:
    """A fio that ended: the job as fio read it, its last whole report, all that it said of itself, how it ended.

    `report` is everything that it wrote where that is no whole report. `decision` is None for a trial of a fixed time.
    `ended`: it was ended because of the decision. `warm_up` is its report where the window of the figure begins; empty
    where that is the start. `most_s`: how long it could have run. `latencies`: its histograms, stretch by stretch.
    """

    job_text: str
    report: str
    completed: Completed
    statuses: tuple[Status, ...] = ()
    decision: StoppingDecision | None = None
    ended: bool = False
    warm_up: str = ""
    most_s: float = 0.0
    latencies: tuple[LatencyInterval, ...] = ()

    @property
    def ran_s(self) -> float:
        """Seconds that its longest job ran, ramp left out."""
        return self.statuses[-1].ran_s if self.statuses else 0.0


def status_interval_s(jobs: JobFile, shortest_s: float) -> float:
    """How often fio reports while it runs: as often as the shortest trial needs samples, where few clones report.

    `shortest_s` is infinite where no decision waits for samples: each report takes fio some milliseconds.
    """
    clones = sum(job.numjobs for job in jobs.jobs)
    usual = next((seconds for most, seconds in _STATUS_S if clones <= most), _SELDOM_S)
    if clones > _STATUS_S[0][0]:
        return usual
    return max(_OFTENEST_S, min(usual, shortest_s / LEAST_SAMPLES))


def ending_of(
    host: Host, layout: ReadyLayout, workload: Workload, jobs: JobFile, measure: Measure, metric: Metric
) -> Ending | None:
    """When a trial of these jobs is to be ended; None where it lasts a fixed time, or ends when its work is done."""
    if measure.until is None or _ends_by_itself(workload, jobs):
        return None
    interval_s = status_interval_s(jobs, measure.shortest_s)
    return Ending(
        rule=with_enough(stopping_rule(measure), interval_s),
        by_bytes=metric == "bandwidth",
        interval_s=interval_s,
        ramp_s=max(job.ramp_s for job in jobs.jobs),
        write_backs=turnovers(host, layout, jobs),
        percentile=percentile_of(metric),
    )


def with_enough(rule: StoppingRule, interval_s: float) -> StoppingRule:
    """The rule with a `max` in which a trial can settle, however little was asked for or is left of a budget."""
    enough_s = interval_s * (MOST_ROUNDS if rule.steady == "snia" else LEAST_SAMPLES)
    return replace(rule, max_s=max(rule.max_s, enough_s))


def _ends_by_itself(workload: Workload, jobs: JobFile) -> bool:
    """It says how long it takes, or goes by its work, or has phases, whose ends nobody here may choose."""
    said = any(canonical(name) == "runtime" for spec in workload.jobs for name, _ in spec.options)
    return said or len(jobs.phases) > 1 or not all(job.time_based for job in jobs.jobs)


def lasting(jobs: JobFile, seconds: float) -> JobFile:
    """The same jobs with that runtime."""
    return JobFile(tuple(Job(job.name, {**job.options, "runtime": runtime_text(seconds)}) for job in jobs.jobs))


def gathered(
    host: Host, jobs: JobFile, scratch: str, watch: Watch | None, ending: Ending | None, ran: tuple[str, Completed]
) -> FioRun:
    """What a fio has left: its last whole report, what it said meanwhile, and its report at the window's start.

    `watch` is None where it did not report while it ran.

    Raises:
        CommandError: the host could not be asked.
    """
    job_text, completed = ran
    if watch is None:
        return FioRun(job_text, whole_report(host, scratch), completed)
    report = watch.report
    if completed.elapsed_s <= _SHORT_S:
        report.bring_home()
    else:
        report.read_on()
    if not report.statuses:
        return FioRun(job_text, whole_report(host, scratch), completed)
    last = report.document(report.statuses[-1])
    counting = after_ramp(report.statuses, max(job.ramp_s for job in jobs.jobs), report.begun_at_s)
    run = FioRun(job_text, last, completed, counting, latencies=latencies(report, counting))
    return run if ending is None else _with_decision(run, watch, ending)


def _with_decision(run: FioRun, watch: Watch, ending: Ending) -> FioRun:
    report = watch.report
    decision = watch.decision or ending.judge_report(report)
    first = _at(run.statuses, decision.warmup_s)
    return replace(
        run,
        decision=decision,
        ended=watch.decision is not None,
        warm_up=report.document(first) if first else "",
        most_s=ending.most_s,
    )


def _at(statuses: Sequence[Status], warmup_s: float) -> Status | None:
    """The first report after the warm-up; None without one, or where nothing would be left."""
    later = [status for status in statuses if status.ran_s >= warmup_s]
    return later[0] if warmup_s > 0 and later and later[0].ran_s < statuses[-1].ran_s else None


def window_of(fio: FioRun, result: FioResult, metric: Metric) -> tuple[TrialMetrics, Convergence | None]:
    """The figures of the window after the warm-up, and what the stopping rule said; fio's own where there is none."""
    whole = figures_of(result)
    if fio.decision is None:
        return whole, None
    starts = read_json_stream(fio.warm_up)
    figures = figures_of(since(starts[-1], result)) if starts else whole
    if not figures.metric(metric):  # nothing was counted after the warm-up
        figures = whole
    figures = replace(figures, swing=_swing(fio.statuses, fio.decision.warmup_s))
    decision = fio.decision
    reasons = tuple(NotConverged(reason.name, reason.sentence) for reason in decision.reasons)
    least_share, most_share = _extremes(fio, decision, metric, figures.metric(metric))
    return figures, Convergence(
        settled=decision.converged,
        warmup_s=decision.warmup_s,
        ran_s=fio.ran_s,
        most_s=fio.most_s,
        low_share=_share(decision.low, decision.mean),
        high_share=_share(decision.high, decision.mean),
        reasons=reasons,
        whole=whole.metric(metric),
        half_share=decision.half_share,
        least_share=least_share,
        most_share=most_share,
    )


def _extremes(
    fio: FioRun, decision: StoppingDecision, metric: Metric, value: float | None
) -> tuple[float | None, float | None]:
    """The lowest and the highest tenth of the window, as shares of its figure: of the rate, or of the percentile."""
    asked = percentile_of(metric)
    if asked is None:
        return _share(decision.lowest, decision.mean), _share(decision.highest, decision.mean)
    later = [each for each in fio.latencies if each.from_s >= decision.warmup_s]
    found = extremes([each.sync_bins if asked.of_syncs else each.bins for each in later], asked.percent)
    return (None, None) if found is None else (_share(found[0], value), _share(found[1], value))


def _share(bound: float | None, mean: float | None) -> float | None:
    return bound / mean if bound is not None and mean else None


def _swing(statuses: Sequence[Status], warmup_s: float) -> float | None:
    """Standard deviation over mean of the rate every 500 ms, as `figures_of` takes it from fio."""
    values = series_of(statuses, _SWING_S, by_bytes=True).values[round(warmup_s / _SWING_S) :]
    if len(values) < 4 or not any(values):
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)) / mean


def series_text(statuses: Sequence[Status]) -> str:
    """series.jsonl: a line for each report, totals since fio's clock started."""
    rows = [
        {
            "at_s": status.at_s,
            "ran_s": status.ran_s,
            "read_bytes": status.read_bytes,
            "write_bytes": status.write_bytes,
            "read_ios": status.read_ios,
            "write_ios": status.write_ios,
            "latency_samples": status.latency_samples,
            "latency_ns": status.latency_ns,
            "syncs": status.syncs,
            "sync_ns": status.sync_ns,
        }
        for status in statuses
    ]
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)
