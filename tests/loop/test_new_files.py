"""The preset etcd appends to a new file in each trial, so only metadata is read from the disks."""

import json

import pytest

from tests.loop.testbed import Testbed

_CAMPAIGN = """
devices: {a: {file: 256M}}
layouts: {plain: a | ext4}
workloads:
  log: etcd
  old: {preset: etcd, unlink: 0}
measure: {trials: 2, time: 1s}
"""


@pytest.mark.parallel
def test_a_log_is_appended_and_not_overwritten(testbed: Testbed) -> None:
    testbed.cells(_CAMPAIGN)
    accounts: dict[str, list[dict[str, int]]] = {"log": [], "old": []}
    for line in map(json.loads, testbed.trial_lines()):
        accounts[line["workload"]].append(line["account"])
    assert all(each["leaf_read_bytes"] < 128 * 1024 for each in accounts["log"]), "metadata of the file system"
    for each in accounts["old"]:
        assert each["leaf_read_bytes"] > 0.3 * each["fio_write_bytes"], (
            "pages that a block covers in part are read first"
        )
