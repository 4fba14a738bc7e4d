"""I/O that the counters or fio's results hide: repeated zones, files read before the job, journals and disks in RAM.

Each false result has a similar one next to it that comes from the disk, and that is not doubted for the same reason.
"""

import os
import re
from typing import Any

import pytest

from tests.loop.testbed import Cells, Testbed, judged

_SCAN = "rw: read, direct: 0, ioengine: psync"
_ZONES = f"{_SCAN}, bs: 16k, size: 192m, rate: 24m, metric: p50, zonemode: strided, zonerange: 64k"
_ON_EXT4 = f"""
devices: {{a: {{file: 1500M}}}}
layouts: {{e: a | ext4}}
workloads:
  # readahead reads beyond each zone, and so makes up for the reads that RAM serves
  zones-twice: {{{_ZONES}, zonesize: 128k, zoneskip: 192k}}
  zones-once: {{{_ZONES}, zonesize: 64k, zoneskip: 192k}}
  one-file: {{{_ZONES}, zonesize: 64k, zoneskip: 448k, numjobs: 2, filename: x}}
  own-files: {{{_ZONES}, zonesize: 64k, zoneskip: 448k, numjobs: 2}}
  # fio reads the files into RAM just before the job
  read-before: {{{_SCAN}, bs: 1m, size: 256m, time_based: 0, metric: bandwidth, pre_read: 1}}
  not-read-before: {{{_SCAN}, bs: 1m, size: 256m, time_based: 0, metric: bandwidth}}
  # the second section starts when the first one has ended
  in-turn: {{rw: randread, bs: 4k, size: 8m, rate_iops: 400, jobs: {{one: {{iodepth: 1}}, two: {{wait_for: one}}}}}}
  together: {{rw: randread, bs: 4k, size: 8m, rate_iops: 400, jobs: {{one: {{iodepth: 1}}, two: {{iodepth: 1}}}}}}
  # fio does not look at finished I/Os of a section that waits for another one
  in-ratio: {{rw: randread, bs: 4k, size: 8m, metric: p50, jobs: {{
    fast: {{flow: 1, iodepth: 8}}, slow: {{flow: 1, rate_iops: 100}}}}}}
  in-ratio-at-depth-1: {{rw: randread, bs: 4k, size: 8m, metric: p50, jobs: {{
    fast: {{flow: 1}}, slow: {{flow: 1, rate_iops: 100}}}}}}
measure: {{trials: 1, time: 600ms}}
"""
_ON_BTRFS = """
devices: {a: {file: 600M}}
layouts: {b: btrfs a, ext4: a | ext4}
workloads:
  completion: {rw: randwrite, bs: 4k, size: 16m, metric: p50}
  total: {rw: randwrite, bs: 4k, size: 16m, lat_percentiles: 1, clat_percentiles: 0, metric: p50}
measure: {trials: 1, time: 600ms}
"""
_COMMITS = (
    "{rw: write, bs: 4k, size: 16m, unlink: 1, fdatasync: 1, direct: 0, ioengine: psync, time_based: 0, "
    "number_ios: 600, fallocate: none, metric: sync_p99}"
)
"""Appends to a new file: each sync also writes the file's new size and blocks to the journal."""
_BUSY = "async-engine-blocks"
"""On a busy machine, the submission of one of a few dozen I/Os may take longer than all others together."""
_REPEATED = "because they repeat data"
_WRITES_BLOCK_SINCE = (6, 15)
# Older kernels cannot set up these cases at all. Where CI is set, scripts/test counts a skipped test as a failure.
_RAM_TAKES_DIRECT_IO_SINCE = (6, 6)


@pytest.fixture(scope="module")
def cells(shared_testbed: Testbed) -> Cells:
    return shared_testbed.cells(_ON_EXT4)


def _kernel() -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


def _doubts(cell: dict[str, Any]) -> dict[str, str]:
    """Return the rules that affect the verdict on the cell's own metric, with their effects, except `other-work`."""
    about = [each for each in cell["findings"] if not each["metrics"] or cell["metric"] in each["metrics"]]
    return {
        each["rule"]: each["effect"] for each in about if each["effect"] != "notes" and each["rule"] != "other-work"
    }


def _missing_proof(cell: dict[str, Any]) -> str:
    """Return why the cell's own metric is unproven."""
    about = [each for each in cell["findings"] if not each["metrics"] or cell["metric"] in each["metrics"]]
    (message,) = [each["message"] for each in about if each["rule"] == "missing-proof"]
    return str(message)


