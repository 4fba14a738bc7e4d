"""Requests compared with I/Os on a real file system: reads served by readahead are refuted, direct reads are not."""

from tests.loop.testbed import Testbed

_CAMPAIGN = """
devices: {a: {file: 256M}}
layouts: {plain: a | ext4}
workloads:
  mapped: {rw: randread, bs: 4k, ioengine: mmap, direct: 0, fadvise_hint: 0, size: 32m, time_based: 0}
  random: {rw: randread, bs: 4k, size: 32m}
  scan: {rw: read, bs: 4k, direct: 0, size: 32m, time_based: 0}
  log: {rw: write, bs: 4k, direct: 0, fdatasync: 1, size: 8m, metric: sync_p99}
measure: {trials: 1, time: 1s}
"""
_REQUESTS = "reads-without-requests"


def test_requests_decide_about_random_reads(testbed: Testbed) -> None:
    cells = testbed.cells(_CAMPAIGN)
    found = {workload: cell for (_, workload), cell in cells.items()}
    rules = {name: {finding["rule"]: finding for finding in cell["findings"]} for name, cell in found.items()}
    assert (found["mapped"]["verdict"], rules["mapped"][_REQUESTS]["effect"]) == ("refuted", "refutes")
    assert "bandwidth" in rules["mapped"][_REQUESTS]["metrics"]
    assert not any(_REQUESTS in rules[name] for name in ("random", "scan", "log"))
    assert "flushes-missing" not in rules["log"], "ext4 flushes the disk with each commit"
    assert rules["log"]["write-latency"]["metrics"] == ["p50", "p99", "p999", "write_p50", "write_p99", "write_p999"]
    account = found["random"]["account"]
    assert account["leaf_read_bytes"] >= 0.95 * account["fio_read_bytes"] > 0
