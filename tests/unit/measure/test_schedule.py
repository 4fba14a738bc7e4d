"""The time budget: how much is left, and whether another round of adaptive sampling fits into it, including builds."""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.load.model import Load
from poolproof.measure.model import Fill, PreparedWorkload
from poolproof.measure.order import TrialOrder
from poolproof.measure.schedule import Schedule, schedule_of
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.convergence import VariancePriors, priors_among
from poolproof.results.runs.model import Convergence, Trial
from poolproof.stopping.model import NotConverged

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
    figures = TrialMetrics(iops=1000.0 + number, bandwidth_bytes=1e6)
    return Trial(layout, "reads", number, "sound", (), "iops", figures, begun_at=begun_at, seconds={"fio": TRIAL_S})


def schedule(budget_s: int, build_s: float) -> Schedule:
    """Return the schedule for two layouts with two trials each.

    The second layout was built after the trials of the first, in `build_s` seconds.
    """
    asked = campaign(budget_s)
    second_s = 2 * TRIAL_S + build_s
    done = [trial("one", 1, 0.0), trial("one", 2, TRIAL_S)]
    done += [trial("two", 1, second_s), trial("two", 2, second_s + TRIAL_S)]
    orders = {name: TrialOrder(name, asked.workloads, asked.measure, 1, done) for name in ("one", "two")}
    found = schedule_of(asked, orders)
    assert found is not None
    return found


def sharing(asked: Campaign, done: Sequence[Trial] = ()) -> dict[str, TrialOrder]:
    """Return the trial order of each layout. All cells together determine the typical variance."""
    orders: dict[str, TrialOrder] = {}

    def spread() -> VariancePriors:
        return priors_among(cell for order in orders.values() for cell in order.cells())

    for layout in asked.layouts:
        orders[layout.name] = TrialOrder(layout.name, asked.workloads, asked.measure, 1, done, spread)
    return orders


def test_earlier_trials_and_builds_count_as_time_spent() -> None:
    assert schedule(1000, build_s=30.0).left_s == pytest.approx(1000 - 4 * TRIAL_S - 30.0, abs=5)


@pytest.mark.parametrize(("build_s", "affordable"), [(5.0, True), (60.0, False)])
def test_the_cost_of_a_sampling_round_includes_the_builds(build_s: float, affordable: bool) -> None:
    """Of the budget, 55 s or 0 s are left. A round takes two trials of 10 s and two builds."""
    budget_s = round(100 + (build_s if not affordable else 0))
    found = schedule(budget_s, build_s)
    assert found.left_s >= 2 * TRIAL_S, "the trials alone would fit"
    assert found.affords(["one", "two"]) is affordable


@pytest.mark.parametrize(("others_s", "affordable"), [(50.0, True), (5.0, False)])
def test_the_cost_of_a_sampling_round_excludes_files_of_other_workloads(others_s: float, affordable: bool) -> None:
    """The remaining time suffices for 60 s of building and two trials of 10 s, but not for two builds of 60 s each."""
    asked = parse_campaign(
        "layouts: {one: dir /a, two: dir /b}\n"
        "workloads: {reads: {rw: read, size: 1m}, w: {rw: [read, randread], size: 9m}}\n"
        "measure: {until: 3%, min: 1s, trials: 2..6}\nbudget: 1h\ngoal: reads",
        "t",
    )
    done = [trial("one", 1, 0.0), trial("one", 2, TRIAL_S)]
    done += [trial("two", number, (1 + number) * TRIAL_S + 60.0) for number in (1, 2)]
    orders = {name: TrialOrder(name, asked.workloads, asked.measure, 1, done) for name in ("one", "two")}
    found = schedule_of(replace(asked, budget_s=4 * TRIAL_S + 60 + 80.0), orders)
    assert found is not None
    assert not found.affords(["one", "two"])
    shared = Fill("w", others_s)
    fills = {"reads": Fill("reads", 1.0), **{each.name: shared for each in asked.workloads[1:]}}
    prepared = {each.name: PreparedWorkload(each, Load(()), (), {}, fill=fills[each.name]) for each in asked.workloads}
    for name in orders:
        found.filled(name, prepared)
    assert found.affords(["one", "two"]) is affordable


def test_the_cost_of_one_layout_includes_only_its_own_build() -> None:
    assert schedule(140, build_s=60.0).affords(["one"]) is False
    assert schedule(160, build_s=60.0).left_s == pytest.approx(60, abs=5)
    assert schedule(200, build_s=60.0).affords(["two"]) is True


