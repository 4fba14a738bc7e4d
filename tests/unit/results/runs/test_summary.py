"""Trials are combined into cells: the worst verdict, results without failed trials, each rule once, and shares of 1."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.cell_key import HEALTHY
from poolproof.campaign.flags import campaign_from_flags
from poolproof.evidence.model import Account, LeafUse
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.baseline_speeds import speeds_to_baseline
from poolproof.results.runs.model import Trial
from poolproof.results.runs.run_object import run_object
from poolproof.results.runs.summary import cells_of
from poolproof.rules.model import Effect, Finding
from poolproof.verdicts import Verdict

CAMPAIGN = campaign_from_flags(
    ["plain=a | ext4", "pair=btrfs raid1 a b"], ["a=file:1G", "b=file:1G"], ["reads:rw=randread,bs=4k", "etcd"]
)


def trial(layout: str, workload: str, number: int, iops: float | None, verdict: Verdict = "sound") -> Trial:
    effects: dict[Verdict, Effect] = {"refuted": "refutes", "failed": "fails", "suspect": "suspects"}
    return Trial(
        layout=layout,
        workload=workload,
        number=number,
        verdict=verdict,
        findings=(Finding(f"rule-{verdict}", effects.get(verdict, "notes"), f"trial {number}", "mend it"),),
        metric="iops",
        figures=None if iops is None else TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096, p50_ns=1e6),
        account=Account(1000, 0, 990, 0, 0, 1.0, 1.0, 0.0),
        leaves=(LeafUse("a", 660, 0, 0, 1, 0, 0, 0.5, None), LeafUse("b", 330, 0, 0, 1, 0, 0, 0.1, None)),
        stored_bytes={"a": 100, "b": 100},
    )


def test_cells_stand_in_the_campaigns_order_whatever_order_they_ran_in() -> None:
    trials = [trial("pair", "etcd", 1, 1.0), trial("plain", "etcd", 1, 1.0), trial("plain", "reads", 1, 1.0)]
    cells = cells_of(trials, CAMPAIGN)
    assert [(cell.layout, cell.workload) for cell in cells] == [("plain", "reads"), ("plain", "etcd"), ("pair", "etcd")]


def test_a_cell_is_as_good_as_its_worst_trial_and_its_figure_leaves_failed_ones_out() -> None:
    trials = [
        trial("plain", "reads", 1, 100.0),
        trial("plain", "reads", 2, 110.0),
        trial("plain", "reads", 3, 0.0, "failed"),
    ]
    (cell,) = cells_of(trials, CAMPAIGN)
    assert cell.verdict == "failed"
    assert cell.figure is not None and cell.figure.mean == 105.0
    assert [finding.rule for finding in cell.findings] == ["rule-failed", "rule-sound"]
    assert cell.findings[1].message == "trial 1", "a rule that spoke twice is told once"


def test_a_cell_says_into_which_groups_its_trials_fall() -> None:
    trials = [trial("plain", "reads", number, iops) for number, iops in enumerate((12.0, 240.0, 12.0, 240.0), start=1)]
    trials.append(trial("plain", "reads", 5, 5000.0, "failed"))
    (cell,) = cells_of(trials, CAMPAIGN)
    assert [group.mean for group in cell.groups()] == pytest.approx([12, 240])
    assert [group.count for group in cell.groups()] == [2, 2]
    (printed,) = run_object(Path("run"), (cell,), None)["cells"]
    assert [group["trials"] for group in printed["groups"]] == [2, 2]


def test_shares_are_over_all_trials_and_add_up() -> None:
    (cell,) = cells_of([trial("plain", "reads", number, 100.0) for number in (1, 2)], CAMPAIGN)
    assert [leaf.read_share for leaf in cell.leaves] == pytest.approx([2 / 3, 1 / 3])
    assert [leaf.write_share for leaf in cell.leaves] == [None, None]
    assert [leaf.stored_share for leaf in cell.leaves] == [0.5, 0.5]
    assert cell.account is not None and cell.account.fio_read_bytes == 2000


def test_a_refuted_figure_is_compared_with_nothing() -> None:
    trials = [
        *(trial("plain", "reads", number, 100.0 + number) for number in (1, 2)),
        *(trial("pair", "reads", number, 900.0, "refuted") for number in (1, 2)),
    ]
    assert not speeds_to_baseline(cells_of(trials, CAMPAIGN), "plain")
    valid = [replace(each, verdict="sound") for each in trials]
    (speed,) = speeds_to_baseline(cells_of(valid, CAMPAIGN), "plain").values()
    assert speed.mean == pytest.approx(900 / 101.5, rel=0.01)


def test_a_state_is_compared_with_the_baseline_in_the_same_state_or_with_the_healthy_one() -> None:
    def measured(layout: str, iops: float, state: str) -> list[Trial]:
        return [replace(trial(layout, "reads", number, iops + number), state=state) for number in (1, 2, 3)]

    pair = [*measured("pair", 1000.0, HEALTHY), *measured("pair", 500.0, "degraded")]
    healthy = measured("plain", 100.0, HEALTHY)
    both = [*healthy, *measured("plain", 50.0, "degraded")]
    for plain, expected in ((healthy, {HEALTHY: 10, "degraded": 5}), (both, {HEALTHY: 10, "degraded": 10})):
        speeds = speeds_to_baseline(cells_of([*pair, *plain], CAMPAIGN), "plain")
        assert {key.state: round(speed.mean) for key, speed in speeds.items()} == expected
        assert [str(key) for key in speeds] == ["reads on pair", "reads on pair (degraded)"]


def test_the_object_for_machines_has_the_keys_that_were_promised(tmp_path: Path) -> None:
    cells = cells_of([trial("plain", "reads", number, 100.0) for number in (1, 2)], CAMPAIGN)
    answer = run_object(tmp_path, cells, "plain")
    assert answer["run"] == str(tmp_path)
    assert answer["verdicts"] == {"sound": 1}
    (cell,) = answer["cells"]
    assert {"layout", "workload", "trials", "iops", "bandwidth_bytes", "latency_ns", "account", "leaves"} <= set(cell)
    assert set(cell["iops"]) == {"mean", "low", "high"}
    assert set(cell["latency_ns"]) == {"p50", "p99", "p999"}
    assert {"device", "read_share", "write_share", "utilisation"} <= set(cell["leaves"][0])
    assert {"rule", "message", "fix"} <= set(cell["findings"][0])
    assert cell["account"]["write_factor"] == 1.0


def test_a_cell_computes_each_result_once() -> None:
    """A report needs the same results dozens of times, and computing them is slow with thousands of trials."""
    (cell,) = cells_of([trial("plain", "reads", number, 100.0 + number) for number in (1, 2, 3)], CAMPAIGN)
    assert cell.result("p50") is cell.result("p50")
    assert cell.samples() is cell.samples("iops")
    assert replace(cell, trials=cell.trials[:1]).values() == (101.0,)
