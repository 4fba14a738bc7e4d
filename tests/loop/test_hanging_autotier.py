"""autotierfs hangs, which has been observed in practice.

A time limit detects this. autotierfs is then killed and unmounted, and the campaign continues. autotier is in no
package, so the test runs mergerfs with the name and command line of autotierfs. It is a real FUSE file system, which
stops answering requests because it gets a SIGSTOP during a trial.
"""

import os
import shutil
import signal
from pathlib import Path

import pytest

from poolproof.measure.health_check import EVERY_S, LIMIT_S
from tests.loop.command import Started
from tests.loop.testbed import Testbed, judged

pytestmark = [pytest.mark.slow, pytest.mark.waits]

_CAMPAIGN = """
devices: {a: {file: 256M}, b: {file: 256M}}
layouts: {tiers: autotier (a | ext4) quota=50% (b | ext4) quota=100% tier-period=-1, plain: a | ext4}
workloads:
  reads: {rw: randread, bs: 16k, direct: 1, size: 16m}
  scans: {rw: read, bs: 64k, direct: 1, size: 16m}
measure: {trials: 1, time: 3s, seed: 1}
"""
_MOUNTER = """\
#!/bin/sh
conf=$2 point=$3
tiers=$(sed -n 's/^Path = //p' "$conf" | paste -s -d :)
exec {program} -o "allow_other,category.create=ff,minfreespace=0,fsname=$conf" "$tiers" "$point"
"""
_ASKED = """\
#!/bin/sh
[ "$1 $3" = "-c status" ] || exit 2
echo "Tier         Size     Quota  Quota %       Use  Use %  Path"
echo "tier1   200 MiB   100 MiB    50.00 %    0.00 B      0.00 % x"
echo "tier2   200 MiB   200 MiB   100.00 %    0.00 B      0.00 % x"
"""


@pytest.fixture
def programs(testbed: Testbed) -> Path:
    """The folder with the two substitute programs, to be put first on the PATH."""
    folder, inner = testbed.path / "autotier", testbed.path / "inner"
    inner.mkdir(parents=True)
    folder.mkdir()
    named = inner / "autotierfs"
    named.symlink_to(str(shutil.which("mergerfs")))
    for name, text in (("autotierfs", _MOUNTER.format(program=named)), ("autotier", _ASKED)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def test_it_is_measured_like_any_other_layout(testbed: Testbed, programs: Path) -> None:
    started = _start(testbed, _CAMPAIGN, programs)
    answer = started.wait()
    assert answer.code == 0, answer.err
    verdicts = {cell["layout"]: judged(cell) for cell in answer.json["cells"]}
    assert verdicts == {"tiers": "sound", "plain": "sound"}, [
        finding for cell in answer.json["cells"] for finding in cell["findings"]
    ]
    assert testbed.traces() == []


@pytest.mark.timeout(900)
def test_a_hung_layer_is_killed_and_the_campaign_continues(testbed: Testbed, programs: Path) -> None:
    started = _start(testbed, _CAMPAIGN, programs)
    pid = _autotierfs(started, testbed)
    os.kill(pid, signal.SIGSTOP)
    started.wait_for(lambda: "did not answer" in started.err, "nobody noticed", seconds=3 * LIMIT_S + 4 * EVERY_S)
    answer = started.wait()
    assert answer.code == 0, answer.err
    assert f"autotierfs on {testbed.work}" in answer.err
    found = {(cell["layout"], cell["workload"]): judged(cell) for cell in answer.json["cells"]}
    assert found == {
        **{("tiers", name): "failed" for name in ("reads", "scans")},
        **{("plain", name): "sound" for name in ("reads", "scans")},
    }
    assert any(f"did not answer for {LIMIT_S:g} s and was killed" in line for line in testbed.trial_lines())
    assert not Path(f"/proc/{pid}").exists()
    assert testbed.traces() == []


def _start(testbed: Testbed, text: str, programs: Path) -> Started:
    return Started(testbed.path, *testbed.words(testbed.campaign(text)), path=f"{programs}:")


def _autotierfs(started: Started, testbed: Testbed) -> int:
    """Return the process ID of autotierfs as soon as fio uses it."""
    started.wait_for_program("fio", "job.fio", seconds=60)
    (file,) = testbed.work.glob("poolproof-*/mnt/*autotier.pid")
    return int(file.read_text())