def test_without_a_budget_there_is_no_schedule() -> None:
    plain = parse_campaign("layouts: {one: dir /a}\nworkloads: {r: {rw: read}}\nmeasure: {until: 3%}", "t")
    assert schedule_of(plain, {}) is None


def test_time_before_start_does_not_count_towards_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the start, time may pass, for example while individual disks are measured."""
    found = schedule(1000, build_s=30.0)
    before_s, now_s = found.left_s, time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now_s + 500)
    assert found.left_s == pytest.approx(before_s - 500, abs=5)
    found.start()
    assert found.left_s == pytest.approx(before_s, abs=5)


def sampled(figures: dict[str, list[list[float]]], drifts: str = "") -> tuple[Schedule, dict[str, TrialOrder]]:
    """Return the schedule and the trial orders of a campaign with these results for each layout and workload.

    The goal has two workloads.
    """
    asked = parse_campaign(
        f"layouts: {{{', '.join(f'{name}: dir /{name}' for name in figures)}}}\n"
        "workloads: {w: {rw: read, bs: [4k, 64k], size: 1m}}\n"
        "measure: {until: 3%, min: 1s, trials: 2..6}\nbudget: 1h\ngoal: w",
        "t",
    )
    orders = {}
    for name, cells in figures.items():
        reasons = (NotConverged("drift", "it falls"),) if name == drifts else ()
        done = [
            replace(
                trial(name, number, 0.0),
                workload=workload.name,
                figures=TrialMetrics(iops=figure, bandwidth_bytes=figure),
            )
            for workload, cell in zip(asked.workloads, cells, strict=True)
            for number, figure in enumerate(cell, start=1)
        ]
        done = [replace(each, settling=Convergence(not reasons, 0.0, 3.0, 60.0, reasons=reasons)) for each in done]
        orders[name] = TrialOrder(name, asked.workloads, asked.measure, 1, done)
    found = schedule_of(asked, orders)
    assert found is not None
    return found, orders


RESTLESS = [[100.0, 200.0], [100.0, 200.0]]
CALM = [[150.0, 150.0], [150.0, 150.0]]


def test_sampling_rounds_are_limited_to_the_trials_allowed_beyond_the_minimum() -> None:
    """The number of checkpoints is therefore at most the number by which the risk is divided.

    A layout that skipped a round catches up.
    """
    found, orders = sampled({"one": RESTLESS, "two": RESTLESS, "calm": CALM})
    rounds = 0
    while layouts := found.candidates():
        rounds += 1
        for name in found.begin_round(layouts):
            for workload, number in orders[name].ahead():
                figure = 100.0 * (1 + number % 2)
                done = trial(name, number, 0.0)
                orders[name].add(
                    replace(done, workload=workload.name, figures=TrialMetrics(iops=figure, bandwidth_bytes=figure))
                )
    assert rounds == 4, "2..6"
    assert {len(cell) for name in ("one", "two") for cell in orders[name].cells()} == {6}
    assert {len(cell) for cell in orders["calm"].cells()} == {2}


def test_a_resumed_run_continues_the_interrupted_sampling_round() -> None:
    found, orders = sampled({"one": [[100.0, 200.0, 150.0, 170.0], [100.0, 200.0]], "two": RESTLESS})
    assert found.candidates() == ["one", "two"]
    assert found.begin_round(["one", "two"]) == ["one", "two"]
    for workload, number in orders["two"].ahead():
        figure = 100.0 * (1 + number % 2)
        orders["two"].add(
            replace(
                trial("two", number, 0.0),
                workload=workload.name,
                figures=TrialMetrics(iops=figure, bandwidth_bytes=figure),
            )
        )
    assert [len(cell) for cell in orders["two"].cells()] == [5, 5]


def test_a_run_killed_in_the_last_sampling_round_finishes_that_round() -> None:
    """One cell already has the maximum number of trials. The others still have to get theirs."""
    found, orders = sampled({"one": [[100.0, 200.0] * 3, [100.0, 200.0] * 2], "two": [[100.0, 200.0] * 2] * 2})
    assert found.candidates() == ["one", "two"]
    assert found.begin_round(["one", "two"]) == ["one", "two"]
    assert [len(orders[name].certain()) for name in ("one", "two")] == [1, 2]
    for name in ("one", "two"):
        for workload, number in orders[name].ahead():
            done = trial(name, number, 0.0)
            figure = 100.0 * (1 + number % 2)
            orders[name].add(
                replace(done, workload=workload.name, figures=TrialMetrics(iops=figure, bandwidth_bytes=figure))
            )
    assert {len(cell) for name in orders for cell in orders[name].cells()} == {6}
    assert found.candidates() == [], "that was the last round"


def test_second_trials_of_sampled_cells_do_not_use_up_a_sampling_round() -> None:
    """With `trials: 1..2`, the second trials of sampled cells do not count as a sampling round."""
    names = [f"l{number}" for number in range(20)]
    asked = parse_campaign(
        f"layouts: {{{', '.join(f'{name}: dir /{name}' for name in names)}}}\n"
        "workloads: {reads: {rw: read, size: 1m}}\nmeasure: {until: 3%, min: 1s, trials: 1..2}\nbudget: 1h",
        "t",
    )
    orders = sharing(asked)
    found = schedule_of(asked, orders)
    assert found is not None
    for name, order in orders.items():
        for _workload, number in order.ahead():
            order.add(
                replace(
                    trial(name, number, 0.0), figures=TrialMetrics(iops=100.0 * (1 + number % 2), bandwidth_bytes=1.0)
                )
            )
    once = [name for name in names if len(orders[name].cells()[0]) == 1]
    assert once, "only some cells are sampled"
    assert set(found.begin_round(found.candidates())) == set(once)


def test_a_sampling_round_contains_only_layouts_that_need_a_trial() -> None:
    """A layout without a trial in the round is not built.

    All trials of a round are guaranteed before its first trial starts.
    """
    found, orders = sampled({"one": RESTLESS, "two": RESTLESS, "calm": CALM})
    assert found.begin_round(["one", "two", "calm"]) == ["one", "two"]
    assert [len(orders[name].certain()) for name in ("one", "two", "calm")] == [2, 2, 0]


def test_layouts_whose_rate_drifts_get_no_sampling_trials() -> None:
    found, _orders = sampled({"one": RESTLESS, "two": RESTLESS, "three": RESTLESS}, drifts="three")
    assert found.candidates() == ["one", "two"]
    found, _orders = sampled({"one": RESTLESS, "two": RESTLESS}, drifts="two")
    assert found.candidates() == []


RAN_S = 3.0
BESIDE_S = 2.0


def half_done(budget_s: int, build_s: float, asked: Campaign | None = None, allowed_s: float = RAN_S) -> Schedule:
    """Return a schedule for two layouts, of which only the first has trials.

    It has two, each with 3 s of fio and 2 s of overhead.
    """
    asked = asked or campaign(budget_s)
    done = [
        replace(
            trial("one", number, build_s + (number - 1) * (RAN_S + BESIDE_S)),
            seconds={"fio": RAN_S + 0.5, "drain": BESIDE_S - 0.5},
            settling=Convergence(settled=False, warmup_s=0.0, ran_s=RAN_S, most_s=allowed_s),
        )
        for number in (1, 2)
    ]
    orders = {name: TrialOrder(name, asked.workloads, asked.measure, 1, done) for name in ("one", "two")}
    found = schedule_of(asked, orders)
    assert found is not None
    return found


@pytest.mark.parametrize(("spare_s", "most_s"), [(0, 1.0), (1, 1.25), (100, 26.0), (800, 180.0)])
def test_a_trial_leaves_time_for_the_minimum_trials_and_builds_of_the_others(
    monkeypatch: pytest.MonkeyPatch, spare_s: int, most_s: float
) -> None:
    """A build of 30 s and two trials of 1 s, each with 2 s of overhead, still have to be done.

    Half of the spare time is reserved for adaptive sampling, whose cost is unknown as long as only one layout has been
    built. Because two trials have already run to their limit, the next trial gets only its share of the other half.
    """
    monkeypatch.setattr("poolproof.measure.schedule.now_s", lambda: START_S)
    paid_s = 30 + 2 * (RAN_S + BESIDE_S)
    needed_s = 30 + 2 * (1 + BESIDE_S)
    until = half_done(round(paid_s + needed_s + spare_s), build_s=30.0).measure("one", "reads").until
    assert until is not None
    assert until.max_s == pytest.approx(most_s, abs=0.2)


def test_earlier_overruns_reduce_the_time_limit_of_later_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials with a limit of 1 s took 3 s.

    Later trials are expected to do the same, so the spare time is 2 s less for each of them.
    """
    monkeypatch.setattr("poolproof.measure.schedule.now_s", lambda: START_S)
    kept, overrun = (half_done(200, build_s=30.0, allowed_s=allowed_s) for allowed_s in (RAN_S, 1.0))
    as_asked, longer = (found.measure("one", "reads").until for found in (kept, overrun))
    assert as_asked is not None and longer is not None
    # two trials to come; half of the spare time is reserved, and each may take 3/4 of the rest
    assert as_asked.max_s - longer.max_s == pytest.approx(2 * (RAN_S - 1.0) / 4, abs=0.2)


