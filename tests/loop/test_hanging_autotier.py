"""autotierfs hangs, as it was seen to: it is found out by a time limit, ended, unmounted, and the campaign goes on.

No package brings autotier, so a stand-in takes its place: mergerfs under autotierfs's name and with its command line, a
real FUSE file system, which is stopped (SIGSTOP) in the middle of a trial. It answers nobody from then on.
"""

import os
import shutil
import signal
from pathlib import Path

import pytest

from poolproof.measure.health_check import EVERY_S, LIMIT_S
from tests.loop.command import Started
from tests.loop.ground import Ground

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
def programs(ground: Ground) -> Path:
    """The folder of the two programs' stand-ins, to be first in the PATH."""
    folder, inner = ground.path / "autotier", ground.path / "inner"
    inner.mkdir(parents=True)
    folder.mkdir()
    named = inner / "autotierfs"
    named.symlink_to(str(shutil.which("mergerfs")))
    for name, text in (("autotierfs", _MOUNTER.format(program=named)), ("autotier", _ASKED)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def test_it_is_measured_like_any_other(ground: Ground, programs: Path) -> None:
    started = _start(ground, _CAMPAIGN, programs)
    answer = started.wait()
    assert answer.code == 0, answer.err
    verdicts = {cell["layout"]: cell["verdict"] for cell in answer.json["cells"]}
    assert verdicts == {"tiers": "sound", "plain": "sound"}, [
        finding for cell in answer.json["cells"] for finding in cell["findings"]
    ]
    assert ground.traces() == []


@pytest.mark.timeout(900)
def test_what_hangs_is_ended_and_the_campaign_goes_on(ground: Ground, programs: Path) -> None:
    started = _start(ground, _CAMPAIGN, programs)
    pid = _autotierfs(started, ground)
    os.kill(pid, signal.SIGSTOP)
    started.await_that(lambda: "did not answer" in started.err, "nobody noticed", seconds=3 * LIMIT_S + 4 * EVERY_S)
    answer = started.wait()
    assert answer.code == 0, answer.err
    assert f"autotierfs on {ground.work}" in answer.err
    found = {(cell["layout"], cell["workload"]): cell["verdict"] for cell in answer.json["cells"]}
    assert found == {
        **{("tiers", name): "failed" for name in ("reads", "scans")},
        **{("plain", name): "sound" for name in ("reads", "scans")},
    }
    assert any(f"did not answer for {LIMIT_S:g} s and was killed" in line for line in ground.trial_lines())
    assert not Path(f"/proc/{pid}").exists()
    assert ground.traces() == []


def _start(ground: Ground, text: str, programs: Path) -> Started:
    return Started(ground.path, *ground.words(ground.campaign(text)), path=f"{programs}:")


def _autotierfs(started: Started, ground: Ground) -> int:
    """Its process, once fio works on it."""
    started.await_program("fio", "job.fio", seconds=60)
    (file,) = ground.work.glob("poolproof-*/mnt/*autotier.pid")
    return int(file.read_text())
