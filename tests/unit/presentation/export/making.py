"""Runs for testing all formats: a small grid with refuted, failed and suspect trials, and a run with hostile names."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from poolproof.campaign.yaml import parse_campaign
from poolproof.evidence.model import Account
from poolproof.metrics import TrialMetrics
from poolproof.presentation.export.rows import ExportTable, table_of
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Convergence, Trial
from poolproof.rules.model import Finding
from poolproof.stopping.model import NotConverged
from poolproof.verdicts import Verdict
from tests.unit.presentation.html_report.calibrated import make_calibrated
from tests.unit.results.compare.making import RECORD

CAMPAIGN = """\
name: grid
question: "What do *two* disks give | and a log device?"
devices: {a: {file: 2G}, b: {file: 2G}, c: {file: 2G}}
layouts:
  mirror: btrfs raid1 a b
  union: "mergerfs (a | ext4) (b | ext4) cache.files={off,full}"
workloads:
  grid: {rw: [randread, write], bs: [4k, 16k, 1m], sync: [0, 1]}
measure: {time: 5s, trials: 2}
baseline: mirror
"""
NASTY = "a|b `c` <script>alert(1)</script> *d* _e_ \"f\" 'g' h,i=j\\ #k\n[l](m)"
REFUTED = Finding("shared-file-numjobs", "refutes", "fio moved 900 MiB; 300 reached a disk | 33%", "a file per job")
FAILED = Finding("work-done", "fails", "fio ended early", "look at the log")
SUSPECT = Finding("size-below-cache", "suspects", "1 GiB fits in 16 GiB of RAM", "size=32g")
NOTE = Finding("few-samples", "notes", "512 reads were timed", "a longer run")
BAD: dict[tuple[str, str], tuple[Verdict, Finding]] = {
    ("mirror", "grid[rw=write,bs=16k,sync=0]"): ("refuted", REFUTED),
    ("mirror", "grid[rw=write,bs=1m,sync=0]"): ("refuted", REFUTED),
    ("union[cache.files=off]", "grid[rw=randread,bs=4k,sync=0]"): ("failed", FAILED),
    ("union[cache.files=full]", "grid[rw=randread,bs=16k,sync=0]"): ("suspect", SUSPECT),
}
DRIFT = NotConverged("drift", "it falls by 30% over 60 s")
UNSETTLED = (("mirror", "grid[rw=randread,bs=16k,sync=1]"), ("mirror", "grid[rw=write,bs=16k,sync=0]"))
ALONE = ("mirror", "grid[rw=randread,bs=4k,sync=0]")


def grid_run(path: Path) -> Path:
    """Write a run with all 36 cells, of which one has a single trial and the others have two."""
    RunDirectory.create(path, CAMPAIGN, replace(RECORD, campaign=CAMPAIGN)).write_trials(_grid())
    return path


def _grid() -> list[Trial]:
    campaign = parse_campaign(CAMPAIGN, "t")
    places = [(layout.name, workload.name) for layout in campaign.layouts for workload in campaign.workloads]
    return [
        _trial(*place, number, base=100.0 * (index + 1))
        for index, place in enumerate(places)
        for number in ((1,) if place == ALONE else (1, 2))
    ]


def nasty_run(path: Path) -> Path:
    """Write a run whose names contain markup, quotes or line breaks.

    A campaign can't contain such names, but a damaged or hostile file can.
    """
    run = RunDirectory.create(path, CAMPAIGN, replace(RECORD, campaign=CAMPAIGN))
    finding = replace(REFUTED, rule=NASTY, message=NASTY, fix=NASTY)
    good = _trial(NASTY, f"{NASTY}[{NASTY}]", 1, base=100.0)
    bad = replace(_trial(NASTY, "second", 1, base=100.0), verdict="refuted", findings=(finding,))
    odd = {"rw": "randrw:8", "bs": NASTY, "sync": NASTY, NASTY: NASTY}
    run.write_trials([replace(good, columns=odd), bad])
    return path


def unsettled_run(path: Path) -> Path:
    """Write a run whose trials lasted until their results were precise, with 90% confidence.

    Two cells drift, and one is refuted.
    """
    campaign = CAMPAIGN.replace("{time: 5s, trials: 2}", "{until: 10%, confidence: 90%, trials: 2..6}")
    run = RunDirectory.create(path, campaign, replace(RECORD, campaign=campaign))
    run.write_trials(
        replace(each, settling=Convergence(not why, 0.5, 4.0, 60.0, 0.995, 1.005, why))
        for each in _grid()
        for why in ((DRIFT,) if each.key[:2] in UNSETTLED else (),)
    )
    return path


def limited_run(path: Path) -> Path:
    """Write a run that measured its disks individually, and whose reads on `pair` are refuted."""
    run = RunDirectory.open(make_calibrated(path))
    run.write_trials(
        replace(each, verdict="refuted", findings=(REFUTED,)) if each.key[:2] == ("pair", "reads") else each
        for each in run.trials()
    )
    return path


def table(path: Path) -> ExportTable:
    """Load the run, and return it as rows."""
    return table_of(load_run(path))


def trials_of(path: Path, trials: Sequence[Trial]) -> Path:
    """Write a run of the grid's campaign with the given trials."""
    RunDirectory.create(path, CAMPAIGN, replace(RECORD, campaign=CAMPAIGN)).write_trials(trials)
    return path


def _trial(layout: str, workload: str, number: int, *, base: float) -> Trial:
    iops = base * (1 + number / 100)
    reads = "randread" in workload
    block = 4096
    verdict, finding = BAD.get((layout, workload), ("sound", NOTE))
    return Trial(
        layout=layout,
        workload=workload,
        number=number,
        verdict=verdict,
        findings=(finding,),
        metric="iops",
        figures=TrialMetrics(
            iops=iops,
            bandwidth_bytes=iops * block,
            read_iops=iops if reads else 0.0,
            write_iops=0.0 if reads else iops,
            read_bandwidth_bytes=iops * block if reads else 0.0,
            write_bandwidth_bytes=0.0 if reads else iops * block,
            p50_ns=1e9 / iops,
            p99_ns=3e9 / iops,
            p999_ns=None,
        ),
        account=Account(
            fio_read_bytes=int(iops) * block if reads else 0,
            fio_write_bytes=0 if reads else int(iops) * block,
            leaf_read_bytes=int(iops) * block if reads else 0,
            leaf_write_bytes=0 if reads else 2 * int(iops) * block,
            leaf_drained_write_bytes=0 if reads else 2 * int(iops) * block,
            write_factor=2.0,
            window_s=5.0,
            drain_s=0.1,
        ),
        begun_at=f"2026-11-21T19:{30 + number}:00+00:00",
    )
