"""The answer at the top of the page: the facts it contains, and a golden file with the wording of all answers."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolproof.presentation.html_report.answer import Headline, answer
from poolproof.results.compare.ranking import find_goal, rank
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Convergence, Trial
from tests.unit.presentation.html_report.making import CAMPAIGN, all_trials, make_run, trial
from tests.unit.results.runs.disturbed_trials import STOLEN

UNTIL = CAMPAIGN.replace("time: 5s, trials: 2", "until: 3%, max: 60s, trials: 2..6")
NO_GOAL = CAMPAIGN.replace("goal: reads\n", "")


def _answer(path: Path, **asked: Any) -> Headline:
    trials = asked.pop("trials", None)
    made = make_run(path / "run", all_trials() if trials is None else trials, **asked)
    return _read(made)


def _read(run: Path) -> Headline:
    """Return the answer of a run, and record it for the comparison with the golden file."""
    found = answer(load_run(run, lenient=True))
    SEEN.append("\n".join((found.sentence, *found.rest)).replace(str(run), "RUN"))
    return found


SEEN: list[str] = []


@pytest.fixture(autouse=True)
def _recorded(wording: Callable[[str], str]) -> Iterator[None]:
    """Compare the wording of all answers in a test with the golden file."""
    SEEN.clear()
    yield
    for text in SEEN:
        wording(text)


def _line(found: Headline, *facts: str) -> str:
    """Return the first of the further sentences that contains these facts."""
    return next(line for line in found.rest if all(fact in line for fact in facts))


def _done(found: Headline) -> set[tuple[int, int]]:
    """Return the numbers of finished and of all trials, from all sentences that contain them."""
    texts = (found.sentence, *found.rest)
    return {(int(done), int(of)) for text in texts for done, of in re.findall(r"(\d+) of (\d+) trials are done", text)}


def test_the_best_is_the_rankings_best_with_its_result(tmp_path: Path) -> None:
    found = _answer(tmp_path)
    run = load_run(tmp_path / "run", lenient=True)
    ranking = rank(run, find_goal(run.campaign, None, None), metric=None, effect=0.02)
    assert ranking.ranked[0].entry.layout == "bare-a"
    assert "bare-a" in found.sentence and "2.03k IOPS" in found.sentence
    assert found.tone == "known"
    assert ranking.ranked[1].entry.layout in _line(found, "pair", "−25%")


def test_the_answer_says_what_it_holds_for_and_what_a_repeat_would_show(tmp_path: Path) -> None:
    found = _answer(tmp_path)
    assert _line(found, "pair vs bare-a", "95%")
    assert _line(found, "this machine", "builds")


def test_a_refuted_layout_is_left_out_with_its_rule(tmp_path: Path) -> None:
    trials = [each for each in all_trials() if (each.layout, each.workload) != ("one", "reads")]
    trials += [trial("one", "reads", number, "refuted") for number in (1, 2)]
    found = _answer(tmp_path, trials=trials)
    assert "one" in _line(found, "refuted", "write-vanished")


def test_one_trial_has_no_interval_and_says_so(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("trials: 2", "trials: 1")
    found = _answer(tmp_path, trials=all_trials(trials=1), campaign=campaign)
    assert "one trial" in found.sentence
    assert found.tone == "open"
    assert any("significant" in line for line in found.rest)


def test_all_refuted_concludes_nothing_and_names_a_fix(tmp_path: Path) -> None:
    found = _answer(tmp_path, trials=all_trials("refuted"))
    assert "6 results" in found.sentence
    assert _line(found, "write it anew")
    assert found.tone == "nothing"


def test_sound_results_without_a_value_are_not_called_refuted(tmp_path: Path) -> None:
    found = _answer(tmp_path / "all", trials=[replace(each, figures=None) for each in all_trials()])
    assert "6 results" in found.sentence and "no value" in found.sentence and found.tone == "nothing"
    one = _answer(tmp_path / "one", trials=[replace(trial("one", "reads"), figures=None)])
    assert "no value" in one.sentence and "disks" not in one.sentence


@pytest.mark.parametrize("campaign", [CAMPAIGN, NO_GOAL])
def test_layouts_that_measured_0_are_valid_but_cannot_be_ranked(tmp_path: Path, campaign: str) -> None:
    """They were called invalid, although their verdict is sound."""
    trials = [
        replace(each, figures=replace(each.figures, iops=0.0)) if each.figures and each.layout != "one" else each
        for each in all_trials()
    ]
    found = _answer(tmp_path / "one", trials=trials, campaign=campaign)
    text = "\n".join((found.sentence, *found.rest, *(line for _, line in found.workloads)))
    assert ("one is the only layout with a result that can be ranked" in text) is (campaign == CAMPAIGN)
    none = [replace(each, figures=replace(each.figures, iops=0.0)) for each in all_trials() if each.figures]
    sentence = _answer(tmp_path / "none", trials=none, campaign=CAMPAIGN).sentence
    assert "No layout can be ranked" in sentence and "a trial measured 0" in sentence and "valid" not in sentence


def test_nothing_measured_says_how_to_continue(tmp_path: Path) -> None:
    found = _answer(tmp_path, trials=[])
    assert _done(found) == {(0, 12)} and found.tone == "nothing"
    assert _line(found, f"poolproof resume {tmp_path / 'run'}")


def test_a_run_that_was_stopped_says_how_far_it_is(tmp_path: Path) -> None:
    found = _answer(tmp_path, trials=all_trials()[:5])
    assert _done(found) == {(5, 12)}
    assert _line(found, f"poolproof resume {tmp_path / 'run'}")


def test_unreadable_trials_are_no_reason_to_resume(tmp_path: Path) -> None:
    """A run with damaged lines can't be resumed."""
    path = make_run(tmp_path / "run", all_trials())
    lines = (path / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (path / "trials.jsonl").write_bytes(b"".join([b"{}\n" * 3, *lines[3:]]))
    found = _read(path)
    assert _done(found) == {(9, 12)} and "resume" not in _line(found, "3 recorded trials cannot be read")
    (path / "trials.jsonl").write_bytes(b"{}\n" * 12)
    found = _read(path)
    assert "12" in found.sentence and found.tone == "nothing" and not found.rest


def test_without_a_goal_every_workload_has_its_answer(tmp_path: Path) -> None:
    found = _answer(tmp_path, campaign=NO_GOAL)
    assert "bare-a" in found.sentence and "2 workloads" in found.sentence
    assert [name for name, _ in found.workloads] == ["reads", "stream"]


def test_without_a_goal_and_without_one_winner_it_says_so(tmp_path: Path) -> None:
    trials = [each for each in all_trials() if (each.layout, each.workload) != ("bare-a", "stream")]
    found = _answer(tmp_path, campaign=NO_GOAL, trials=trials)
    assert found.tone == "open"
    assert not any(layout in found.sentence for layout in ("bare-a", "one", "pair"))


def test_ties_do_not_mean_that_the_best_depends_on_the_workload(tmp_path: Path) -> None:
    trials = [
        replace(trial("one", workload, number), layout=layout)
        for layout in ("bare-a", "one", "pair")
        for workload in ("reads", "stream")
        for number in (1, 2)
    ]
    found = _answer(tmp_path, campaign=NO_GOAL, trials=trials)
    assert found.tone == "open" and "depends" not in found.sentence and "2 workloads" in found.sentence
    assert all("not significantly different" in text for _, text in found.workloads)


def test_a_layout_that_cannot_be_tested_is_not_called_equal(tmp_path: Path) -> None:
    """Other work disturbed all trials of the fastest layout."""
    trials = [
        replace(each, verdict="suspect", findings=(STOLEN,)) if each.layout == "bare-a" else each
        for each in all_trials()
    ]
    texts = dict(_answer(tmp_path, campaign=NO_GOAL, trials=trials).workloads)
    assert "among the tested layouts" in texts["reads"] and "bare-a could not be tested" in texts["reads"]
    assert not re.search("different from[^;]*bare-a", texts["reads"])


def test_no_layout_leads_if_none_can_be_tested(tmp_path: Path) -> None:
    """Other work disturbed all trials of all layouts."""
    trials = [replace(each, verdict="suspect", findings=(STOLEN,)) for each in all_trials()]
    texts = dict(_answer(tmp_path, campaign=NO_GOAL, trials=trials).workloads)
    for text in texts.values():
        assert "no layout can be tested" in text and "best mean" in text
        assert "leads" not in text and "among the tested layouts" not in text


def test_the_only_workload_with_a_result_gives_the_answer(tmp_path: Path) -> None:
    found = _answer(tmp_path, campaign=NO_GOAL, trials=[trial("one", "reads")])
    assert all(fact in found.sentence for fact in ("reads", "2 workloads", "one: 1.01k IOPS"))
    assert _line(found, "10.0 s", "1 trial")


def test_a_longer_schedule_is_named_with_its_cost(tmp_path: Path) -> None:
    trials = [replace(each, settling=Convergence(True, 0.0, 10.0, 60.0, 0.99, 1.01)) for each in all_trials()]
    found = _answer(tmp_path, campaign=UNTIL, trials=trials)
    assert _line(found, "fixed schedule", "2 min", "12 trials", "12 min")


def test_a_fixed_schedule_is_not_compared_with_itself_or_with_a_part_of_a_run(tmp_path: Path) -> None:
    fixed = _answer(tmp_path / "fixed")
    part = _answer(tmp_path / "part", campaign=UNTIL, trials=all_trials()[:3])
    for found, cost in ((fixed, ("2 min", "12 trials")), (part, ("30.0 s", "3 trials"))):
        assert "schedule" not in _line(found, *cost)


def test_an_eliminated_layout_is_named_with_the_reason(tmp_path: Path) -> None:
    campaign = UNTIL.rstrip() + "\nbudget: 1h\n"
    trials = [trial(layout, "reads", number) for layout in ("bare-a", "one", "pair") for number in (1, 2, 3, 4)]
    found = _answer(tmp_path, campaign=campaign, trials=trials)
    assert "one" in _line(found, "bare-a is 2 times as fast")


def test_more_trials_of_one_cell_do_not_make_up_for_another_that_lacks_some(tmp_path: Path) -> None:
    trials = [*all_trials()[:-1], *(trial("one", "reads", number) for number in (3, 4, 5))]
    found = _answer(tmp_path, campaign=UNTIL, trials=trials)
    assert _done(found) == {(11, 12)}
    assert not any("fixed schedule" in line for line in found.rest)


def test_a_run_in_progress_is_not_called_stopped(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:3])
    with RunDirectory.open(path).locked():
        running = _read(path)
    stopped = _read(path)
    assert _done(running) == _done(stopped) == {(3, 12)}
    resume = f"poolproof resume {path}"
    assert _line(stopped, resume) and not any(resume in line for line in running.rest)


