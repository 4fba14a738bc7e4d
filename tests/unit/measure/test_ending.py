"""When a running fio is stopped, according to its series of rates, after its ramp and three write-back cycles."""

import json
import math

import pytest

from poolproof.campaign.flags import parse_workload_flag
from poolproof.campaign.model import Measure, Until, Workload
from poolproof.hosts.base import FileMissing
from poolproof.hosts.local import LocalHost
from poolproof.layers.base import WriteBack
from poolproof.layers.zfs_status import transaction_groups
from poolproof.load.fio.generator import GENERATOR
from poolproof.load.fio.jobs import jobs_of, lasting
from poolproof.load.fio.json_output import read_json
from poolproof.load.fio.load import load_of
from poolproof.load.generator import Status
from poolproof.measure.ending import Ending, status_interval_s, with_enough_samples
from poolproof.measure.load_output import LoadOutput, results_after_warm_up
from poolproof.measure.series import LatencyInterval
from poolproof.process import Completed
from poolproof.results.runs.convergence import stopping_rule
from poolproof.stopping.decide import decide
from poolproof.stopping.model import RateSeries, Steady, StoppingDecision, StoppingRule

MEASURE = Measure(trials=2, most_trials=4, until=Until(tolerance=0.05, min_s=2.0, max_s=20.0))
BEGUN_S = 1000.0


def ending(ramp_s: float = 0.0, write_backs: tuple[WriteBack, ...] = ()) -> Ending:
    return Ending(stopping_rule(MEASURE), by_bytes=False, interval_s=0.25, ramp_s=ramp_s, write_backs=write_backs)


def steady(seconds: float, *, per_s: int = 400, from_s: float = BEGUN_S) -> list[Status]:
    """Return fio's reports, four per second, while it writes at a constant rate. Its clock has some jitter."""
    count = round(seconds * 4)
    times = [number / 4 + 0.003 * (number % 3) for number in range(1, count + 1)]
    return [Status(from_s + at, at, write_bytes=int(at * per_s * 4096), write_ios=int(at * per_s)) for at in times]


def test_a_steady_rate_converges_after_a_dozen_samples() -> None:
    assert not ending().judge(steady(1.5), BEGUN_S).done
    decision = ending().judge(steady(4.0), BEGUN_S)
    assert decision.done and decision.converged


def test_a_trial_whose_rate_never_converges_runs_to_its_maximum() -> None:
    falling = [
        Status(BEGUN_S + at, at, write_ios=int(4000 * at - 90 * at * at)) for at in (step / 4 for step in range(1, 81))
    ]
    assert not ending().judge(falling[:48], BEGUN_S).done
    decision = ending().judge(falling, BEGUN_S)
    assert decision.done and not decision.converged
    assert decision.reasons


@pytest.mark.parametrize(("steady", "interval_s", "most_s"), [("poolproof", 0.5, 6.0), ("snia", 0.25, 6.25)])
def test_every_trial_is_long_enough_to_converge_even_if_little_budget_is_left(
    steady: Steady, interval_s: float, most_s: float
) -> None:
    """With more than four clones, fio reports every half second, and at least twelve reports are needed."""
    held = with_enough_samples(StoppingRule(min_s=3.0, max_s=3.0, steady=steady), interval_s)
    assert held.most_s == most_s
    values = [100.0 + 0.1 * (number % 2) for number in range(round(most_s / interval_s))]
    decision = decide(RateSeries(interval_s, tuple(values)), held)
    assert decision.converged, decision.reasons
    assert with_enough_samples(StoppingRule(min_s=3.0, max_s=60.0, steady=steady), interval_s).most_s == 60.0


STALLED = ((0.408, 20, 84), (0.513, 41, 104), (0.693, 78, 141), (0.809, 92, 155), (5.706, 155, 155))
"""The seconds, MiB and I/Os of a fio whose queue was stuck while ZFS wrote a transaction group.

The job was readwrite with 1 MiB blocks and syncs.
"""


