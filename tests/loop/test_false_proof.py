"""Results that the counters seem to prove, although RAM or a wrong clock made them, on real file systems.

Each workload has a similar one next to it that measures the disk, and whose metric no rule doubts.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from poolproof.load.asked import asked_of
from poolproof.results.runs.directory import RunDirectory
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.loop.testbed import Cells, Testbed, judged

_ON_EXT4 = """
devices: {a: {file: 1400M}}  # below 512 MiB, blocks of ext4 are smaller than pages
layouts: {e: a | ext4}
workloads:
  # other I/O of the load causes enough requests for reads that RAM serves
  big-and-cached: {metric: p50, jobs: {big: {rw: randread, bs: 4m, size: 64m}, small: {
    rw: randread, bs: 4k, size: 64k, direct: 0, ioengine: psync, norandommap: 1, rate_iops: 1000}}}
  big-and-small: {metric: p50, jobs: {big: {rw: randread, bs: 4m, size: 64m}, small: {
    rw: randread, bs: 4k, size: 16m, rate_iops: 1000}}}
  # whole pages make up for blocks that were overwritten in RAM
  repeated: {rw: randwrite, bs: 512, size: 4m, norandommap: 1, direct: 0, end_fsync: 1, time_based: 0,
    ioengine: psync, metric: bandwidth}
  once: {rw: randwrite, bs: 512, size: 4m, direct: 0, end_fsync: 1, time_based: 0, ioengine: psync,
    metric: bandwidth}
  # what other I/O of the load does makes up for I/O that stays in RAM
  beside-large: {metric: read_p50, direct: 0, ioengine: psync, jobs: {large: {rw: read, bs: 4m, size: 64m}, small: {
    rw: randread, bs: 60k, size: 600k, norandommap: 1, thinktime: 1500}}}
  # so much data that the jobs take longer than a second
  overwritten: {metric: bandwidth, direct: 0, ioengine: psync, end_fsync: 1, time_based: 0, jobs: {over: {
    rw: randwrite, bs: 4k, size: 3m, io_size: 90m, norandommap: 1}, pages: {
    rw: randwrite, bs: 512, size: 256m, io_size: 32m}}}
  same-offset: {rw: "randwrite:4", rw_sequencer: identical, bs: 512, size: 256m, io_size: 48m, direct: 0, end_fsync: 1,
    time_based: 0, ioengine: psync, metric: bandwidth}
  # the disk reads while the job pauses
  paused: {rw: read, bs: 2m, size: 64m, direct: 0, ioengine: psync, thinktime: 20000, metric: read_p50}
  paused-at-random: {rw: randread, bs: 4k, size: 16m, direct: 0, ioengine: psync, thinktime: 500, metric: read_p50}
  # fio would merge the two sections under the name of the first one
  grouped: {group_reporting: 1, bs: 4k, size: 8m, metric: read_p99, jobs: {
    reads: {rw: randread}, writes: {rw: randwrite, direct: 0, end_fsync: 1}}}
  polled: {rw: randread, bs: 4k, size: 16m, iodepth: 4, ioengine: io_uring, sqthread_poll: 1, metric: p99}
  uring: {rw: randread, bs: 4k, size: 16m, iodepth: 4, ioengine: io_uring, metric: p99}
  # some syncs have nothing to write
  after-reads: {rw: randrw, rwmixread: 90, bs: 4k, size: 8m, fdatasync: 1, direct: 0, ioengine: psync, metric: sync_p99}
  other-files: {rw: randwrite, bs: 4k, size: 8m, nrfiles: 4, fdatasync: 1, direct: 0, ioengine: psync, metric: sync_p99}
  own-file: {rw: randwrite, bs: 4k, size: 8m, fdatasync: 1, direct: 0, ioengine: psync, metric: sync_p99}
  # the window also contains what the ramp left in RAM
  dirty-ramp: {rw: write, bs: 1m, size: 50m, rate: 50m, ramp_time: 700ms, time_based: 0, direct: 0, end_fsync: 1,
    metric: bandwidth}
  ramp: {rw: randread, bs: 4k, size: 16m, ramp_time: 500ms}
  # the first job to end takes the others with it
  cut-short: {exitall: 1, bs: 4k, metric: p99, jobs: {quick: {
    rw: randread, size: 400k, time_based: 0, rate_iops: 500}, steady: {rw: randread, size: 8m}}}
  mapped: {rw: randwrite, bs: 4k, size: 8m, ioengine: mmap, sync: 1, direct: 0, metric: write_p99}
