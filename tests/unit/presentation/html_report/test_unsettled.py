"""A result that did not converge is never shown as a reliable mean.

It is not shown as the best either, unless no result of its workload converged.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolproof.presentation.charts import theme as look
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.page import write_report
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Convergence, Trial
from poolproof.stopping.model import NotConverged
from poolproof.verdicts import Verdict
from tests.golden import Message

from .making import CAMPAIGN, all_trials, data_of, make_run

UNTIL = CAMPAIGN.replace("time: 5s, trials: 2", "until: 10%, confidence: 90%, trials: 2..6")
FASTEST = ("bare-a", "reads")


def _trials(reason: str, *places: tuple[str, str]) -> list[Trial]:
    """Return trials for all cells of the campaign, of which those at the given places did not converge."""
    why = (NotConverged(reason, "it falls by 30% over 60 s"),)
    calm, not_calm = (Convergence(not each, 0.5, 4.0, 60.0, 0.995, 1.005, each) for each in ((), why))
    return [replace(each, settling=not_calm if each.key[:2] in places else calm) for each in all_trials()]


def _data(run: Path) -> tuple[dict[str, Any], str]:
    write_report(run, run / "report.html")
    text = (run / "report.html").read_text(encoding="utf-8")
    return data_of(text), text


def _cells(data: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(data["layouts"][cell["l"]], data["workloads"][cell["w"]]): cell for cell in data["cells"]}


@pytest.mark.parametrize("reason", ["drift", "noise"])
def test_an_unsettled_result_is_marked_and_never_the_best(tmp_path: Path, reason: str) -> None:
    data, text = _data(make_run(tmp_path / "run", _trials(reason, FASTEST), campaign=UNTIL))
    cells = _cells(data)
    assert (cells[FASTEST]["c"], cells[FASTEST]["s"]) == (None, None)
    assert cells[FASTEST]["u"] == [[reason, "it falls by 30% over 60 s"]]
    assert [key for key, cell in cells.items() if cell.get("u")] == [FASTEST]
    assert "1 not converged</li>" in text


@pytest.mark.parametrize("reason", ["drift", "noise"])
def test_the_best_is_a_settled_one_and_the_others_are_compared_with_it(tmp_path: Path, reason: str) -> None:
    fast = _cells(_data(make_run(tmp_path / "fast", _trials(reason, FASTEST), campaign=UNTIL))[0])
    assert fast["pair", "reads"]["s"] == 1
    assert fast["pair", "reads"]["c"] == look.HEAT[0]
    slow = _cells(_data(make_run(tmp_path / "slow", _trials(reason, ("one", "reads")), campaign=UNTIL))[0])
    assert slow["one", "reads"]["s"] == pytest.approx(0.5)
    assert slow["one", "reads"]["c"] not in (None, look.HEAT[0])


def test_unsettled_results_alone_are_compared_with_their_best(tmp_path: Path) -> None:
    places = [(layout, "reads") for layout in ("bare-a", "one", "pair")]
    cells = _cells(_data(make_run(tmp_path / "run", _trials("few-samples", *places), campaign=UNTIL))[0])
    assert all(cells[place]["u"] for place in places)
    assert [cells[place]["s"] for place in places] == [1, pytest.approx(0.5), pytest.approx(0.75)]


def test_the_texts_are_those_of_the_terminal(tmp_path: Path, wording: Callable[[str], str]) -> None:
    cells = _cells(_data(make_run(tmp_path / "run", _trials("drift", FASTEST), campaign=UNTIL))[0])
    (number, mark, trial), *_ = cells[FASTEST]["t"]
    assert (number, mark) == (1, "✓") and "2.02k IOPS" in wording(trial) and "drift" in trial
    assert "2.03k IOPS" in wording(cells[FASTEST]["f"])
    wording(cells["pair", "reads"]["f"])


def test_the_answer_is_approximate(tmp_path: Path, wording: Callable[[str], str]) -> None:
    campaign = UNTIL.replace("bare-a: a, one: a | ext4, pair: btrfs raid1 a b", "bare-a: a")
    trials = [each for each in _trials("drift", FASTEST) if each.layout == "bare-a"]
    found = answer(load_run(make_run(tmp_path / "run", trials, campaign=campaign)))
    assert found.tone == "open" and "2.03k IOPS" in wording(found.sentence)


def test_a_cell_without_a_result_is_not_unsettled(tmp_path: Path) -> None:
    trials = [
        replace(each, verdict="failed", figures=None) if each.key[:2] == FASTEST else each for each in _trials("drift")
    ]
    cell = _cells(_data(make_run(tmp_path / "run", trials, campaign=UNTIL))[0])[FASTEST]
    assert "u" not in cell and cell["f"] == "no result"


def test_the_intervals_are_named_with_their_confidence(tmp_path: Path) -> None:
    data, _ = _data(make_run(tmp_path / "run", _trials("drift"), campaign=UNTIL))
    mixed = "90% intervals for workloads compared by this metric, 95% for others"
    assert data["intervals"] == {"iops": mixed, "bandwidth": mixed, "p50": "95% intervals", "p99": "95% intervals"}
    fixed, _ = _data(make_run(tmp_path / "fixed", all_trials()))
    assert set(fixed["intervals"].values()) == {"95% intervals"}
    assert not any(cell.get("u") for cell in fixed["cells"])


QUICK = CAMPAIGN + "quick: {workloads: {reads: {bs: [4k, 8k]}}}\n"


def _quick(verdict: Verdict = "sound") -> list[Trial]:
    """Return the trials of a run with `--quick`, of which those of the last cell have the given verdict."""
    return [
        replace(each, workload=f"reads[bs={size}]", verdict=verdict if size == "8k" else "sound")
        for each in all_trials("refuted")
        if each.workload == "reads"
        for size in ("4k", "8k")
    ]


def test_cells_that_the_campaign_does_not_have_are_listed(tmp_path: Path, wording: Callable[[str], str]) -> None:
    run = make_run(tmp_path / "run", [*_quick("refuted"), *all_trials()], campaign=QUICK)
    (run / "run.json").unlink()
    data, text = _data(run)
    count = len(data["cells"])
    assert count == 6
    assert len(data["trials"]) == count
    assert 0 <= data["open"] < count
    assert all(int(number) < count for number in re.findall(r'href="#cell=(\d+)"', text))
    (gap,) = (each for each in write_report(run, run / "report.html").missing if "6 cells" in each)
    assert gap in text and "reads[bs=4k] on bare-a" in wording(gap)


def test_a_campaign_without_any_of_the_cells_is_reported(tmp_path: Path, message: Message) -> None:
    run = make_run(tmp_path / "run", _quick(), campaign=QUICK)
    (run / "run.json").unlink()
    seen = write_report(run, run / "report.html")
    text = (run / "report.html").read_text(encoding="utf-8")
    assert "No measured cell" in text
    assert any(message(gap).startswith("6 cells ") for gap in seen.missing)
    assert len(load_run(run, lenient=True).cells) == 6, "exports have them all the same"
