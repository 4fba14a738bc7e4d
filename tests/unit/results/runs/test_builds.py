"""Several builds of a layout: each build is one sample in every interval, comparison, ranking and claim."""

import math
import random
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.presentation.terminal.table import print_table
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.compare.ranking import Goal, rank
from poolproof.results.runs.baseline_speeds import speeds_to_baseline
from poolproof.results.runs.claim_results import evaluate
from poolproof.results.runs.elimination import elimination_of
from poolproof.results.runs.in_place import family_of
from poolproof.statistics.build_samples import build_samples
from poolproof.statistics.comparison import difference, log_mean
from poolproof.statistics.intervals import mean_interval

from .several_builds import APART, FAILED, MEANS, SHIFTED, Builds, campaign, run_of, two


def shown(printing: object, *values: object) -> str:
    assert callable(printing)
    out = StringIO()
    printing(Console(file=out, width=200), *values)
    return out.getvalue()


def test_the_interval_is_that_of_the_means_of_the_builds(tmp_path: Path) -> None:
    run = two(tmp_path / "r")
    assert run.cell("one", "w0").figure == mean_interval(MEANS)
    assert run.cell("one", "w0").result("bandwidth").interval == mean_interval(MEANS)
    trials = [[value for build in APART for value in build]]
    alone = two(tmp_path / "s", campaign(builds=1), trials, trials).cell("one", "w0").figure
    built = run.cell("one", "w0").figure
    assert alone is not None and built is not None and alone.half_width is not None and built.half_width is not None
    assert alone == mean_interval(trials[0]), "the trials of one build are the samples"
    assert built.half_width > 1.5 * alone.half_width


def test_comparison_ranking_factor_and_claim_use_the_same_samples(tmp_path: Path) -> None:
    text = campaign(more='baseline: one\nexpect: [{claim: c, source: s, that: "iops(two, w0) > iops(one, w0)"}]\n')
    run = two(tmp_path / "r", text)
    sides = [log_mean(MEANS), log_mean([1.05 * mean for mean in reversed(MEANS)])]
    assert sides[0] is not None and sides[1] is not None
    expected = difference(sides[1], sides[0]).interval
    found = compare(Side(run, "one"), Side(run, "two"), effect=0.02)
    assert found.cells[0].difference.interval == expected
    assert found.cells[0].decision.word == "undecided", "eight trials as units would call this faster"
    assert speeds_to_baseline(run.cells, "one")[run.cell("two", "w0").key] == expected
    (pair,) = rank(run, Goal({"w0": 1.0}), metric=None, effect=0.02).pairs
    assert pair.is_tie and pair.difference.interval == expected
    (claim,) = evaluate(run.campaign.expect, run.cells)
    assert claim.result == "undecided" and claim.measured is not None
    own = run.cell("two", "w0").figure
    assert own is not None and (claim.measured.mean, claim.measured.low) == pytest.approx((own.mean, own.low))


def test_trials_bound_the_precision_of_builds_that_agree_by_chance() -> None:
    samples = build_samples([[90.0, 110.0], [80.0, 120.0], [95.0, 105.0]])
    assert samples.values == (100.0, 100.0, 100.0)
    assert samples.error == pytest.approx(math.sqrt((200 + 800 + 50) / 3 / 6) / 100)
    assert build_samples([[90.0], [110.0], []]) == build_samples([[90.0], [110.0]])
    assert build_samples([[90.0], [110.0]]).error == 0.0
    assert build_samples([]).values == ()


def test_with_until_the_prior_and_the_convergence_are_those_of_builds(tmp_path: Path) -> None:
    chance = random.Random(5)
    names = [f"w{number}" for number in range(5)]

    def builds(scale: float) -> Builds:
        levels = [100 * math.exp(scale * chance.gauss(0, 1)) for _ in range(4)]
        return [[level, level * 1.001] for level in levels]

    text = campaign("until: 3%", workloads=5)
    cells = {(layout, name): builds(0.05) for layout in ("one", "two") for name in names}
    run = run_of(tmp_path / "r", text, cells)
    prior = run.prior("iops")
    assert prior is not None and 0.03 < prior.deviation < 0.08, "between builds, not the 0.1% between trials"
    settled = run.cell("one", "w0").settling
    assert settled is not None and not settled.converged and settled.across_trials is not None
    assert settled.across_trials.disagree, "builds differ by more than their trials explain"
    assert any("4 builds" in each.sentence for each in settled.reasons)
    precise = {key: [[100.0, 100.1]] * 4 for key in cells}
    assert all(cell.settling and cell.settling.converged for cell in run_of(tmp_path / "s", text, precise).cells)


