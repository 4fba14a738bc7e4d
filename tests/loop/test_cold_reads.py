"""`cold: reads`: caches are dropped only before workloads that read.

Before a workload that only writes, the layout is synced but not remounted.
"""

import json
from pathlib import Path

from tests.loop.testbed import Testbed, judged

_CAMPAIGN = """
devices: {a: {file: 1G}}
layouts: {plain: a | ext4}
workloads:
  scans: {rw: read, bs: 64k, direct: 0, size: 200m, time_based: 0}
  logs: {rw: write, bs: 64k, direct: 0, end_fsync: 1, size: 200m, time_based: 0}
measure: {trials: 2, time: 1s, cold: reads}
"""


def test_caches_are_dropped_only_before_reads(testbed: Testbed) -> None:
    answer = testbed.ask(_CAMPAIGN)
    assert answer.code == 0, answer.err
    cells = {cell["workload"]: cell for cell in answer.json["cells"]}
    assert {name: judged(cell) for name, cell in cells.items()} == {"scans": "sound", "logs": "sound"}
    read = cells["scans"]["account"]
    assert read["leaf_read_bytes"] >= 0.99 * read["fio_read_bytes"] > 0, "through memory, and none of it from there"
    kept: dict[str, set[bool]] = {}
    for path in Path(answer.json["run"]).glob("cells/plain/*/*/evidence.json"):
        kept.setdefault(path.parts[-3], set()).add(json.loads(path.read_text())["cold"])
    assert kept == {"scans": {True}, "logs": {False}}
