"""The lines of fio's normal output, each recognised by itself and turned into figures.

One function a kind of line; each takes the line and returns None when it is of another kind. Which job a line belongs
to is `text.py`'s business. The words are those of show_ddir_status and its neighbours in fio's stat.c, 2.0 to 3.4x.
"""

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from poolproof.load.fio.printed import LARGEST, amount, number
from poolproof.load.outcome import Direction, DiskUse, Latency

Value = TypeVar("Value")

_DIRECTIONS = "read|write|trim|mixed"
_JOB = re.compile(
    r"^\s*(?:<(?P<host>[^>\s]+)>\s*)?(?P<name>\S.*?)\s*: "
    r"\(groupid=\s*(?P<group>-?\d{1,9}), jobs=\s*(?P<jobs>\d{1,6})\):"
    r"\s*err=\s*(?P<error>-?\d{1,9})(?=\s*[:(])(?::\s*pid=(?P<pid>\d+))?"
)
_HEADER = re.compile(
    r"^\s*(?:<(?P<host>[^>\s]+)>\s*)?(?P<name>\S.*?)\s*: \(g=\s*\d+\): rw=(?P<rw>[\w]+), "
    r"bs=(?P<bs>.*?), ioengine=(?P<engine>[^,\s]+), iodepth=(?P<iodepth>\d+)"
)
_NEW_RATE = re.compile(
    rf"^\s*(?P<direction>{_DIRECTIONS})\s*: IOPS=(?P<iops>\d[\d.,]*[kMG]?), BW=(?P<bw>[^\s(]+?)(?:/s)?\s*"
    r"(?:\((?P<decimal>[^)]*)\))?\s*\((?P<io>[^/()\s]+)/(?P<runtime>\d{1,15})msec\)"
)
_CUT_RATE = re.compile(
    rf"^\s*(?P<direction>{_DIRECTIONS})\s*: IOPS=(?P<iops>[\d.]+[kMG]?)(?![\d.]|,\d),? *"
    r"(?:BW=(?P<bw>[\d.]+[kKMGT]?i?(?:B|bit|b))/s(?: *\((?P<decimal>[^()\s]*)\))?)?"
)
_OLD_RATE = re.compile(
    rf"^\s*(?P<direction>{_DIRECTIONS})\s*:\s*io=\s*(?P<io>[^,\s]+?)\s*, bw=\s*(?P<bw>[^,]+?)/s\s*,"
    r"\s*iops=\s*(?P<iops>[^,\s]+)\s*,\s*runt=\s*(?P<runtime>\d{1,15})\s*msec"
)
_LATENCY = re.compile(
    r"^\s*(?P<kind>slat|clat|lat|sync) \((?P<unit>nsec|usec|msec|sec)\)\s*: min=\s*(?P<min>[^,\s]+)\s*, "
    r"max=\s*(?P<max>[^,\s]+)\s*,\s*avg=\s*(?P<avg>[^,\s]+)\s*,\s*stdev=\s*(?P<stdev>\d+\.\d\d)"
)
_PERCENTILE_HEAD = re.compile(r"^\s*(?P<kind>slat|clat|lat|sync) percentiles \((?P<unit>nsec|usec|msec|sec)\):")
_PERCENTILES = re.compile(r"(\d+\.\d+)th=\[\s*(\d+)\s*\]")
_SAMPLED_RATE = re.compile(
    r"^\s*bw\s*\(\s*(?P<unit>[kKMGT]?i?(?:B|bit|b))\s*/s\s*\)\s*: min=\s*(?P<min>[^,\s]+), max=\s*(?P<max>[^,\s]+), "
    r"per=[^,]*, avg=\s*(?P<avg>[\d.]+), stdev=\s*(?P<stdev>\d+\.\d\d)(?:, samples=\s*(?P<samples>\d+))?"
)
_SAMPLED_IOPS = re.compile(
    r"^\s*iops\s*: min=\s*(?P<min>[^,\s]+), max=\s*(?P<max>[^,\s]+), avg=\s*(?P<avg>[\d.]+), "
    r"stdev=\s*(?P<stdev>\d+\.\d\d)(?:, samples=\s*(?P<samples>\d+))?"
)
_CPU = re.compile(r"^\s*cpu\s*: usr=\s*(?P<user>\d+(?:\.\d+)?)%, sys=\s*(?P<system>\d+(?:\.\d+)?)%")
_DEPTHS = re.compile(r"^\s*IO depths\s*: (?P<levels>.*)")
_LEVEL = re.compile(r"(>=64|\d+)=\s*(\d+(?:\.\d+)?)%")
_ISSUED = re.compile(r"^\s*issued rwts?\s*: total=(?P<total>[\d,]{1,80}) short=(?P<short>[\d,]+)")
_OLD_ISSUED = re.compile(r"^\s*issued\s*: total=r=(?P<r>\d{1,18})/w=(?P<w>\d{1,18})/d=(?P<d>\d{1,18})")
_GROUP_HEAD = re.compile(r"^\s*Run status group (?P<group>\d+) \(all jobs\):")
_NEW_GROUP = re.compile(
    r"^\s*(?P<direction>READ|WRITE|TRIM|MIXED): bw=(?P<bw>[^\s,(]+?)/s(?: *\((?P<decimal>[^()\s]*)\))?"
)
_GROUP_IO = re.compile(r"\bio=(?P<io>[^\s,(]+)")
_GROUP_RUN = re.compile(r"\brun=(?P<low>\d{1,15})-(?P<high>\d{1,15})msec")
_OLD_GROUP = re.compile(
    r"^\s*(?P<direction>READ|WRITE|TRIM|MIXED): io=(?P<io>[^\s,]+), aggrb=(?P<bw>[^\s,]+?)/s, "
    r".*?maxt=\s*(?P<runtime>\d{1,15})msec"
)
_DISK = re.compile(
    r"^\s*(?P<name>[\w!.-]+): ios=(?P<reads>\d{1,18})/(?P<writes>\d{1,18})"
    r"(?:, sectors=(?P<rs>\d{1,18})/(?P<ws>\d{1,18}))?, merge="
)
_UTILISATION = re.compile(r"\butil=\s*(\d+(?:\.\d+)?)%")
_VERSION = re.compile(r"^\s*(?:<[^>\s]+>\s*)?(fio[- ]v?\d+\.\d+[\w.-]*)\s*$")
_FILLING = re.compile(
    r"^\s*(?:lat \((?:nsec|usec|msec|sec)\)\s*: .*=|submit\s*:|complete\s*:|latency\s*:|fsync/fdatasync/"
    r"|Disk stats|Starting \d|Jobs: |\.\.\.$|[(\[]\s*\.\.\.\s*[)\]]|Description\s*:|errors\s*:|zone resets|ss\s*:|```"
    r"|.*: Laying out IO file|[\"{}\]])"
)
_AT_THE_CUT = re.compile(r"(?<=fio-)[\w.-]*$|(?<=samples=)\d*$|(?<=iodepth=)\d*$")
_UNIT_NS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}
_SECTOR = 512
_SAME_RATE = 0.05


