"""Options and arguments that several commands share, and the values that they name."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.errors import UsageError
from poolproof.statistics.comparison import LEAST_EFFECT

if TYPE_CHECKING:
    from poolproof.metrics import MetricId
    from poolproof.results.runs.model import RunLab

LOCAL = "local"
"""This machine, as `hosts.reach` and run.json call it."""

Run = Annotated[Path, typer.Argument(help="The run directory.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Plain = Annotated[bool, typer.Option("--plain", help="Print lines instead of the live screen, even on a terminal.")]
Out = Annotated[Path | None, typer.Option("--out", help="The run directory to create. Default: runs/<name>-<time>.")]
Work = Annotated[str, typer.Option("--work", help="The directory on the host for image files and mount points.")]
On = Annotated[
    str,
    typer.Option("--on", metavar="HOST", help="The host to use: user@host or another ssh destination, or lab:NAME."),
]
SameHost = Annotated[
    str | None,
    typer.Option("--on", metavar="HOST", help="Another name for the run's host. Default: the one in run.json."),
]

MetricName = Annotated[
    str | None,
    typer.Option("--metric", help="The metric to compare, such as p99. Default: each workload's own."),
]
Effect = Annotated[str, typer.Option("--effect", help="The smallest difference that matters, such as 2%.")]
DEFAULT_EFFECT = f"{LEAST_EFFECT:.0%}"

Fs = Annotated[
    str | None, typer.Option("--fs", help="The file system that was measured: zfs-2.2, zvol-2.3, ext4, btrfs.")
]
Memory = Annotated[str | None, typer.Option("--ram", help="The machine's RAM, such as 64G.")]
Recordsize = Annotated[str | None, typer.Option("--recordsize", help="ZFS recordsize or volblocksize, such as 128k.")]
Compression = Annotated[
    str | None, typer.Option("--compression", help="The file system's compression algorithm, such as lz4.")
]
Disks = Annotated[
    list[str] | None,
    typer.Option("--devices", metavar="DISKS", help='The disks, such as "3x nvme 3.2GB/s" or "14x hdd"; repeatable.'),
]
Warm = Annotated[bool, typer.Option("--warm", help="Cached data in RAM is meant to be part of the measurement.")]

LabName = Annotated[str, typer.Argument(help="The lab's name, with or without `lab:`.")]
Series = Annotated[str, typer.Option("--zfs", metavar="SERIES", help="The OpenZFS series in the lab: 2.1 or 2.3.")]
LabRam = Annotated[str, typer.Option("--ram", metavar="SIZE", help="The lab's RAM.")]
Processors = Annotated[int, typer.Option("--cpus", help="The lab's number of processors.")]
Acceleration = Annotated[
    str,
    typer.Option("--accel", metavar="WAY", help="kvm, tcg (emulation), or auto: KVM if it works on this machine."),
]

SERIES = "2.1"
LAB_RAM = "2G"
PROCESSORS = 2
AUTO = "auto"


def lab_of_run(zfs: str, ram: str, cpus: int, accel: str) -> "RunLab":
    """Return the lab that these options describe.

    Raises a UsageError if one of them is unknown, out of range or too small.
    """
    from poolproof.lab.boot import check_acceleration
    from poolproof.lab.recipe import check_series
    from poolproof.lab.start import check_processors, parse_ram
    from poolproof.results.runs.model import RunLab

    return RunLab(check_series(zfs), parse_ram(ram), check_processors(cpus), check_acceleration(accel))


def parse_percent(text: str, option: str) -> float:
    """Return the fraction in a percentage: 0.02 for `2%`.

    Raises a UsageError if it is not a percentage from 0% to below 100%.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if match is None or float(match[1]) >= 100:
        raise UsageError(f"{option} {text[:60]}: not a percentage from 0% to below 100%", f"write {option} 2%")
    return float(match[1]) / 100


def parse_metric(text: str | None) -> "MetricId | None":
    """Return the metric of that name; None for None. Raises a UsageError if there is no such metric."""
    from poolproof.campaign.names import did_you_mean, listed
    from poolproof.metrics import COMPARABLE

    for metric in COMPARABLE:
        if metric == text:
            return metric
    if text is None:
        return None
    guess = did_you_mean(text, COMPARABLE)
    raise UsageError(f"--metric {text[:60]}: there is no such metric{guess}", f"metrics are {listed(COMPARABLE)}")
