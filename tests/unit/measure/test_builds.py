"""Several builds of each layout: the order of the rounds, the trials of each build, and a run on a scripted host."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from poolproof.campaign.flags import Flags, Overrides, campaign_of
from poolproof.campaign.model import Measure, Until
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError
from poolproof.measure.order import TrialOrder, build_rounds
from poolproof.measure.schedule import schedule_of
from poolproof.metrics import TrialMetrics
from poolproof.presentation.terminal.plan_text import plan_object, plan_text
from poolproof.presentation.terminal.progress import RunProgress
from poolproof.process import Completed
from poolproof.results.runs.convergence import trials_ahead
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Convergence, Trial, TrialKey
from poolproof.results.runs.timing import took

from .scripted_host import CAMPAIGN, Argv, Run, ScriptedHost, planned, script
from .test_conduct import ALL_CELLS, Heard, failing

TEXT = CAMPAIGN.replace("trials: 1", "trials: 1, builds: 2, seed: 7")
HEAD = "layouts: {one: dir /a, two: dir /b}\nworkloads: {reads: {rw: read, size: 1m}}\n"


def scripted(instead: Callable[[Argv], Completed | None] | None = None) -> ScriptedHost:
    recorded = script()
    recorded.streams *= 2
    return ScriptedHost(recorded, instead)


def trial(layout: str, number: int, build: int, value: float = 100.0) -> Trial:
    settling = Convergence(True, 0.0, 3.0, 180.0, 0.9995, 1.0005)
    metrics = TrialMetrics(iops=value, bandwidth_bytes=value)
    return Trial(layout, "reads", number, "sound", (), "iops", metrics, settling=settling, build=build)


@pytest.mark.parametrize("layouts", ["a", "ab", "abc", "abcd", "abcdefgh", "abcdefghi"])
@pytest.mark.parametrize("builds", [2, 3, 4, 5, 8])
def test_each_layout_is_built_as_often_early_as_late(layouts: str, builds: int) -> None:
    rounds = build_rounds(list(layouts), builds, 3)
    assert [sorted(each) for each in rounds] == [sorted(layouts)] * builds
    sums = Counter[str]()
    for each in rounds:
        sums.update({name: position for position, name in enumerate(each, start=1)})
    assert max(sums.values()) - min(sums.values()) <= (builds % 2 and len(layouts) % 2 == 0)
    assert rounds == build_rounds(list(layouts), builds, 3)


def test_two_layouts_are_built_there_and_back_in_an_order_set_by_the_seed() -> None:
    orders = {"".join("".join(each) for each in build_rounds("ab", 2, seed)) for seed in range(9)}
    assert orders == {"abba", "baab"}
    assert build_rounds("ba", 1, 3) == [["b", "a"]], "one build follows the campaign"


def test_every_build_gets_its_trials_and_each_trial_records_its_build(tmp_path: Path) -> None:
    run, heard = planned(scripted(), tmp_path / "run", TEXT), Heard()
    run.conduct(heard)
    trials = run.directory.trials()
    assert sorted((each.build, each.layout, each.workload) for each in trials) == [
        (build, *cell) for build in (1, 2) for cell in sorted(ALL_CELLS)
    ]
    assert {(each.number, each.build) for each in trials} == {(1, 1), (2, 2)}
    built = [(each.layout, each.build) for each in trials][::2]
    assert [layout for layout, _ in built] in (["one", "two", "two", "one"], ["two", "one", "one", "two"])
    assert isinstance(run.host, ScriptedHost)
    assert sum(argv[0] == "mkfs.ext4" for argv in run.host.ran) == 4
    assert trials_ahead(trials, run.plan.campaign) == 0
    loaded = load_run(run.directory.path)
    assert (loaded.done, loaded.wanted) == (8, 8)
    progress = RunProgress(run.plan.campaign, trials)
    assert progress.total == progress.done == 8
    assert sum(map(len, took(trials, 0.0).trials.values())) == 8


def test_a_stopped_run_continues_with_the_builds_that_are_left(tmp_path: Path) -> None:
    class Interrupting(Heard):
        def trial_begins(self, key: TrialKey) -> None:
            if key and len(self.trials) == 5:
                raise KeyboardInterrupt

    run = planned(scripted(), tmp_path / "run", TEXT)
    with pytest.raises(KeyboardInterrupt):
        run.conduct(Interrupting())
    before = run.directory.trials()
    assert trials_ahead(before, run.plan.campaign) == 3
    again = Run(run.plan, scripted(), run.directory)
    again.conduct()
    trials = run.directory.trials()
    assert trials[:5] == before
    assert {(each.build, each.key) for each in trials} == {
        (build, TrialKey(*cell, build)) for build in (1, 2) for cell in ALL_CELLS
    }
    assert isinstance(again.host, ScriptedHost)
    assert sum(argv[0] == "mkfs.ext4" for argv in again.host.ran) == 2, "finished builds are not built again"


def test_a_build_that_fails_leaves_the_other_builds_of_its_layout(tmp_path: Path) -> None:
    made: list[Argv] = []

    def third_mkfs_fails(argv: Argv) -> Completed | None:
        if argv[0] != "mkfs.ext4":
            return None
        made.append(argv)
        return failing(argv) if len(made) == 3 else None

    run, heard = planned(scripted(third_mkfs_fails), tmp_path / "run", TEXT), Heard()
    run.conduct(heard)
    failed = {(each.layout, each.build) for each in run.directory.trials() if each.verdict == "failed"}
    assert len(failed) == 1 and {build for _, build in failed} == {2}
    assert len(run.directory.trials()) == 8
    assert len(heard.warnings) == 1


def test_the_trials_of_a_build_decide_whether_it_needs_another_one() -> None:
    measure = Measure(trials=2, most_trials=4, until=Until(tolerance=0.05), builds=2)
    (reads,) = parse_campaign(HEAD, "t").workloads
    apart = [trial("one", 1, 1, 100.0), trial("one", 2, 1, 200.0)]
    order = TrialOrder("one", [reads], measure, 5, apart)
    assert [number for _, number in order.certain(1)] == [3]
    assert [number for _, number in order.certain(2)] == [4, 5]
    assert (order.builds_ahead(), order.announce()) == ((1, 2), 3)
    calm = TrialOrder("one", [reads], measure, 5, [trial("one", 1, 1), trial("one", 2, 1, 100.1)])
    calm.announce()
    ran = []
    for _, number in calm.ahead(build=2):
        calm.add(trial("one", number, 2, 100.0 * number))
        ran.append((number, calm.is_new(reads, 2)))
    assert ran == [(3, False), (4, True), (5, True), (6, True)], "the builds may differ; the trials of one may not"
    assert calm.builds_ahead() == ()


def test_a_budget_covers_every_build() -> None:
    asked = parse_campaign(
        HEAD + "measure: {until: 3%, min: 1s, trials: 1..4, builds: 3}\nbudget: 1000s", "t", recorded=True
    )
    orders = {each.name: TrialOrder(each.name, asked.workloads, asked.measure, 1) for each in asked.layouts}
    schedule = schedule_of(asked, orders)
    assert schedule is not None
    share = schedule.measure("one", "reads").until
    assert share is not None and 100 < share.max_s < 180, "six trials share 1000 s"
    for name, order in orders.items():
        for build in order.builds:
            for _, number in order.ahead(build=build):
                order.add(trial(name, number, build, 100.0 * number))
    assert {len(cell) for order in orders.values() for cell in order.cells()} == {3}
    assert schedule.candidates() == [], "no single trials of further builds"


def test_the_key_and_the_option() -> None:
    campaign = parse_campaign(HEAD + "measure: {builds: 4, trials: 2}", "t")
    assert campaign.measure == Measure(builds=4, trials=2)
    assert parse_campaign(format_campaign(campaign), "t") == campaign
    assert "builds" not in format_campaign(parse_campaign(HEAD, "t"))
    flags = Flags(["one=dir /a"], None, ["rw=read,size=1m"], None)
    assert campaign_of(None, flags, Overrides(None, None, None, builds="3"))[0].measure.builds == 3
    for wrong in ("0", "101", "many"):
        with pytest.raises(CampaignError, match=r"from 1 to 100 .*`builds`"):
            parse_campaign(HEAD + f"measure: {{builds: {wrong}}}", "t")


def test_a_dry_run_shows_the_order_of_the_builds() -> None:
    rounds = [["one", "two"], ["two", "one"]]
    text = plan_text((), (), (), rounds)
    assert " 2 times" in text
    assert "# build 1: one, two\n# build 2: two, one" in text
    assert plan_object((), (), (), rounds)["rounds"] == rounds
    assert "built" not in plan_text((), (), (), rounds[:1])
