"""`python -m benchmarks.court`: what it counts in two runs of the same campaign."""

from pathlib import Path

from benchmarks.court import CAMPAIGN, KINDS, judge, pairs_in, rows

from poolproof.campaign.yaml import read_campaign
from tests.unit.results.compare.making import made

LAYOUTS, SPREAD = ("one", "pair", "union"), (1.0, 1.02, 0.99)


def values(speed: float = 1.0) -> dict[tuple[str, str], list[float]]:
    rates = {(layout, name): [1000 * each for each in SPREAD] for layout in LAYOUTS for name in ("reads", "stream")}
    return rates | {("union", "reads"): [1000 * speed * each for each in SPREAD]}


def test_equal_runs_have_no_false_word_and_a_planted_difference_is_found(tmp_path: Path) -> None:
    found = judge("fixed", made(tmp_path / "a", values()), made(tmp_path / "b", values()))
    assert (found.cells, found.tested, found.false, found.excluding, found.found) == (6, 6, (), (), 6)
    assert list(rows([found]))[2] == "| 1 fixed | 6 | 0 (0%) | 0 (0.0%) | 0 (0.0%) | 100% | 100% |"


def test_a_false_word_and_an_interval_without_0_are_counted(tmp_path: Path) -> None:
    found = judge("until", made(tmp_path / "a", values()), made(tmp_path / "b", values(1.5)))
    assert found.false == found.excluding == ("reads on union faster ×1.50",)
    assert list(rows([found]))[-1].startswith("| 1 all | 6 | 1 (100%) | 1 (16.7%) | 1 (16.7%) |")


def test_kinds_alternate_and_the_campaign_has_six_layouts_and_four_workloads(tmp_path: Path) -> None:
    assert [kind for kind, _a, _b in pairs_in(tmp_path, 4)] == [*KINDS, *KINDS]
    campaign = read_campaign(CAMPAIGN)
    assert (len(campaign.layouts), len(campaign.workloads)) == (6, 4)