measure: {trials: 1, time: 600ms}
"""
_ON_BRANCHES = """
devices: {a: {file: 200M}, b: {file: 200M}}
layouts:
  half-safe: mergerfs (a | ext4 barrier=0) (b | ext4) category.create=mfs
  safe: mergerfs (a | ext4) (b | ext4) category.create=mfs
workloads:
  commits: {rw: write, bs: 4k, size: 4m, numjobs: 2, fdatasync: 1, direct: 0, ioengine: psync, metric: sync_p99}
measure: {trials: 1, time: 1s}
"""
_ON_PARITY = """
devices: {a: {file: 200M}, b: {file: 200M}, c: {file: 200M}}
layouts: {parity: btrfs raid5 a b c}
workloads:
  mixed: {rw: randrw, rwmixread: 30, bs: 4k, size: 32m}
measure: {trials: 1, time: 1s}
"""
_ON_DEVICES = """
devices: {a: {file: 200M}, h: {emulate: hdd-7200, size: 400M}}
layouts: {bare: a, turning: h}
workloads:
  sorted: {rw: randwrite, bs: 4k, size: 64m, direct: 0, end_fsync: 1, ioengine: psync, metric: iops}
  small-zone: {rw: randread, bs: 4k, size: 128m, random_distribution: "zoned:90/1:10/99", metric: p50}
  spread: {rw: randread, bs: 4k, size: 128m, metric: p50}
  trimmed: {bs: 4k, metric: read_p50, jobs: {trims: {rw: trim, size: 1m, time_based: 0}, reads: {
    rw: randread, size: 1m, stonewall: 1}}}
  # the last close of a device writes what is in RAM, after fio has stopped its clock
  unsynced: {rw: randwrite, bs: 64k, size: 96m, direct: 0, ioengine: psync, time_based: 0, metric: bandwidth}
  synced: {rw: randwrite, bs: 64k, size: 96m, direct: 0, ioengine: psync, time_based: 0, metric: bandwidth,
    end_fsync: 1}
measure: {trials: 1, time: 1s}
"""
_SYNCS_AFTER_READS_UNTIL = (3, 37)
_BAD_CLOCK_UNTIL = (3, 35)


@pytest.fixture(scope="module")
def cells(shared_testbed: Testbed) -> Cells:
    return shared_testbed.cells(_ON_EXT4, "ext4")


def _doubted_by(cell: Mapping[str, Any]) -> set[str]:
    """Return the rules that affect the verdict on the cell's own metric, except `other-work`."""
    about = [each for each in cell["findings"] if not each["metrics"] or cell["metric"] in each["metrics"]]
    return {each["rule"] for each in about if each["effect"] != "notes" and each["rule"] != "other-work"}


@pytest.mark.parametrize(
    ("workload", "rule"),
    [
        ("big-and-cached", "reads-without-requests"),
        ("dirty-ramp", "ramp-in-window"),
        ("cut-short", "work-done"),
        ("mapped", "write-latency"),
    ],
)
def test_a_false_result_is_found_on_a_real_file_system(cells: Cells, workload: str, rule: str) -> None:
    assert rule in _doubted_by(cells["e", workload])


@pytest.mark.parametrize(
    ("workload", "rule", "last_release"),
    [("after-reads", "sync-after-reads", _SYNCS_AFTER_READS_UNTIL), ("polled", "broken-clock", _BAD_CLOCK_UNTIL)],
)
def test_a_mistake_of_fio_is_found_in_the_releases_that_make_it(
    cells: Cells, workload: str, rule: str, last_release: tuple[int, int]
) -> None:
    assert (rule in _doubted_by(cells["e", workload])) == (_fio_release() <= last_release)


