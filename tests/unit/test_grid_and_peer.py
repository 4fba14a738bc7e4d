"""The plan of the grid in a lab, and the comparison with bench-fio, computed from given results."""

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.bench_fio_peer import BLOCKS, MODES, Measured, lines, printed_by_poolproof
from benchmarks.bench_grid import FIXED_S, LIMIT_S, expected, grid, spent

from poolproof.campaign.expression import format_expression
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord, Trial

CAMPAIGN = grid(4800.0)


def test_the_grid_is_the_experiment_whole_and_says_what_was_set() -> None:
    cells = len(CAMPAIGN.layouts) * len(CAMPAIGN.workloads)
    assert cells == 648 + 9, "the seed's cells, and etcd on each layout"
    assert CAMPAIGN.question.endswith(
        "with transaction groups of 1 s (zfs_txg_timeout=1), warm caches and an ARC of 256M?"
    )
    assert all(" arc_max=256M " in format_expression(layout.expression) for layout in CAMPAIGN.layouts)
    assert CAMPAIGN.measure.cold is False
    assert (CAMPAIGN.goal, CAMPAIGN.budget_s, CAMPAIGN.measure.trials) == ("etcd", 4800.0, 1)
    assert parse_campaign(format_campaign(CAMPAIGN), "grid.yaml") == CAMPAIGN
    assert pytest.approx(20.0, rel=0.01) == FIXED_S / LIMIT_S


def test_the_plan_keeps_the_limit_by_the_least_time_of_each_cell() -> None:
    plan = expected(CAMPAIGN, other_s=4.0, build_s=45.0, lab_s=120.0)
    assert (plan.reads, plan.writes) == (216, 441)
    assert plan.least_fio_s == pytest.approx(216 * 1.2 + 441 * 3.0)
    assert plan.least_s <= LIMIT_S
    assert 4.0 < plan.most_other_s < 8.0
    assert any("within the limit" in line for line in plan.lines())


def test_a_plan_that_breaks_the_limit_says_so() -> None:
    plan = expected(CAMPAIGN, other_s=12.0, build_s=45.0, lab_s=120.0)
    assert any("OVER the limit" in line for line in plan.lines())


def test_the_time_of_a_run_is_printed_by_part_with_the_limit(tmp_path: Path) -> None:
    text = format_campaign(CAMPAIGN)
    record = RunRecord("0", text, "l", "/s", "/r", 1, "lab", "2026-11-22T00:00:00+00:00", {}, {})
    run = RunDirectory.create(tmp_path / "run", text, record)
    for number, minute in ((1, 1), (2, 2)):
        seconds = {"cool": 2.0, "fio": 30.0, "drain": 1.0}
        begun_at, figures = f"2026-11-22T00:0{minute}:00.000+00:00", TrialMetrics(iops=1.0, bandwidth_bytes=1.0)
        workload = CAMPAIGN.workloads[0]
        trial = Trial("mirror", workload.name, number, "sound", (), workload.metric, figures, begun_at=begun_at)
        trial = replace(trial, seconds=seconds)
        run.append(trial)
    text = "\n".join(spent(run, CAMPAIGN, 200.0))
    assert "1 cells, 2 trials" in text
    assert "1 with a result, 1 with an interval, 1 precise to within 10%" in text and "sound 1" in text
    assert "  fio: 1 min" in text and "  build and fill: 1 min" in text
    assert "wall time: 3 min 20 s, within the limit of 1 h 37 min" in text
    assert "1/583.2 of it" in text
    assert "OVER" in "\n".join(spent(run, CAMPAIGN, LIMIT_S + 1))


def test_the_peer_is_held_against_the_figure_that_is_stated_and_not_against_plain_means() -> None:
    cell = {
        "workload": "grid[rw=read,bs=4k]", "metric": "iops", "figure": {"mean": 100.0, "low": 98.0, "high": 102.0},
        "iops": {"mean": 100.0, "low": 70.0, "high": 130.0}, "settled": True, "trials": 2, "verdict": "sound",
    }  # fmt: skip
    found = printed_by_poolproof({"cells": [cell], "seconds": {"fio": 6.0}}, 9.0)
    assert found.iops == {("read", "4k"): 100.0}
    assert found.half == {("read", "4k"): pytest.approx(0.02)}


def test_bytes_per_second_are_made_the_ios_that_the_peer_prints() -> None:
    rate = {"mean": 200.0 * 2**20, "low": 198.0 * 2**20, "high": 202.0 * 2**20}
    cell = {
        "workload": "grid[rw=read,bs=1m]", "figure": rate, "metric": "bandwidth",
        "settled": True, "trials": 2, "verdict": "sound",
    }  # fmt: skip
    found = printed_by_poolproof({"cells": [cell], "seconds": {"fio": 6.0}}, 9.0)
    assert found.iops == {("read", "1m"): 200.0}
    assert found.half == {("read", "1m"): pytest.approx(0.01)}


def test_the_table_beside_the_peer_has_every_cell_and_how_far_apart_the_figures_are() -> None:
    places = [(mode, block) for mode in MODES for block in BLOCKS]
    peer = Measured(720.0, 700.0, dict.fromkeys(places, 100.0), {}, {})
    iops = dict.fromkeys(places, 103.0)
    del iops["read", "4k"]
    ours = Measured(240.0, 200.0, iops, dict.fromkeys(iops, 0.02), dict.fromkeys(places, "precise, 2 trials, sound"))
    text = list(lines(peer, ours))
    assert len(text) == 1 + len(places) + 2
    assert "| randread 4k | 100 | 103 | 2.0% | +3.0% | precise, 2 trials, sound |" in text
    assert "| read 4k | 100 | none |  |  | precise, 2 trials, sound |" in text
    assert text[-1] == "poolproof: 240 s, 200 s of it fio: 3.00 times as fast"
