"""Options and arguments that several commands share, and parsers for their values."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from poolproof.errors import UsageError
from poolproof.statistics.comparison import LEAST_EFFECT

if TYPE_CHECKING:
    from poolproof.metrics import MetricId

LOCAL = "local"
"""The name for this machine in `hosts.local` and in run.json."""

Text = str | None
Texts = list[str] | None

Run = Annotated[Path, Argument(metavar="RUN", readable=False, help="The run directory.")]
Runs = Annotated[Path, Argument(metavar="DIR", readable=False, help="A folder with runs, or one run.")]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
Plain = Annotated[bool, Option("--plain", help="Print lines instead of the live screen, even on a terminal.")]
ShareHost = Annotated[
    bool,
    Option(
        "--share-host",
        help="Start even if another run is in progress, provided that the two share no disk or directory.",
    ),
]
ExternalEngine = Annotated[
    Texts,
    Option(metavar="PATH", help="Let fio load this I/O engine (ioengine: external:PATH) and run its code; repeatable."),
]
Out = Annotated[Path | None, Option(metavar="DIR", help="The run directory to create. Default: runs/<name>-<time>.")]
Work = Annotated[str, Option(metavar="DIR", help="The directory on the host for image files and mount points.")]
On = Annotated[str, Option(metavar="HOST", help="The host to use: an SSH destination, such as user@host, or lab:NAME.")]
MetricName = Annotated[
    Text, Option(metavar="METRIC", help="The metric to compare, such as p99. Default: each workload's own.")
]
Effect = Annotated[str, Option(metavar="SHARE", help="The smallest difference that matters, such as 2%.")]
DEFAULT_EFFECT = f"{LEAST_EFFECT:.0%}"

Fs = Annotated[
    Text, Option(metavar="NAME", help="The file system of the test files, such as zfs-2.2, zvol-2.3, ext4 or btrfs.")
]
Memory = Annotated[Text, Option(metavar="SIZE", help="The machine's RAM, such as 64G.")]
Recordsize = Annotated[Text, Option(metavar="SIZE", help="ZFS recordsize or volblocksize, such as 128k.")]
Compression = Annotated[
    Text, Option(metavar="NAME", help="The file system's compression algorithm, such as lz4, or off.")
]
Disks = Annotated[Texts, Option(metavar="DISKS", help='The disks, such as "3x nvme 3.2GB/s" or "14x hdd"; repeatable.')]
Warm = Annotated[bool, Option("--warm", help="Accept data cached in RAM as part of the measurement.")]
LayoutFrom = Annotated[
    Text, Option(metavar="WHAT", help="With --save: what distinguishes the layouts: folder, file, or a fio option.")
]

Zfs = Annotated[str, Option(metavar="SERIES", help="The OpenZFS series in the lab: 2.1 or 2.3.")]
LabRam = Annotated[str, Option(metavar="SIZE", help="The lab's RAM.")]
Cpus = Annotated[int, Option(metavar="N", help="The lab's number of processors.")]
Accel = Annotated[str, Option(metavar="WAY", help="kvm, tcg (emulation), or auto: KVM if this machine supports it.")]
ZFS, LAB_RAM, CPUS, ACCEL = "2.1", "2G", 2, "auto"


def parse_percent(text: str, option: str) -> float:
    """Parse a percentage such as `2%`, and return it as a fraction such as 0.02.

    Raises a UsageError if `text` is not a percentage, or is 100% or more.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if match is None or float(match[1]) >= 100:
        example = f"{text.strip()}%" if re.fullmatch(r"\s*\d{1,2}(\.\d{1,9})?\s*", text) else "2%"
        raise UsageError(
            f"{option} {text[:60]}: expected a percentage of at least 0% and less than 100%",
            f"write {option} {example}",
        )
    return float(match[1]) / 100


def parse_metric(text: str | None) -> "MetricId | None":
    """Return the metric with the given name, or None if no name is given.

    Raises a UsageError if it cannot be used to compare layouts.
    """
    from poolproof.campaign.names import did_you_mean, listed
    from poolproof.metrics import COMPARABLE, not_comparable

    found = next((metric for metric in COMPARABLE if metric == text), None)
    if found is None and text is not None:
        guess = did_you_mean(text, COMPARABLE)
        raise UsageError(f"--metric: {not_comparable(text[:60])}{guess}", f"use {listed(COMPARABLE)}")
    return found
