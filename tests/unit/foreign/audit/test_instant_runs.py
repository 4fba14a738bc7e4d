"""Runs of fio that were too short to be benchmarks."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import MIB, block, header

_SYNCED = "fio --name=log --filename=/srv/log --rw=write --bs=8k --size=24m --ioengine=psync --sync=dsync --direct=1\n"


@pytest.mark.parametrize(("seconds", "verdict"), [(0.24, "suspect"), (0.26, "unproven")])
def test_runs_below_half_of_fios_averaging_interval(seconds: float, verdict: str) -> None:
    iops = 24 * MIB / 8192 / seconds
    text = _SYNCED + header("log", "write", 8192, "psync") + block("log", "write", iops, seconds, 8192)
    (found,) = audit_text("post", text, Context())
    assert (found.verdict, found.missing != ()) == (verdict, True)
    assert f"took only {1000 * seconds:.0f} ms" in found.findings[0].message


_TOTALS = """fio --name=m --filename=/srv/m --rw=randrw --bs=16k --size=48m --direct=1 --ioengine=libaio --iodepth=8
   READ: bw=75.0MiB/s (78.6MB/s), 75.0MiB/s-75.0MiB/s (78.6MB/s-78.6MB/s), io=24.0MiB (25.2MB), run=320-320msec
  WRITE: bw={rate:.1f}MiB/s ({rate:.1f}MB/s), io=24.0MiB (25.2MB), run={ms}-{ms}msec
"""


@pytest.mark.parametrize(("ms", "doubted"), [(190, True), (290, False)])
def test_one_direction_that_ends_at_once(ms: int, doubted: bool) -> None:
    (found,) = audit_text("post", _TOTALS.format(rate=24_000 / ms, ms=ms), Context())
    doubts = [finding for finding in found.findings if finding.effect == "suspects"]
    assert [finding.message.split(":")[0] for finding in doubts] == [f"the writes took only {ms} ms"] * doubted
    assert all("write_iops" in finding.metrics and "read_iops" not in finding.metrics for finding in doubts)