@dataclass(frozen=True)
class JobLine:
    """The first line of a job's block."""

    name: str
    group: int
    jobs: int
    error: int
    host: str | None
    pid: str


@dataclass(frozen=True)
class HeaderLine:
    """What fio prints of a job before it starts, as options."""

    name: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class RateLine:
    """A direction's own line. `plain` is the base of units without an `i` in the lines that follow: 1000 or 1024."""

    direction: str
    figures: Direction
    plain: int


@dataclass(frozen=True)
class LatencyLine:
    """One of slat, clat, lat, sync."""

    kind: str
    latency: Latency


@dataclass(frozen=True)
class PercentileHead:
    """The line above percentiles; `factor` turns them into nanoseconds."""

    kind: str
    factor: float


def job(line: str) -> JobLine | None:
    match = _JOB.match(line) if "(groupid=" in line else None
    if match is None:
        return None
    jobs = max(1, int(match["jobs"]))
    return JobLine(match["name"], int(match["group"]), jobs, int(match["error"]), match["host"], match["pid"] or "")


def header(line: str) -> HeaderLine | None:
    match = _HEADER.match(line) if "(g=" in line else None
    if match is None:
        return None
    options = {"rw": match["rw"], "ioengine": match["engine"], "iodepth": match["iodepth"]}
    sizes = _header_sizes(match["bs"])
    return HeaderLine(match["name"], {**options, "bs": sizes} if sizes else options)


