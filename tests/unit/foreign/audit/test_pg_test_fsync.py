"""Results of PostgreSQL's pg_test_fsync."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_LINUX = """\
5 seconds per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                      1412.310 ops/sec     708 usecs/op
        fdatasync                          1398.002 ops/sec     715 usecs/op
        fsync_writethrough                              n/a
        open_sync                           640.116 ops/sec    1562 usecs/op

Compare file sync methods using two 8kB writes:
        fdatasync                          1301.541 ops/sec     768 usecs/op

Compare open_sync with different write sizes:
         2 *  8kB open_sync writes          321.204 ops/sec    3113 usecs/op

Test if fsync on non-write file descriptor is honored:
        write, fsync, close                 611.338 ops/sec    1636 usecs/op

Non-sync'ed 8kB writes:
        write                            412530.913 ops/sec       2 usecs/op
"""

_MACOS = """\
Compare file sync methods using one 8kB write:
        fdatasync                         21700,500 ops/sec      46 usecs/op
        fsync_writethrough                   61,250 ops/sec   16327 usecs/op
        open_sync                           {0} ops/sec      19 usecs/op
"""


def test_every_row_is_a_result() -> None:
    found = audit_text("post", _LINUX, Context())

    rates = [each.figures.directions["write"].iops for each in found]
    assert rates == [1412.31, 1398.002, 640.116, 1301.541, 321.204, 611.338, 412530.913]
    assert [each.verdict for each in found] == ["unproven"] * 6 + ["suspect"]
    assert found[-1].findings[0].rule == "write-without-sync"


@pytest.mark.parametrize(
    ("row", "load"),
    [
        (0, "rw=write,bs=8k,direct=1,sync=dsync"),
        (1, "rw=write,bs=8k,fsync=1"),
        (3, "rw=write,bs=16k,fsync=1"),
        (4, "rw=write,bs=16k,direct=1,sync=dsync"),
    ],
)
def test_a_row_shows_its_block_size_and_its_sync(row: int, load: str) -> None:
    proof = audit_text("post", _LINUX, Context())[row].proof

    assert proof is not None
    assert proof.endswith(load)


@pytest.mark.parametrize(("rate", "is_suspect"), [("48275,359", True), ("612,000", False), ("58,001", False)])
def test_rows_far_faster_than_the_one_that_flushes_are_suspect(rate: str, is_suspect: bool) -> None:
    fdatasync, writethrough, open_sync = audit_text("post", _MACOS.format(rate), Context())

    assert [each.rule for each in fdatasync.findings] == ["flushes-missing"]
    assert "line 3: fsync_writethrough" in fdatasync.findings[0].message
    assert writethrough.verdict == "unproven"
    assert [each.rule for each in open_sync.findings] == (["flushes-missing"] if is_suspect else [])
