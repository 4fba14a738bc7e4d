"""The tables in docs/experiments.md are generated from run directories, and each experiment has a section there."""

from dataclasses import replace
from pathlib import Path

from benchmarks.experiments import labelled, page_with, tables_of

from poolproof.campaign.yaml import read_campaign
from tests.unit.results.compare.making import RECORD, make_run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
CLAIMS = """\
expect:
  - {claim: twice, source: me, that: "iops(pair, reads) / iops(one, reads) = 2 ± 10%"}
"""


def tables(folder: Path) -> dict[str, str]:
    record = replace(RECORD, campaign=RECORD.campaign + CLAIMS)
    cells = {("one", "reads"): [100.0, 101.0, 99.0], ("pair", "reads"): [200.0, 201.0, 199.0]}
    make_run(folder / "old", cells, record=record)
    make_run(folder / "new", cells, bad={("pair", "reads"): "refuted"}, record=record)
    return tables_of([labelled(f"2.1={folder / 'old'}"), labelled(f"2.3={folder / 'new'}")])


def test_runs_of_one_campaign_stand_in_one_table(tmp_path: Path) -> None:
    (table,) = tables(tmp_path).values()
    rows = [line for line in table.splitlines() if line.startswith("| pair | `reads` |")]
    assert [row.split(" | ")[2:5] for row in rows] == [
        ["2.1", "200 IOPS ± 1.2%", "sound"],
        ["2.3", "(200 IOPS ± 1.2%)", "refuted: rule-refuted"],
    ]
    (claim,) = (line for line in table.splitlines() if line.startswith("| twice |"))
    assert "**held**: 2 (" in claim
    assert "**undecided**" in claim


def test_only_the_places_of_these_campaigns_are_filled(tmp_path: Path) -> None:
    page = "a\n<!-- table: t -->\nold\n<!-- end -->\nb\n<!-- table: u -->\nkept\n<!-- end -->\n"
    found = tables(tmp_path)
    written = page_with(page, found)
    assert "old" not in written
    assert "kept" in written
    assert written.startswith("a\n<!-- table: t -->\n\n| layout |")
    assert page_with(written, found) == written


def test_every_experiment_of_the_seeds_has_its_table() -> None:
    for name in ("mirror-reads", "write-distribution", "cache-and-log", "tiers", "shared-zvol", "fresh-zvol"):
        table = PAGE.partition(f"<!-- table: {name} -->")[2].partition("<!-- end -->")[0]
        campaign = read_campaign(ROOT / "experiments" / f"{name}.yaml")
        assert f"| {campaign.baseline} |" in table, name
