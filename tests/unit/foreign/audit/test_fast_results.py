"""Rates and latencies that look too fast, but that the rest of the text explains."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

RATE = "  read: IOPS=41.0k, BW=40.0GiB/s (42.9GB/s)(1200GiB/30000msec)\n"
TOTALS = "   READ: bw=40.0GiB/s (42.9GB/s), 40.0GiB/s-40.0GiB/s (42.9GB/s-42.9GB/s), io=1200GiB, run=30000-30000msec\n"
ONE_JOB = "seq: (groupid=0, jobs=1): err= 0: pid=77: Sun Nov  1 08:00:00 2026\n"


@pytest.mark.parametrize("lines", [RATE, RATE + TOTALS, TOTALS])
def test_a_quoted_rate_may_be_that_of_many_clones(lines: str) -> None:
    (audited,) = audit_text("post", f"On the cluster:\n{lines}", Context())

    assert audited.verdict == "unproven"


def test_a_single_job_cannot_copy_that_fast() -> None:
    (audited,) = audit_text("post", ONE_JOB + RATE, Context())

    assert audited.verdict == "suspect"


def _run(name: str, disk: str = "") -> str:
    """Return 3 million random reads that take 7.8 us each, with a disk's statistics if its name is given."""
    run = (
        f"{name}: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=io_uring, "
        "iodepth=1\n"
        f"fio-3.36\n{name}: (groupid=0, jobs=1): err= 0: pid=88: Sun Nov  1 08:00:00 2026\n"
        "  read: IOPS=100k, BW=391MiB/s (410MB/s)(11.4GiB/30000msec)\n"
        "    slat (nsec): min=900, max=22000, avg=1100.00, stdev=80.00\n"
        "    clat (nsec): min=6100, max=80000, avg=7800.00, stdev=500.00\n"
        "    clat percentiles (nsec):\n     |  1.00th=[ 7500], 50.00th=[ 7700], 99.00th=[ 8800]\n"
        "     issued rwts: total=3000000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    )
    counted = (
        f"\nDisk stats (read/write):\n  {disk}: ios=2990000/0, merge=0/0, ticks=20900/0, in_queue=20900, util=99.90%\n"
    )
    return run + (counted if disk else "") + "\n"


@pytest.mark.parametrize(
    ("disk", "second"), [("nvme0n1", "unproven"), ("", "suspect"), ("nullb0", "suspect")], ids=["drive", "none", "RAM"]
)
def test_the_statistics_of_one_run_show_how_fast_the_disk_is(disk: str, second: str) -> None:
    found = audit_text("post", _run("counted", disk) + _run("other"), Context())

    assert [audited.verdict for audited in found][1:] == [second]
