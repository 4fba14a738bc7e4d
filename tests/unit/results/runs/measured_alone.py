"""Trials of a run that measured its two disks individually, with given values and byte counts."""

from collections.abc import Mapping

from poolproof.campaign.calibration import bare_name
from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.evidence.model import Account, LeafUse
from poolproof.metrics import MetricId, TrialMetrics
from poolproof.results.runs.limit import Limit, limits_of
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import bare_cells_of, cells_of
from poolproof.verdicts import Verdict

MIB = 1024**2
TEXT = """
devices: {rust: {emulate: hdd-7200, size: 1G}, ssd: {emulate: sata-ssd, size: 1G}}
layouts: {one: rust | ext4, both: btrfs raid1 rust ssd}
workloads:
  reads: {rw: randread, bs: 4k, size: 64m}
  writes: {rw: randwrite, bs: 4k, size: 64m}
measure: {trials: 2, calibrate: true}
"""
CAMPAIGN = parse_campaign(TEXT, "c.yaml")


def trial(
    layout: str,
    workload: str,
    figure: float,
    moved: Mapping[str, tuple[float, float]],
    *,
    fio: tuple[float, float] = (100, 0),
    factor: float = 1,
    metric: MetricId = "iops",
    number: int = 1,
    verdict: Verdict = "sound",
    request: int = 4096,
) -> Trial:
    """Return a trial in which all writes reached the disks.

    `fio`: the MiB that fio read and wrote.
    `moved`: the MiB that each disk read and wrote, keyed by disk.
    """
    leaves = tuple(
        LeafUse(name, int(read * MIB), int(wrote * MIB), int(wrote * MIB), *_ios(read, wrote, request), 0, 0.5, None)
        for name, (read, wrote) in moved.items()
    )
    reads, writes = (int(each * MIB) for each in fio)
    read, wrote = (sum(getattr(leaf, name) for leaf in leaves) for name in ("read_bytes", "write_bytes"))
    values = {
        "p99": TrialMetrics(iops=None, bandwidth_bytes=None, p99_ns=figure),
        "iops": TrialMetrics(iops=figure, bandwidth_bytes=None),
    }
    return Trial(
        layout=layout,
        workload=workload,
        number=number,
        verdict=verdict,
        findings=(),
        metric=metric,
        figures=values[metric],
        account=Account(reads, writes, read, wrote, wrote, factor, 10.0, 0.1),
        leaves=leaves,
    )


def _ios(read: float, wrote: float, request: int) -> tuple[int, int]:
    return int(read * MIB / request), int(wrote * MIB / request)


def alone(
    disk: str, workload: str, figure: float, *, metric: MetricId = "iops", verdict: Verdict = "sound", number: int = 1
) -> Trial:
    """Return a trial of an individually measured disk, which transferred exactly what fio did."""
    fio = (100.0, 0.0) if workload == "reads" else (0.0, 100.0)
    return trial(bare_name(disk), workload, figure, {disk: fio}, fio=fio, metric=metric, verdict=verdict, number=number)


def limit_of(*trials: Trial, campaign: Campaign = CAMPAIGN) -> Limit | str:
    """Return the limit of the only cell that is not an individually measured disk."""
    (limit,) = limits_of(cells_of(trials, campaign), bare_cells_of(trials, campaign), campaign).values()
    return limit