def test_only_a_run_with_until_may_add_trials_after_the_last_planned_one(tmp_path: Path) -> None:
    for name, campaign in (("fixed", CAMPAIGN), ("until", UNTIL)):
        path = make_run(tmp_path / name, all_trials(), campaign=campaign)
        with RunDirectory.open(path).locked():
            assert ("more trials" in _line(_read(path), "in progress")) == (name == "until")


MIX = CAMPAIGN.replace("{rw: randread, bs: 4k, size: 64m}", "{rw: [read, randread], bs: [4k, 8k, 16k], size: 64m}")


def _mix(bad: str = "") -> list[Trial]:
    """Return the trials for a goal with six workloads.

    The last workload's trials are refuted on the layouts in `bad`.
    """
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
    assert re.search(r"6 workloads.*bare-a.*pair.*−25%", found.sentence)
    assert _line(found, "one: 1 refuted", "6 workloads")


def test_where_every_layout_lacks_something_each_workload_speaks_for_itself(tmp_path: Path) -> None:
    found = _answer(tmp_path, campaign=MIX, trials=_mix("bare-a one pair"))
    assert "6 workloads" in found.sentence
    assert _line(found, "(of 6)", "bare-a in 5")
    assert _line(found, "bare-a, one, pair: 1 refuted", "6 workloads")
    assert found.tone == "open"


def test_a_layout_that_a_budget_dropped_is_named_with_why_and_at_what_risk(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("time: 5s, trials: 2", "until: 3%, trials: 2..6") + "budget: 1h\n"
    found = _answer(tmp_path, trials=all_trials(trials=5), campaign=campaign)
    assert _line(found, "5 trials of each workload")
    assert _line(found, "risk", "at most 5%")
