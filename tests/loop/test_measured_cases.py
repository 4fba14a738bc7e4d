"""The measured cases L01 to L18 as real runs: each misleading job is refuted by the right rule, each control is sound.

The numbers of the cases were measured on a virtio disk. Here, each case has its own loop devices, on whose counters
nothing else has an influence, and file sizes that preserve the effect. If poolproof's defaults would prevent the
effect, the workload sets the option as the case does.
"""

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loop.testbed import Cells, Testbed, judged

_L02 = "rw: write, bs: 1m, numjobs: 8, filename: X, end_fsync: 1, ioengine: psync, time_based: 0"
_L05 = "rw: write, bs: 1m, ioengine: psync, direct: 0, time_based: 0"
_COMPRESSES = "compress-force=zstd:3"
"""Without force, btrfs stops compressing a file at the first piece that does not become smaller.

Writeback on a busy machine may create such a piece.
"""
_L07 = "rw: randread, bs: 4k, ioengine: psync, direct: 0, invalidate: 0, time_based: 0"
_ON_EXT4 = f"""
devices: {{a: {{file: 4G}}}}
layouts: {{ext4: a | ext4}}
workloads:
  L02: {{{_L02}, size: 256m, direct: 0}}
  L03: {{{_L02}, size: 512m, direct: 1}}
  L04: {{rw: read, bs: 1m, size: 512m, numjobs: 4, filename: X, ioengine: psync, direct: 0, time_based: 0}}
  L05: {{{_L05}, size: 512m}}
  L06: {{{_L05}, size: 1g, end_fsync: 1}}
  L07: {{{_L07}, size: 64m, loops: 8, randrepeat: 1}}
  L08: {{{_L07}, size: 512m, io_size: 128m, randrepeat: 0}}
  L16: {{rw: write, bs: 4k, size: 64m, ioengine: psync, fdatasync: 1, time_based: 0}}
  L17: {{rw: randread, bs: 4k, size: 256m, rate_iops: 2000, ramp_time: 2s, runtime: 5s}}
  L18: {{rw: read, bs: 1m, size: 64m, runtime: 30s, time_based: 0, ioengine: psync, direct: 0}}
measure: {{trials: 1, time: 1s}}
"""


@pytest.fixture(scope="module")
def on_ext4(shared_testbed: Testbed) -> Cells:
    return shared_testbed.cells(_ON_EXT4)


@pytest.mark.parametrize(
    ("case", "verdict", "cause"),
    [
        ("L02", "refuted", "shared-file-numjobs"),
        ("L04", "refuted", "shared-file-numjobs"),
        ("L05", "refuted", "write-without-sync"),
        ("L07", "refuted", "repeated-offsets"),
        ("L18", "failed", "runtime-without-time-based"),
    ],
)
def test_a_misleading_job_on_ext4_is_refuted_with_its_cause(
    on_ext4: Cells, case: str, verdict: str, cause: str
) -> None:
    cell = on_ext4["ext4", case]
    assert (judged(cell), cell["findings"][0]["rule"]) == (verdict, cause), cell["findings"]


@pytest.mark.parametrize("case", ["L03", "L06", "L08", "L16", "L17"])
def test_a_control_on_ext4_is_sound(on_ext4: Cells, case: str) -> None:
    cell = on_ext4["ext4", case]
    expected = ["capped-rate"] if case == "L17" else []
    assert judged(cell, *expected) == "sound", cell["findings"]


def test_byte_accounting_shows_the_missing_share(on_ext4: Cells) -> None:
    """L02 writes an eighth of its bytes or slightly more. L04 reads a quarter of its bytes, and L07 an eighth.

    L05 writes nothing.
    """
    ratios = {case: _ratio(on_ext4, case) for case in ("L02", "L03", "L04", "L07", "L08", "L17")}
    assert ratios["L02"] < 0.5
    assert ratios["L04"] == pytest.approx(1 / 4, abs=0.05)
    assert ratios["L07"] == pytest.approx(1 / 8, abs=0.02)
    assert [ratios[case] for case in ("L03", "L08", "L17")] == pytest.approx([1, 1, 1], abs=0.15)


def test_l01_a_file_that_a_write_job_left_half_written(testbed: Testbed) -> None:
    """fio reserves space for the whole file, but the runtime of the job ends long before everything is written."""
    testbed.fio(filename=testbed.data / "X", rw="write", bs="1m", size="512m", rate="50m", runtime=1)
    cell = _only(testbed, "rw: randread, bs: 4k, size: 512m, filename: X, iodepth: 32, runtime: 2s", "{data}")
    assert (judged(cell), cell["findings"][0]["rule"]) == ("refuted", "unwritten-read"), cell["findings"]
    assert cell["account"]["leaf_read_bytes"] < 0.5 * cell["account"]["fio_read_bytes"]


def test_l07_a_second_run_over_pages_that_stay_in_ram(testbed: Testbed) -> None:
    """The first run is done without poolproof. Another program locks the pages in RAM, so caches can't be dropped."""
    point = testbed.loop_mount("disk", "ext4", "512M")
    _fill(testbed, point / "X", "128m")
    testbed.fio(filename=point / "X", rw="randread", bs="4k", size="128m", invalidate=0)
    with _pinned(point / "X"):
        cell = _only(testbed, f"{_L07}, size: 128m, filename: X, randrepeat: 1", str(point))
    rules = {finding["rule"] for finding in cell["findings"]}
    assert judged(cell) == "refuted"
    assert {"repeated-offsets", "read-from-cache"} <= rules


