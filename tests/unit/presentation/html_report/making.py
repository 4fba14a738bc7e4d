"""Run directories for the report, with two layouts, two disks, three workloads, and given results and accounting."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from poolproof.campaign.yaml import parse_campaign
from poolproof.evidence.counters import CounterReading, Counters
from poolproof.evidence.model import Account, LeafUse
from poolproof.measure.series import LatencyInterval, latency_text
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict
from tests.unit.results.compare.making import EFFECTS
from tests.unit.results.compare.making import RECORD as FIRST

MIB = 1024**2
CAMPAIGN = """\
name: t
question: Which of the two?
devices: {a: {file: 2G}, b: {file: 2G}}
layouts: {bare-a: a, one: a | ext4, pair: btrfs raid1 a b}
workloads:
  reads: {rw: randread, bs: 4k, size: 64m}
  stream: {rw: write, bs: 1m, size: 64m}
goal: reads
measure: {time: 5s, trials: 2}
"""
RECORD = replace(FIRST, campaign=CAMPAIGN, versions={**FIRST.versions, "fio": "fio-3.39"})
_SPEED = {"bare-a": 2000.0, "one": 1000.0, "pair": 1500.0}


def data_of(page: str) -> dict[str, Any]:
    """Return the data for the page's scripts."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def account(
    reads: int = 0, writes: int = 0, *, disk_reads: int = 0, disk_writes: int = 0, factor: float = 1
) -> Account:
    """Return the byte accounting for a window of ten seconds. All writes had reached the disks when fio ended."""
    return Account(reads, writes, disk_reads, disk_writes, disk_writes, factor, 10.0, 0.5)


def leaf(name: str, read: int = 0, written: int = 0) -> LeafUse:
    """Return what one disk read and wrote, with plausible other values."""
    return LeafUse(name, read, written, written, read // 4096, written // 4096, 0, 0.5, 0.001)


def trial(
    layout: str, workload: str, number: int = 1, verdict: Verdict = "sound", rule: str = "write-vanished"
) -> Trial:
    """Return a plausible trial.

    `one` writes data once, and `pair` writes it twice. A refuted trial lost half of its writes.
    """
    factor = 2 if layout == "pair" else 1
    moved = 100 * MIB
    lost = 0.5 if verdict == "refuted" else 1.0
    reads, writes = (moved, 0) if workload == "reads" else (0, moved)
    names = ["a", "b"] if layout == "pair" else ["a"]
    leaves = tuple(
        leaf(name, int(reads * lost / len(names)), int(writes * lost * factor / len(names))) for name in names
    )
    iops = _SPEED.get(layout, 1000.0) * (1 + 0.01 * number)
    effect = EFFECTS.get(verdict)
    return Trial(
        layout=layout,
        workload=workload,
        number=number,
        verdict=verdict,
        findings=(Finding(rule, effect, "50 MiB went missing", "write it anew"),) if effect else (),
        metric="bandwidth" if workload == "stream" else "iops",
        figures=TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096, p50_ns=1e6, p99_ns=3e6),
        account=account(
            reads,
            writes,
            disk_reads=sum(each.read_bytes for each in leaves),
            disk_writes=sum(each.drained_write_bytes for each in leaves),
            factor=factor,
        ),
        leaves=leaves,
        seconds={"fio": 10.0},
    )


def all_trials(verdict: Verdict = "sound", *, trials: int = 2) -> list[Trial]:
    """Return trials for all cells of the campaign, all with the same verdict."""
    return [
        trial(layout, workload, number, verdict)
        for layout in ("bare-a", "one", "pair")
        for workload in ("reads", "stream")
        for number in range(1, trials + 1)
    ]


def make_run(path: Path, trials: Iterable[Trial], *, campaign: str = CAMPAIGN, samples: bool = True) -> Path:
    """Write a run directory with these trials, each with its job and its samples."""
    parse_campaign(campaign, "t")
    run = RunDirectory.create(path, campaign, replace(RECORD, campaign=campaign))
    for each in trials:
        run.append(each)
        directory = run.trial_directory(each.key)
        run.keep_text(directory, "job.fio", f"[{each.workload}]\nrw=randread\n")
        if samples and each.leaves:
            run.keep_samples(directory, [disk.device for disk in each.leaves], list(readings(each)))
            run.keep_text(directory, "latency.jsonl", latencies_text())
    return path


def latencies_text() -> str:
    """Return the contents of latency.jsonl for ten seconds, with 900 I/Os per second of 1 ms and 100 of 5 ms.

    In the last second, all I/Os take twice as long.
    """
    lines = []
    for second in range(10):
        slow = 2 if second == 9 else 1
        stretch = LatencyInterval(
            1002.0 + second, second, second + 1.0, {slow * 1_000_000: 900, slow * 5_000_000: 100}, {}
        )
        lines.append(stretch)
    return latency_text(lines)


def readings(each: Trial) -> list[CounterReading]:
    """Return readings for one second before the window, and for ten seconds in which the counters increase evenly."""
    return [
        CounterReading(
            1000.0 + second,
            tuple(
                Counters(
                    read_bytes=disk.read_bytes * max(0, second - 1) // 10,
                    write_bytes=disk.drained_write_bytes * max(0, second - 1) // 10,
                    busy_ms=500 * max(0, second - 1),
                )
                for disk in each.leaves
            ),
        )
        for second in range(12)
    ]
