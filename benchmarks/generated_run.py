"""Generate run directories of any size without measuring.

They contain plausible results, byte accounting and samples, generated from a fixed random seed.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.model import Campaign, Layout, Workload
from poolproof.campaign.yaml import parse_campaign
from poolproof.evidence.counters import CounterReading, Counters
from poolproof.evidence.model import Account, Evidence, LeafUse
from poolproof.load.fio.histogram import bin_of
from poolproof.measure.series import LatencyInterval, latency_text
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord, Trial
from poolproof.rules.model import Finding
from poolproof.units import format_size, parse_size
from poolproof.verdicts import Verdict

CAMPAIGN = """\
# Nine ways to give a mirror of hard disks a cache and a log; modes and block sizes of cache-and-log.
name: cache-and-log
question: Which cache and log devices should this pool get for etcd?
devices:
  hdd1:  {emulate: hdd-7200, size: 8G}
  hdd2:  {emulate: hdd-7200, size: 8G}
  nvme1: {emulate: nvme, size: 2G}
  nvme2: {emulate: nvme, size: 2G}
layouts:
  mirror:                     zfs mirror hdd1 hdd2 ashift=12 | zvol 2G | ext4
  mirror-cache:               zfs mirror hdd1 hdd2 cache nvme1 ashift=12 | zvol 2G | ext4
  mirror-log:                 zfs mirror hdd1 hdd2 log nvme1 ashift=12 | zvol 2G | ext4
  mirror-cache-cache:         zfs mirror hdd1 hdd2 cache nvme1 nvme2 ashift=12 | zvol 2G | ext4
  mirror-log-log:             zfs mirror hdd1 hdd2 log nvme1 nvme2 ashift=12 | zvol 2G | ext4
  mirror-cache-log:           zfs mirror hdd1 hdd2 cache nvme1 log nvme2 ashift=12 | zvol 2G | ext4
  mirror-cryptcache:          zfs mirror hdd1 hdd2 cache (nvme1 | luks) ashift=12 | zvol 2G | ext4
  mirror-cryptlog:            zfs mirror hdd1 hdd2 log (nvme1 | luks) ashift=12 | zvol 2G | ext4
  mirror-cryptcache-cryptlog: zfs mirror hdd1 hdd2 cache (nvme1 | luks) log (nvme2 | luks) ashift=12 | zvol 2G | ext4
workloads:
  grid:
    rw: [read, randread, readwrite, randrw, write, randwrite]
    bs: ["512", 4k, 8k, 16k, 64k, 1m]
    sync: [0, 1]
    iodepth: 64
    size: 1g