def test_l08_pages_of_an_earlier_run_are_dropped(testbed: Testbed) -> None:
    """The same file is completely in RAM but not locked. poolproof drops it, so both trials read from the disk."""
    point = testbed.loop_mount("disk", "ext4", "512M")
    _fill(testbed, point / "X", "128m")
    testbed.fio(filename=point / "X", rw="read", bs="1m", size="128m", invalidate=0)
    cell = _only(testbed, f"{_L07}, size: 128m, io_size: 64m, filename: X, randrepeat: 0", str(point), trials=2)
    assert judged(cell) == "sound", cell["findings"]
    assert cell["trials"] == 2
    assert cell["account"]["leaf_read_bytes"] >= 0.9 * cell["account"]["fio_read_bytes"]


@pytest.mark.parametrize(
    ("case", "direct_io", "verdict"), [("L09", "off", "refuted"), ("L10", "on", "sound")], ids=["L09", "L10"]
)
def test_l09_l10_a_loop_device_with_and_without_a_cache_below(
    testbed: Testbed, case: str, direct_io: str, verdict: str
) -> None:
    """The disk under the loop device is itself a loop device, so that other programs' reads can't hide the effect."""
    below = testbed.loop_mount("below", "ext4", "512M")
    point = testbed.loop_mount("disk", "ext4", "256M", within=below, direct_io=direct_io)
    _fill(testbed, point / "X", "64m")
    cell = _only(testbed, "rw: randread, bs: 4k, size: 64m, filename: X, iodepth: 16, time_based: 0", str(point))
    assert judged(cell) == verdict, (case, cell["findings"])
    assert ("loop-cache" in {finding["rule"] for finding in cell["findings"]}) == (verdict == "refuted")


@pytest.mark.slow
def test_l11_l12_what_fio_writes_by_default_compresses_away(testbed: Testbed) -> None:
    write = "rw: write, bs: 4k, size: 256m, ioengine: psync, direct: 0, end_fsync: 1, time_based: 0"
    cells = testbed.cells(f"""
devices: {{a: {{file: 2G}}}}
layouts: {{btrfs: 'a | btrfs {_COMPRESSES}'}}
workloads:
  L11: {{{write}, refill_buffers: 0}}
  L12: {{{write}, refill_buffers: 1}}
measure: {{trials: 1, time: 1s}}
""")
    trap, control = cells["btrfs", "L11"], cells["btrfs", "L12"]
    assert (trap["verdict"], trap["findings"][0]["rule"]) == ("refuted", "default-buffer-compressible")
    assert trap["account"]["leaf_write_bytes"] < 0.2 * trap["account"]["fio_write_bytes"]
    assert judged(control) == "sound", control["findings"]


def test_l13_a_file_that_was_written_compressible(testbed: Testbed) -> None:
    point = testbed.loop_mount("disk", "btrfs", "1G", options=_COMPRESSES)
    # btrfs doesn't compress data that is written into preallocated space.
    testbed.fio(filename=point / "X", rw="write", bs="4k", size="256m", fallocate="none", end_fsync=1)
    read = "rw: read, bs: 1m, size: 256m, filename: X, ioengine: psync, direct: 0, time_based: 0"
    cell = _only(testbed, read, str(point))
    assert (judged(cell), cell["findings"][0]["rule"]) == ("refuted", "compressed-reads"), cell["findings"]


def test_l14_l15_files_in_ram(testbed: Testbed) -> None:
    """tmpfs accepts direct=1 without an error, and passes etcd's own test."""
    ram = testbed.mount_ram("ram", "256M")
    cells = testbed.cells(f"""
layouts: {{ram: dir {ram}}}
workloads:
  L14: {{rw: randread, bs: 4k, size: 64m, direct: 1, iodepth: 16}}
  L15: etcd
measure: {{trials: 1, time: 1s}}
""")
    for cell in cells.values():
        assert (judged(cell), cell["findings"][0]["rule"]) == ("refuted", "volatile-target"), cell["findings"]
    assert cells["ram", "L15"]["sync_latency_ns"]["p99"] < 100_000


def _only(testbed: Testbed, options: str, directory: str, trials: int = 1) -> dict[str, Any]:
    """Return the only cell of a workload that uses existing files in a directory."""
    cells = testbed.cells(f"""
layouts: {{found: dir {directory}}}
workloads: {{case: {{{options}, fill: false}}}}
measure: {{trials: {trials}, time: 1s}}
""")
    return cells["found", "case"]


def _ratio(cells: Cells, case: str) -> float:
    account = cells["ext4", case]["account"]
    moved: int = account["fio_read_bytes"] + account["fio_write_bytes"]
    kind = "read" if account["fio_read_bytes"] else "write"
    counted: int = account[f"leaf_{kind}_bytes"]
    return counted / moved


def _fill(testbed: Testbed, path: Path, size: str) -> None:
    testbed.fio(filename=path, rw="write", bs="1m", size=size, refill_buffers=1, end_fsync=1)


@contextmanager
def _pinned(path: Path) -> Iterator[None]:
    """Keep all pages of a file in RAM, like a program that maps and locks them."""
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as pages:
        view = (ctypes.c_char * len(pages)).from_buffer(pages)
        if libc.mlock(ctypes.byref(view), ctypes.c_size_t(len(pages))) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        try:
            yield
        finally:
            libc.munlock(ctypes.byref(view), ctypes.c_size_t(len(pages)))
            del view
