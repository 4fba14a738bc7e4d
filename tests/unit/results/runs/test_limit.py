"""The limit of a layout, computed from its disks' own results and the bytes that each disk transfers."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import TrialMetrics
from poolproof.presentation.terminal.limited import share_text
from poolproof.results.runs.convergence import CellConvergence, trials_ahead
from poolproof.results.runs.limit import LeafLimit, Limit, limits_of
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import bare_cells_of, cells_of
from poolproof.stopping.model import NotConverged
from tests.golden import Message
from tests.unit.results.runs.measured_alone import CAMPAIGN, TEXT, alone, limit_of, trial

RUST, SSD = alone("rust", "reads", 100.0), alone("ssd", "reads", 1000.0)
RUST_WRITES, SSD_WRITES = alone("rust", "writes", 100.0), alone("ssd", "writes", 1000.0)
_rates = st.floats(1.0, 1e6)
_parts = st.floats(0.05, 0.95)


def known(limit: Limit | str) -> Limit:
    assert isinstance(limit, Limit), limit
    return limit


def test_one_disk_limits_a_layout_of_one_disk() -> None:
    limit = known(limit_of(RUST, trial("one", "reads", 90.0, {"rust": (100, 0)})))
    assert limit == Limit(100.0, 0.9, "rust", (LeafLimit("rust", 100.0, 1.0),))


def test_a_mirror_that_reads_half_from_each_delivers_at_most_twice_its_slower_disk() -> None:
    limit = known(limit_of(RUST, SSD, trial("both", "reads", 150.0, {"rust": (50, 0), "ssd": (50, 0)})))
    assert [limit.most, limit.share] == pytest.approx([200, 0.75])
    assert limit.bound == "rust"


def test_a_mirror_that_reads_only_from_its_fast_disk_is_limited_by_it() -> None:
    limit = known(limit_of(RUST, SSD, trial("both", "reads", 800.0, {"rust": (0, 0), "ssd": (100, 0)})))
    assert (limit.most, limit.bound, len(limit.leaves)) == (1000.0, "ssd", 1)


def test_a_mirror_that_writes_to_both_is_limited_by_its_slower_disk() -> None:
    made = trial("both", "writes", 80.0, {"rust": (0, 100), "ssd": (0, 100)}, fio=(0, 100), factor=2)
    limit = known(limit_of(RUST_WRITES, SSD_WRITES, made))
    assert [leaf.load for leaf in limit.leaves] == [1.0, 1.0]
    assert [limit.most, limit.share] == pytest.approx([100, 0.8])
    assert limit.bound == "rust"


def test_unexpected_writes_reduce_the_share_and_not_the_limit() -> None:
    journal = trial("one", "writes", 50.0, {"rust": (0, 200)}, fio=(0, 100))
    assert known(limit_of(RUST_WRITES, journal)).most == 100.0


def test_reads_and_writes_of_a_mixed_job_both_load_the_disk() -> None:
    mixed = trial("both", "reads", 60.0, {"rust": (25, 50), "ssd": (25, 50)}, fio=(50, 50), factor=2)
    limit = known(limit_of(RUST, SSD, mixed))
    assert [leaf.load for leaf in limit.leaves] == pytest.approx([0.75, 0.75])


@given(rust=_rates, ssd=_rates, part=_parts, figure=_rates)
def test_the_limit_is_the_smallest_bare_over_load(rust: float, ssd: float, part: float, figure: float) -> None:
    bare = alone("rust", "reads", rust), alone("ssd", "reads", ssd)
    made = trial("both", "reads", figure, {"rust": (1000 * part, 0), "ssd": (1000 * (1 - part), 0)}, fio=(1000, 0))
    limit = known(limit_of(*bare, made))
    assert limit.most == pytest.approx(min(rust / part, ssd / (1 - part)), rel=1e-4)
    assert limit.share == pytest.approx(figure / limit.most)
    assert limit.most <= (rust + ssd) * 1.0001, "no layout reads faster than all of its disks together"
    assert sum(leaf.load for leaf in limit.leaves) == pytest.approx(1, rel=1e-6)


@given(figure=_rates, rust=_rates, ssd=_rates)
def test_no_latency_is_below_that_of_the_fastest_disk(figure: float, rust: float, ssd: float) -> None:
    bare = alone("rust", "reads", rust, metric="p99"), alone("ssd", "reads", ssd, metric="p99")
    made = trial("both", "reads", figure, {"rust": (50, 0), "ssd": (50, 0)}, metric="p99")
    limit = known(limit_of(*bare, made))
    assert limit.most == min(rust, ssd)
    assert limit.share == pytest.approx(min(rust, ssd) / figure)


def test_a_disk_with_a_negligible_share_of_the_bytes_limits_nothing() -> None:
    limit = known(limit_of(RUST, SSD, trial("both", "reads", 900.0, {"rust": (0.5, 0), "ssd": (99.5, 0)})))
    assert [leaf.device for leaf in limit.leaves] == ["ssd"]


def test_missing_bytes_explain_a_share_above_the_limit_by_ram(message: Message) -> None:
    cached = trial("one", "reads", 400.0, {"rust": (25, 0)}, verdict="refuted")
    limit = known(limit_of(RUST, cached))
    assert limit.share == 4
    assert "75%" in message(limit.over) and "RAM" in limit.over


def test_larger_requests_explain_a_share_above_the_limit(message: Message) -> None:
    merged = trial("one", "writes", 400.0, {"rust": (0, 100)}, fio=(0, 100), request=128 * 1024)
    over = known(limit_of(RUST_WRITES, merged)).over
    assert "128 KiB" in message(over) and "4 KiB" in over


def test_a_better_order_explains_a_share_above_the_limit_otherwise(message: Message) -> None:
    ordered = trial("one", "writes", 400.0, {"rust": (0, 100)}, fio=(0, 100))
    assert "order" in message(known(limit_of(RUST_WRITES, ordered)).over)


def test_a_share_that_is_not_significantly_above_the_limit_is_not_explained() -> None:
    bare = [alone("rust", "reads", figure, number=number) for number, figure in ((1, 50.0), (2, 150.0))]
    made = [trial("one", "reads", figure, {"rust": (100, 0)}, number=n) for n, figure in ((1, 80.0), (2, 200.0))]
    limit = known(limit_of(*bare, *made))
    assert limit.share == pytest.approx(1.4)
    assert limit.over.startswith("not significantly above 100%")
    level = known(limit_of(RUST, trial("one", "reads", 104.0, {"rust": (100, 0)})))
    assert level.over == ""


@pytest.mark.parametrize("unsettled", ["none", "the cell", "the disk"])
def test_a_share_of_values_that_did_not_converge_is_marked(unsettled: str) -> None:
    trials = [RUST, trial("one", "reads", 90.0, {"rust": (100, 0)})]
    (cell,), (disk,) = cells_of(trials, CAMPAIGN), bare_cells_of(trials, CAMPAIGN)
    drifts = CellConvergence(True, False, (NotConverged("drift", "it falls"),), None, 10.0)
    if unsettled == "the cell":
        cell = replace(cell, settling=drifts)
    if unsettled == "the disk":
        disk = replace(disk, settling=drifts)
    limit = known(limits_of([cell], [disk], CAMPAIGN)[cell.key])
    assert limit.converged == (unsettled == "none")
    assert share_text(limit) == ("90%" if unsettled == "none" else "~90%")


@pytest.mark.parametrize(
    ("trials", "fact"),
    [
        ([trial("both", "reads", 9.0, {"rust": (50, 0), "ssd": (50, 0)}), RUST], "ssd "),
        (
            [trial("one", "reads", 9.0, {"rust": (50, 0)}), alone("rust", "reads", 5.0, verdict="refuted")],
            "rust ",
        ),
        ([trial("one", "reads", 1e9, {"rust": (0, 0)}, verdict="refuted"), RUST], "read nothing"),
        ([trial("one", "reads", 1e9, {"rust": (9, 0)}, verdict="failed"), RUST], "no result"),
        ([trial("one", "reads", 9.0, {"vda": (50, 0)}), RUST], "existing directory"),
        (
            [replace(trial("one", "reads", 9.0, {"rust": (50, 0)}), account=None), RUST],
            "counted",
        ),
    ],
)
def test_a_cell_without_a_limit_says_why(trials: Sequence[Trial], fact: str, message: Message) -> None:
    limit = limit_of(*trials)
    assert isinstance(limit, str)
    assert fact in message(limit)


def test_a_workload_that_no_disk_can_run_has_no_limit() -> None:
    campaign = parse_campaign(TEXT.replace("writes: {rw: randwrite", "writes: {ioengine: mmap, rw: randwrite"), "c")
    limit = limit_of(trial("one", "writes", 9.0, {"rust": (0, 50)}, fio=(0, 50)), campaign=campaign)
    assert isinstance(limit, str) and "bare disk" in limit and "writes uses ioengine=mmap" in limit


def test_workloads_of_one_shape_use_the_same_bare_disk_with_their_own_metric() -> None:
    campaign = parse_campaign(TEXT.replace("{rw: randwrite", "{direct: 0, metric: p99, rw: randread"), "c")
    bare = replace(RUST, figures=TrialMetrics(iops=100.0, bandwidth_bytes=None, p99_ns=2e6))
    made = trial("one", "writes", 4e6, {"rust": (100, 0)}, metric="p99")
    assert known(limit_of(bare, made, campaign=campaign)).share == pytest.approx(0.5)


def test_layouts_of_a_single_disk_replace_calibration() -> None:
    campaign = parse_campaign(TEXT.replace(", calibrate: true", "").replace("{one:", "{raw: rust, one:"), "c")
    trials = [trial("raw", "reads", 100.0, {"rust": (100, 0)}), trial("one", "reads", 50.0, {"rust": (100, 0)})]
    assert known(limit_of(*trials, campaign=campaign)).share == 0.5
    without = parse_campaign(TEXT.replace(", calibrate: true", ""), "c")
    assert limits_of(cells_of(trials[1:], without), (), without) == {}


def test_disks_measured_alone_are_separate_cells_but_trials_of_the_run() -> None:
    trials = [RUST, SSD, trial("one", "reads", 90.0, {"rust": (100, 0)})]
    assert [(cell.layout, cell.workload) for cell in cells_of(trials, CAMPAIGN)] == [("one", "reads")]
    assert [cell.layout for cell in bare_cells_of(trials, CAMPAIGN)] == ["bare:rust", "bare:ssd"]
    assert trials_ahead(trials, CAMPAIGN) == 2 * 2 * (2 + 2) - len(trials)
