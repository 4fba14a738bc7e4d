"""A run that measured its two disks individually, for the report. Disk `a` is twice as fast as `b`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from poolproof.campaign.calibration import bare_name
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.model import Trial
from tests.unit.presentation.html_report.making import CAMPAIGN, leaf, make_run, trial

CALIBRATED = CAMPAIGN.replace("bare-a: a, ", "").replace("trials: 2", "trials: 2, calibrate: true")


def disks_alone() -> Iterator[Trial]:
    """Yield the trials of both disks under both workloads, with 2000 and 1000 I/Os per second."""
    for disk, iops in (("a", 2000.0), ("b", 1000.0)):
        for workload in ("reads", "stream"):
            for number in (1, 2):
                made = trial("one", workload, number)
                (own,) = made.leaves
                yield replace(
                    made,
                    layout=bare_name(disk),
                    leaves=(leaf(disk, own.read_bytes, own.drained_write_bytes),),
                    figures=TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096 * (1 + 0.01 * number)),
                )


def make_calibrated(path: Path, *, with_cache: bool = False) -> Path:
    """Write a run in which `one` reaches half the speed of its disk, and `pair` three quarters of that of its disks.

    With a cache, `pair` reaches eight times that.
    """
    trials = [*disks_alone()]
    for layout in ("one", "pair"):
        for workload in ("reads", "stream"):
            trials += [trial(layout, workload, number) for number in (1, 2)]
    if with_cache:
        trials[-4:-2] = [_from_cache(each) for each in trials[-4:-2]]
    return make_run(path, trials, campaign=CALIBRATED)


def _from_cache(made: Trial) -> Trial:
    assert made.account is not None and made.figures is not None and made.figures.iops is not None
    leaves = tuple(leaf(each.device, each.read_bytes // 10) for each in made.leaves)
    account = replace(made.account, leaf_read_bytes=made.account.leaf_read_bytes // 10)
    return replace(made, leaves=leaves, account=account, figures=replace(made.figures, iops=8 * made.figures.iops))
