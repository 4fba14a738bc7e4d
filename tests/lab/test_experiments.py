"""The included experiments in their short form, run in a lab.

Verdicts, claims and shares are checked, but not speeds, because they depend on the machine.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolproof.campaign.claims import places
from poolproof.campaign.model import Campaign
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import read_campaign
from tests.loop.testbed import judged

from .machine import Machine, poolproof
from .places import EXPERIMENTS

BOTH = pytest.mark.zfs("2.1", "2.3")
RECORD_BYTES = 16 * 1024
"""The record size in the experiment mirror-reads, which is also the size of a read."""
INDIRECT_BYTES = 32 * 32 * 1024
"""The maximum size of the test file's indirect blocks, compressed."""
LOGS = {"mirror-log": "nvme1", "mirror-cryptcache-cryptlog": "nvme2"}
"""The log devices, keyed by layout."""


class Result:
    """The JSON output of a run, by layout and workload."""

    def __init__(self, said: dict[str, Any]) -> None:
        self._cells = {(cell["layout"], cell["workload"]): cell for cell in said["cells"]}
        self.path = Path(said["run"])
        self.claims = {claim["expected"]: claim["result"] for claim in said["claims"]}

    def cell(self, layout: str, workload: str) -> dict[str, Any]:
        cell: dict[str, Any] = self._cells[layout, workload]
        return cell

    def verdict(self, layout: str, workload: str) -> str:
        """Return the verdict of a cell, ignoring the effects of other programs on this machine."""
        return judged(self.cell(layout, workload))

    def verdicts(self, workload: str) -> dict[str, str]:
        return {layout: self.verdict(layout, name) for layout, name in self._cells if name == workload}

    def doubts(self, workload: str) -> dict[str, dict[str, str]]:
        """Return the findings of each layout whose result is not sound."""
        unsound = (layout for layout, verdict in self.verdicts(workload).items() if verdict != "sound")
        return {layout: self.notes(layout, workload) for layout in unsound}

    def share(self, what: str, layout: str, workload: str, device: str) -> float:
        (leaf,) = (leaf for leaf in self.cell(layout, workload)["leaves"] if leaf["device"] == device)
        return float(leaf[f"{what}_share"])

    def notes(self, layout: str, workload: str) -> dict[str, str]:
        return {each["rule"]: each["message"] for each in self.cell(layout, workload)["findings"]}


def run(lab: Machine, experiment: str, tmp_path: Path, *layouts: str, workload: str = "") -> Result:
    """Run an experiment in its short form.

    If layouts or a workload are named, the run is limited to them.
    """
    campaign = _only(read_campaign(EXPERIMENTS / f"{experiment}.yaml"), layouts)
    if workload:
        assert campaign.quick is not None
        campaign = replace(campaign, quick=replace(campaign.quick, workloads=((workload, ()),)))
    path = tmp_path / "campaign.yaml"
    path.write_text(format_campaign(campaign))
    answer = poolproof("run", str(path), "--quick", "--on", lab.on, "--out", str(tmp_path / "run"), "--json")
    assert answer.code == 0, answer.err
    return Result(answer.json)


def _only(campaign: Campaign, layouts: tuple[str, ...]) -> Campaign:
    kept = tuple(layout for layout in campaign.layouts if not layouts or layout.name in layouts)
    names = {layout.name for layout in kept}
    expect = tuple(claim for claim in campaign.expect if {layout for layout, _, _ in places(claim.that)} <= names)
    return replace(campaign, layouts=kept, baseline=kept[0].name, expect=expect)


def scatter(cell: dict[str, Any]) -> float:
    """Return how far a share of one half may deviate from 0.5 by chance: four standard deviations.

    The share varies more on a slow machine, because it does fewer reads.
    """
    return 4 * 0.5 / math.sqrt(cell["account"]["leaf_read_bytes"] / RECORD_BYTES)


