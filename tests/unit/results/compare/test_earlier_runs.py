"""If there are earlier runs from the same machine, answers include the between-run variance, and say so."""

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.presentation.history import NamedRun, in_order
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.presentation.terminal.ranked import print_ranking, print_rankings
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.compare.comparison_object import comparison_object, ranking_object
from poolproof.results.compare.earlier_runs import MOST_RUNS, AcrossRuns, earlier_runs
from poolproof.results.compare.ranking import Goal, rank
from poolproof.results.compare.workload_rankings import rank_each
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.model import RunRecord
from tests.golden import Message
from tests.unit.command import Command

from .making import CAMPAIGN, RECORD, Values, make_run

READS = Goal({"reads": 1.0})


def record(day: int, campaign: str = CAMPAIGN, seed: int = 7, **facts: str) -> RunRecord:
    found = {**RECORD.facts, "machine": "0123456789abcdef", **facts}
    return replace(RECORD, campaign=campaign, begun_at=f"2026-11-{day:02}T10:00:00+00:00", facts=found, seed=seed)


def values(factor: float) -> Values:
    """Return results whose trials agree to within 1%.

    Each cell's results are multiplied or divided by the factor, which represents the difference between runs.
    """
    sizes = {("one", "reads"): 1000.0, ("pair", "reads"): 1100.0, ("one", "stream"): 5e8, ("pair", "stream"): 6e8}
    signs = dict(zip(sizes, (1, -1, -1, 1), strict=True))
    return {key: [size * factor ** signs[key] * (1 + 0.005 * at) for at in (0, 1, 2)] for key, size in sizes.items()}


def run(root: Path, day: int, factor: float = 1.0, campaign: str = CAMPAIGN) -> LoadedRun:
    return load_run(make_run(root / f"run-{day}", values(factor), record=record(day, campaign)))


def text_of(print_it: object, found: object) -> str:
    out = io.StringIO()
    assert callable(print_it)
    print_it(Console(file=out, width=120), found)
    return " ".join(out.getvalue().split())


def test_a_ranking_includes_the_variance_between_runs_and_says_so(tmp_path: Path, message: Message) -> None:
    newest = run(tmp_path / "alone", 9)
    alone = rank(newest, READS, metric=None, effect=0.0)
    assert (len(alone.best), alone.run_variance.runs) == (1, 0) and "this build" in text_of(print_ranking, alone)
    for day, factor in ((1, 1.1), (2, 0.9), (3, 1.08)):
        run(tmp_path / "several", day, factor)
    newest = run(tmp_path / "several", 9)
    found = rank(newest, READS, metric=None, effect=0.0)
    assert (len(found.best), found.run_variance.runs, ranking_object(found)["earlier_runs"]) == (2, 3, 3)
    said = message(" ".join(answer(newest).rest))
    assert all("3 earlier runs" in text for text in (said, text_of(print_ranking, found)))
    assert "this build" not in text_of(print_ranking, found)


def test_two_runs_differ_by_twice_the_variance_between_runs(tmp_path: Path) -> None:
    older, newer = run(tmp_path / "alone", 8, 0.95), run(tmp_path / "alone", 9, 1.05)
    before = compare(Side(older), Side(newer), effect=0.0)
    assert {cell.decision.word for cell in before.cells} == {"faster", "slower"} and before.run_variance.runs == 0
    for day, factor in ((1, 1.1), (2, 0.9), (3, 1.08)):
        run(tmp_path / "several", day, factor)
    older, newer = run(tmp_path / "several", 8, 0.95), run(tmp_path / "several", 9, 1.05)
    for pair in ((older, newer), (newer, older)):
        found = compare(*map(Side, pair), effect=0.0)
        assert {cell.decision.word for cell in found.cells} == {"undecided"}
        assert comparison_object(found)["earlier_runs"] == 3
        assert "3 earlier runs" in text_of(print_comparison, found)
    assert rank(newer, READS, metric=None, effect=0.0).run_variance.runs == 4