@pytest.mark.parametrize(
    ("workload", "reason"), [("zones-twice", _REPEATED), ("one-file", _REPEATED), ("read-before", "pre_read")]
)
def test_the_bytes_of_other_reads_prove_nothing(cells: Cells, workload: str, reason: str) -> None:
    """The disks read at least as many bytes as fio.

    On a busy machine, the verdict may be `suspect` instead. It is then not explained any further.
    """
    cell = cells["e", workload]
    assert cell["account"]["leaf_read_bytes"] >= cell["account"]["fio_read_bytes"]
    assert cell["verdict"] in ("unproven", "suspect")
    if cell["verdict"] == "unproven":
        assert _doubts(cell) == {"missing-proof": "leaves-unproven"}
        assert reason in _missing_proof(cell)


@pytest.mark.parametrize("workload", ["zones-once", "own-files"])
def test_reads_that_do_not_repeat_data_are_not_said_to(cells: Cells, workload: str) -> None:
    """Their latencies are unproven nevertheless, because the kernel reads ahead."""
    cell = cells["e", workload]
    assert cell["verdict"] in ("unproven", "suspect")
    if cell["verdict"] == "unproven":
        assert _REPEATED not in _missing_proof(cell)


def test_the_rate_of_reads_that_each_come_from_the_disk_is_sound(cells: Cells) -> None:
    cell = cells["e", "not-read-before"]
    assert judged(cell) == "sound", cell["findings"]


def test_the_rates_of_sections_in_turn_are_not_added_up(cells: Cells) -> None:
    assert 200 < cells["e", "in-turn"]["iops"]["mean"] < 500
    assert 500 < cells["e", "together"]["iops"]["mean"] < 900


def test_latencies_that_include_a_wait_for_another_section_are_suspect(cells: Cells) -> None:
    false, true = cells["e", "in-ratio"], cells["e", "in-ratio-at-depth-1"]
    assert _doubts(false)["flow-ratio"] == "suspects"
    assert judged(true, _BUSY) == "sound", true["findings"]
    assert false["latency_ns"]["p50"] > 10 * true["latency_ns"]["p50"]


def test_percentiles_that_leave_out_the_submission_are_suspect(testbed: Testbed) -> None:
    """On btrfs, direct writes with checksums wait during submission. The suggested options give a sound result."""
    found = testbed.cells(_ON_BTRFS)
    false, true = found["b", "completion"], found["b", "total"]
    blocks = _kernel() >= _WRITES_BLOCK_SINCE
    assert _doubts(false) == ({"async-engine-blocks": "suspects"} if blocks else {})
    assert judged(found["ext4", "completion"], _BUSY) == "sound", found["ext4", "completion"]["findings"]
    for cell in (true, found["ext4", "total"]):
        assert judged(cell) == "sound", cell["findings"]
    assert (false["latency_ns"]["p50"] < 0.5 * true["latency_ns"]["p50"]) == blocks


@pytest.mark.skipif(_kernel() < _RAM_TAKES_DIRECT_IO_SINCE, reason="tmpfs rejects direct I/O of a loop device")
def test_a_loop_device_whose_file_is_in_ram_is_no_disk(testbed: Testbed) -> None:
    ram = testbed.mount_ram("ram", "300M")
    point = testbed.loop_mount("disk", "ext4", "256M", within=ram)
    cell = _only(testbed, "{rw: randread, bs: 4k, size: 16m}", str(point))
    assert _doubts(cell)["volatile-target"] == "refutes"


@pytest.mark.skipif(_kernel() < _RAM_TAKES_DIRECT_IO_SINCE, reason="tmpfs rejects direct I/O of a loop device")
@pytest.mark.parametrize(
    ("kind", "create", "mount"), [("ext4", "-b 4096 -J device={}", "rw"), ("xfs", "-l logdev={}", "rw,logdev={}")]
)
def test_a_sync_that_waits_for_a_journal_in_ram_is_suspect(
    testbed: Testbed, kind: str, create: str, mount: str
) -> None:
    journal = testbed.loop_device(testbed.mount_ram("ram", "300M") / "journal.img", "256M")
    if kind == "ext4":
        testbed.command("mke2fs", "-q", "-b", "4096", "-O", "journal_dev", journal)
    made = create.format(journal).split()
    point = testbed.loop_mount("disk", kind, "512M", options=mount.format(journal), create=made)
    assert _doubts(_only(testbed, _COMMITS, str(point)))["loop-cache"] == "suspects"


def test_a_sync_that_waits_for_a_journal_on_the_disk_is_sound(testbed: Testbed) -> None:
    point = testbed.loop_mount("disk", "ext4", "512M")
    assert judged(_only(testbed, _COMMITS, str(point)), "work-done") == "sound"


def _only(testbed: Testbed, workload: str, directory: str) -> dict[str, Any]:
    """Return the only cell of a workload in a directory."""
    text = f"layouts: {{d: dir {directory}}}\nworkloads: {{w: {workload}}}\nmeasure: {{trials: 1, time: 600ms}}\n"
    (cell,) = testbed.cells(text).values()
    return cell
