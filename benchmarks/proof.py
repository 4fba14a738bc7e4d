"""Judge simulated trials of many layouts and print what their counters prove.

    python -m benchmarks.proof              # a line for each trial; exits with 1 if a verdict is not the expected one
    python -m benchmarks.proof --markdown   # the table in docs/verdicts.md

The controls are trials that measured the disks, as their jobs were meant to. Their verdict must be `sound`. All other
trials measured something other than the disks. If a comment says so, a trial's numbers were actually measured.
Otherwise, they follow from the layout.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.arguments import arguments
from poolproof.evidence.model import Account, Evidence, LeafUse, ZfsUse
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import load_of
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome
from poolproof.metrics import metric_of
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.units import format_count, format_size
from poolproof.verdicts import Verdict

KIB, MIB, GIB = 1024, 1024**2, 1024**3
_SECONDS = 10.0
_DISK = Target("ext4", ram_bytes=8 * GIB, write_through=False)
_XFS, _BTRFS = replace(_DISK, file_system="xfs"), replace(_DISK, file_system="btrfs")
_DEVICE = replace(_DISK, file_system="block device")
_MERGERFS = replace(_DISK, file_system="fuse.mergerfs")
_ZFS_FACTS = ZfsFacts(version="2.1.11", sync="standard", arc_max_bytes=GIB)
_ZFS = replace(_DISK, file_system="zfs", record_bytes=128 * KIB, zfs=_ZFS_FACTS)
_ZFS_LOG = replace(_ZFS, zfs=replace(_ZFS_FACTS, has_log=True, log_devices=("log",)))


@dataclass(frozen=True)
class Use:
    """What the disks did: requests, merged requests and bytes.

    `write`: the bytes written at the end of the trial, and after the drain.
    """

    requests: int
    read: float = 0
    write: tuple[float, float] = (0, 0)
    merged: int = 0
    flushes: int = 0
    log: float = 0


@dataclass(frozen=True)
class Trial:
    """A simulated trial: `ios` I/Os of fio in blocks of `bs` bytes, and the verdicts that its metrics should get."""

    layout: str
    workload: str
    ios: int
    bs: int
    disks: Use
    expected: dict[str, Verdict]
    target: Target = _DISK
    factor: float = 1.0
    commit_factor: float | None = None
    misses: int | None = None
    syncs: int = 0
    counted: bool = True
    control: bool = field(default=False)

    @property
    def case(self) -> Case:
        """The trial in the form that the judge expects."""
        load = load_of((Job("job", _options(f"{self.workload} time_based=1 runtime={_SECONDS:g}")),))
        moved, done, reads = self.ios * self.bs, self.disks, load.reads
        latency = Latency(samples=self.ios, percentiles_ns={50.0: 100_000.0, 99.0: 900_000.0})
        direction = Direction(
            moved, self.ios, int(1000 * _SECONDS), moved / _SECONDS, self.ios / _SECONDS, clat=latency, lat=latency
        )
        part = PartOutcome("job", read=direction if reads else None, write=None if reads else direction)
        timed = Latency(samples=self.syncs, percentiles_ns={50.0: 500_000.0, 99.0: 2_000_000.0})
        part = replace(part, syncs=self.syncs or None, sync=timed if self.syncs else None)
        read, wrote = (moved, 0) if reads else (0, moved)
        account = Account(
            read, wrote, int(done.read), int(done.write[0]), int(done.write[1]), self.factor, _SECONDS, 0.1,
            commit_factor=self.commit_factor,
        )  # fmt: skip
        zfs = ZfsUse(data_misses=self.misses) if self.misses is not None else None
        evidence = Evidence(account, tuple(self._leaves(reads=reads)), zfs=zfs)
        return Case(load, Outcome("fio-3.36", (part,)), evidence, self.target)

    def _leaves(self, *, reads: bool) -> Iterator[LeafUse]:
        done = self.disks
        read_ios, write_ios = (done.requests, 0) if reads else (0, done.requests + done.flushes)
        merges = (done.merged, 0) if reads else (0, done.merged)
        at_end, drained = (int(size - done.log) for size in done.write)
        yield LeafUse(
            "disk", int(done.read), at_end, drained, read_ios, write_ios, done.flushes, 0.9, 1e-3,
            read_merges=merges[0], write_merges=merges[1], counted=self.counted,
        )  # fmt: skip
        if done.log:
            yield LeafUse("log", 0, int(done.log), int(done.log), 0, 0, 0, 0.5, 1e-4)


def _options(text: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in text.split())


def _control(layout: str, workload: str, disks: Use, target: Target = _DISK, factor: float = 1.0, bs: int = 4 * KIB,
             ios: int = 10_000, misses: int | None = None, commit_factor: float | None = None,
             syncs: int = 0) -> Trial:  # fmt: skip
    """Return a trial that must be sound in bandwidth, IOPS and latency."""
    sound: dict[str, Verdict] = {"iops": "sound", "bandwidth": "sound", "p99": "sound"}
    return Trial(layout, workload, ios, bs, disks, sound, target, factor, misses=misses, commit_factor=commit_factor,
                 syncs=syncs, control=True)  # fmt: skip


def _controls() -> Iterator[Trial]:
    random, moved = "bs=4k size=64g direct=1", 10_000 * 4 * KIB
    for layout, target in {
        "a | ext4": _DISK, "a | xfs": _XFS, "a | btrfs": _BTRFS, "mergerfs (a | ext4) (b | ext4)": _MERGERFS,
        "a | luks | ext4": _DISK, "lvm linear a b | ext4": _DISK,
    }.items():  # fmt: skip
        yield _control(layout, f"rw=randread {random}", Use(10_000, moved), target)
        yield _control(layout, f"rw=randwrite {random}", Use(10_040, write=(moved, 1.4 * moved)), target)
        yield _control(layout, "rw=read bs=1m size=64g direct=1", Use(8_000, 1000 * MIB), target, bs=MIB, ios=1000)
        stream = Use(7_000, write=(1000 * MIB, 1001 * MIB), merged=1_000)
        yield _control(layout, "rw=write bs=1m size=64g direct=1", stream, target, bs=MIB, ios=1000)
    for layout, target in {
        "btrfs raid1 a b": _BTRFS,
        "md raid1 a b | ext4": _DISK,
        "lvm raid1 a b | xfs": _XFS,
    }.items():
        yield _control(layout, f"rw=randread {random}", Use(10_000, moved), target, 2.0)
        yield _control(layout, f"rw=randwrite {random}", Use(20_040, write=(2 * moved, 2.4 * moved)), target, 2.0)
    parity = Use(16_000, write=(2 * moved, 2 * moved), merged=4_000)
    yield _control("md raid5 a b c | ext4", f"rw=randwrite {random}", parity, factor=1.5)
    queued = Use(2_500, moved, merged=7_500)
    yield _control("a | ext4", "rw=read bs=4k size=64g direct=1 ioengine=libaio iodepth=32", queued)
    records = 1_000 * 128 * KIB
    for layout in ("zfs a", "zfs mirror a b", "zfs raidz1 a b c"):
        columns = 2 if "raidz" in layout else 1
        reads = Use(1_000 * columns, records)
        yield _control(layout, "rw=randread bs=128k size=64g", reads, _ZFS, bs=128 * KIB, ios=1_000, misses=1_000)
    # primarycache=metadata: each read of 4 KiB reads its record
    small = Use(1_000, 1_000 * 128 * KIB)
    yield _control("zfs a primarycache=metadata", "rw=randread bs=4k size=64g", small, _ZFS, ios=1_000, misses=1_000)
    sync = Use(10_200, write=(2.3 * moved, 2.4 * moved), flushes=10_000)
    committed: dict[str, Verdict] = {"sync_p99": "sound", "iops": "sound", "bandwidth": "sound"}
    etcd = "rw=write bs=4k size=64g fdatasync=1"
    yield Trial("a | ext4", etcd, 10_000, 4 * KIB, sync, committed, syncs=10_000, control=True)
    for layout, factor in {"zfs mirror a b log c": 2.0, "zfs mirror a b c log d": 3.0}.items():
        # lab: 453 writes, 453 flushes, and every byte on the log when fio ended
        logged = 453 * 64 * KIB
        log = Use(453, write=(logged, (1 + factor) * logged), flushes=453, log=logged)
        commits = "rw=write bs=64k size=64g fdatasync=1"
        yield Trial(layout, commits, 453, 64 * KIB, log, committed, _ZFS_LOG, factor, 1.0, syncs=453, control=True)
    for options in ("zonemode=strided zonesize=1m zoneskip=9m", "random_distribution=zipf:1.2", "pre_read=1",
                    "numjobs=8 filename=X"):  # fmt: skip
        yield _control("a | ext4", f"rw=randread {random} {options}", Use(10_000, moved))
    split = "rw=randread size=64g direct=1 bssplit=4k/50:64k/50"
    yield _control("a | ext4", split, Use(10_000, 10_000 * 34 * KIB), bs=34 * KIB)
    for options in ("ioengine=splice", "fadvise_hint=random"):
        yield _control("a | ext4", f"rw=randread bs=4k size=64g {options}", Use(10_000, moved))
    yield _control("a | ext4", "rw=randwrite bs=4k size=4k direct=1", Use(10_000, write=(moved, moved)))
    dsync = Use(10_000, write=(2.2 * moved, 2.2 * moved), flushes=10_000)
    yield _control("a | ext4", "rw=randwrite bs=4k size=64g sync=dsync", dsync)
    stream = Use(1_090, 256 * MIB)
    yield Trial("a | ext4", "rw=read bs=128k size=64g", 2_048, 128 * KIB, stream, {"bandwidth": "sound"}, control=True)
    device = "filename=/dev/sda size=64g"
    yield _control("a", f"rw=randwrite bs=4k direct=1 {device}", Use(10_000, write=(moved, moved)), _DEVICE)
    yield _control("a", f"rw=randwrite bs=4k sync=dsync {device}", dsync, _DEVICE)
    synced = Use(400, write=(200 * MIB, 200 * MIB), merged=50_800, flushes=1)
    yield Trial("a", f"rw=randwrite bs=64k end_fsync=1 {device}", 3_200, 64 * KIB, synced, {"bandwidth": "sound"},
                _DEVICE, control=True)  # fmt: skip


def _others() -> Iterator[Trial]:
    refuted: dict[str, Verdict] = {"iops": "refuted", "bandwidth": "refuted", "p99": "refuted"}
    # loop: one pass over a fresh file of 64 MiB
    mmap = "rw=randread bs=4k size=64m ioengine=mmap fadvise_hint=0"
    yield Trial("a | ext4", mmap, 16_384, 4 * KIB, Use(94, 64 * MIB), refuted)
    small = "rw=randread bs=512 size=64m ioengine=mmap"
    yield Trial("a | ext4", small, 131_072, 512, Use(16_387, 64 * MIB), refuted)
    yield Trial("a | xfs", "rw=randread bs=512 size=32m", 189_023, 512, Use(24_575, 96 * MIB), refuted, _XFS)
    # lab: OpenZFS 2.1, recordsize=128k, 10,270 reads by fio
    arc = "rw=randread bs=4k size=96m"
    yield Trial("zfs a", arc, 10_270, 4 * KIB, Use(769, 769 * 128 * KIB), refuted, _ZFS, misses=769)
    yield Trial("zfs raidz1 a b c", arc, 10_270, 4 * KIB, Use(12_000, 6_000 * 128 * KIB), refuted, _ZFS, misses=3_000)
    for options, requests in {"fadvise_hint=sequential": 600, "random_distribution=zipf:1.2": 2_000}.items():
        ahead = Use(requests, 10_000 * 4 * KIB)
        yield Trial("a | ext4", f"rw=randread bs=4k size=64g {options}", 10_000, 4 * KIB, ahead, refuted)
    in_order = Use(1_250, 10_000 * 4 * KIB)
    yield Trial("a | ext4", "rw=randread:8 bs=4k size=64g", 10_000, 4 * KIB, in_order, refuted)
    # the pauses of thinktime determine the rate; three of four writes never leave RAM, but each sync stores its block
    capped: dict[str, Verdict] = {"iops": "suspect", "bandwidth": "suspect", "p99": "sound"}
    moved = 10_000 * 4 * KIB
    for pauses in ("thinktime=900", "thinktime=100ms thinktime_blocks=1000", "thinktime=1s thinktime_iotime=1s"):
        paused = f"rw=randread bs=4k size=64g direct=1 {pauses}"
        yield Trial("a | ext4", paused, 10_000, 4 * KIB, Use(10_000, moved), capped)
    rewritten: dict[str, Verdict] = {"iops": "refuted", "bandwidth": "refuted", "sync_p99": "sound"}
    stored = 2_500 * 16 * KIB
    yield Trial("a | ext4", "rw=randwrite bs=16k size=16k fsync=4", 10_000, 16 * KIB,
                Use(5_000, write=(1.5 * stored, 1.5 * stored), flushes=2_500), rewritten, syncs=2_500)  # fmt: skip
    lost: dict[str, Verdict] = {"sync_p99": "unproven"}
    yield Trial("a | ext4", "rw=randwrite bs=16k size=16k fsync=4", 10_000, 16 * KIB,
                Use(2_500, write=(0.5 * stored, 0.5 * stored), flushes=2_500), lost, syncs=2_500)  # fmt: skip
    # fio times sync_file_range as it does fsync, but it makes nothing durable
    yield Trial("a | ext4", "rw=randwrite bs=4k size=64g sync_file_range=write:8", 10_000, 4 * KIB,
                Use(10_000, write=(moved, moved)), lost, syncs=1_250)  # fmt: skip
    late: dict[str, Verdict] = {"bandwidth": "refuted", "iops": "refuted"}
    buffered = "rw=randwrite bs=4k size=64g"
    yield Trial("zfs a", buffered, 262_144, 4 * KIB, Use(20_000, write=(2 * GIB, 9 * GIB)), late, _ZFS)
    # lab: 64k synchronous writes of 2 MiB by 4 jobs; the pool stored 16% of them
    overwritten: dict[str, Verdict] = {"bandwidth": "refuted", "iops": "sound"}
    log = Use(6_400, write=(440 * MIB, 464 * MIB), flushes=1_600, log=400 * MIB)
    yield Trial("zfs a log b", "rw=randwrite bs=64k size=2m sync=1 numjobs=4 directory=X", 6_400, 64 * KIB, log,
                overwritten, _ZFS_LOG, commit_factor=1.0)  # fmt: skip
    fake: dict[str, Verdict] = {"sync_p99": "refuted", "iops": "refuted"}
    fast = Use(6_900, write=(60 * MIB, 61 * MIB))
    etcd = "rw=write bs=4k size=64g fdatasync=1"
    no_barrier = replace(_DISK, mount_options=("rw", "nobarrier"))
    yield Trial("a | ext4 barrier=0", etcd, 6_810, 4 * KIB, fast, fake, no_barrier, syncs=6_810)
    disabled = replace(_ZFS, zfs=replace(_ZFS_FACTS, sync="disabled"))
    few = Use(659, write=(20 * MIB, 80 * MIB), flushes=2)
    yield Trial("zfs a sync=disabled", etcd, 659, 4 * KIB, few, fake, disabled, syncs=659)
    sorted_in_ram: dict[str, Verdict] = {"iops": "unproven", "bandwidth": "sound", "p99": "refuted"}
    yield Trial("a | ext4", "rw=randwrite bs=4k size=64g end_fsync=1", 142_000, 4 * KIB,
                Use(8_931, write=(142_000 * 4 * KIB, 142_500 * 4 * KIB), flushes=1), sorted_in_ram)  # fmt: skip
    # loop: closing the device wrote the rest, after fio's clock had stopped
    closed: dict[str, Verdict] = {"iops": "suspect", "bandwidth": "suspect", "p99": "refuted"}
    yield Trial("a", "rw=randwrite bs=64k filename=/dev/sda size=64g", 3_200, 64 * KIB,
                Use(400, write=(200 * MIB, 200 * MIB), merged=50_800), closed, _DEVICE)  # fmt: skip
    silent: dict[str, Verdict] = {"iops": "unproven", "bandwidth": "sound", "p99": "unproven"}
    yield Trial("a | ext4", "rw=read bs=4k size=64g", 65_536, 4 * KIB, Use(1_090, 256 * MIB), silent)
    off: dict[str, Verdict] = {"iops": "unproven", "bandwidth": "unproven"}
    yield Trial("a | ext4", "rw=randread bs=4k size=64g direct=1", 10_000, 4 * KIB, Use(0), off, counted=False)


def trials() -> tuple[Trial, ...]:
    """Return all simulated trials: first the controls, then those that measured something other than the disks."""
    return (*_controls(), *_others())


def wrong(trial: Trial) -> Iterator[str]:
    """Yield a sentence for each metric whose verdict is not the expected one."""
    for metric, expected in trial.expected.items():
        found = judge(trial.case, metric)
        if found.verdict != expected:
            rules = ", ".join(finding.rule for finding in found.findings if finding.effect != "notes") or "no finding"
            yield f"{trial.layout}, {trial.workload}: {metric} is {found.verdict} ({rules}), expected {expected}"


def markdown(of: Sequence[Trial]) -> Iterator[str]:
    """Yield the lines of the table in docs/verdicts.md, with one row for each verdict of each trial."""
    numbers = "I/Os by fio | requests to the disks | bytes by fio | when fio ended | after the flush"
    yield f"| layout | workload | metric | verdict | {numbers} |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for trial in of:
        verdicts: dict[Verdict, list[str]] = {}
        for metric in trial.expected:
            verdicts.setdefault(judge(trial.case, metric).verdict, []).append(metric_of(metric).title)
        done = trial.disks
        requests = format_count(done.requests) + (f" + {format_count(done.merged)} merged" if done.merged else "")
        at_end, drained = (done.read, done.read) if trial.case.load.reads else done.write
        for verdict, metrics in verdicts.items():
            layout = trial.layout.replace("|", "\\|")  # otherwise the table cell would end there
            cells = (
                f"`{layout}`", f"`{trial.workload}`", ", ".join(metrics), f"`{verdict}`", format_count(trial.ios),
                requests, format_size(trial.ios * trial.bs), format_size(at_end), format_size(drained),
            )  # fmt: skip
            yield f"| {' | '.join(cells)} |"


def _main() -> int:
    found = trials()
    if "--markdown" in arguments(__doc__):
        print("\n".join(markdown(found)))
        return 0
    mistakes = [line for trial in found for line in wrong(trial)]
    print("\n".join(mistakes) or f"all verdicts of {len(found)} simulated trials are as expected")
    return 1 if mistakes else 0


if __name__ == "__main__":
    raise SystemExit(_main())