def rate(line: str) -> RateLine | None:
    for pattern, plain in ((_NEW_RATE, 1000), (_OLD_RATE, 1024)):
        match = pattern.match(line)
        if match is not None:
            return _whole_rate(match, plain)
    match = _CUT_RATE.match(line)
    return None if match is None else _cut_rate(match)


def latency(line: str) -> LatencyLine | None:
    match = _LATENCY.match(line)
    if match is None:
        return None
    factor = _UNIT_NS[match["unit"]]
    try:
        low, high, mean, deviation = (number(match[name]) * factor for name in ("min", "max", "avg", "stdev"))
    except ValueError:
        return None
    return LatencyLine(match["kind"], Latency(min_ns=low, max_ns=high, mean_ns=mean, stddev_ns=deviation))


def percentile_head(line: str) -> PercentileHead | None:
    match = _PERCENTILE_HEAD.match(line)
    return PercentileHead(match["kind"], _UNIT_NS[match["unit"]]) if match else None


def percentiles(line: str) -> dict[float, float]:
    """Percentages and values in the unit of the head above; empty when the line has none."""
    if not line.lstrip().startswith("|"):
        return {}
    found = ((float(percent), float(value)) for percent, value in _PERCENTILES.findall(line))
    return {percent: value for percent, value in found if value < LARGEST}


def sampled_rate(line: str, plain: int | None) -> Direction | None:
    """The bandwidth that fio sampled. Without a rate line above, `KB` in capitals or a unit before spaces is fio 2."""
    match = _SAMPLED_RATE.match(line)
    if match is None:
        return None
    is_old = re.search(r"\(\s*[KMG]B\s+/s", line) is not None or match["unit"] == "KB"
    base = plain or (1024 if is_old else 1000)
    try:
        low, high, mean, deviation = (
            number(match[name]) * amount("1" + match["unit"], base) for name in ("min", "max", "avg", "stdev")
        )
    except ValueError:
        return None
    return Direction(
        bandwidth_min_bytes=low,
        bandwidth_max_bytes=high,
        bandwidth_mean_bytes=mean,
        bandwidth_stddev_bytes=deviation,
        samples=int(match["samples"]) if match["samples"] else None,
    )


def sampled_iops(line: str) -> Direction | None:
    match = _SAMPLED_IOPS.match(line)
    if match is None:
        return None
    try:
        low, high, mean, deviation = (number(match[name]) for name in ("min", "max", "avg", "stdev"))
    except ValueError:
        return None
    samples = int(match["samples"]) if match["samples"] else None
    return Direction(iops_min=low, iops_max=high, iops_mean=mean, iops_stddev=deviation, samples=samples)


def cpu(line: str) -> tuple[float, float] | None:
    """User and system share in per cent."""
    match = _CPU.match(line)
    return (float(match["user"]), float(match["system"])) if match else None


def depths(line: str) -> dict[str, float] | None:
    match = _DEPTHS.match(line)
    return {level: float(share) for level, share in _LEVEL.findall(match["levels"])} if match else None


def issued(line: str) -> tuple[dict[str, int], int | None] | None:
    """I/Os by direction, and syncs where fio counts them there."""
    match = _ISSUED.match(line)
    if match is not None:
        counts = [int(part) for part in match["total"].split(",") if part]
        by_direction = dict(zip(("read", "write", "trim"), counts, strict=False))
        return by_direction, counts[3] if len(counts) > 3 else None
    match = _OLD_ISSUED.match(line)
    return ({"read": int(match["r"]), "write": int(match["w"]), "trim": int(match["d"])}, None) if match else None


def group_head(line: str) -> int | None:
    """The number of the group whose sums follow."""
    match = _GROUP_HEAD.match(line)
    return int(match["group"]) if match and len(match["group"]) < 7 else None


def group(line: str) -> RateLine | None:
    """A line of `Run status group`. What is cut off at its end is None."""
    old = _OLD_GROUP.match(line)
    if old is not None:
        with contextlib.suppress(ValueError):
            figures = Direction(
                io_bytes=round(amount(old["io"], 1024)),
                bandwidth_bytes=amount(old["bw"], 1024),
                runtime_ms=int(old["runtime"]),
            )
            return RateLine(old["direction"].lower(), figures, 1024)
    return _new_group(line)