@pytest.mark.parametrize(("commit_s", "least_s"), [(30, RAN_S), (1, RAN_S), (0, 1.0)])
def test_write_trials_keep_time_for_three_write_back_cycles_unless_earlier_trials_were_shorter(
    monkeypatch: pytest.MonkeyPatch, commit_s: int, least_s: float
) -> None:
    """According to the mount option, three cycles take 90 s.

    However, an earlier trial of 3 s was enough, because cycles are shorter at a high write rate.
    """
    monkeypatch.setattr("poolproof.measure.schedule.now_s", lambda: START_S)
    one, two = (f"btrfs {name} commit={commit_s}" if commit_s else f"{name} | ext4" for name in "ab")
    asked = parse_campaign(
        f"devices: {{a: {{file: 1G}}, b: {{file: 1G}}}}\nlayouts: {{one: {one}, two: {two}}}\n"
        "workloads: {reads: {rw: write, bs: 4k, size: 1m}}\n"
        "measure: {until: 3%, min: 1s, trials: 2..6}\nbudget: 1h",
        "t",
    )
    asked = replace(asked, budget_s=30 + 2 * (RAN_S + BESIDE_S) + 30 + 2 * (least_s + BESIDE_S) + 50.0)
    until = half_done(0, build_s=30.0, asked=asked).measure("one", "reads").until
    assert until is not None
    assert until.max_s == pytest.approx(13.5, abs=0.2)