@BOTH
def test_a_mirror_of_files_reads_from_both_sides_and_one_of_disks_from_the_ssd(lab: Machine, tmp_path: Path) -> None:
    # The older release runs the whole family: the SSD is attached to the hard disk, which is then detached.
    alone = ("hdd-disk", "ssd-disk") if lab.record.series == "2.1" else ()
    result = run(lab, "mirror-reads", tmp_path, "files", "disks", *alone)
    assert result.doubts("reads") == {}
    account = result.cell("disks", "reads")["account"]
    # Each read needs one record. OpenZFS 2.1 reads it four times if the file has ever been mapped.
    # The 32 indirect blocks of 512 MiB in 16 KiB records are also read once, which matters if there are few reads.
    read = account["fio_read_bytes"]
    assert 0.9 * read <= account["leaf_read_bytes"] <= 1.1 * read + INDIRECT_BYTES
    assert abs(result.share("read", "files", "reads", "ssd") - 0.5) <= scatter(result.cell("files", "reads"))
    assert result.share("read", "disks", "reads", "ssd") >= 0.95
    assert result.claims["read_share(disks, reads, ssd) = 50% ± 10%"] == "failed", "the source's conclusion"
    assert result.claims["read_share(disks, reads, ssd) >= 95%"] == "held"
    assert "ZFS treats every file as a non-rotational disk" in result.notes("files", "reads")["mirror-of-files"]
    assert "ZFS sees that hdd is rotational and ssd is not" in result.notes("disks", "reads")["mirror-of-unlike-disks"]
    shown = " ".join(poolproof("show", str(result.path)).out.split())
    assert "ZFS treats every file as a non-rotational disk" in shown
    assert "ZFS sees that hdd is rotational and ssd is not" in shown


@BOTH
def test_writes_go_to_the_vdev_with_space_and_not_to_the_fast_one(lab: Machine, tmp_path: Path) -> None:
    result = run(lab, "write-distribution", tmp_path, "one-to-four", "unlike")
    assert result.doubts("fill") == {}
    assert {text: held for text, held in result.claims.items() if "share" in text and held != "held"} == {}


@BOTH
def test_jobs_that_share_a_zvol_are_refuted_and_separate_ones_are_sound(lab: Machine, tmp_path: Path) -> None:
    result = run(lab, "shared-zvol", tmp_path)
    verdicts = {
        name: result.verdict("pool", name) for name in ("shared-read", "shared-write", "apart-read", "apart-write")
    }
    assert verdicts == {
        "shared-read": "refuted", "shared-write": "refuted", "apart-read": "sound", "apart-write": "sound"
    }  # fmt: skip
    assert set(result.claims.values()) == {"held"}


@BOTH
def test_reads_of_a_fresh_zvol_do_not_reach_a_disk(lab: Machine, tmp_path: Path) -> None:
    result = run(lab, "fresh-zvol", tmp_path)
    assert result.verdict("fresh", "fresh-read") == "refuted"
    assert set(result.claims.values()) == {"held"}


def test_only_zfs_merges_overwrites_of_tiers_on_mirrors(lab: Machine, tmp_path: Path) -> None:
    result = run(lab, "tiers", tmp_path, "ext4", "zfs-mirror", "md-bitmap")
    doubts = result.doubts("apart")
    # The syncs of ZFS make the data durable, but a transaction group that ends later may write a part of it again.
    if "zfs-mirror" in doubts:
        assert judged(result.cell("zfs-mirror", "apart"), "write-not-on-disk") == "sound", doubts
    assert set(doubts) <= {"zfs-mirror"}, doubts
    assert result.verdict("zfs-mirror", "shared") == "refuted"
    assert result.claims["verdict(zfs-mirror, shared) is refuted"] == "held"
    assert result.verdict("ext4", "shared") == "sound"
    for mirror in ("zfs-mirror", "md-bitmap"):
        assert result.share("write", mirror, "apart", "nvme1") == pytest.approx(0.5, abs=0.05)


def test_cache_and_log_are_swapped_and_the_run_ranks_layouts_for_etcd(lab: Machine, tmp_path: Path) -> None:
    """A trial of the short form has too few syncs for a p99, so layouts are ranked by commits per second."""
    result = run(lab, "cache-and-log", tmp_path, "mirror", *LOGS, workload="etcd")
    assert result.verdicts("etcd") == dict.fromkeys(("mirror", *LOGS), "sound")
    for layout, device in LOGS.items():
        assert result.share("write", layout, "etcd", device) > 0.1, layout
    refusal = poolproof("rank", str(result.path))
    assert refusal.code == 7
    assert "the p99 of fsync needs 1,000 syncs" in refusal.err
    answer = poolproof("rank", str(result.path), "--metric", "iops", "--json")
    assert answer.code == 0, answer.out + answer.err
    ranking = answer.json
    assert [goal["workload"] for goal in ranking["goal"]] == ["etcd"]
    assert {each["layout"] for each in ranking["layouts"]} == {"mirror", *LOGS}