def _new_group(line: str) -> RateLine | None:
    match = _NEW_GROUP.match(line)
    if match is None:
        return None
    moved, lasted = _GROUP_IO.search(line), _GROUP_RUN.search(line)
    try:
        figures = Direction(
            bandwidth_bytes=_stated_rate(match, 1000),
            io_bytes=round(amount(moved["io"], 1000)) if moved else None,
            runtime_ms=int(lasted["high"]) if lasted else None,
        )
    except ValueError:
        return None
    return RateLine(match["direction"].lower(), figures, 1000)


def disk(line: str) -> DiskUse | None:
    match = _DISK.match(line)
    if match is None:
        return None
    busy = _UTILISATION.search(line)
    return DiskUse(
        name=match["name"],
        read_requests=int(match["reads"]),
        write_requests=int(match["writes"]),
        utilisation_percent=float(busy[1]) if busy else None,
        read_bytes=int(match["rs"]) * _SECTOR if match["rs"] else None,
        write_bytes=int(match["ws"]) * _SECTOR if match["ws"] else None,
    )


def version(line: str) -> str | None:
    match = _VERSION.match(line)
    return match[1] if match else None


def without_cut_number(line: str) -> str:
    """A text's last line without a number at its end that may have lost digits, unless its form shows it whole."""
    return _AT_THE_CUT.sub("", line)


def is_filling(line: str) -> bool:
    """A line that fio prints among those with figures, and marks of omission."""
    return _FILLING.match(line) is not None


def _whole_rate(match: re.Match[str], plain: int) -> RateLine | None:
    """A figure that is not in fio's own form (`30,1k`, which someone translated) is None; with none left, no line."""
    moved = _read(lambda: round(amount(match["io"], plain)))
    figures = Direction(
        io_bytes=moved,
        bandwidth_bytes=_read(lambda: _stated_rate(match, plain)),
        iops=_read(lambda: number(match["iops"])),
        runtime_ms=int(match["runtime"]),
    )
    is_told = moved is not None or figures.bandwidth_bytes is not None or figures.iops is not None
    return RateLine(match["direction"], figures, plain) if is_told else None


def _read(parse: Callable[[], Value]) -> Value | None:
    try:
        return parse()
    except ValueError:
        return None


def _stated_rate(match: re.Match[str], plain: int) -> float:
    """The rate in bytes per second. Of fio 3's two, `23.9GiB/s (25.6GB/s)`, the one in powers of 1000, in which
    poolproof prints rates as well: so its reader finds the figure that the text has.

    Raises:
        ValueError: it is no rate.
    """
    rate = amount(_in_bytes(match["bw"]), plain)
    other = _read(lambda: amount(_in_bytes((match.groupdict().get("decimal") or "").removesuffix("/s")), 1000))
    if other is None:
        return rate
    return other if abs(other - rate) <= _SAME_RATE * rate else rate


def _in_bytes(text: str) -> str:
    """`679Mi` of the sum over all clients, where fio leaves the unit away, as `679MiB`."""
    return f"{text}B" if re.search(r"[kKMGT]i?$", text) else text


def _cut_rate(match: re.Match[str]) -> RateLine | None:
    """The line of fio 3 without its end. An IOPS that ends the line may have lost digits, and is left out."""
    is_whole = match["bw"] is not None or match.string[match.end("iops") :].lstrip().startswith(",")
    if not is_whole:
        return None
    try:
        bandwidth = _stated_rate(match, 1000) if match["bw"] else None
        return RateLine(match["direction"], Direction(iops=number(match["iops"]), bandwidth_bytes=bandwidth), 1000)
    except ValueError:
        return None


def _header_sizes(text: str) -> str | None:
    """`(R) 4096B-4096B, (W) …` or `4K-4K/4K-4K/4K-4K` as bytes in the form of `bs=`; None where sizes vary."""
    ranges = re.findall(r"([\d.]+\s?[kKMG]?i?B?)-([\d.]+\s?[kKMG]?i?B?)", text)
    try:
        spans = [(_header_size(low), _header_size(high)) for low, high in ranges]
    except ValueError:
        return None
    if not spans or any(low != high for low, high in spans):
        return None
    return str(spans[0][0]) if len(set(spans)) == 1 else ",".join(str(low) for low, _ in spans)


def _header_size(text: str) -> int:
    """fio 2 left the `B` away."""
    return round(amount(text if text.endswith("B") else f"{text}B", 1024))
