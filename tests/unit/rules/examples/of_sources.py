"""Examples on both sides of boundaries that the rules' sources set, for rules about single facts."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.evidence.model import TestFile
from poolproof.evidence.target_facts import Target
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import load_of
from poolproof.load.outcome import Outcome
from poolproof.rules.model import Case
from poolproof.rules.quoted import Quoted
from tests.unit.rules.examples.building import BTRFS, ZFS, Example, latency, lint_of, read_of, uncounted, with_files
from tests.unit.rules.examples.of_orders import after
from tests.unit.rules.making import EXT4, GIB, KIB, MIB, direction

_READ = "rw=read bs=1m size=1g filename=f direct=1"
_WRITE = "rw=write bs=4k size=1g filename=f end_fsync=1"
_RANDOM = "rw=randread bs=4k size=64g"
_BITMAP = replace(EXT4, md_bitmap=True)
_SMR = replace(EXT4, zoned=True)
_EBS = replace(EXT4, cloud_volume="Amazon Elastic Block Store")
_DEGRADED = replace(EXT4, degraded=("md0 is missing a disk",))
_NARROW = replace(EXT4, narrow_links=("the link of nvme0n1 runs at 8 GT/s x2",))
_FILE = TestFile("f", GIB, hole_bytes=0, unwritten_bytes=0)


def _at_zero(version: str, slat_ns: float | None) -> Case:
    """Return a result from a given release of fio whose mean completion latency is 0."""
    slat = None if slat_ns is None else latency(1000, slat_ns, slat_ns)
    case = uncounted(_RANDOM, read=direction(GIB, 10.0, mean_ns=0.0, slat=slat))
    parts = case.outcome.parts if case.outcome else ()
    return replace(case, outcome=Outcome(version, parts))


def _prepared_by(command: str, rw: str = "read") -> Case:
    return Case(load_of((Job("a", {"rw": rw, "exec_prerun": command}),)))


def _on(options: str, target: Target) -> Case:
    return lint_of(options, target)


def _says(case: Case, *, memory: str = "", measures_memory: str = "") -> Case:
    return replace(case, quoted=Quoted(memory=memory, measures_memory=measures_memory))


def _shared(shared_bytes: int | None, options: str = "rw=randread bs=4k size=1g direct=1") -> Case:
    return with_files(read_of(options, GIB, GIB), replace(_FILE, shared_bytes=shared_bytes))


def _moved(reported: float) -> Case:
    """Return a result of 1,000 MiB in 10 s that reports the given rate."""
    return uncounted("rw=read bs=1m", read=direction(1000 * MIB, 10.0, MIB, bandwidth_bytes=reported))


EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "broken-clock": (
        Example(_at_zero("fio-3.33", 900.0), "suspects", _at_zero("fio-2.2.10", 900.0)),
        Example(_at_zero("fio-2.2.10", None), "suspects",
                uncounted(_RANDOM, read=direction(GIB, 10.0, clat=None, lat=None))),
    ),
    "colon-in-filename": (
        Example(lint_of("rw=read size=1g filename=/dev/disk/by-path/pci-0000:00:1f.2"), "notes",
                lint_of("rw=read size=1g filename=/dev/sda:/dev/sdb")),
    ),
    "compressed-direct-reads": (
        Example(after(_READ, _WRITE.replace("4k", "64k"), target=BTRFS), "suspects",
                after(_READ, _WRITE.replace("4k", "128k"), target=BTRFS)),
        Example(after(_READ, f"{_WRITE} direct=1", target=replace(BTRFS, kernel=(6, 15))), "suspects",
                after(_READ, f"{_WRITE} direct=1", target=replace(BTRFS, kernel=(6, 14)))),
        Example(after(_READ, f"{_WRITE} refill_buffers=1 buffer_compress_percentage=50", target=BTRFS), "suspects",
                after(_READ, _WRITE, target=replace(BTRFS, compression=None))),
        Example(after(_READ, f"{_WRITE} bs=1m zero_buffers=1", target=BTRFS), "suspects",
                after(_READ.replace("direct=1", "direct=0"), _WRITE, target=BTRFS)),
    ),
    "degraded": (
        Example(_on("rw=write bs=1m size=1g end_fsync=1", _DEGRADED), "suspects",
                _on("rw=trim bs=1m size=1g", _DEGRADED)),
    ),
    "drop-caches-without-sync": (
        Example(_prepared_by("sync && echo 3 > /proc/sys/vm/drop_caches"), "suspects",
                _prepared_by("sync && sysctl vm.drop_caches=3")),
        Example(_prepared_by("sync && echo 3 >/proc/sys/vm/drop_caches 2>&1"), "suspects",
                _prepared_by("sync; echo 3 | tee /proc/sys/vm/drop_caches")),
        Example(_prepared_by("sysctl vm.drop_caches=3"), "suspects",
                _prepared_by('sh -c "sync; echo 3 > /proc/sys/vm/drop_caches"')),
        Example(_prepared_by("echo 3 | tee /proc/sys/vm/drop_caches", "write"), "notes", _prepared_by("date", "write")),
    ),
    "figures-disagree": (
        Example(_moved(94 * MIB), "suspects", _moved(96 * MIB)),
        Example(_moved(106 * MIB), "suspects", _moved(104 * MIB)),
    ),
    "md-bitmap": (
        Example(_on("rw=randwrite bs=64k size=1g", _BITMAP), "notes", _on("rw=randwrite bs=128k size=1g", _BITMAP)),
        Example(_on("rw=write bs=4k size=1g fdatasync=1", _BITMAP), "notes", _on("rw=write bs=4k size=1g", _BITMAP)),
        Example(_on("rw=randwrite bs=4k size=1g", _BITMAP), "notes", _on("rw=randread bs=4k size=1g", _BITMAP)),
    ),
    "measures-memory": (
        Example(_says(uncounted(_READ, read=direction(GIB, 2.0)), measures_memory="hdparm -T"), "refutes",
                replace(_says(uncounted(_READ, read=direction(GIB, 2.0)), measures_memory="hdparm -T"), cold=False)),
    ),
    "misaligned-sectors": (
        Example(_on(_WRITE, replace(ZFS, alignment_bytes=4 * KIB, physical_block_bytes=8 * KIB)), "notes",
                _on(_READ, replace(ZFS, alignment_bytes=4 * KIB, physical_block_bytes=8 * KIB))),
        Example(_on(_WRITE, replace(ZFS, alignment_bytes=512, physical_block_bytes=4 * KIB)), "notes",
                _on(_WRITE, replace(ZFS, alignment_bytes=8 * KIB, physical_block_bytes=4 * KIB))),
    ),
    "named-memory": (
        Example(_says(uncounted(_RANDOM, read=direction(11e9, 10.0)), memory="line 1 says “ARC”"), "suspects",
                _says(uncounted(f"{_RANDOM} ioengine=libaio iodepth=32", read=direction(9e9, 10.0)),
                      memory="line 1 says “ARC”")),
        Example(_says(uncounted(_RANDOM, read=direction(GIB, 10.0, p50_ns=99_000.0)), memory="line 1 says “ARC”"),
                "suspects", _says(uncounted(_RANDOM, read=direction(GIB, 10.0, p50_ns=101_000.0)),
                                  memory="line 1 says “ARC”")),
    ),
    "narrow-link": (
        Example(_on("rw=write bs=1m size=1g end_fsync=1", _NARROW), "notes", _on("rw=trim bs=1m size=1g", _NARROW)),
    ),
    "prior-file-reuse": (
        Example(with_files(lint_of("rw=read size=1g filename=f"), _FILE), "notes",
                with_files(lint_of("rw=read size=2g filename=f"), _FILE)),
        Example(with_files(lint_of("rw=randread size=512m filename=f"), _FILE), "notes",
                with_files(lint_of("rw=randrw size=512m filename=f"), _FILE)),
    ),
    "rare-sync": (
        # 1,000 writes: the last 100 stay unsynced, because fio syncs before a write
        Example(lint_of("rw=write bs=4k size=4000k fsync=100"), "suspects",
                lint_of("rw=write bs=4k size=4000k fsync=99")),
        Example(lint_of("rw=write bs=4k size=40000k fsync=100"), "suspects",
                lint_of("rw=write bs=4k size=40004k fsync=100")),
        Example(lint_of("rw=write bs=4k size=1g fdatasync=60000"), "suspects",
                lint_of("rw=write bs=4k size=1g fdatasync=60000 direct=1")),
    ),
    "shared-extents": (
        Example(_shared(52 * MIB), "suspects", _shared(51 * MIB)),
        Example(_shared(GIB), "suspects", _shared(None)),
    ),
    "short-commit-test": (
        Example(lint_of("rw=write bs=4k size=199996k fdatasync=1"), "notes",
                lint_of("rw=write bs=4k size=200000k fdatasync=1")),
        Example(lint_of("rw=write bs=2300 size=22m fdatasync=1"), "notes",
                lint_of("rw=write bs=2300 size=22m fdatasync=1 loops=10")),
        Example(lint_of("rw=write bs=128k size=3g sync=1 numjobs=18"), "notes",
                lint_of("rw=write bs=128k size=3g sync=1 numjobs=19")),
        Example(lint_of("rw=write bs=128k size=3g sync=1"), "notes", lint_of("rw=write bs=132k size=3g sync=1")),
        Example(lint_of("rw=write bs=4k size=22m sync=1"), "notes",
                lint_of("rw=write bs=4k size=22m sync=1 time_based=1 runtime=60")),
    ),
    "smr": (
        Example(_on("rw=randrw bs=4k size=64g", _SMR), "notes", _on("rw=randread bs=4k size=64g", _SMR)),
    ),
    "snapshot-volume": (
        Example(_on(_READ.replace("=f", "=/dev/nvme1n1"), _EBS), "notes", _on(_READ, _EBS)),
        Example(with_files(_on(_READ, _EBS), _FILE), "notes", _on(_READ.replace("=f", "=/dev/nvme1n1"), EXT4)),
    ),
}  # fmt: skip
