"""Examples for rules about the options of a job: depth, syncs, names, units and length."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.load.outcome import Latency
from poolproof.rules.model import Case
from tests.unit.rules.examples.building import Example, lint_of, named, read_of, uncounted, with_leaves
from tests.unit.rules.making import EXT4, GIB, MB, MIB, direction, jobs, leaf

_WRITE = "rw=write bs=1m size=4g end_fsync=1"
_BURST = "rw=write bs=1m size=4g time_based=1 runtime=10 end_fsync=1"

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "async-engine-blocks": (
        Example(
            lint_of("rw=randread bs=4k size=32g ioengine=libaio iodepth=32"),
            "suspects",
            lint_of("rw=randread bs=4k size=32g ioengine=libaio iodepth=32 direct=1"),
        ),
        Example(
            uncounted(
                "rw=randread bs=4k ioengine=libaio iodepth=32 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=892_800), slat=Latency(mean_ns=27_300)),
            ),
            "notes",
            uncounted(
                "rw=randread bs=4k ioengine=libaio iodepth=32 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=118_400), slat=Latency(mean_ns=1_900)),
            ),
        ),
        Example(
            uncounted(
                "rw=read bs=256k ioengine=libaio iodepth=64 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=1_024_000), slat=Latency(mean_ns=16_000)),
            ),
            "notes",
            uncounted(
                "rw=read bs=256k ioengine=libaio iodepth=64 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=315_000), slat=Latency(mean_ns=4_600)),
            ),
        ),
        Example(
            uncounted(
                "rw=randread bs=4k ioengine=io_uring iodepth=256 iodepth_batch_submit=1 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=1_716_000), slat=Latency(mean_ns=9_000)),
            ),
            "notes",
            uncounted(
                "rw=randread bs=4k ioengine=io_uring iodepth=256 iodepth_batch_submit=256 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=1_716_000), slat=Latency(mean_ns=27_600)),
            ),
        ),
    ),
    "colon-in-filename": (
        Example(lint_of("rw=read size=1g filename=a:b"), "notes", lint_of("rw=read size=1g filename=a\\:b")),
    ),
    "device-in-name": (
        Example(named("/srv/f", "rw=read bs=1m"), "notes", named("/srv/f", "rw=read bs=1m filename=/srv/f")),
        Example(named("/dev/sdb", "rw=read bs=1m"), "notes", named("/dev/sdb", "rw=read bs=1m filename=/dev/sdb")),
    ),
    "gtod-reduce": (Example(lint_of("rw=randread direct=1 gtod_reduce=1"), "notes", lint_of("rw=randread direct=1")),),
    "iodepth-with-sync-engine": (
        Example(
            lint_of("rw=randread direct=1 iodepth=32 ioengine=psync"),
            "suspects",
            lint_of("rw=randread direct=1 iodepth=32 ioengine=io_uring"),
        ),
        Example(
            read_of("rw=randread direct=1 iodepth=32 bs=4k size=1g", GIB, GIB),
            "notes",
            read_of("rw=randread direct=1 iodepth=1 bs=4k size=1g", GIB, GIB),
        ),
    ),
    "kib-means-1000": (
        Example(lint_of("rw=read bs=4KiB size=1g"), "suspects", lint_of("rw=read bs=4k size=1g")),
        Example(lint_of("rw=read bs=4k size=1GiB"), "notes", lint_of("kb_base=1000 rw=read bs=4k size=1GiB")),
    ),
    "merged-percentiles": (
        Example(
            Case(jobs("rw=randread bs=4k group_reporting=1", "rw=randread bs=1m group_reporting=1")),
            "notes",
            Case(jobs("rw=randread bs=4k group_reporting=1", "rw=randread bs=4k group_reporting=1")),
        ),
        Example(
            lint_of("rw=randrw bs=4k unified_rw_reporting=1"),
            "notes",
            lint_of("rw=randread bs=4k unified_rw_reporting=1"),
        ),
    ),
    "mixed-sum": (
        Example(lint_of("rw=randrw bs=4k unified_rw_reporting=1"), "notes", lint_of("rw=randrw bs=4k")),
        Example(
            lint_of("rw=randrw bs=4k unified_rw_reporting=mixed"),
            "notes",
            lint_of("rw=randrw bs=4k rwmixread=100 unified_rw_reporting=mixed"),
        ),
    ),
    "runtime-without-time-based": (
        Example(
            lint_of("rw=read bs=1m size=64m runtime=30"),
            "suspects",
            lint_of("rw=read bs=1m size=64m runtime=30 time_based=1"),
        ),
        Example(
            lint_of("rw=read bs=1m size=64m runtime=30"), "suspects", lint_of("rw=read bs=1m size=128g runtime=60")
        ),
        Example(
            read_of("rw=read bs=1m size=64m runtime=30", 64 * MIB, 67 * MB, seconds=0.024),
            "fails",
            read_of("rw=read bs=1m size=64g runtime=30", 30 * GIB, 30 * GIB, seconds=30.01),
        ),
        Example(
            read_of("rw=read bs=1m size=10g runtime=60", 10 * GIB, 10 * GIB, seconds=50.0),
            "notes",
            read_of("rw=read bs=1m size=10g runtime=60", 10 * GIB, 10 * GIB, seconds=59.5),
        ),
    ),
    "sequential-iops": (
        Example(lint_of("rw=read size=4g"), "notes", lint_of("rw=read size=4g direct=1")),
        Example(
            with_leaves(read_of("rw=read bs=4k size=256m", 256 * MIB, 256 * MIB), leaf(read_ios=74)),
            "notes",
            with_leaves(read_of("rw=read bs=1m size=256m", 256 * MIB, 256 * MIB), leaf(read_ios=512)),
        ),
    ),
    "short-commit-test": (
        Example(
            lint_of("rw=write bs=2300 size=22m fdatasync=1"), "notes", lint_of("rw=write bs=2300 size=220m fdatasync=1")
        ),
    ),
    "short-run-burst": (
        Example(
            lint_of(_BURST), "notes", lint_of("rw=write bs=1m size=4g time_based=1 runtime=60 ramp_time=15 end_fsync=1")
        ),
        Example(lint_of(_BURST), "notes", lint_of(_BURST, replace(EXT4, volatile=True))),
        Example(
            lint_of("rw=write bs=1m size=1g end_fsync=1", replace(EXT4, dirty_limit_bytes=GIB)),
            "notes",
            lint_of("rw=write bs=1m size=4g end_fsync=1", replace(EXT4, dirty_limit_bytes=GIB)),
        ),
    ),
    "sync-at-depth": (
        Example(
            lint_of("rw=randwrite bs=4k direct=1 ioengine=libaio iodepth=32 fdatasync=1"),
            "notes",
            lint_of("rw=randwrite bs=4k direct=1 ioengine=libaio iodepth=1 fdatasync=1"),
        ),
    ),
    "sync-on-reads": (
        Example(lint_of("rw=randread bs=4k sync=1"), "notes", lint_of("rw=randwrite bs=4k sync=1")),
        Example(
            lint_of("rw=randread bs=4k fsync_on_close=1"),
            "notes",
            lint_of("rw=randrw bs=4k fsync_on_close=1"),
        ),
    ),
    "unaligned-direct": (
        Example(lint_of("rw=write bs=2300 direct=1"), "suspects", lint_of("rw=write bs=2300 fdatasync=1")),
        Example(
            lint_of("rw=write bsrange=4k-16k bs_unaligned=1 direct=1"),
            "suspects",
            lint_of("rw=write bs=4k bs_unaligned=1 direct=1"),
        ),
        Example(
            lint_of("rw=write bssplit=512/30:700/30:1024/40 bs_unaligned=1 direct=1"),
            "suspects",
            lint_of("rw=write bssplit=4k/50:64k/50 bsrange=1k-2k bs_unaligned=1 direct=1"),
        ),
        Example(
            lint_of("rw=write bsrange=1k-2k bs_unaligned=1 direct=1"),
            "suspects",
            lint_of("rw=write bsrange=4k-4k bs_unaligned=1 direct=1"),
        ),
    ),
    "verify-cost": (Example(lint_of(f"{_WRITE} verify=crc32c"), "notes", lint_of(f"{_WRITE} verify=0")),),
}
