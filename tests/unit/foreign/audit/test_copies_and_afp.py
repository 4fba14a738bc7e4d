"""The output of afp_lantest and the progress of rsync."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

MIB = 1024**2

_AFP = """Run 0 => Opening, stating and reading 512 bytes from 1000 files   5000 ms
Run 0 => Writing one large file                                    400 ms for 100 MB (avg. 262 MB/s)
Run 0 => Reading one large file                                    50 ms for 100 MB (avg. 2097 MB/s)
Run 0 => Locking/Unlocking 10000 times each                        900 ms
"""


def test_afp_lantest_writes_and_reads_one_large_file() -> None:
    write, read = audit_text("post", _AFP, Context())
    assert (write.line, write.job, read.line, read.job) == (
        2,
        "afp_lantest: run 0, writing",
        3,
        "afp_lantest: run 0, reading",
    )
    assert write.figures.directions["write"].bandwidth_bytes == pytest.approx(100 * MIB / 0.4)
    assert read.figures.directions["read"].bandwidth_bytes == pytest.approx(100 * MIB / 0.05)


def test_the_servers_ram_has_what_afp_lantest_wrote() -> None:
    doubts = [
        {each.rule for each in found.findings if each.effect == "suspects"}
        for found in audit_text("post", _AFP, Context())
    ]
    assert doubts == [{"write-without-sync"}, {"earlier-job"}]


_RSYNC = """$ rsync -h --progress /srv/old/ /mnt/new/
video.mkv
          1.25G 100%   61.50MB/s    0:00:19 (xfr#1, to-chk=3/5)
half.mkv
        400.00M  32%   60.10MB/s    0:00:14
disk.img
    734,003,200 100%   58.25MB/s    0:00:12 (xfer#2, to-check=1/5)
notes.txt
         12.10K 100%    1.20MB/s    0:00:00 (xfr#3, to-chk=0/5)
"""


def test_rsync_reads_and_writes_at_a_rate_in_powers_of_1024() -> None:
    found = audit_text("post", _RSYNC, Context())
    assert [(each.line, each.job, each.verdict) for each in found] == [
        (3, "rsync: copy of video.mkv", "unproven"),
        (7, "rsync: copy of disk.img", "unproven"),
    ]
    rates = [each.figures.directions["mixed"].bandwidth_bytes for each in found]
    assert rates == [61.5 * MIB, 58.25 * MIB]
    assert [each.figures.directions["mixed"].io_bytes for each in found] == [None, 734_003_200]
    assert "how much of the copy was still there" in found[0].missing[0]