class Played:
    """A simulated run of three layouts with ten workloads and the goal etcd, on a simulated clock.

    A build takes 30 s. A trial has 2 s of overhead, and runs to its time limit. With `settles`, it runs for 2 s
    instead.
    """

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, budget_s: int, *, settles: bool = False, trials: str = "2..6"
    ) -> None:
        self.now_s = START_S
        monkeypatch.setattr("poolproof.measure.schedule.now_s", lambda: self.now_s)
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        sizes = ", ".join(f"{4 * (1 + block)}k" for block in range(10))
        asked = parse_campaign(
            "layouts: {one: dir /a, two: dir /b, three: dir /c}\n"
            f"workloads: {{w: {{rw: read, bs: [{sizes}], size: 1m}}, etcd: {{rw: read, size: 1m}}}}\n"
            f"measure: {{until: 3%, min: 1s, max: 60s, trials: {trials}}}\ngoal: etcd\nbudget: {budget_s}s",
            "t",
        )
        self.orders = {each.name: TrialOrder(each.name, asked.workloads, asked.measure, 1) for each in asked.layouts}
        found = schedule_of(asked, self.orders)
        assert found is not None
        self.schedule, self.settles = found, settles
        self.caps: dict[tuple[str, str], list[float]] = {}
        for name in self.orders:
            self.measure(name)

    def measure(self, name: str) -> None:
        self.now_s += 30
        for workload, number in self.orders[name].ahead():
            until = self.schedule.measure(name, workload.name).until
            assert until is not None
            self.caps.setdefault((name, workload.family), []).append(until.max_s)
            ran_s = min(2.0, until.max_s) if self.settles else until.max_s
            settling = Convergence(settled=self.settles, warmup_s=0.0, ran_s=ran_s, most_s=until.max_s)
            done = trial(name, number, self.now_s - START_S)
            seconds, figures = (
                {"fio": ran_s + 0.5, "drain": 1.5},
                TrialMetrics(iops=1000.0 + 500 * (number % 2), bandwidth_bytes=1e6),
            )
            done = replace(done, workload=workload.name, figures=figures, settling=settling, seconds=seconds)
            self.orders[name].add(done)
            self.now_s += ran_s + BESIDE_S


