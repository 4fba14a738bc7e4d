"""What a cell's result can be used for is the same in tables, charts, comparisons, rankings and claims."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Convergence, Trial
from poolproof.results.runs.summary import Cell, cells_of
from poolproof.rules.model import Finding
from poolproof.stopping.model import NotConverged
from poolproof.verdicts import Verdict
from tests.golden import Message
from tests.unit.presentation.html_report.making import CAMPAIGN, all_trials, make_run, trial


def cell(*trials: Trial, campaign: str = CAMPAIGN) -> Cell:
    (found,) = cells_of(trials, parse_campaign(campaign, "t"))
    return found


@pytest.mark.parametrize(
    ("verdict", "rejected"),
    [
        ("sound", ""),
        ("unproven", ""),
        ("suspect", ""),
        ("refuted", "refuted (write-vanished)"),
        ("failed", "failed (write-vanished)"),
    ],
)
def test_only_a_verdict_that_counts_allows_a_ranking(verdict: Verdict, rejected: str) -> None:
    found = cell(trial("one", "stream", 1, verdict), trial("one", "stream", 2)).usability()
    assert (found.rejected, found.counts, found.can_be_ranked, found.can_be_tested) == (rejected, *[not rejected] * 3)
    assert found.is_precise, "the verdict says nothing about the precision"


def test_a_percentile_with_too_few_events_counts_but_is_not_ranked(message: Message) -> None:
    few = trial("one", "reads")
    assert few.figures is not None
    few = replace(few, metric="p99", figures=replace(few.figures, requests=112))
    found = cell(few).usability()
    assert (found.counts, found.can_be_ranked, found.can_be_tested, found.is_precise) == (True, False, False, False)
    assert all(fact in message(found.too_few) for fact in ("112 I/Os", "p99", "1,000 I/Os"))
    assert cell(few).usability("iops").can_be_tested, "a rate needs no number of events"


def test_a_depth_that_fio_chose_is_a_remark_on_rates_only() -> None:
    chosen = Finding("chosen-depth", "notes", "latency_target=500us: fio chose it", "remove it", metrics=("iops",))
    other = Finding("littles-law", "notes", "the queue was not full", "use more jobs")
    found = cell(replace(trial("one", "reads"), findings=(chosen, other)))
    assert found.remarks("iops") == ("latency_target=500us: fio chose it",) and not found.remarks("p99")
    assert found.usability("iops").can_be_tested


def test_a_changing_rate_is_ranked_but_neither_tested_nor_precise(tmp_path: Path) -> None:
    until = CAMPAIGN.replace("time: 5s", "until: 3%")
    changing = Convergence(False, 0.0, 10.0, 10.0, reasons=(NotConverged("drift", "it falls"),))
    found = cell(replace(trial("one", "stream"), settling=changing), campaign=until).usability()
    assert (found.counts, found.can_be_ranked, found.is_precise) == (True, True, False)
    assert (found.unsteady, found.can_be_tested) == (("drift",), False)
    assert load_run(make_run(tmp_path / "run", all_trials())).cells[0].usability().is_precise
