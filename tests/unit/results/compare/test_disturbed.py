"""Comparisons, rankings and claims do not use disturbed trials if enough others remain, and say so."""

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.claims import Claim, parse_claim
from poolproof.campaign.document import Spot
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.results.compare.cell_comparison import Comparison, Side, compare
from poolproof.results.compare.comparison_object import comparison_object, ranking_object
from poolproof.results.compare.ranking import Goal, rank
from poolproof.results.runs.baseline_speeds import speeds_to_baseline
from poolproof.results.runs.claim_results import evaluate
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from tests.unit.results.runs.disturbed_trials import STOLEN, trial

from .making import CAMPAIGN, RECORD

_VALUES = (1000.0, 1012.0, 990.0, 1005.0, 997.0, 600.0)
_DISTURBED = frozenset({6})


def run_of(path: Path, speed: float, disturbed: frozenset[int] = _DISTURBED) -> LoadedRun:
    """Create a run of two layouts. The second one has `speed` relative to the first, whose values are `_VALUES`."""
    directory = RunDirectory.create(path, CAMPAIGN, RECORD)
    for layout, factor in (("one", 1.0), ("pair", speed)):
        for number, value in enumerate(_VALUES, start=1):
            directory.append(trial(number, value * factor, *([STOLEN] if number in disturbed else []), layout=layout))
    return load_run(path)


def compared(path: Path, speed: float, disturbed: frozenset[int] = _DISTURBED) -> Comparison:
    run = run_of(path, speed, disturbed)
    return compare(Side(run, "one"), Side(run, "pair"), effect=0.02)


def words(found: Comparison) -> Sequence[str]:
    return [cell.decision.word for cell in found.cells]


def test_a_difference_is_found_although_trials_were_disturbed(tmp_path: Path) -> None:
    found = compared(tmp_path / "r", 0.85)
    assert words(found) == ["slower"]
    (row,) = comparison_object(found)["cells"]
    assert [(row[side]["trials"], row[side]["left_out"], row[side]["verdict"]) for side in "ab"] == [
        (5, 1, "sound")
    ] * 2
    (remark,) = row["a"]["remarks"]
    assert "1 of 6 trials" in remark
    text = io.StringIO()
    print_comparison(Console(file=text, width=120), found)
    assert "1 of 6 trials" in text.getvalue()


def test_a_slow_trial_without_evidence_of_other_work_counts(tmp_path: Path) -> None:
    """The value alone never decides: the same values without the finding make the difference uncertain."""
    assert words(compared(tmp_path / "r", 0.85, frozenset())) == ["undecided"]


def test_cells_with_as_many_disturbed_trials_as_others_are_tested_at_their_extremes(tmp_path: Path) -> None:
    """Two undisturbed trials are too few to leave out the others, so the true mean may be that of either group."""
    run = disturbed_run(tmp_path / "r", (1000.0, 1001.0, 700.0, 701.0), first=3)
    found = compare(Side(run, "one"), Side(run, "pair"), effect=0.02)
    assert words(found) == ["undecided"]
    assert [each.verdict for each in (found.cells[0].a, found.cells[0].b)] == ["sound", "suspect"]
    assert claimed(run, "iops(one, reads) / iops(pair, reads) > 1.1") == "undecided"
    speeds = speeds_to_baseline(run.cells, "one")
    (speed,) = speeds.values()
    assert speed.low is not None and speed.high is not None and speed.low < 0.8 < 0.99 < speed.high


@pytest.mark.parametrize("first", [1, 2])
def test_cells_with_mostly_disturbed_trials_are_not_tested(tmp_path: Path, first: int) -> None:
    """Other work ran during almost all of the second layout's trials, so the trials agree but are all too slow."""
    values = (700.0, 699.0, 702.0, 698.0, 701.0, 700.0)
    run = disturbed_run(tmp_path / "r", values, first=first)
    found = compare(Side(run, "one"), Side(run, "pair"), effect=0.02)
    assert words(found) == ["undecided"]
    assert found.cells[0].b.untested and not found.cells[0].a.untested
    assert claimed(run, "iops(one, reads) / iops(pair, reads) > 1.1") == "undecided"
    assert not speeds_to_baseline(run.cells, "one")
    ranking = rank(run, Goal({"reads": 1.0}), metric=None, effect=0.02)
    assert [(each.entry.layout, each.first, each.last) for each in ranking.ranked] == [("one", 1, 2), ("pair", 1, 2)]
    text = io.StringIO()
    print_comparison(Console(file=text, width=120), found)
    print_ranking(Console(file=text, width=120), ranking)
    assert text.getvalue().count("other work disturbed") >= 2


def disturbed_run(path: Path, values: Sequence[float], *, first: int) -> LoadedRun:
    """Create a run of two layouts, of which the second has these values. Its trials from `first` on were disturbed."""
    directory = RunDirectory.create(path, CAMPAIGN, RECORD)
    for number, value in enumerate(values, start=1):
        directory.append(trial(number, 1000.0 + number, layout="one"))
        directory.append(trial(number, value, *([STOLEN] if number >= first else []), layout="pair"))
    return load_run(path)


def claimed(run: LoadedRun, text: str) -> str:
    (result,) = evaluate((Claim("it is faster", "this test", text, parse_claim(text, Spot("t"))),), run.cells)
    return result.result


def test_rankings_and_claims_use_the_same_trials(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", 0.85)
    found = rank(run, Goal({"reads": 1.0}), metric=None, effect=0.02)
    assert [(each.entry.layout, each.first, each.last) for each in found.ranked] == [("one", 1, 1), ("pair", 2, 2)]
    assert [row["figures"][0]["left_out"] for row in ranking_object(found)["layouts"]] == [1, 1]
    text = io.StringIO()
    print_ranking(Console(file=text, width=120), found)
    assert "1 of 6 trials" in text.getvalue()
    claim = "iops(one, reads) / iops(pair, reads) > 1.1"
    (result,) = evaluate((Claim("it is faster", "this test", claim, parse_claim(claim, Spot("t"))),), run.cells)
    assert result.result == "held"
    assert "1 of 6 trials" in result.why