measure: {time: 10s, trials: TRIALS}
baseline: mirror
goal: grid
"""
"""9 layouts by 72 workloads: 648 cells."""

_WINDOW_S = 10.0
_TICKS = 100
_STRETCHES = 40
_BEGAN_S = 1_795_300_000.0


@dataclass(frozen=True)
class _Speed:
    """The speed of one disk of a layout: I/Os per second for small I/Os, and bytes per second for large ones."""

    iops: float
    bytes_per_s: float


_DISK = _Speed(iops=180, bytes_per_s=170e6)
_NVME = _Speed(iops=40_000, bytes_per_s=1.9e9)


def make_run(path: Path, *, trials: int = 3, with_files: int = 3, seed: int = 6) -> Path:
    """Write a finished run of 648 cells, of which about one in eleven is refuted.

    For the first `with_files` trials of each cell, the job, the evidence and the samples are also written.
    """
    text = CAMPAIGN.replace("TRIALS", str(trials))
    campaign = parse_campaign(text, "generated")
    run = RunDirectory.create(path, text, _record(text))
    chance = random.Random(seed)
    made = list(_trials(campaign, chance, trials))
    run.write_trials(made)
    for trial in made:
        if trial.number <= with_files:
            _keep(run, trial, chance)
    return path


def _record(text: str) -> RunRecord:
    return RunRecord(
        poolproof="0.1.0",
        campaign=text,
        label="abcd1234",
        state_dir="/var/tmp/poolproof-abcd1234",
        ram_dir="/dev/shm/poolproof-abcd1234",
        seed=7,
        host="local",
        begun_at="2026-11-21T19:30:00+00:00",
        facts={
            "kernel": "Linux 6.12.9",
            "distribution": "Debian 13",
            "processors": "8",
            "ram_bytes": str(32 * 1024**3),
        },
        versions={"poolproof": "0.1.0", "fio": "fio-3.39"},
    )


def _trials(campaign: Campaign, chance: random.Random, trials: int) -> Iterator[Trial]:
    for layout in campaign.layouts:
        for workload in campaign.workloads:
            bad = layout.name == "mirror" or "crypt" in layout.name  # so that the other layouts stay in the ranking
            refuted = chance.random() < 0.09 and bad
            for number in range(1, trials + 1):
                yield _trial(layout, workload, number, chance, refuted=refuted)


def _trial(layout: Layout, workload: Workload, number: int, chance: random.Random, *, refuted: bool) -> Trial:
    options = dict(workload.jobs[0].options)
    block = parse_size(options.get("bs", "4k"))
    mode, sync = options.get("rw", "read"), options.get("sync", "0") != "0"
    iops = _iops(layout.name, mode, block, sync=sync) * chance.lognormvariate(0, 0.06) * (8 if refuted else 1)
    moved = int(iops * block * _WINDOW_S)
    reads = moved if "read" in mode and mode not in ("rw", "readwrite") else 0
    reads = moved // 2 if mode in ("rw", "readwrite", "randrw") else reads
    writes = moved - reads
    truth = 0.12 if refuted else 1.0
    leaves = tuple(_leaves(layout.name, reads * truth, writes * truth, chance))
    account = Account(
        fio_read_bytes=reads,
        fio_write_bytes=writes,
        leaf_read_bytes=sum(leaf.read_bytes for leaf in leaves),
        leaf_write_bytes=sum(leaf.write_bytes for leaf in leaves),
        leaf_drained_write_bytes=sum(leaf.drained_write_bytes for leaf in leaves),
        write_factor=2.0,
        window_s=_WINDOW_S,
        drain_s=0.4,
    )
    trial = Trial(
        layout=layout.name,
        workload=workload.name,
        number=number,
        verdict="refuted" if refuted else "sound",
        findings=tuple(_findings(account, refuted=refuted)),
        metric=workload.metric,
        figures=_figures(iops, block, reads / moved if moved else 0.0, sync=sync),
        account=account,
        leaves=leaves,
        begun_at="2026-11-21T19:30:00+00:00",
        seconds={"cool": 0.5, "settle": 0.3, "fio": _WINDOW_S, "drain": 0.4},
    )
    failed: Verdict = "failed"
    return (
        trial
        if chance.random() > 0.004 or "crypt" not in layout.name
        else replace(trial, verdict=failed, figures=None, account=None, leaves=())
    )


def _iops(layout: str, mode: str, block: int, *, sync: bool) -> float:
    """Return the IOPS of a mirror of hard disks.

    A cache device speeds up reads, a log device speeds up synchronous writes, and encryption slows both down.
    """
    small, large = _DISK.iops, _DISK.bytes_per_s
    if "read" in mode and "cache" in layout:
        small, large = 0.4 * _NVME.iops, 0.5 * _NVME.bytes_per_s
    if "write" in mode and sync:
        small, large = (0.25 * _NVME.iops, 0.4 * _NVME.bytes_per_s) if "log" in layout else (60.0, 60e6)
    if "crypt" in layout:
        small, large = 0.8 * small, 0.7 * large
    if not mode.startswith("rand"):
        small *= 12
    return 1 / (1 / small + block / large)


def _figures(iops: float, block: int, read_share: float, *, sync: bool) -> TrialMetrics:
    median = 64 / iops * 1e9
    return TrialMetrics(
        iops=iops,
        bandwidth_bytes=iops * block,
        read_iops=iops * read_share,
        write_iops=iops * (1 - read_share),
        read_bandwidth_bytes=iops * block * read_share,
        write_bandwidth_bytes=iops * block * (1 - read_share),
        p50_ns=median,
        p99_ns=4 * median,
        p999_ns=11 * median,
        sync_p99_ns=3 * median if sync else None,
    )


def _leaves(layout: str, reads: float, writes: float, chance: random.Random) -> Iterator[LeafUse]:
    share = chance.uniform(0.45, 0.55)
    names = {"hdd1": (share, 1.0), "hdd2": (1 - share, 1.0)}
    if "cache" in layout or "log" in layout:
        names |= {"nvme1": (0.0, 0.0)}
    for name, (read, write) in names.items():
        read_bytes, write_bytes = int(reads * read), int(writes * write)
        yield LeafUse(
            device=name,
            read_bytes=read_bytes,
            write_bytes=int(0.97 * write_bytes),
            drained_write_bytes=write_bytes,
            read_ios=read_bytes // 16384,
            write_ios=write_bytes // 16384,
            flush_ios=3,
            utilisation=chance.uniform(0.6, 1.0) if read_bytes + write_bytes else 0.0,
            latency_s=0.004,
        )


def _findings(account: Account, *, refuted: bool) -> Iterator[Finding]:
    if refuted and account.fio_read_bytes:
        yield Finding(
            "read-from-cache",
            "refutes",
            f"fio read {format_size(account.fio_read_bytes)}; the disks read {format_size(account.leaf_read_bytes)}",
            "fill the file to its full length first, drop the caches, then direct=1",
        )
    if refuted and account.fio_write_bytes:
        yield Finding(
            "write-vanished",
            "refutes",
            f"fio wrote {format_size(account.fio_write_bytes)}; the disks {format_size(account.leaf_write_bytes)}",
            "a file per job (directory= instead of filename=), refill_buffers=1",
        )
    yield Finding("few-samples", "notes", "64 I/Os per second are too few for a p99.9", "measure longer: time: 60s")


def _keep(run: RunDirectory, trial: Trial, chance: random.Random) -> None:
    directory = run.trial_directory(trial.key)
    run.keep(directory, "evidence.json", Evidence(trial.account, trial.leaves))
    run.keep_text(directory, "job.fio", f"[job]\nsize=1g\n# {trial.workload}\n")
    if trial.leaves:
        run.keep_samples(directory, [leaf.device for leaf in trial.leaves], list(_readings(trial, chance)))
        run.keep_text(directory, "latency.jsonl", latency_text(list(_stretches(trial))))


def _readings(trial: Trial, chance: random.Random) -> Iterator[CounterReading]:
    """Yield counters that grow to the trial's accounted bytes, with noise, after a pause before fio starts."""
    steps = [0.0] * 5 + [chance.uniform(0.7, 1.3) for _ in range(_TICKS)] + [0.0] * 4
    whole, done = sum(steps), 0.0
    for number, step in enumerate(steps):
        done += step
        share = done / whole
        yield CounterReading(
            _BEGAN_S + 0.1 * number, tuple(_counters(leaf, share, 100 * number) for leaf in trial.leaves)
        )


