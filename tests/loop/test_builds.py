"""Two layouts, each built twice, are built in the order ABBA.

Each trial records its build, and nothing is left behind.
"""

import json

import pytest

from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_CAMPAIGN = """
devices: {a: {file: 256M}, b: {file: 256M}}
layouts: {one: a | ext4, two: b | ext4}
workloads: {reads: {rw: randread, bs: 16k, iodepth: 4, size: 16m}}
measure: {builds: 2, trials: 1, time: 300ms, seed: 7}
"""


def test_each_layout_is_built_twice_there_and_back(testbed: Testbed) -> None:
    cells = testbed.cells(_CAMPAIGN)
    assert {key: cell["trials"] for key, cell in cells.items()} == {("one", "reads"): 2, ("two", "reads"): 2}
    trials = [json.loads(line) for line in testbed.trial_lines()]
    assert [trial["build"] for trial in trials] == [1, 1, 2, 2]
    layouts = [trial["layout"] for trial in trials]
    assert layouts == layouts[::-1] and set(layouts) == {"one", "two"}
    assert testbed.traces() == []
