"""A budget: what is left of it, and whether one more round of the race fits, building and all."""

import time
from datetime import UTC, datetime

import pytest

from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.measure.order import Order
from poolproof.measure.schedule import Schedule, schedule_of
from poolproof.runs.model import Figures, Trial

START_S = 1_700_000_000.0
TRIAL_S = 10.0


def campaign(budget_s: int) -> Campaign:
    return parse_campaign(
        "layouts: {one: dir /a, two: dir /b}\nworkloads: {reads: {rw: read, bs: 4k, size: 1m}}\n"
        f"measure: {{until: 3%, min: 1s, trials: 2..6}}\nbudget: {budget_s}s",
        "t",
    )


def trial(layout: str, number: int, begun_s: float) -> Trial:
    begun_at = datetime.fromtimestamp(START_S + begun_s, UTC).isoformat(timespec="milliseconds")
    figures = Figures(1000.0 + number, 1e6)
    return Trial(layout, "reads", number, "sound", (), "iops", figures, begun_at=begun_at, seconds={"fio": TRIAL_S})


def schedule(budget_s: int, build_s: float) -> Schedule:
    """Two layouts with two trials each; the second was built after the first, in `build_s`."""
    asked = campaign(budget_s)
    second_s = 2 * TRIAL_S + build_s
    done = [trial("one", 1, 0.0), trial("one", 2, TRIAL_S)]
    done += [trial("two", 1, second_s), trial("two", 2, second_s + TRIAL_S)]
    orders = {name: Order(name, asked.workloads, asked.measure, 1, done) for name in ("one", "two")}
    found = schedule_of(asked, orders)
    assert found is not None
    return found


def test_trials_and_building_from_before_have_been_paid_for() -> None:
    assert schedule(1000, build_s=30.0).left_s == pytest.approx(1000 - 4 * TRIAL_S - 30.0, abs=5)


@pytest.mark.parametrize(("build_s", "affordable"), [(5.0, True), (60.0, False)])
def test_a_round_of_the_race_costs_the_building_too(build_s: float, affordable: bool) -> None:
    """Of 100 s, 55 and 0 are left; a round is two trials of 10 s, and two buildings."""
    budget_s = round(100 + (build_s if not affordable else 0))
    found = schedule(budget_s, build_s)
    assert found.left_s >= 2 * TRIAL_S, "the trials alone would fit"
    assert found.affords(["one", "two"]) is affordable


def test_a_layout_alone_costs_its_own_building() -> None:
    assert schedule(140, build_s=60.0).affords(["one"]) is False
    assert schedule(160, build_s=60.0).left_s == pytest.approx(60, abs=5)
    assert schedule(200, build_s=60.0).affords(["two"]) is True


def test_without_a_budget_there_is_no_schedule() -> None:
    plain = parse_campaign("layouts: {one: dir /a}\nworkloads: {r: {rw: read}}\nmeasure: {until: 3%}", "t")
    assert schedule_of(plain, {}) is None


def test_what_comes_before_the_start_is_not_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As disks that are measured alone."""
    found = schedule(1000, build_s=30.0)
    before_s, now_s = found.left_s, time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now_s + 500)
    assert found.left_s == pytest.approx(before_s - 500, abs=5)
    found.start()
    assert found.left_s == pytest.approx(before_s, abs=5)