def test_if_nothing_converges_all_layouts_get_similar_time_and_one_sampling_round_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the 66 trials, builds take 90 s, overhead 132 s, and the minimum times 66 s.

    A sampling round takes 90 s and three trials.
    """
    played = Played(monkeypatch, 900)
    first, last = played.caps["one", "w"], played.caps["three", "w"]
    assert 0.5 < sum(last) / sum(first) < 2.0
    assert played.schedule.left_s > 0
    assert played.schedule.affords(list(played.orders))
    before = len(played.caps["one", "etcd"])
    for name in played.schedule.begin_round(list(played.orders)):
        played.measure(name)
    sampled_caps = [caps[before:] for (_name, family), caps in played.caps.items() if family == "etcd"]
    assert all(len(caps) == 1 and caps[0] >= 15 for caps in sampled_caps), sampled_caps
    assert played.schedule.left_s > -15.0


@pytest.mark.parametrize(("budget_s", "least", "most"), [(900, 45.0, 2.0), (1500, 60.0, 20.0)])
def test_trials_of_the_goal_get_up_to_their_maximum_time(
    monkeypatch: pytest.MonkeyPatch, budget_s: int, least: float, most: float
) -> None:
    """The maximum is 60 s. The goal has priority because it answers the campaign's question.

    The other workloads share the rest.
    """
    played = Played(monkeypatch, budget_s)
    others = [cap for (_name, family), caps in played.caps.items() if family == "w" for cap in caps]
    goal = [cap for (_name, family), caps in played.caps.items() if family == "etcd" for cap in caps]
    assert min(goal) >= least
    assert max(others) < most
    assert played.schedule.left_s >= 0


def test_with_a_minimum_of_one_trial_cells_of_the_goal_get_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single trial allows no decision, and three layouts are too few to estimate how much trials vary."""
    played = Played(monkeypatch, 900, trials="1..6")
    counts = {len(caps) for (_name, family), caps in played.caps.items() if family == "etcd"}
    assert counts == {2}
    assert {len(caps) for (_name, family), caps in played.caps.items() if family == "w"} <= set(range(10, 17))
    assert played.schedule.left_s > -15.0


def test_if_all_trials_converge_early_each_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may take at least five times as long as it needs, although some time is reserved for the goal."""
    played = Played(monkeypatch, 1500, settles=True)
    assert min(cap for caps in played.caps.values() for cap in caps[2:]) >= 10.0


@pytest.mark.parametrize("budget_s", [300, 330, 400])
def test_a_budget_near_the_minimum_is_not_exceeded(monkeypatch: pytest.MonkeyPatch, budget_s: int) -> None:
    played = Played(monkeypatch, budget_s)
    assert played.schedule.left_s > -15.0


@pytest.mark.parametrize(("blocks", "second"), [(4, 8), (12, 8), (3, 0)])
def test_with_a_minimum_of_one_trial_sampled_cells_get_a_second_one(blocks: int, second: int) -> None:
    """Eight second trials show how much trials vary. Fewer cells are not enough to estimate that."""
    sizes = ", ".join(f"{4 * (1 + block)}k" for block in range(blocks))
    asked = parse_campaign(
        f"layouts: {{one: dir /a, two: dir /b}}\nworkloads: {{w: {{rw: read, bs: [{sizes}], size: 1m}}}}\n"
        "measure: {until: 10%, min: 1s, trials: 1..6}\nbudget: 1h\ngoal: w",
        "t",
    )
    orders = sharing(asked)
    assert schedule_of(asked, orders) is not None
    for name, order in orders.items():
        for workload, number in order.ahead():
            figure = 100.0 + number
            order.add(
                replace(
                    trial(name, number, 0.0),
                    workload=workload.name,
                    figures=TrialMetrics(iops=figure, bandwidth_bytes=figure),
                )
            )
    cells = [cell for order in orders.values() for cell in order.cells()]
    assert {len(cell) for cell in cells} <= {1, 2}
    assert sum(len(cell) == 2 for cell in cells) == second
    assert (priors_among(cells).rates is not None) == bool(second)
    again = sharing(asked, [each for cell in cells for each in cell])
    assert schedule_of(asked, again) is not None
    assert not any(order.certain() for order in again.values()), "a resumed run builds no layout anew for that"


@pytest.mark.parametrize(("syncs", "budget_s", "least_s"), [(None, 75, 20.0), (250, 140, 40.0), (5000, 140, 0.0)])
def test_trials_of_a_percentile_may_last_until_it_has_enough_events(
    syncs: int | None, budget_s: int, least_s: float
) -> None:
    """A p99 needs 1,000 syncs.

    This takes 40 s if an earlier trial had 250 syncs in 10 s. If no trial has run, a slow layout is assumed, which
    takes 20 s.
    """
    asked = parse_campaign(
        "layouts: {one: dir /a, two: dir /b, three: dir /c}\nworkloads: {etcd: etcd}\n"
        f"measure: {{until: 5%, min: 1s, trials: 2}}\nbudget: {budget_s}s",
        "t",
    )
    done = []
    if syncs is not None:
        figures = TrialMetrics(iops=1000.0, bandwidth_bytes=1e6, sync_p99_ns=1e6, syncs=syncs)
        done = [replace(trial("one", 1, 0.0), workload="etcd", metric="sync_p99", figures=figures)]
    found = schedule_of(asked, sharing(asked, done))
    assert found is not None
    until = found.measure("one", "etcd").until
    assert until is not None
    assert until.max_s >= least_s
    assert least_s or until.max_s < 20.0, "enough events need no more than an equal share"
