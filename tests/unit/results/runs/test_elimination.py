"""Adaptive sampling, computed from a run's trials: which layouts were eliminated, when, why, and at what risk."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import TrialMetrics
from poolproof.presentation.terminal.sections import elimination_lines
from poolproof.results.runs.elimination import Elimination, elimination_of
from poolproof.results.runs.model import Convergence, Trial
from poolproof.results.runs.run_object import run_object
from poolproof.results.runs.summary import cells_of
from poolproof.stopping.model import NotConverged
from poolproof.verdicts import Verdict
from tests.unit.docs.pages import documented, keys_of_value

CAMPAIGN = parse_campaign(
    """\
devices: {a: {file: 2G}}
layouts: {slow: a | ext4, fast: a | xfs, near: a | btrfs, broken: a | ext4}
workloads: {etcd: etcd, other: {rw: read, bs: 1m, size: 64m}}
measure: {until: 3%, trials: 2..6}
goal: etcd
budget: 1h
""",
    "t",
)


def trial(layout: str, number: int, sync_ms: float, *, workload: str = "etcd", failed: bool = False) -> Trial:
    figures = None if failed else TrialMetrics(iops=500.0, bandwidth_bytes=1e6, sync_p99_ns=sync_ms * 1e6)
    return Trial(layout, workload, number, "failed" if failed else "sound", (), "sync_p99", figures)


TRIALS = [
    *(trial("slow", number, 30 + 0.05 * number) for number in (1, 2, 3)),
    *(trial("fast", number, 10 + 0.01 * number) for number in (1, 2, 3, 4, 5)),
    *(trial("near", number, 10.01 + 0.02 * number) for number in (1, 2, 3, 4, 5)),
    trial("broken", 1, 5.0, failed=True),
]


@pytest.fixture
def race() -> Elimination:
    found = elimination_of(TRIALS, CAMPAIGN)
    assert found is not None
    return found


def test_a_layout_that_is_worse_than_the_leader_is_eliminated(race: Elimination) -> None:
    (dropped,) = race.dropped
    assert (dropped.layout, dropped.leader, dropped.trials) == ("slow", "fast", 3)
    assert 2.5 < dropped.least < dropped.times < 3.2, "less latency is faster"
    assert (race.leader, race.left, race.excluded) == ("fast", ("fast", "near"), ("broken",))


def test_the_risk_of_all_tests_is_that_of_the_confidence_asked_for(race: Elimination) -> None:
    assert race.risk == pytest.approx(0.05)
    assert (race.pairs, race.checkpoints) == (2, 5)
    assert race.test_risk * race.pairs * race.checkpoints == pytest.approx(race.risk)


def test_the_words_name_the_layouts_the_trials_and_the_risk(race: Elimination, wording: Callable[[str], str]) -> None:
    text = wording("\n".join(elimination_lines(race)))
    assert all(fact in text for fact in ("slow", "fast", "near", "broken", "3 trials", "5%", "2 pairs", "0.5%"))


@pytest.mark.parametrize(("verdict", "words"), [("sound", "fast leads"), ("suspect", "fast (! suspect) leads")])
def test_a_leader_in_doubt_is_marked(verdict: Verdict, words: str) -> None:
    doubted = [replace(each, verdict=verdict) if (each.layout, each.number) == ("fast", 4) else each for each in TRIALS]
    found = elimination_of(doubted, CAMPAIGN)
    assert found is not None and found.leader_verdict == verdict
    assert next(elimination_lines(found)) == f"adaptive sampling for etcd: {words}"


def drifting(
    layout: str, sync_ms: float, trials: int, extremes: tuple[float | None, float | None] = (None, None)
) -> list[Trial]:
    unsettled = Convergence(False, 0.0, 60.0, 60.0, reasons=(NotConverged("drift", "it falls"),))
    unsettled = replace(unsettled, least_share=extremes[0], most_share=extremes[1])
    return [replace(trial(layout, number, sync_ms), settling=unsettled) for number in range(1, trials + 1)]


@pytest.mark.parametrize(("most", "dropped"), [(1.4, {"fast", "near", "slow"}), (2.4, {"slow"}), (7.0, set())])
def test_a_leader_whose_rate_changes_leads_by_its_worst_extreme(most: float, dropped: set[str]) -> None:
    """5 ms is compared with 10 ms and 30 ms.

    If it never exceeded 7 ms, both are eliminated. If it reached 12 ms, only the slow one is, and if it reached 35 ms,
    none is.
    """
    found = elimination_of([*TRIALS[:-1], *drifting("broken", 5.0, 3, (0.9, most))], CAMPAIGN)
    assert found is not None and found.leader == "broken"
    assert {each.layout for each in found.dropped} == dropped
    assert found.unsteady == ("broken",) and "broken" not in found.candidates
    assert all(each.times > each.least for each in found.dropped)


@pytest.mark.parametrize(("least", "is_dropped"), [(0.5, True), (0.3, False)])
def test_a_layout_whose_rate_changes_is_eliminated_by_its_best_extreme(least: float, is_dropped: bool) -> None:
    """30 ms is compared with 10 ms. It is eliminated if its best tenth was 15 ms, but not if that was 9 ms."""
    found = elimination_of([*TRIALS[3:], *drifting("slow", 30.0, 3, (least, 1.1))], CAMPAIGN)
    assert found is not None and found.leader == "fast"
    assert ("slow" in {each.layout for each in found.dropped}) is is_dropped
    assert found.unsteady == (() if is_dropped else ("slow",)), "an eliminated layout is not listed"


def test_a_rate_with_unknown_extremes_is_not_tested() -> None:
    """The trials agree with each other, but the rate changes within them.

    The layout neither leads nor is eliminated.
    """
    slow = elimination_of([*TRIALS[3:], *drifting("slow", 30.0, 3)], CAMPAIGN)
    assert slow is not None
    assert (slow.dropped, slow.left, slow.unsteady) == ((), ("slow", "fast", "near"), ("slow",))
    fast = elimination_of([*TRIALS, *drifting("fast", 1.0, 3)], CAMPAIGN)
    assert fast is not None
    assert (fast.leader, fast.unsteady) == ("near", ("fast",))
    assert [each.leader for each in fast.dropped] == ["near"], "the others are tested as usual"


def test_the_heading_says_why_no_layout_leads(wording: Callable[[str], str]) -> None:
    drifts = [each for name in ("slow", "fast", "near") for each in drifting(name, 10.0, 3)]
    nobody = elimination_of([*drifts, trial("broken", 1, 5.0, failed=True)], CAMPAIGN)
    assert nobody is not None and nobody.leader is None
    wording(next(elimination_lines(nobody)))
    failed = elimination_of([trial(layout.name, 1, 5.0, failed=True) for layout in CAMPAIGN.layouts], CAMPAIGN)
    assert failed is not None
    assert failed.leader is None
    wording(next(elimination_lines(failed)))


def test_disks_measured_alone_take_no_part() -> None:
    """The schedule does not use these trials, so the reported state must not use them either."""
    alone = [trial(f"bare:d{disk}", number, 20.0 * number) for disk in range(8) for number in (1, 2)]
    assert elimination_of([*TRIALS, *alone], CAMPAIGN) == elimination_of(TRIALS, CAMPAIGN)


def test_before_two_trials_no_layout_leads_or_is_eliminated(wording: Callable[[str], str]) -> None:
    found = elimination_of([trial("fast", 1, 10.0)], CAMPAIGN)
    assert found is not None
    assert (found.leader, found.dropped) == (None, ())
    wording(next(elimination_lines(found)))
    assert elimination_of([], CAMPAIGN) is None


def test_without_a_budget_there_is_no_elimination() -> None:
    plain = parse_campaign("layouts: {one: dir /srv}\nworkloads: {etcd: etcd}\nmeasure: {until: 3%}", "t")
    assert elimination_of([trial("one", 1, 10.0)], plain) is None
    assert run_object_of(plain, [trial("one", 1, 10.0)])["race"] is None


def test_json_has_the_documented_keys(race: Elimination) -> None:
    found = run_object_of(CAMPAIGN, TRIALS, replace(race, unsteady=("near",)))
    assert found["race"]["dropped"][0]["layout"] == "slow"
    keys = {key for key in keys_of_value(found) if key.startswith("race.")}
    assert keys == {row for row in documented("json.md", "The object of a run") if row.startswith("race.")}


def run_object_of(campaign: Campaign, trials: Sequence[Trial], race: Elimination | None = None) -> dict[str, Any]:
    return run_object(Path("run"), cells_of(trials, campaign), None, (), race)
