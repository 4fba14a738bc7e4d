"""If a control group limits reads from the disk under a loop file, the result and comparisons say so."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loop.command import ask
from tests.loop.testbed import Testbed

_CAMPAIGN = """
devices: {a: {file: 128M}}
layouts: {plain: a | ext4}
workloads: {reads: {rw: randread, bs: 4k, iodepth: 4, size: 32m}}
measure: {trials: 1, time: 1s}
"""
_MOST = 100


@pytest.fixture
def limited(testbed: Testbed) -> Iterator[list[str]]:
    """The command prefix for running a program in a control group that has this limit on the testbed's disk."""
    device = testbed.path.stat().st_dev
    disk = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    number = ((disk.parent if (disk / "partition").exists() else disk) / "dev").read_text().strip()
    first, second = Path("/sys/fs/cgroup/blkio"), Path("/sys/fs/cgroup")
    if first.is_dir():
        group, file, text, off = first / "poolproof-test", "blkio.throttle.read_iops_device", f"{number} {_MOST}", ""
    else:
        (second / "cgroup.subtree_control").write_text("+io")
        group, file, text, off = second / "poolproof-test", "io.max", f"{number} riops={_MOST}", "riops=max"
    group.mkdir()
    try:
        (group / file).write_text(text)
        yield ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"]
        (group / file).write_text(f"{number} {off or 0}")
    finally:
        group.rmdir()


@pytest.mark.parallel
def test_a_limit_of_a_control_group_is_reported(testbed: Testbed, limited: list[str]) -> None:
    campaign = testbed.campaign(_CAMPAIGN)
    free = ask(*testbed.words(campaign, "free"))
    bound = ask(*testbed.words(campaign, "bound"), before=limited)
    assert (free.code, bound.code) == (0, 0), free.err + bound.err
    rules = [{each["rule"] for each in answer.json["cells"][0]["findings"]} for answer in (free, bound)]
    assert ["throttled" in each for each in rules] == [False, True]
    assert bound.json["cells"][0]["verdict"] == "suspect"
    (evidence,) = Path(bound.json["run"]).glob("cells/*/*/*/evidence.json")
    assert json.loads(evidence.read_text())["throttling"]["devices"][0]["most"] == _MOST
    compared = ask("compare", str(testbed.runs / "free"), str(testbed.runs / "bound"), "--json")
    assert "cgroup io.max" in {each["what"] for each in compared.json["differences"]}