@pytest.mark.parametrize("by_bytes", [True, False])
def test_a_rate_interpolated_over_a_stall_does_not_converge(by_bytes: bool) -> None:
    """If bytes are counted, all samples are equal.

    fio counts I/Os when it issues them, so no I/O is counted during the stall.
    """
    statuses = [Status(BEGUN_S + at, at, write_bytes=mib << 20, write_ios=ios) for at, mib, ios in STALLED]
    held = Ending(StoppingRule(until=0.1, min_s=1.2, max_s=3.1), by_bytes=by_bytes, interval_s=0.1, ramp_s=0.0)
    decision = held.judge(statuses, BEGUN_S)
    assert decision.done and not decision.converged
    assert (decision.low, decision.high) == (None, None)
    assert decision.reasons


def test_an_empty_window_has_the_metrics_of_the_whole_trial() -> None:
    report = {
        "fio version": "fio-3.33",
        "jobs": [{"jobname": "job", "job_runtime": 4110, "write": {
            "io_bytes": 85983232, "total_ios": 82, "runtime": 4110, "iops": 19.95, "bw_bytes": 20920494}}],
    }  # fmt: skip
    text = json.dumps(report)
    decision = StoppingDecision(True, False, 20.0, None, None, 1.0, 4.1, (), None)
    fio = LoadOutput("", text, Completed((), 0, "", "", 4.2), decision=decision, warm_up=text, most_s=3.4)
    figures, settling = results_after_warm_up(fio, read_json(text), "iops", GENERATOR)
    assert figures.iops == pytest.approx(19.95)
    assert settling is not None and settling.whole == pytest.approx(19.95)


def test_a_changing_rate_has_a_lowest_and_a_highest_tenth() -> None:
    values = tuple([100.0] * 60 + [50.0] * 60)
    decision = decide(RateSeries(0.1, values), StoppingRule(min_s=12, max_s=12))
    assert {reason.name for reason in decision.reasons} & {"step", "bimodal"}
    report = {"jobs": [{"job_runtime": 12000, "write": {"total_ios": 900, "runtime": 12000, "iops": 75}}]}
    text = json.dumps({"fio version": "fio-3.33", **report})
    fio = LoadOutput("", text, Completed((), 0, "", "", 12.2), decision=decision, most_s=12)
    _figures, settling = results_after_warm_up(fio, read_json(text), "iops", GENERATOR)
    assert settling is not None and settling.least_share is not None and settling.most_share is not None
    assert (settling.least_share, settling.most_share) == pytest.approx((50 / 75, 100 / 75))
    assert settling.trend_share == pytest.approx(-50 / 75), "100 in the first half, 50 in the second"


def test_a_percentile_has_a_lowest_and_a_highest_tenth() -> None:
    bins = [{1_000_000: 90, 2_000_000 if number < 9 else 4_000_000: 10} for number in range(10)]
    stretches = tuple(LatencyInterval(BEGUN_S + at, at, at + 1.0, {}, each) for at, each in enumerate(bins))
    report = {"jobs": [{"job_runtime": 10000, "write": {"total_ios": 1000, "runtime": 10000, "iops": 100}, "sync": {
        "total_ios": 1000, "lat_ns": {"N": 1000, "percentile": {"99.000000": 2_000_000}}}}]}  # fmt: skip
    text = json.dumps({"fio version": "fio-3.33", **report})
    decision = decide(RateSeries(0.1, (100.0,) * 100), StoppingRule(min_s=10, max_s=10))
    fio = LoadOutput("", text, Completed((), 0, "", "", 10.2), decision=decision, most_s=10, latencies=stretches)
    figures, settling = results_after_warm_up(fio, read_json(text), "sync_p99", GENERATOR)
    assert figures.sync_p99_ns == 2_000_000
    assert settling is not None and (settling.least_share, settling.most_share) == (1.0, 2.0)


