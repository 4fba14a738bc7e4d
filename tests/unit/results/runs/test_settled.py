"""The trials that a run still needs, and which metrics share a typical variance.

Finished runs never count as unfinished.
"""

from dataclasses import replace
from itertools import islice

import pytest

from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.measure.order import TrialOrder
from poolproof.metrics import MetricId, TrialMetrics
from poolproof.results.runs.changing_rates import unsteady_reasons
from poolproof.results.runs.convergence import convergence_of, needs_trial, priors_among, trials_ahead
from poolproof.results.runs.model import Convergence, Trial
from poolproof.results.runs.summary import cells_of
from poolproof.statistics.resolution import bin_deviation
from poolproof.stopping.model import NotConverged

_REASONS = (
    "too-short", "idle", "warm-up", "drift", "step", "burst", "bimodal", "periodic", "few-samples", "noise",
    "percentile", "criterion",
)  # fmt: skip


def campaign(layouts: int = 2, workload: str = "w: {rw: [read, randread, randrw, write], bs: [4k, 64k]}") -> Campaign:
    names = ", ".join(f"l{number}: dir /srv/{number}" for number in range(layouts))
    return parse_campaign(
        f"layouts: {{{names}}}\nworkloads: {{{workload}}}\nmeasure: {{until: 3%, min: 1s, trials: 2..4}}", "t"
    )


def trial(layout: str, workload: str, number: int, iops: float, *reasons: str) -> Trial:
    settling = Convergence(
        not reasons, 0.0, 3.0, 180.0, 0.9999, 1.0001, tuple(NotConverged(reason, "…") for reason in reasons)
    )
    return Trial(
        layout,
        workload,
        number,
        "sound",
        (),
        "iops",
        TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096),
        settling=settling,
    )


def latency(layout: str, number: int, sync_ns: float, metric: MetricId = "sync_p99") -> Trial:
    return Trial(
        layout,
        "etcd",
        number,
        "sound",
        (),
        metric,
        TrialMetrics(iops=500.0, bandwidth_bytes=1e6, p99_ns=sync_ns, sync_p99_ns=sync_ns),
    )


def run_of(asked: Campaign, *, calm: str) -> list[Trial]:
    """Run the schedule to its end, and return all trials.

    They agree with each other on the layout `calm`, and differ on the other layouts.
    """
    trials: list[Trial] = []
    orders: dict[str, TrialOrder] = {}
    for layout in asked.layouts:
        orders[layout.name] = TrialOrder(
            layout.name,
            asked.workloads,
            asked.measure,
            1,
            priors=lambda: priors_among(cell for order in orders.values() for cell in order.cells()),
        )
    for layout in asked.layouts:
        order = orders[layout.name]
        for workload, number in order.ahead():
            apart = 0.005 if layout.name == calm else 0.06
            trials.append(trial(layout.name, workload.name, number, 1000 * (1 + apart * (number % 2))))
            order.add(trials[-1])
    return trials


def test_a_finished_run_has_no_trials_ahead_although_the_last_trials_varied_more() -> None:
    asked = campaign(6)
    trials = run_of(asked, calm="l0")
    early = [
        [each for each in trials if (each.layout, each.workload) == ("l0", workload.name)]
        for workload in asked.workloads
    ]
    spreads = priors_among(
        [each for each in trials if (each.layout, each.workload) == (layout.name, workload.name)]
        for layout in asked.layouts
        for workload in asked.workloads
    )
    assert any(needs_trial(cell, asked.measure, spreads) for cell in early), "by hindsight some would need one more"
    assert trials_ahead(trials, asked) == 0


@pytest.mark.parametrize("done", [1, 7, 16, 17, 24, 33, 40])
def test_an_interrupted_run_is_resumed_to_its_end(done: int) -> None:
    asked = campaign()
    killed = list(islice(run_of(asked, calm="l0"), done))
    assert trials_ahead(killed, asked) > 0


def test_trials_below_the_least_number_are_ahead_in_a_finished_layout_too() -> None:
    asked = campaign()
    trials = run_of(asked, calm="l0")
    assert trials_ahead(trials[1:], asked) == 1


def test_two_trials_in_one_bin_are_no_more_precise_than_the_bin() -> None:
    asked = campaign(1, "etcd: etcd")
    found = convergence_of([latency("l0", 1, 1e7), latency("l0", 2, 1e7)], asked.measure)
    assert found is not None and found.across_trials is not None and not found.across_trials.is_precise
    assert found.across_trials.high == pytest.approx(1e7 * (1 + 12.706 * bin_deviation(1 / 64)), rel=1e-6)
    third = convergence_of([latency("l0", number, 1e7) for number in (1, 2, 3)], asked.measure)
    assert third is not None and third.across_trials is not None and third.across_trials.is_precise
    rates = convergence_of([trial("l0", "w", 1, 1e3), trial("l0", "w", 2, 1e3)], asked.measure)
    assert rates is not None and rates.converged, "a rate has no bins"


@pytest.mark.parametrize(("width", "deviation"), [(0.25, bin_deviation(0.25)), (0.0, 1e-4), (1e9, bin_deviation(1))])
def test_the_bins_of_the_generator_limit_the_precision(width: float, deviation: float) -> None:
    trials = [replace(latency("l0", number, 1e7), bin_width=width) for number in (1, 2)]
    found = convergence_of(trials, campaign(1, "etcd: etcd").measure)
    assert found is not None and found.across_trials is not None
    assert found.across_trials.high == pytest.approx(1e7 * (1 + 12.706 * deviation), rel=1e-3)


def test_rates_and_percentiles_have_separate_priors() -> None:
    rates = [[trial(f"l{number}", "w", each, 1000 + each) for each in (1, 2)] for number in range(9)]
    tails = [[latency(f"l{number}", each, 1e7 * (1 + 0.1 * each)) for each in (1, 2)] for number in range(9)]
    both = priors_among([*rates, *tails])
    assert both.rates is not None and both.rates.deviation < 0.002
    assert both.percentiles is not None and both.percentiles.deviation > 0.05
    assert both.of("bandwidth") == both.rates and both.of("p99") == both.percentiles
    assert priors_among([*rates, *tails[:7]]).percentiles is None, "seven are too few"


def test_percentiles_in_one_bin_vary_by_at_least_their_bin() -> None:
    spreads = priors_among([[latency(f"l{number}", each, 1e7) for each in (1, 2)] for number in range(20)])
    assert spreads.percentiles is not None and spreads.percentiles.deviation > bin_deviation(1 / 64)


@pytest.mark.parametrize("reason", _REASONS)
def test_adaptive_sampling_and_rankings_test_the_same_cells(reason: str) -> None:
    trials = [trial("l0", "w", number, 1000.0 + number, reason) for number in (1, 2)]
    (cell,) = cells_of(trials, campaign())
    assert cell.unsteady == unsteady_reasons(trials)
    imprecise = reason in ("noise", "percentile", "few-samples", "periodic")
    assert bool(cell.unsteady) is not imprecise, "what trials tell of each other stands, where none saw a change"
