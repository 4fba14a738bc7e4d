"""libaio blocks fio during a sync, so the I/Os in flight meanwhile seem to take as long as the sync."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.metrics import MetricId
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.verdicts import Verdict
from tests.unit.rules.making import EXT4, account, direction, jobs, leaf

_JOB = "rw=randwrite bs=4k size=64m direct=1 time_based=1 runtime=2"


def _verdicts(load: str, syncs: int, mean_ns: float, *metrics: MetricId, ios: int = 2048) -> list[Verdict]:
    """Return the verdicts on a job that wrote for 2 s, and whose syncs took `mean_ns` on average."""
    moved = 4096 * ios
    done = direction(moved, 2.0, mean_ns=1.8e9 / ios)
    synced = Latency(samples=syncs, mean_ns=mean_ns, percentiles_ns={50.0: 1e6, 99.0: 250e6})
    part = PartOutcome("job", write=done, syncs=syncs, sync=synced)
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=2 * ios, flush_ios=syncs)
    evidence = Evidence(account(write=(moved,) * 3), (disk,))
    found = judge(Case(jobs(load), Outcome("fio-3.33", (part,)), evidence, replace(EXT4, write_through=False)), "iops")
    return [found.verdicts.get(metric, found.verdict) for metric in metrics]


@pytest.mark.parametrize("every", [1, 16])
def test_latencies_with_libaio_include_the_syncs(every: int) -> None:
    """The median write took 1 ms with libaio and 175 µs with io_uring; the disk took 0.4 ms per request."""
    load, syncs = f"{_JOB} ioengine=libaio iodepth=16 fsync={every}", 2048 // every
    assert _verdicts(load, syncs, 1e5, "write_p50", "p99", "iops") == ["suspect", "suspect", "sound"]
    other = load.replace("libaio", "io_uring")
    assert _verdicts(other, syncs, 1e5, "write_p50", "p99", "iops") == ["sound"] * 3
    assert _verdicts(load.replace("iodepth=16", "iodepth=1"), syncs, 1e5, "write_p50", "p99") == ["sound"] * 2


def test_rare_syncs_only_change_high_percentiles() -> None:
    """Of 64,000 writes, 1,600 were in flight during 100 syncs: the slowest 2.5%."""
    load = f"{_JOB} ioengine=libaio iodepth=16 fsync=640"
    assert _verdicts(load, 100, 1e6, "write_p50", "write_p99", ios=64_000) == ["sound", "suspect"]


def test_syncs_one_after_the_other_cannot_take_longer_than_the_run() -> None:
    """1,927 syncs of 15.96 ms were timed in 2 s."""
    load = f"{_JOB} ioengine=libaio iodepth=16 fsync=1"
    assert _verdicts(load, 1927, 15.96e6, "sync_p99", "iops") == ["suspect", "sound"]
    assert _verdicts(load, 1927, 1.0e6, "sync_p99") == ["sound"]
