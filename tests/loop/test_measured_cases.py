"""The measured cases L01 to L18, live: each trap is refuted by the rule that names its cause, each control sound.

The figures of the cases were taken on a virtio disk; here each stands on loop devices of its own, whose counters nobody
else moves, in sizes that keep what makes the trap a trap. Where poolproof's own defaults would mend a trap, the
workload says the option as the case has it.
"""

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loop.ground import Cells, Ground

_L02 = "rw: write, bs: 1m, size: 256m, numjobs: 8, filename: X, end_fsync: 1, ioengine: psync, time_based: 0"
_L05 = "rw: write, bs: 1m, size: 512m, ioengine: psync, direct: 0, time_based: 0"
_COMPRESSES = "compress-force=zstd:3"
"""Without force btrfs gives a file up at its first piece that gets no smaller; a busy machine's writeback cuts such."""
_L07 = "rw: randread, bs: 4k, ioengine: psync, direct: 0, invalidate: 0, time_based: 0"
_ON_EXT4 = f"""
devices: {{a: {{file: 3G}}}}
layouts: {{ext4: a | ext4}}
workloads:
  L02: {{{_L02}, direct: 0}}
  L03: {{{_L02}, direct: 1}}
  L04: {{rw: read, bs: 1m, size: 512m, numjobs: 4, filename: X, ioengine: psync, direct: 0, time_based: 0}}
  L05: {{{_L05}}}
  L06: {{{_L05}, end_fsync: 1}}
  L07: {{{_L07}, size: 64m, loops: 8, randrepeat: 1}}
  L08: {{{_L07}, size: 512m, io_size: 32m, randrepeat: 0}}
  L16: {{rw: write, bs: 4k, size: 64m, io_size: 16m, ioengine: psync, fdatasync: 1, time_based: 0}}
  L17: {{rw: randread, bs: 4k, size: 256m, rate_iops: 2000, ramp_time: 2s, runtime: 5s}}
  L18: {{rw: read, bs: 1m, size: 64m, runtime: 30s, time_based: 0, ioengine: psync, direct: 0}}
measure: {{trials: 1, time: 1s}}
"""


@pytest.fixture(scope="module")
def on_ext4(shared_ground: Ground) -> Cells:
    return shared_ground.cells(_ON_EXT4)


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
def test_a_trap_on_ext4_is_named(on_ext4: Cells, case: str, verdict: str, cause: str) -> None:
    cell = on_ext4["ext4", case]
    assert (cell["verdict"], cell["findings"][0]["rule"]) == (verdict, cause), cell["findings"]


@pytest.mark.parametrize("case", ["L03", "L06", "L08", "L16", "L17"])
def test_a_control_on_ext4_is_sound(on_ext4: Cells, case: str) -> None:
    cell = on_ext4["ext4", case]
    assert cell["verdict"] == "sound", cell["findings"]


def test_the_byte_account_shows_what_each_trap_saved(on_ext4: Cells) -> None:
    """L02 writes one part in eight or a little more, L04 reads one in four, L07 one in eight; L05 keeps nothing."""
    ratios = {case: _ratio(on_ext4, case) for case in ("L02", "L03", "L04", "L07", "L08", "L17")}
    assert ratios["L02"] < 0.5
    assert ratios["L04"] == pytest.approx(1 / 4, abs=0.05)
    assert ratios["L07"] == pytest.approx(1 / 8, abs=0.02)
    assert [ratios[case] for case in ("L03", "L08", "L17")] == pytest.approx([1, 1, 1], abs=0.15)


def test_l01_a_file_that_a_write_job_left_half_written(ground: Ground) -> None:
    """fio reserves the whole size, and its runtime ends the job long before that is written."""
    ground.fio(filename=ground.data / "X", rw="write", bs="1m", size="512m", rate="50m", runtime=1)
    cell = _only(ground, "rw: randread, bs: 4k, size: 512m, filename: X, iodepth: 32, runtime: 2s", "{data}")
    assert (cell["verdict"], cell["findings"][0]["rule"]) == ("refuted", "unwritten-read"), cell["findings"]
    assert cell["account"]["leaf_read_bytes"] < 0.5 * cell["account"]["fio_read_bytes"]


