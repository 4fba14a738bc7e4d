"""PostgreSQL under a read-heavy load: one process commits to the write-ahead log while backends read pages.

Commits are 8 KiB blocks (XLOG_BLCKSZ) appended to the log, each made durable with fdatasync, which is the default
`wal_sync_method` on Linux; segments of 16 MB are recycled, so the log overwrites files that exist, as the job does.
Backends miss shared_buffers and read 8 KiB pages (BLCKSZ) at random places, each waiting for its page: four readers at
depth 1, past the page cache, since a database worth measuring is larger than RAM. The readers are what makes commits
slow on a real server, and what pg_test_fsync alone leaves out. `sync_p99` is the wait of the slowest commit in 100.
"""

from poolproof.campaign.model import JobSpec
from poolproof.campaign.presets import Preset

PRESET = Preset(
    name="postgres",
    summary="PostgreSQL: 8 KiB commits to the log with fdatasync beside four random readers of 8 KiB pages",
    jobs=(
        JobSpec(
            "wal",
            (
                ("rw", "write"),
                ("bs", "8k"),
                ("size", "256m"),
                ("ioengine", "psync"),
                ("direct", "0"),
                ("fdatasync", "1"),
            ),
        ),
        JobSpec(
            "pages",
            (("rw", "randread"), ("bs", "8k"), ("size", "256m"), ("ioengine", "psync"), ("numjobs", "4")),
        ),
    ),
    metric="sync_p99",
    source=(
        "PostgreSQL manual, wal_sync_method (https://www.postgresql.org/docs/current/runtime-config-wal.html) and "
        "pg_test_fsync (https://www.postgresql.org/docs/current/pgtestfsync.html)"
    ),
)