def _fio_release() -> tuple[int, int]:
    words = subprocess.run(["fio", "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    major, minor = words.strip().removeprefix("fio-").split("-")[0].split(".")[:2]
    return int(major), int(minor)


@pytest.mark.parametrize("workload", ["repeated", "other-files", "overwritten", "same-offset", "paused"])
def test_counters_that_other_data_may_explain_prove_nothing(
    cells: Cells, shared_testbed: Testbed, workload: str
) -> None:
    """The trial is judged again without what is known about other programs, because they hide an unproven result."""
    case = _quiet_case(shared_testbed, workload)
    metric = cells["e", workload]["metric"]
    judgement = judge(case, metric)
    assert judgement.verdict == "unproven", judgement.findings
    about = {each.rule for each in judgement.findings if each.effect != "notes" and each.is_about(metric)}
    assert about == {"missing-proof"}


def test_reads_from_ram_beside_large_ones_are_not_proven(shared_testbed: Testbed, cells: Cells) -> None:
    """Only a machine that copies 60 KiB in less than 4 µs shows in fio's latencies that RAM served these reads."""
    metric = cells["e", "beside-large"]["metric"]
    judgement = judge(_quiet_case(shared_testbed, "beside-large"), metric)
    about = {each.rule for each in judgement.findings if each.effect != "notes" and each.is_about(metric)}
    assert about in ({"missing-proof"}, {"reads-without-requests", "size-below-cache"}), judgement.findings
    assert judgement.verdict != "sound"


def _quiet_case(testbed: Testbed, workload: str) -> Case:
    run = RunDirectory.open(testbed.runs / "ext4")
    (trial,) = (each for each in run.trials() if each.workload == workload)
    saved = run.judged_by(trial)
    assert saved is not None
    load, outcome, evidence = saved
    assert outcome is not None
    quiet = replace(evidence, host=None, others=None)
    return Case(load, asked_of(load, outcome), quiet, evidence.target, asked_s=evidence.asked_s)


@pytest.mark.parametrize("workload", ["big-and-small", "once", "uring", "own-file", "ramp", "paused-at-random"])
def test_a_similar_result_from_the_disk_is_sound(cells: Cells, workload: str) -> None:
    assert judged(cells["e", workload]) == "sound", cells["e", workload]["findings"]


def test_sections_with_group_reporting_are_judged_one_by_one(cells: Cells) -> None:
    cell = cells["e", "grouped"]
    assert judged(cell) == "sound", cell["findings"]
    (of_writes,) = (each for each in cell["findings"] if each["effect"] == "refutes")
    assert of_writes["rule"] == "write-latency" and "job `writes`" in of_writes["message"]


def test_a_branch_that_acknowledges_syncs_without_a_flush_is_found(testbed: Testbed) -> None:
    found = testbed.cells(_ON_BRANCHES)
    assert _doubted_by(found["half-safe", "commits"]) == {"flushes-missing"}
    assert judged(found["safe", "commits"]) == "sound", found["safe", "commits"]["findings"]


def test_holes_that_are_read_around_a_changed_stripe_are_no_cache_hits(testbed: Testbed) -> None:
    assert "loop-cache" not in _doubted_by(testbed.cells(_ON_PARITY)["parity", "mixed"])


def test_what_a_disk_does_without_its_medium_is_found(testbed: Testbed) -> None:
    found = testbed.cells(_ON_DEVICES)
    assert _doubted_by(found["bare", "sorted"]) <= {"missing-proof"}
    assert found["bare", "sorted"]["verdict"] in ("unproven", "suspect")
    assert "disk-buffer" in _doubted_by(found["turning", "small-zone"])
    assert judged(found["turning", "spread"]) == "sound", found["turning", "spread"]["findings"]
    assert all("trimmed-ssd" in _doubted_by(found[layout, "trimmed"]) for layout in ("bare", "turning"))
    assert judged(found["bare", "spread"]) == "sound", found["bare", "spread"]["findings"]
    unsynced, synced = found["turning", "unsynced"], found["turning", "synced"]
    assert unsynced["account"]["leaf_write_bytes"] == unsynced["account"]["fio_write_bytes"]
    assert "write-without-sync" in _doubted_by(unsynced)
    assert judged(synced) == "sound", synced["findings"]