def test_l07_a_second_run_over_pages_that_stay_in_ram(ground: Ground) -> None:
    """The first run is by hand. Another program keeps its pages, so that no cooling takes them out of RAM."""
    point = ground.loop_mount("disk", "ext4", "512M")
    _fill(ground, point / "X", "128m")
    ground.fio(filename=point / "X", rw="randread", bs="4k", size="128m", invalidate=0)
    with _pinned(point / "X"):
        cell = _only(ground, f"{_L07}, size: 128m, filename: X, randrepeat: 1", str(point))
    rules = {finding["rule"] for finding in cell["findings"]}
    assert cell["verdict"] == "refuted"
    assert {"repeated-offsets", "read-from-cache"} <= rules


def test_l08_what_an_earlier_run_left_in_ram_is_cooled_away(ground: Ground) -> None:
    """The same file, in RAM from end to end, and nobody holds it: poolproof drops it and both trials meet the disk."""
    point = ground.loop_mount("disk", "ext4", "512M")
    _fill(ground, point / "X", "128m")
    ground.fio(filename=point / "X", rw="read", bs="1m", size="128m", invalidate=0)
    cell = _only(ground, f"{_L07}, size: 128m, io_size: 16m, filename: X, randrepeat: 0", str(point), trials=2)
    assert cell["verdict"] == "sound", cell["findings"]
    assert cell["trials"] == 2
    assert cell["account"]["leaf_read_bytes"] >= 0.9 * cell["account"]["fio_read_bytes"]


@pytest.mark.parametrize(
    ("case", "direct_io", "verdict"), [("L09", "off", "refuted"), ("L10", "on", "sound")], ids=["L09", "L10"]
)
def test_l09_l10_a_loop_device_with_and_without_a_cache_below(
    ground: Ground, case: str, direct_io: str, verdict: str
) -> None:
    """The disk below the loop device is one of our own too, so that nobody else's reads hide the trap."""
    below = ground.loop_mount("below", "ext4", "512M")
    point = ground.loop_mount("disk", "ext4", "256M", within=below, direct_io=direct_io)
    _fill(ground, point / "X", "64m")
    cell = _only(ground, "rw: randread, bs: 4k, size: 64m, filename: X, iodepth: 16, time_based: 0", str(point))
    assert cell["verdict"] == verdict, (case, cell["findings"])
    assert ("loop-cache" in {finding["rule"] for finding in cell["findings"]}) == (verdict == "refuted")


def test_l11_l12_what_fio_writes_by_default_compresses_away(ground: Ground) -> None:
    write = "rw: write, bs: 4k, size: 256m, ioengine: psync, direct: 0, end_fsync: 1, time_based: 0"
    cells = ground.cells(f"""
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
    assert control["verdict"] == "sound", control["findings"]


def test_l13_a_file_that_was_written_compressible(ground: Ground) -> None:
    point = ground.loop_mount("disk", "btrfs", "1G", options=_COMPRESSES)
    # btrfs doesn't compress what goes into space that was reserved before.
    ground.fio(filename=point / "X", rw="write", bs="4k", size="256m", fallocate="none", end_fsync=1)
    read = "rw: read, bs: 1m, size: 256m, filename: X, ioengine: psync, direct: 0, time_based: 0"
    cell = _only(ground, read, str(point))
    assert (cell["verdict"], cell["findings"][0]["rule"]) == ("refuted", "compressed-reads"), cell["findings"]


def test_l14_l15_files_in_ram(ground: Ground) -> None:
    """tmpfs takes direct=1 without an error, and passes etcd's own test."""
    ram = ground.mount_ram("ram", "256M")
    cells = ground.cells(f"""
layouts: {{ram: dir {ram}}}
workloads:
  L14: {{rw: randread, bs: 4k, size: 64m, direct: 1, iodepth: 16}}
  L15: etcd
measure: {{trials: 1, time: 1s}}
""")
    for cell in cells.values():
        assert (cell["verdict"], cell["findings"][0]["rule"]) == ("refuted", "volatile-target"), cell["findings"]
    assert cells["ram", "L15"]["sync_latency_ns"]["p99"] < 100_000


def _only(ground: Ground, options: str, directory: str, trials: int = 1) -> dict[str, Any]:
    """The one cell of a workload that takes the files of a directory as they are."""
    cells = ground.cells(f"""
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


def _fill(ground: Ground, path: Path, size: str) -> None:
    ground.fio(filename=path, rw="write", bs="1m", size=size, refill_buffers=1, end_fsync=1)


@contextmanager
def _pinned(path: Path) -> Iterator[None]:
    """Keep all pages of a file in RAM, as a program does that maps and locks it."""
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