def test_a_series_converges_only_with_enough_reports() -> None:
    values = tuple([900.0] * 12 + [100.0] * 48)
    rule = StoppingRule(until=0.1, min_s=1.2, max_s=60.0)
    assert decide(RateSeries(0.1, values[12:]), rule).converged
    reported = RateSeries(0.1, values[12:], tuple(0.1 * (1 + number) for number in range(48)))
    assert decide(reported, rule).converged
    decision = decide(RateSeries(0.1, values[12:], (0.2, 0.3, 4.8)), rule)
    assert not decision.converged and not decision.done and decision.next_s is not None
    assert [reason.name for reason in decision.reasons] == ["few-samples"]


def test_reports_during_the_ramp_are_ignored() -> None:
    in_ramp = steady(5.0, per_s=9000)
    after = steady(4.0, from_s=BEGUN_S + 5.0)
    decision = ending(ramp_s=5.0).judge([*in_ramp, *after], BEGUN_S)
    assert decision.converged
    assert decision.mean is not None and abs(decision.mean - 400) < 8


def test_write_trials_last_at_least_three_write_back_cycles() -> None:
    cycles = (WriteBack(5.0),)
    assert ending(write_backs=cycles).most_s == 20.0
    assert not ending(write_backs=cycles).judge(steady(12.0), BEGUN_S).done
    assert ending(write_backs=cycles).judge(steady(16.0), BEGUN_S).done
    assert ending(write_backs=(WriteBack(30.0),)).most_s == 90.0, "also where that is more than the most"


def test_a_write_back_cycle_is_shorter_at_a_higher_write_rate() -> None:
    assert WriteBack(5.0, 400 * 4096).cycle_s(400 * 4096) == 1.0
    assert WriteBack(5.0, 400 * 4096).cycle_s(0.0) == 5.0
    assert ending(write_backs=(WriteBack(5.0, 400 * 4096),)).judge(steady(4.0), BEGUN_S).done


class _Module(LocalHost):
    """A host whose ZFS module has the given parameters."""

    def __init__(self, **parameters: str) -> None:
        self._parameters = parameters

    def read(self, path: str) -> str:
        try:
            return self._parameters[path.rpartition("/")[2]] + "\n"
        except KeyError:
            raise FileMissing(path) from None


def test_transaction_groups_follow_the_zfs_module_parameters() -> None:
    tuned = _Module(zfs_txg_timeout="10", zfs_dirty_data_max="4294967296", zfs_dirty_data_sync_percent="20")
    assert transaction_groups(tuned) == WriteBack(10.0, 858993459)
    assert transaction_groups(_Module()) == WriteBack(5.0, None)


def workload(text: str) -> Workload:
    (one,) = parse_workload_flag(text)
    return one


def test_fio_reports_less_often_with_more_clones() -> None:
    def every(text: str) -> float:
        return status_interval_s(load_of(jobs_of(workload(text), MEASURE.longest_s, LocalHost())), 3.0)

    assert every("rw=read,bs=1m") == 0.25
    assert every("rw=read,bs=1m,numjobs=16") == 0.5
    assert every("rw=read,bs=1m,numjobs=64") == 1.0


def test_a_trial_with_a_ramp_has_a_report_before_the_last_one() -> None:
    def every(text: str, asked_s: float) -> float:
        return status_interval_s(load_of(jobs_of(workload(text), asked_s, LocalHost())), math.inf)

    assert every("rw=read,bs=1m,numjobs=20", 1.0) == 1.0
    assert every("rw=read,bs=1m,numjobs=20,ramp_time=1s", 1.0) == 0.5
    assert every("rw=read,bs=1m,numjobs=20,ramp_time=1s", 10.0) == 1.0
    assert every("rw=read,bs=1m,numjobs=500,ramp_time=1s", 1.0) == 0.5
    assert every("rw=read,bs=1m,numjobs=500,ramp_time=2s", 1.0) == 1.0, "the reports would be too long"
    assert every("rw=read,bs=1m,ramp_time=1s", 0.2) == 0.25


def test_lasting_sets_the_maximum_time_of_the_load() -> None:
    jobs = jobs_of(workload("rw=read,bs=1m"), MEASURE.longest_s, LocalHost())
    assert load_of(jobs).asked_s == 20.0
    assert load_of(lasting(jobs, 90.0)).asked_s == 90.0