def test_with_a_budget_layouts_are_eliminated_by_their_builds(tmp_path: Path) -> None:
    text = campaign("until: 3%", more="budget: 1h\n")
    close = elimination_of(two(tmp_path / "r", text).trials, two(tmp_path / "q", text).campaign)
    assert close is not None and close.left == ("one", "two") and close.checkpoints == 1
    far = [[value * 3 for value in build] for build in APART]
    clear = two(tmp_path / "s", text, APART, far)
    beaten = elimination_of(clear.trials, clear.campaign)
    assert beaten is not None and [each.layout for each in beaten.dropped] == ["one"]


@pytest.mark.parametrize("failed", [[FAILED, FAILED], [200.0, FAILED]], ids=["whole", "in the middle"])
def test_a_failed_build_is_left_out_and_the_answer_says_so(tmp_path: Path, failed: list[float]) -> None:
    run = two(tmp_path / "r", one=[*APART[:3], failed])
    cell = run.cell("one", "w0")
    assert (cell.verdict, cell.builds, cell.counts) == ("sound", 3, True)
    assert cell.figure == mean_interval(MEANS[:3])
    text = shown(print_table, run.cells, None)
    assert all(fact in text for fact in ("w0 on one: 3 builds", "build 4 of 4", "mkfs.ext4 failed"))
    assert compare(Side(run, "one"), Side(run, "two"), effect=0.02).cells[0].difference.error is not None
    assert any("left out" in each.message for each in cell.findings_on())
    assert (run.done, run.wanted) == (16, 16)


def test_a_cell_whose_builds_all_failed_is_failed(tmp_path: Path) -> None:
    run = two(tmp_path / "r", one=[[FAILED, FAILED]] * 4)
    assert (run.cell("one", "w0").verdict, run.cell("one", "w0").figure) == ("failed", None)
    assert run.cell("two", "w0").counts


def test_a_single_build_that_is_left_has_no_interval(tmp_path: Path) -> None:
    run = two(tmp_path / "r", one=[APART[0], [FAILED] * 2, [FAILED] * 2, [FAILED] * 2])
    figure = run.cell("one", "w0").figure
    assert figure is not None and figure.half_width is None, "its trials do not show how much builds differ"
    found = compare(Side(run, "one"), Side(run, "two"), effect=0.02)
    assert found.cells[0].decision.word == "undecided"
    assert "w0; measure with `builds: 3`" in shown(print_comparison, found)
    ranking = shown(print_ranking, rank(run, Goal({"w0": 1.0}), metric=None, effect=0.02))
    assert "single build" in ranking


def test_the_first_round_of_a_run_is_shown_as_one_build(tmp_path: Path) -> None:
    run = two(tmp_path / "r", one=APART[:1], other=SHIFTED[:1])
    assert run.cell("one", "w0").figure == mean_interval(APART[0])
    assert "builds" not in shown(print_table, run.cells, None)


def test_answers_say_what_they_hold_for(tmp_path: Path) -> None:
    several, single = two(tmp_path / "r"), two(tmp_path / "s", campaign(builds=1), APART[:1], SHIFTED[:1])
    for run, words in ((several, "account for the differences"), (single, "this build of each")):
        found = compare(Side(run, "one"), Side(run, "two"), effect=0.02)
        assert words in " ".join(shown(print_comparison, found).split())
        assert words in " ".join(shown(print_ranking, rank(run, Goal({"w0": 1.0}), metric=None, effect=0.02)).split())
    assert "mean of 4 builds" in shown(print_table, several.cells, None)


def test_cells_with_fewer_builds_are_not_said_to_have_all(tmp_path: Path) -> None:
    run = two(tmp_path / "r", other=SHIFTED[:3])
    assert {cell.builds for cell in run.cells} == {3, 4}
    assert "up to 4 builds" in shown(print_table, run.cells, None)
    assert any("up to 4 builds" in line for line in answer(run).rest)


def test_layouts_that_are_built_several_times_are_no_family(tmp_path: Path) -> None:
    assert family_of(two(tmp_path / "r").campaign) == {}
    assert family_of(two(tmp_path / "s", campaign(builds=1), APART[:1], SHIFTED[:1]).campaign) == {"one": 0, "two": 0}
