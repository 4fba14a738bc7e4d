"""A leading result that is not sound has its verdict wherever it leads: in headlines, rankings, claims and exports."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.yaml import parse_campaign
from poolproof.presentation.export.columns import csv_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.pictures import pictures
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.sections import claim_rows
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.presentation.terminal.sections import print_claims
from poolproof.results.compare.comparison_object import ranking_object
from poolproof.results.compare.ranking import find_goal, rank
from poolproof.results.runs.claim_results import evaluate
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.verdicts import Verdict
from tests.unit.results.compare.making import CAMPAIGN, RECORD, make_run

_WORKLOADS = ("reads", "stream")
_CLAIM = """
expect:
  - {claim: the pair is fast, source: a test, that: "iops(pair, reads) > 1"}
"""
_DOUBTFUL: tuple[tuple[Verdict, str], ...] = (("suspect", "! suspect"), ("unproven", "? unproven"))


def _run(path: Path, verdict: Verdict, *, goal: str = "goal: reads\n") -> LoadedRun:
    """A run in which the layout `pair` leads both workloads, with the given verdict."""
    campaign = CAMPAIGN.replace("  etcd: etcd\n", "") + goal + _CLAIM
    values = {
        (layout, workload): [scale * share for share in (1.0, 1.01, 0.99)]
        for layout, scale in (("one", 100.0), ("pair", 900.0), ("union", 50.0))
        for workload in _WORKLOADS
    }
    bad: dict[tuple[str, str], Verdict] = {("pair", workload): verdict for workload in _WORKLOADS}
    return load_run(
        make_run(path, values, bad=bad if verdict != "sound" else {}, record=replace(RECORD, campaign=campaign))
    )


def _ranked(run: LoadedRun, weights: str | None = None) -> str:
    out = io.StringIO()
    goal = find_goal(run.campaign, None if weights else "reads", weights)
    print_ranking(Console(file=out, width=200), rank(run, goal, metric=None, effect=0.05))
    return out.getvalue()


def _line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.lstrip().startswith(start))


@pytest.mark.parametrize(("verdict", "mark"), _DOUBTFUL)
def test_headlines_and_rankings_show_the_verdict_of_the_leader(tmp_path: Path, verdict: Verdict, mark: str) -> None:
    run = _run(tmp_path / "goal", verdict)
    assert answer(run).sentence.endswith(f", {mark}.")
    assert f"pair ({mark})" in _line(_ranked(run), "best: ")
    mixed = _ranked(run, "reads=1,stream=1")
    assert f"pair ({mark})" in _line(mixed, "best: ") and f"pair ({mark})" in _line(mixed, "1 ")
    first = ranking_object(rank(run, find_goal(run.campaign, "reads", None), metric=None, effect=0.05))["layouts"][0]
    assert (first["layout"], first["verdict"], first["figures"][0]["verdict"]) == ("pair", verdict, verdict)


@pytest.mark.parametrize(("verdict", "mark"), _DOUBTFUL)
def test_the_answers_of_a_campaign_without_a_goal_show_it(tmp_path: Path, verdict: Verdict, mark: str) -> None:
    found = answer(_run(tmp_path / "run", verdict, goal=""))
    assert found.sentence.startswith(f"pair ({mark}) is best under all 2 workloads")
    assert all(text.endswith(f", {mark}") for _, text in found.workloads)


@pytest.mark.parametrize(("verdict", "mark"), _DOUBTFUL)
def test_the_answer_to_a_mix_shows_it(tmp_path: Path, verdict: Verdict, mark: str) -> None:
    goal = "goal: all\n"
    matrix = CAMPAIGN.replace("  reads: {rw: randread, bs: 4k}\n  stream: {rw: read, bs: 1m}\n  etcd: etcd\n", "")
    campaign = matrix.replace("workloads:\n", "workloads:\n  all: {rw: randread, bs: [4k, 8k]}\n") + goal
    names = [workload.name for workload in parse_campaign(campaign, "c").workloads]
    values = {
        (layout, name): [scale, scale * 1.01, scale * 0.99]
        for layout, scale in (("one", 100.0), ("pair", 900.0), ("union", 50.0))
        for name in names
    }
    record = replace(RECORD, campaign=campaign)
    run = load_run(make_run(tmp_path / "mix", values, bad={("pair", name): verdict for name in names}, record=record))
    assert f"pair ({mark}) is best" in answer(run).sentence


@pytest.mark.parametrize(("verdict", "tone"), [("suspect", "open"), ("unproven", "known"), ("sound", "known")])
def test_a_suspect_leader_leaves_the_question_open(tmp_path: Path, verdict: Verdict, tone: str) -> None:
    assert answer(_run(tmp_path / "goal", verdict)).tone == tone
    assert answer(_run(tmp_path / "none", verdict, goal="")).tone == tone


@pytest.mark.parametrize(("verdict", "mark"), _DOUBTFUL)
def test_claims_and_exports_show_it(tmp_path: Path, verdict: Verdict, mark: str) -> None:
    run = _run(tmp_path / "run", verdict)
    claims = evaluate(run.campaign.expect, run.cells)
    out = io.StringIO()
    print_claims(Console(file=out, width=200), claims)
    for text in (out.getvalue(), claims[0].why, claim_rows(run)[0][0].why):
        assert f"reads on pair: iops is {verdict}" in text
    table = table_of(run)
    row = next(row for row in csv.DictReader(io.StringIO(csv_text(table))) if row["layout"] == "pair")
    assert row["verdict"] == verdict
    assert f" {mark[0]}" in _line(markdown_text(table), "| `pair`").split("|")[2]
    titles = [str(picture.chart.to_dict()["title"]) for picture in pictures(run) if "iops" in picture.place.name]
    assert titles and all(f"1 {verdict}" in title for title in titles)


def test_a_sound_leader_has_no_mark(tmp_path: Path) -> None:
    run = _run(tmp_path / "run", "sound")
    texts = [
        answer(run).sentence,
        _ranked(run),
        _ranked(run, "reads=1,stream=1"),
        *(each.why for each in evaluate(run.campaign.expect, run.cells)),
    ]
    texts += [str(picture.chart.to_dict()["title"]) for picture in pictures(run)]
    assert not [text for text in texts if "sound" in text or "suspect" in text or "unproven" in text]
