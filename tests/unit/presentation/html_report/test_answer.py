"""The answer at the top of the page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from poolproof.presentation.html_report.answer import Headline, answer
from poolproof.results.compare.ranking import find_goal, rank
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Convergence, Trial
from tests.unit.presentation.html_report.making import CAMPAIGN, all_trials, make_run, trial


def _answer(path: Path, **asked: Any) -> Headline:
    trials = asked.pop("trials", None)
    made = make_run(path / "run", all_trials() if trials is None else trials, **asked)
    return answer(load_run(made, lenient=True))


def test_the_best_is_the_rankings_best_with_its_result(tmp_path: Path) -> None:
    found = _answer(tmp_path)
    run = load_run(tmp_path / "run", lenient=True)
    ranking = rank(run, find_goal(run.campaign, None, None), metric=None, effect=0.02)
    assert ranking.ranked[0].entry.layout == "bare-a"
    assert found.sentence.startswith("For reads, bare-a is best: 2.03k IOPS (")
    assert found.tone == "known"
    assert any(line.startswith("Next is pair: −25%") for line in found.rest)


def test_the_answer_says_what_it_holds_for_and_what_a_repeat_would_show(tmp_path: Path) -> None:
    rest = _answer(tmp_path).rest
    (repeat,) = [line for line in rest if line.startswith("A repeat with the same number of trials would show ")]
    assert repeat.endswith(" for pair vs bare-a (95%).")
    assert any(line.startswith("This applies to this machine, these builds of the layouts and 20") for line in rest)


def test_a_refuted_layout_is_left_out_with_its_rule(tmp_path: Path) -> None:
    trials = [each for each in all_trials() if (each.layout, each.workload) != ("one", "reads")]
    trials += [trial("one", "reads", number, "refuted") for number in (1, 2)]
    found = _answer(tmp_path, trials=trials)
    assert "Left out: one: refuted (write-vanished)." in found.rest


def test_one_trial_has_no_interval_and_says_so(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("trials: 2", "trials: 1")
    found = _answer(tmp_path, trials=all_trials(trials=1), campaign=campaign)
    assert "one trial" in found.sentence
    assert found.tone == "open"
    assert any("no difference between them is significant" in line for line in found.rest)


def test_all_refuted_concludes_nothing_and_names_a_fix(tmp_path: Path) -> None:
    found = _answer(tmp_path, trials=all_trials("refuted"))
    assert found.sentence.startswith("Nothing can be concluded. All 6 results")
    assert "Fix: write it anew" in found.rest
    assert found.tone == "nothing"


def test_nothing_measured_says_how_to_continue(tmp_path: Path) -> None:
    found = _answer(tmp_path, trials=[])
    assert found.sentence == "Nothing has been measured yet: 0 of 12 trials are done."
    assert found.rest == (f"To continue: poolproof resume {tmp_path / 'run'}",)


def test_a_run_that_was_stopped_says_how_far_it_is(tmp_path: Path) -> None:
    found = _answer(tmp_path, trials=all_trials()[:5])
    assert (
        f"5 of 12 trials are done; the run was stopped. To continue: poolproof resume {tmp_path / 'run'}" in found.rest
    )


def test_unreadable_trials_are_no_reason_to_resume(tmp_path: Path) -> None:
    """A run with damaged lines cannot be resumed."""
    path = make_run(tmp_path / "run", all_trials())
    lines = (path / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (path / "trials.jsonl").write_bytes(b"".join([b"{}\n" * 3, *lines[3:]]))
    found = answer(load_run(path, lenient=True))
    assert "9 of 12 trials are done; 3 cannot be read." in found.rest
    (path / "trials.jsonl").write_bytes(b"{}\n" * 12)
    found = answer(load_run(path, lenient=True))
    assert (found.sentence, found.rest) == ("None of the 12 recorded trials can be read.", ())


def test_without_a_goal_every_workload_has_its_answer(tmp_path: Path) -> None:
    found = _answer(tmp_path, campaign=CAMPAIGN.replace("goal: reads\n", ""))
    assert found.sentence == "bare-a is best under all 2 workloads."
    assert [name for name, _ in found.workloads] == ["reads", "stream"]


def test_without_a_goal_and_without_one_winner_it_says_so(tmp_path: Path) -> None:
    trials = [each for each in all_trials() if (each.layout, each.workload) != ("bare-a", "stream")]
    found = _answer(tmp_path, campaign=CAMPAIGN.replace("goal: reads\n", ""), trials=trials)
    assert found.sentence == "No layout is best overall: each workload has its own answer."


def test_the_only_workload_with_a_result_gives_the_answer(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("goal: reads\n", "")
    found = _answer(tmp_path, campaign=campaign, trials=[trial("one", "reads")])
    assert found.sentence.startswith("Only reads, one of 2 workloads, has a valid result. one: 1.01k IOPS (one trial")
    assert "fio ran for 10.0 s in 1 trial." in found.rest


def test_a_longer_schedule_is_named_with_its_cost(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("time: 5s, trials: 2", "until: 3%, max: 60s, trials: 2..6")
    trials = [replace(each, settling=Convergence(True, 0.0, 10.0, 60.0, 0.99, 1.01)) for each in all_trials()]
    found = _answer(tmp_path, campaign=campaign, trials=trials)
    cost = [line for line in found.rest if "fixed schedule" in line]
    assert cost == [
        "fio ran for 2 min in 12 trials; a fixed schedule (2 trials of maximum length per cell) would have taken "
        "12 min."
    ]


def test_a_fixed_schedule_is_not_compared_with_itself_or_with_a_part_of_a_run(tmp_path: Path) -> None:
    fixed = _answer(tmp_path / "fixed")
    assert "fio ran for 2 min in 12 trials." in fixed.rest
    until = CAMPAIGN.replace("time: 5s, trials: 2", "until: 3%, max: 60s, trials: 2..6")
    part = _answer(tmp_path / "part", campaign=until, trials=all_trials()[:3])
    assert "fio ran for 30.0 s in 3 trials." in part.rest


def test_an_eliminated_layout_is_named_with_the_reason(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("time: 5s, trials: 2", "until: 3%, max: 60s, trials: 2..6").rstrip() + "\nbudget: 1h\n"
    trials = [trial(layout, "reads", number) for layout in ("bare-a", "one", "pair") for number in (1, 2, 3, 4)]
    found = _answer(tmp_path, campaign=campaign, trials=trials)
    dropped = [line for line in found.rest if line.startswith("Eliminated after")]
    assert any("of each workload: one; bare-a is 2 times as fast" in line for line in dropped)


def test_more_trials_of_one_cell_do_not_make_up_for_another_that_lacks_some(tmp_path: Path) -> None:
    until = CAMPAIGN.replace("time: 5s, trials: 2", "until: 3%, max: 60s, trials: 2..6")
    trials = [*all_trials()[:-1], *(trial("one", "reads", number) for number in (3, 4, 5))]
    found = _answer(tmp_path, campaign=until, trials=trials)
    assert any(line.startswith("11 of 12 trials are done; the run was stopped") for line in found.rest)
    assert not any("fixed schedule" in line for line in found.rest)


def test_a_run_in_progress_is_not_called_stopped(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:3])
    with RunDirectory.open(path).locked():
        assert "3 of 12 trials are done; the run is in progress." in answer(load_run(path, lenient=True)).rest
    assert (
        f"3 of 12 trials are done; the run was stopped. To continue: poolproof resume {path}"
        in answer(load_run(path, lenient=True)).rest
    )


MIX = CAMPAIGN.replace("{rw: randread, bs: 4k, size: 64m}", "{rw: [read, randread], bs: [4k, 8k, 16k], size: 64m}")


def _mix(bad: str = "") -> list[Trial]:
    """Return the trials of a goal with six workloads. The last trial of the named layouts is refuted."""
    names = [f"reads[rw={rw},bs={bs}]" for rw in ("read", "randread") for bs in ("4k", "8k", "16k")]
    return [
        replace(
            trial(layout, "reads", number, "refuted" if layout in bad and name == names[-1] else "sound"), workload=name
        )
        for layout in ("bare-a", "one", "pair")
        for name in names
        for number in (1, 2)
    ]


def test_a_mix_is_answered_by_speed_and_by_what_is_lacking(tmp_path: Path) -> None:
    found = _answer(tmp_path, campaign=MIX, trials=_mix("one"))
    assert found.sentence.startswith("For the mix of 6 workloads, bare-a is best; pair is next: −25% (")
    assert "Left out: one: 1 refuted of 6 workloads." in found.rest


def test_where_every_layout_lacks_something_each_workload_speaks_for_itself(tmp_path: Path) -> None:
    found = _answer(tmp_path, campaign=MIX, trials=_mix("bare-a one pair"))
    assert found.sentence == "No layout is best overall: none has a valid result for all 6 workloads."
    assert "Best or tied for best, by number of workloads (of 6): bare-a in 5." in found.rest
    assert "Left out: bare-a, one, pair: 1 refuted of 6 workloads." in found.rest
    assert found.tone == "open"


def test_a_layout_that_a_budget_dropped_is_named_with_why_and_at_what_risk(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("time: 5s, trials: 2", "until: 3%, trials: 2..6") + "budget: 1h\n"
    found = _answer(tmp_path, trials=all_trials(trials=5), campaign=campaign)
    assert any(line.startswith("Eliminated after 5 trials of each workload: ") for line in found.rest)
    assert any(
        line.startswith("The overall risk that the best layout was eliminated is at most 5%") for line in found.rest
    )