def test_a_change_between_the_compared_runs_is_not_variance(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        run(tmp_path, day, 1 + 0.005 * day)
    found = compare(Side(run(tmp_path, 8)), Side(run(tmp_path, 9, 1.5)), effect=0.02)
    assert {cell.decision.word for cell in found.cells} == {"faster", "slower"} and found.run_variance.runs == 3


@pytest.mark.parametrize(
    "other",
    [
        record(1, machine="fedcba9876543210"),
        record(1, kernel="Linux 6.18"),
        record(1, CAMPAIGN.replace("time: 5s", "time: 9s")),
        replace(record(1), imported=True),
        record(20),
        replace(record(1), facts=RECORD.facts),
    ],
)
def test_other_machines_kernels_schedules_imports_and_later_runs_do_not_count(tmp_path: Path, other: RunRecord) -> None:
    make_run(tmp_path / "other", values(1.3), record=other)
    newest = run(tmp_path, 9)
    assert earlier_runs(newest, {}).count == 0
    make_run(tmp_path / "same", values(1.3), record=record(2))
    assert earlier_runs(run(tmp_path, 10), {}).count >= 1


def test_runs_before_and_after_a_change_of_the_clock_are_in_their_real_order(tmp_path: Path) -> None:
    """On the last Sunday of October, clocks in Berlin go back from 3:00 summer time (+02:00) to 2:00 (+01:00)."""
    summer = replace(record(1), begun_at="2026-10-25T02:55:00+02:00")
    winter = replace(record(1), begun_at="2026-10-25T02:05:00+01:00")
    older = load_run(make_run(tmp_path / "summer", values(1.0), record=summer))
    newer = load_run(make_run(tmp_path / "winter", values(1.1), record=winter))
    assert (earlier_runs(older, {}).count, earlier_runs(newer, {}).count) == (0, 1)
    named = [NamedRun(run.path.name, run) for run in (newer, older)]
    assert [each.name for each in in_order(named)] == ["summer", "winter"]


def test_copies_links_damaged_and_untrusted_runs_do_not_count(tmp_path: Path) -> None:
    first, newest = run(tmp_path, 1, 1.1), run(tmp_path, 9)
    shutil.copytree(first.path, tmp_path / "copy")
    shutil.copytree(newest.path, tmp_path / "copy-of-newest")
    (tmp_path / "link").symlink_to(first.path)
    damaged = run(tmp_path, 2, 1.1).path / "trials.jsonl"
    damaged.write_text("{\n")
    run(tmp_path, 3, 1.1).path.chmod(0o777)
    (tmp_path / "notes").mkdir()
    assert earlier_runs(newest, {}).count == 1


def test_a_layout_or_workload_that_differs_leaves_out_its_cells(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        run(tmp_path / "layout", day, 1.2, campaign=CAMPAIGN.replace("one: a | ext4", "one: a | xfs"))
        other = CAMPAIGN.replace("bs: 4k", "bs: 8k").replace("bs: 1m", "bs: 2m")
        run(tmp_path / "workloads", day, 1.2, campaign=other)
    assert earlier_runs(run(tmp_path / "layout", 9), {}).count == 3
    assert earlier_runs(run(tmp_path / "workloads", 9), {}).count == 0


def test_only_the_newest_runs_are_used(tmp_path: Path) -> None:
    for number in range(MOST_RUNS + 3):
        make_run(tmp_path / f"r{number}", {("one", "reads"): [100.0, 101.0]}, record=record(number + 1))
    newest = load_run(make_run(tmp_path / "new", {("one", "reads"): [100.0, 101.0]}, record=record(28)))
    assert earlier_runs(newest, {}).count == MOST_RUNS


SYNCS: Values = {("one", "etcd"): [9.0e6, 9.1e6, 8.9e6], ("pair", "etcd"): [4.0e6, 4.1e6, 3.9e6]}
ALL = "all intervals include the variance between runs"
SOME = f"Except for percentiles, {ALL}"


def test_percentiles_whose_variance_between_runs_is_unknown_are_named(tmp_path: Path) -> None:
    """One earlier run shows how much four rates vary, but two percentiles have only two degrees of freedom."""
    for day, factor in ((1, 1.1), (9, 1.0)):
        make_run(tmp_path / str(day), {**values(factor), **SYNCS}, record=record(day))
    newest = load_run(tmp_path / "9")
    found, other = compare(Side(newest, "one"), Side(newest, "pair"), effect=0.02), io.StringIO()
    assert SOME in text_of(print_comparison, found)
    assert (comparison_object(found)["earlier_runs"], comparison_object(found)["unknown_between_runs"]) == (
        1,
        ["percentiles"],
    )
    print_rankings(Console(file=other, width=300), rank_each(newest, metric=None, effect=0.02))
    assert SOME in other.getvalue()
    assert "Except for percentiles, the intervals of differences" in " ".join(answer(newest).rest)
    reads, etcd = (rank(newest, Goal({name: 1.0}), metric=None, effect=0.02) for name in ("reads", "etcd"))
    assert ALL.replace("all", "All") in text_of(print_ranking, reads)
    assert "between builds and between days was not measured" in text_of(print_ranking, etcd)
    assert ranking_object(etcd)["earlier_runs"] == 0
    across = AcrossRuns(newest)
    assert across.variance(speeds=True, claims=False).unknown == {"percentiles"}
    assert across.variance(speeds=False, claims=True).runs == 0


def test_percentiles_with_enough_earlier_runs_are_included(tmp_path: Path) -> None:
    for day, factor in ((1, 1.1), (2, 0.95), (9, 1.0)):
        make_run(tmp_path / str(day), {**values(factor), **SYNCS}, record=record(day))
    found = rank(load_run(tmp_path / "9"), Goal({"etcd": 1.0}), metric=None, effect=0.02)
    assert (found.run_variance.runs, found.run_variance.unknown) == (2, frozenset())


def test_a_run_compared_with_its_copy_shows_no_change_and_the_output_says_so(tmp_path: Path) -> None:
    first, second = run(tmp_path, 1), run(tmp_path, 2, 1.001)
    shutil.copytree(first.path, tmp_path / "copy")
    copy = load_run(tmp_path / "copy")
    for other, is_same in ((first, True), (copy, True), (second, False)):
        text = text_of(print_comparison, compare(Side(first), Side(other), effect=0.02))
        assert ("contain the same trials" in text) is is_same and ("No recorded difference" in text) is not is_same
    assert not compare(Side(first, "one"), Side(copy, "pair"), effect=0.02).is_of_same_trials


CLAIMS = """
baseline: one
expect:
  - {claim: a pair is faster, source: here, that: "iops(pair, reads) / iops(one, reads) > 1"}
  - {claim: a pair is fast, source: here, that: "iops(pair, reads) > 1090"}
  - {claim: so is its bandwidth, source: here, that: "bandwidth(pair, reads) / bandwidth(one, reads) > 1"}
"""


def test_claims_and_speeds_include_the_variance_between_runs_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    poolproof, campaign = Command(monkeypatch, capsys, columns=120), CAMPAIGN + CLAIMS
    alone = run(tmp_path / "alone", 9, campaign=campaign).path
    for day, factor in ((1, 1.1), (2, 0.9), (3, 1.08)):
        run(tmp_path / "several", day, factor, campaign)
    several = run(tmp_path / "several", 9, campaign=campaign).path
    assert "earlier runs" not in poolproof("show", str(alone))[1]
    assert "3 earlier runs" in poolproof("show", str(several))[1]
    one, three = (json.loads(poolproof("show", str(path), "--json")[1]) for path in (alone, several))
    assert [each["result"] for each in one["claims"]] == ["held", "held", "held"] and one["earlier_runs"] == 0
    assert [each["result"] for each in three["claims"]] == ["undecided"] * 3 and three["earlier_runs"] == 3
    means = [[claim["measured"]["mean"] for claim in each["claims"]] for each in (one, three)]
    assert means[0] == pytest.approx(means[1])
    speeds = {cell["workload"]: cell["speed_to_baseline"] for cell in three["cells"] if cell["layout"] == "pair"}
    assert speeds["reads"]["low"] < 1 < speeds["reads"]["high"]
    assert speeds["reads"] == pytest.approx(three["claims"][0]["measured"])
