"""A failing disk among good ones is found and named. Good disks alone cause no finding."""

import pytest

from tests.loop.testbed import Cells, Testbed, judged

pytestmark = pytest.mark.slow

_CAMPAIGN = """
devices:
  good1: {emulate: hdd-7200, size: 512M}
  good2: {emulate: hdd-7200, size: 512M}
  good3: {emulate: hdd-7200, size: 512M}
  failing: {emulate: hdd-failing, size: 512M}
layouts: {sick: btrfs raid0 good1 good2 failing, well: btrfs raid0 good1 good2 good3}
workloads: {reads: {rw: randread, bs: 16k, size: 128m, iodepth: 32}}
measure: {trials: 1, time: 10s}
"""


@pytest.fixture(scope="module")
def cells(shared_testbed: Testbed) -> Cells:
    return shared_testbed.cells(_CAMPAIGN)


def test_the_failing_disk_is_named(cells: Cells) -> None:
    found = [finding for finding in cells["sick", "reads"]["findings"] if finding["rule"] == "slow-leaf"]
    assert [finding["message"].split()[0] for finding in found] == ["failing"]


def test_the_result_with_the_failing_disk_is_still_sound(cells: Cells) -> None:
    assert judged(cells["sick", "reads"]) == "sound"
    assert cells["sick", "reads"]["iops"]["mean"] < 0.75 * cells["well", "reads"]["iops"]["mean"]


def test_good_disks_alone_are_not_blamed(cells: Cells) -> None:
    assert "slow-leaf" not in {finding["rule"] for finding in cells["well", "reads"]["findings"]}
    assert judged(cells["well", "reads"]) == "sound"


def test_the_leaf_counters_show_which_disk_is_always_busy(cells: Cells) -> None:
    """All three disks get similar shares of the reads, but only the failing disk is always busy."""
    leaves = {leaf["device"]: leaf for leaf in cells["sick", "reads"]["leaves"]}
    assert all(leaf["read_share"] == pytest.approx(1 / 3, abs=0.1) for leaf in leaves.values())
    busy = {name: leaf["utilisation"] for name, leaf in leaves.items()}
    assert busy["failing"] > 1.5 * max(busy["good1"], busy["good2"])
