"""Layers that need a different kernel: a lab run builds, measures and removes them, and their own tools check them.

There is one run for each family of technologies. Its campaign is in campaigns/. Before reads, caches are dropped in the
way that the layout requires, so the bytes come through all layers. The writes show the write amplification of each
layout.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.loop.testbed import judged

from .machine import Machine, leftovers, poolproof
from .observed import observed
from .places import CAMPAIGNS

BOTH = pytest.mark.zfs("2.1", "2.3")
NEWER = pytest.mark.zfs("2.3")
"""Arrays and volumes do not use ZFS, so they are measured in the lab with the fewest other tests."""

METADATA = 1.6
"""The maximum of the bytes written in relation to the data.

With so little data, journals, trees, labels and log headers take a large share.
"""


@dataclass(frozen=True)
class Expected:
    """What the tools must print about a layout, as regular expressions, and each disk's share of the writes.

    `factor`: the bytes written per byte of data.
    `extra`: the additional bytes per byte of data that a log or cache device may receive.
    `least`: a disk, and the minimum share of the writes that it must get.
    `unread`: the disk from which nothing may be read.
    """

    seen: tuple[str, ...]
    shares: dict[str, float]
    factor: float = 1.0
    extra: float = 0.0
    least: tuple[str, float] | None = None
    unread: str = ""


def evenly(disks: str) -> dict[str, float]:
    return dict.fromkeys(disks, 1 / len(disks))


ZFS = {
    "raidz1": Expected((r"raidz1-0\s+ONLINE",), evenly("abc"), 1.5),
    "log-cache": Expected((r"logs\s+/dev/mapper/\S+\s+ONLINE", r"cache\s+\S+_d-part1\s+ONLINE"), {}, 2.0, extra=2.5),
    "moved": Expected((r"mirror-0\s+ONLINE", r"resilvered .* with 0 errors"), evenly("be"), 2.0),
}
DIRECT = Expected((r"direct\s+always",), evenly("a"))
MD = {
    "raid0": Expected((r"Raid Level : raid0",), evenly("ab")),
    "raid1": Expected((r"Raid Level : raid1", r"active sync writemostly"), evenly("ab"), 2.0, unread="b"),
    "raid5": Expected((r"Raid Level : raid5", r"bitmap: \d+/\d+ pages .*4096KB chunk"), evenly("abc"), 1.5),
    "raid6": Expected((r"Raid Level : raid6", r"Chunk Size : 64K"), evenly("abcd"), 2.0),
    "raid10": Expected((r"Raid Level : raid10", r"Layout : far=2", r"Chunk Size : 256K"), evenly("ab"), 2.0),
}
DM = {
    "linear": Expected((r"volume\s+linear",), {}),
    "striped": Expected((r"volume\s+striped\s+2\s+64.00k",), evenly("ab")),
    "raid1": Expected((r"volume\s+raid1", r"\[volume_rimage_1\]"), evenly("ab"), 2.0),
    "thin": Expected((r"volume\s+thin\s", r"pool\s+thin-pool"), {}),
    # The cache also writes its data to the disk when it has time, during the trial or after it.
    "cache": Expected((r"volume\s+cache\s.*writeback", r": \d+ \d+ cache "), {}, extra=1.0),
    "writecache": Expected((r"volume\s+writecache", r": \d+ \d+ writecache "), {}, extra=1.0, least=("b", 0.3)),
    "luks": Expected((r"crypt aes-xts-plain64 .*sector_size:4096",), evenly("a")),
}


@dataclass(frozen=True)
class LayerRun:
    """A run of one family's campaign: its cells and the outputs of the tools, each keyed by layout."""

    cells: Mapping[str, Mapping[str, Any]]
    seen: Mapping[str, str]
    leftovers: str


class Runs:
    """The runs in one lab. Each is started when a test first needs it."""

    def __init__(self, lab: Machine, folder: Path) -> None:
        self.lab = lab
        self._folder = folder
        self._made: dict[str, LayerRun | None] = {}

    def of(self, family: str) -> LayerRun:
        if family not in self._made:
            self._made[family] = None
            self._made[family] = self._make(family)
        made = self._made[family]
        assert made is not None, "the run failed when the first test asked for it"
        return made

    def _make(self, family: str) -> LayerRun:
        path = CAMPAIGNS / f"{family}.yaml"
        with observed(self.lab) as found:
            answer = poolproof("run", str(path), "--on", self.lab.on, "--out", str(self._folder / family), "--json")
        assert "cells" in answer.json, answer.out + answer.err
        cells = {cell["layout"]: cell for cell in answer.json["cells"]}
        built = [layout for layout, cell in cells.items() if cell["account"] is not None]
        assert len(found) == len(built), answer.err
        return LayerRun(cells, dict(zip(built, found, strict=True)), leftovers(self.lab))


@pytest.fixture(scope="module")
def runs(lab: Machine, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(lab, tmp_path_factory.mktemp("layers"))


def check(run: LayerRun, layout: str, expected: Expected) -> None:
    for pattern in expected.seen:
        assert re.search(pattern, run.seen[layout]), f"{pattern} is not in:\n{run.seen[layout]}"
    cell = run.cells[layout]
    assert judged(cell) == "sound", cell["findings"]
    account = cell["account"]
    assert account["leaf_read_bytes"] >= 0.98 * account["fio_read_bytes"] > 0
    assert account["write_factor"] == pytest.approx(expected.factor)
    made = account["leaf_write_bytes"] / account["fio_write_bytes"]
    assert 0.95 * expected.factor <= made <= METADATA * expected.factor + expected.extra
    shares = {leaf["device"]: leaf["write_share"] for leaf in cell["leaves"]}
    found = {device: shares[device] for device in expected.shares}
    assert found == {device: pytest.approx(share, abs=0.08) for device, share in expected.shares.items()}
    if expected.least is not None:
        assert shares[expected.least[0]] >= expected.least[1]
    assert [leaf for leaf in cell["leaves"] if leaf["device"] == expected.unread and leaf["read_share"] > 0.02] == []


@pytest.mark.parametrize("layout", ZFS)
def test_a_pool_over_whole_disks(runs: Runs, layout: str) -> None:
    check(runs.of("zfs"), layout, ZFS[layout])


@BOTH
def test_a_missing_zfs_feature_is_reported_in_zpool_s_words(runs: Runs) -> None:
    """OpenZFS 2.1 does not have the property `direct`, which came with 2.3. Only zpool knows this, and must say so."""
    run = runs.of("direct")
    if runs.lab.record.series == "2.3":
        check(run, "direct", DIRECT)
        return
    assert run.cells["direct"]["verdict"] == "failed"
    (finding,) = run.cells["direct"]["findings"]
    assert re.search(r"property 'direct'|invalid property.*direct", finding["message"]), finding


@NEWER
@pytest.mark.parametrize("level", MD)
def test_an_array_of_every_level(runs: Runs, level: str) -> None:
    check(runs.of("md"), level, MD[level])


@NEWER
@pytest.mark.parametrize("kind", DM)
def test_a_volume_of_every_segment_type_and_a_locked_disk(runs: Runs, kind: str) -> None:
    check(runs.of("dm"), kind, DM[kind])


def test_no_pool_is_left(runs: Runs) -> None:
    assert runs.of("zfs").leftovers == ""


@NEWER
@pytest.mark.parametrize("family", ["md", "dm"])
def test_no_array_or_volume_is_left(runs: Runs, family: str) -> None:
    assert runs.of(family).leftovers == ""
