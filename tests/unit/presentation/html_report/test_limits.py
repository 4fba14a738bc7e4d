"""The report's section on how close each result comes to the limit of its disks."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.presentation.charts.limit import CHART as LIMIT
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.page import page
from poolproof.presentation.html_report.sections import LimitSection, limit_section
from poolproof.results.runs.loading import load_run
from tests.golden import Message
from tests.unit.presentation.html_report.calibrated import CALIBRATED, disks_alone, make_calibrated
from tests.unit.presentation.html_report.making import make_run, trial


def _section(run: Path) -> LimitSection:
    seen = load_run(run, lenient=True)
    return limit_section(seen, tuple(seen.cells))


def test_each_cell_has_its_share_and_the_computation_of_its_limit(tmp_path: Path) -> None:
    found = _section(make_calibrated(tmp_path / "run"))
    rows = {row[:2]: row[2:] for row in found.rows}
    assert [(share, limit) for _, limit, share, _ in rows.values()] == [
        ("51%", "2.00k IOPS"),
        ("50%", "8.31 MB/s"),
        ("76%", "2.00k IOPS"),
        ("150%", "4.16 MB/s"),
    ]
    assert rows["pair", "reads"][-1] == (
        "a 2.00k IOPS ÷ 0.5 = 4.00k IOPS; b 1.00k IOPS ÷ 0.5 = 2.00k IOPS: b limits it"
    )
    assert rows["pair", "stream"][-1] == "a 8.31 MB/s ÷ 1; b 4.16 MB/s ÷ 1: b limits it"
    drawn = LIMIT.rows(load_run(tmp_path / "run"))
    assert [(row[0], row[1], row[3]) for row in drawn] == [
        (layout, workload, share) for layout, workload, _, _, share, _ in found.rows
    ]


def test_the_disks_alone_are_in_their_own_table_only(tmp_path: Path) -> None:
    run = make_calibrated(tmp_path / "run")
    found, seen = _section(run), load_run(run, lenient=True)
    assert [(disk, workload, verdict) for disk, workload, _, verdict in found.bare] == [
        (disk, workload, "✓ sound") for disk in ("a", "b") for workload in ("reads", "stream")
    ]
    assert {cell.layout for cell in load_run(run).cells} == {"one", "pair"}
    said = answer(seen)
    assert "bare" not in " ".join((said.sentence, *said.rest))
    assert seen.wanted == len(seen.trials) == 16


def test_more_than_the_disks_deliver_is_explained(tmp_path: Path, message: Message) -> None:
    found = _section(make_calibrated(tmp_path / "run", with_cache=True))
    assert found.over[0].startswith("reads on pair: 609%")
    assert "90%" in message(found.over[0])


def test_a_refuted_result_is_in_the_table_and_not_in_the_chart(tmp_path: Path) -> None:
    trials = [*disks_alone(), *(trial("one", "stream", number, "refuted") for number in (1, 2))]
    found = _section(make_run(tmp_path / "run", trials, campaign=CALIBRATED))
    assert [row[2][0] for row in found.rows] == ["✗"]
    assert LIMIT.rows(load_run(tmp_path / "run")) == []


def test_a_run_with_only_single_disks_done_has_a_page(tmp_path: Path, message: Message) -> None:
    run = make_run(tmp_path / "run", disks_alone(), campaign=CALIBRATED)
    said = answer(load_run(run, lenient=True))
    assert all(fact in message(said.sentence) for fact in ("No layout", "8 of 16 trials"))
    text = page(load_run(run, lenient=True))
    assert 'id="limit-bare"' in text
    assert 'id="limit-chart"' not in text


def test_the_jobs_that_repeat_the_run_are_those_of_layouts(tmp_path: Path) -> None:
    run = make_calibrated(tmp_path / "run")
    for file in run.glob("cells/bare:*/*/*/job.fio"):
        file.write_text("[job]\nfilename=/dev/loop7\n")
    assert "/dev/loop7" not in page(load_run(run, lenient=True))


@pytest.mark.parametrize("with_layouts", [False, True])
def test_a_run_in_progress_says_what_is_not_known_yet(tmp_path: Path, with_layouts: bool) -> None:
    trials = list(disks_alone())[:4]
    trials += [trial("pair", "reads", number) for number in (1, 2)] if with_layouts else []
    found = _section(make_run(tmp_path / "run", trials, campaign=CALIBRATED))
    assert len(found.bare) == 2
    assert [each.partition(" ")[0] for each in found.without] == (["pair:"] if with_layouts else [])
    assert all("b was not measured" in each for each in found.without)


def test_a_directory_has_no_limit(tmp_path: Path) -> None:
    campaign = CALIBRATED.replace("one: a | ext4", "one: dir /srv")
    own = [trial("one", workload) for workload in ("reads", "stream")]
    own = [replace(each, leaves=tuple(replace(disk, device="vda") for disk in each.leaves)) for each in own]
    found = _section(make_run(tmp_path / "run", [*disks_alone(), *own], campaign=campaign))
    assert found.rows == ()
    (why,) = found.without
    assert why.startswith("one: ") and "existing directory (vda)" in why