def _stretches(trial: Trial) -> Iterator[LatencyInterval]:
    """Yield latency intervals with one latency per I/O, around the median and with a few slow I/Os."""
    figures = trial.figures
    assert figures is not None and figures.iops is not None and figures.p50_ns is not None
    begins_s = _BEGAN_S + 0.5
    step_s = _WINDOW_S / _STRETCHES
    for number in range(_STRETCHES):
        bins = {
            bin_of(int(figures.p50_ns * 1.08**place)): count
            for place in range(-30, 45)
            if (count := round(figures.iops * step_s * math.exp(-((place / 9) ** 2)) / 16)) > 0
        }
        yield LatencyInterval(begins_s + step_s * (number + 1), step_s * number, step_s * (number + 1), bins, {})


def _counters(leaf: LeafUse, share: float, at_ms: int) -> Counters:
    return Counters(
        read_ios=int(leaf.read_ios * share),
        read_bytes=int(leaf.read_bytes * share),
        read_ms=int(leaf.read_ios * share * 4),
        write_ios=int(leaf.write_ios * share),
        write_bytes=int(leaf.drained_write_bytes * share),
        write_ms=int(leaf.write_ios * share * 4),
        in_flight=1,
        busy_ms=int(at_ms * leaf.utilisation),
        flush_ios=int((leaf.flush_ios or 0) * share),
    )
