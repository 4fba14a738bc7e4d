"""Jobs that limit their own rate: with rate_iops, which the text does not show, or with the checksums of verify."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import block, header


def _doubts(found: Audited) -> list[str]:
    return [finding.rule for finding in found.findings if finding.effect == "suspects"]


@pytest.mark.parametrize(
    ("iops", "clat_us", "depth", "doubted"),
    [
        (1300, 210.0, 1, True),
        (1300, 560.0, 1, False),
        (1301, 210.0, 1, False),
        (1300, 520.0, 4, True),
        (1300, 560.0, 4, False),
        (120, 210.0, 1, False),
    ],
    ids=["pauses", "full queue", "not round", "gaps at depth 4", "no gaps at depth 4", "few I/Os"],
)
def test_an_exactly_round_rate_with_pauses(iops: float, clat_us: float, depth: int, doubted: bool) -> None:
    text = header("j", "randread", 4096, "libaio", depth) + block("j", "read", iops, 50, clat_us=clat_us)
    (found,) = audit_text("post", text, Context())
    assert _doubts(found) == ["capped-rate"] * doubted
    (shown,) = audit_text(
        "post", f"fio --name=j --rw=randread --bs=4k --iodepth={depth} --ioengine=libaio\n{text}", Context()
    )
    assert "capped-rate" not in _doubts(shown)


_VERIFIED = """w: (g=0): rw=write, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=8
fio-3.33
Starting 1 process
w: (groupid=0, jobs=1): err= 0: pid=77: Mon Mar  6 10:00:00 2023
  read: IOPS=41.0k, BW=320MiB/s (336MB/s)(6400MiB/20000msec)
    clat (usec): min=40, max=900, avg=190.00, stdev=10.00
  write: IOPS=32.0k, BW=250MiB/s (262MB/s)(6400MiB/25600msec); 0 zone resets
    clat (usec): min=60, max=900, avg=240.00, stdev=10.00
  cpu          : usr={user:.2f}%, sys={system:.2f}%, ctx=9000, majf=0, minf=90
     issued rwts: total=819200,819200,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


@pytest.mark.parametrize(("user", "system", "doubted"), [(50, 42, True), (46, 42, False), (15, 80, False)])
def test_checksums_on_a_busy_cpu_limit_the_writes(user: float, system: float, doubted: bool) -> None:
    (found,) = audit_text("post", _VERIFIED.format(user=user, system=system), Context())
    of_writes = [each for each in found.findings if each.effect == "suspects" and "write_iops" in each.metrics]
    assert [each.rule for each in of_writes] == ["verify-cost"] * doubted
    alone = "\n".join(line for line in _VERIFIED.format(user=user, system=system).split("\n") if "read:" not in line)
    (unverified,) = audit_text("post", alone.replace("avg=190.00", "avg=240.00"), Context())
    assert "verify-cost" not in _doubts(unverified)
