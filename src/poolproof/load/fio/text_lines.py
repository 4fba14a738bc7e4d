"""Parse single lines of fio's normal output, with one function for each kind of line.

Each function returns None for other kinds of line. `text.py` decides to which job a line belongs. The patterns follow
show_ddir_status and the functions around it in fio's stat.c, from 2.0 to 3.4x. Numbers look like `24.4k`, `23.9GiB` or
`3556Mbit/s`. fio 3 writes `KiB` for 1024 bytes and `kB` for 1000 bytes. fio 2 writes `KB` for 1024 bytes (num2str in
fio's lib/num2str.c).
"""

import re
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from poolproof.load.fio.job import Job
from poolproof.load.fio.printed_numbers import LARGEST, agreeing_size, amount, number, stated_bandwidth, whole_size
from poolproof.load.fio.quantity import attempt
from poolproof.load.outcome import Direction, DiskUtilization, Latency, PartOutcome

_DIRECTIONS = "read|write|trim|mixed"
_JOB = re.compile(
    r"^\s*(?:<(?P<host>[^>\s]+)>\s*)?(?P<name>\S.*?)\s*: "
    r"\(groupid=\s*(?P<group>-?\d{1,9}), jobs=\s*(?P<jobs>\d{1,6})\):"
    r"\s*err=\s*(?P<error>-?\d{1,9})(?=\s*[:(])(?::\s*pid=(?P<pid>\d+))?"
)
_HEADER = re.compile(
    r"^\s*(?:<[^>\s]+>\s*)?(?P<name>\S.*?)\s*: \(g=\s*(?P<group>\d{1,9})\): rw=(?P<rw>[\w]+), "
    r"bs=(?P<bs>.*?), ioengine=(?P<engine>[^,\s]+), iodepth=(?P<iodepth>\d+)"
)
_NEW_RATE = re.compile(
    rf"^\s*(?P<direction>{_DIRECTIONS})\s*: I[O0]PS=(?P<iops>\d[\d.,]*[kMG]?), BW=(?P<bw>[^\s(]+?)(?:/s)?\s*"
    r"(?:\((?P<decimal>[^)]*)\))?\s*\((?P<io>[^/()\s]+)/(?P<runtime>\d{1,15})msec\)"
)
_CUT_RATE = re.compile(
    rf"^\s*(?P<direction>{_DIRECTIONS})\s*: I[O0]PS=(?P<iops>\d+(?:\.\d+)?[kMG]?)(?![\w.]|,\d),? *"
    r"(?:BW=(?P<bw>[\d.]+[kKMGT]?i?(?:B|bit|b))/s(?: *\((?P<decimal>[^()\s]*)\))?)?"
)
_MARK = re.compile(
    r"\s(?:<{1,20}-{0,20}|\*{1,20}|!{1,20}|\^{1,20})(?=\s{0,20}[,(])"
)  # with which authors emphasise a value
_ENDS_HERE = re.compile(r"\s*+(?:,|$|\.\.\.|\u2026|[\[(]\s*(?:\.\.\.|\u2026))")
_OLD_RATE = re.compile(
    rf"^\s*(?P<direction>{_DIRECTIONS})\s*:\s*io=\s*(?P<io>[^,\s]+?(?: B)?)\s*, bw=\s*(?P<bw>[^,]+?)/s(?![\w.])"
    r"(?:\s*,\s*iops=\s*(?P<iops>[^,\s]+)(?:\s*,\s*runt=\s*(?P<runtime>\d{1,15})\s*msec)?)?"
)
_LATENCY = re.compile(
    r"^\s*(?P<kind>slat|clat|lat|sync) \((?P<unit>nsec|usec|msec|sec)\)\s*: min=\s*(?P<min>[^,\s]+)\s*, "
    r"max=\s*(?P<max>[^,\s]+)\s*,\s*avg=\s*(?P<avg>[^,\s]+)\s*,\s*stdev=\s*(?P<stdev>\d+\.\d\d)"
)
_PERCENTILE_HEAD = re.compile(r"^\s*(?P<kind>slat|clat|lat|sync) percentiles \((?P<unit>nsec|usec|msec|sec)\):")
_PERCENTILES = re.compile(r"(?<!\d)(\d{1,3}\.\d{1,9})th=\[\s{0,30}(\d{1,20})\s{0,30}\]")
_SAMPLED_RATE = re.compile(
    r"^\s*bw\s*\(\s*(?P<unit>[kmgKMGT]?i?(?:B|bit|b))\s*/s\s*\)\s*: min=\s*(?P<min>[^,\s]+), max=\s*(?P<max>[^,\s]+), "
    r"per=[^,]*, avg=\s*(?P<avg>[\d.]+), stdev=\s*(?P<stdev>\d+\.\d\d)(?:, samples=\s*(?P<samples>\d+))?"
)
_SAMPLED_IOPS = re.compile(
    r"^\s*iops\s*: min=\s*(?P<min>[^,\s]+), max=\s*(?P<max>[^,\s]+), avg=\s*(?P<avg>[\d.]+), "
    r"stdev=\s*(?P<stdev>\d+\.\d\d)(?:, samples=\s*(?P<samples>\d+))?"
)
_CPU = re.compile(
    r"^\s*cpu\s*: usr=\s*(?P<user>\d+(?:\.\d+)?)%, sys=\s*(?P<system>\d+(?:\.\d+)?)%"
    r"(?:, ctx=\s*(?P<switches>\d{1,15})(?=,))?"
)
_DEPTHS = re.compile(r"^\s*IO depths\s*: ")
_ISSUED = re.compile(r"^\s*issued rwts?\s*: total=(?P<total>[\d,]{1,80}) short=(?P<short>[\d,]+)")
_OLD_ISSUED = re.compile(r"^\s*issued\s*: total=r=(?P<r>\d{1,18})/w=(?P<w>\d{1,18})/d=(?P<d>\d{1,18})")
_GROUP_HEAD = re.compile(r"^\s*Run status group (?P<group>\d+) \(all jobs\):")
_NEW_GROUP = re.compile(
    r"^\s*(?P<direction>READ|WRITE|TRIM|MIXED): bw=(?P<bw>[^\s,(]+?)/s(?: *\((?P<decimal>[^()\s]*)\))?"
)
_GROUP_IO = re.compile(r"\bio=(?P<io>[^\s,(]+)(?: {0,2}\((?P<decimal>[^()\s]{1,20})\))?")
_GROUP_RUN = re.compile(r"\brun=(?P<low>\d{1,15})-(?P<high>\d{1,15})msec")
_OLD_GROUP = re.compile(
    r"^\s*(?P<direction>READ|WRITE|TRIM|MIXED): io=(?P<io>[^\s,]+), aggrb=(?P<bw>[^\s,]+?)/s, "
    r".*?maxt=\s*(?P<runtime>\d{1,15})msec"
)
_DISK = re.compile(
    r"^\s*(?P<name>[\w!.-]+): ios=(?P<reads>\d{1,18})/(?P<writes>\d{1,18})"
    r"(?:, sectors=(?P<rs>\d{1,18})/(?P<ws>\d{1,18}))?,? merge=(?:(?P<rm>\d{1,18})/(?P<wm>\d{1,18}))?"
)
_SHARES = re.compile(r"^\s*lat\s*\((?P<unit>nsec|usec|msec)\)\s*: (?=\s*(?:>=)?\d+=)")
_SHARE = re.compile(r"(?P<least>>=)?(?P<bound>\d{1,6})=\s*(?P<percent>\d{1,3}\.\d+)%")
_UTILISATION = re.compile(r"\butil=\s*(\d+(?:\.\d+)?)%")
_VERSION = re.compile(r"^\s*(?:<[^>\s]+>\s*)?(fio[- ]v?\d+\.\d+[\w.-]*)\s*$")
_WORDS = re.compile(r"\W{0,9}[A-Za-z]{3,20}:? (?:[^\s=]{1,40} ){0,9}[^\s=]{1,40}\s{0,9}$")
_FILLER = re.compile(
    r"^\s*+(?:lat \((?:nsec|usec|msec|sec)\)\s*: .*=|submit\s*:|complete\s*:|latency\s*:|fsync/fdatasync/"
    r"|Disk stats|Starting \d|Jobs: |\.\.\.$|[(\[]\s*\.\.\.\s*[)\]]|Description\s*:|errors\s*:|zone resets|ss\s*:|```"
    r"|.*: Laying out IO file|[\"{}\]])"
)
_UNIT_NS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}
_PRINTED = re.compile(
    r"pid=\d+: [A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]?\d) "
    r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d) (?P<year>\d{4})"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SECTOR = 512


class RateLine(NamedTuple):
    """A direction's rate. `kilo`: the base (1000 or 1024) of units without an `i` in the lines that follow."""

    direction: str
    values: Direction
    kilo: int


def job(line: str) -> tuple[PartOutcome, str] | None:
    """Parse the first line of a job's block. Return the job and its process ID ("" if not printed).

    Like most functions in this module, it returns None for any other line.
    """
    match = _JOB.match(line) if "(groupid=" in line else None
    if match is None:
        return None
    part = PartOutcome(
        name=match["name"],
        error=int(match["error"]),
        clones=max(1, int(match["jobs"])),
        host=match["host"],
        group=int(match["group"]),
    )
    return part, match["pid"] or ""


def header(line: str) -> Job | None:
    """Parse the line that fio prints for a job before starting it, with the job's main options."""
    match = _HEADER.match(line) if "(g=" in line else None
    if match is None:
        return None
    options = {"rw": match["rw"], "ioengine": match["engine"], "iodepth": match["iodepth"]}
    sizes = attempt(_header_sizes, match["bs"])
    return Job(match["name"], {**options, "bs": sizes} if sizes else options)


def with_group(announced: Job, line: str, before: str) -> Job:
    """Return the job of a header line, with `new_group` if it is in another group than that of the header before."""
    groups = [match["group"] for match in map(_HEADER.match, (before, line)) if match is not None]
    is_new = len(groups) > 1 and groups[0] != groups[1]
    return replace(announced, options={**announced.options, "new_group": "1"}) if is_new else announced


def rate(line: str) -> RateLine | None:
    """Parse a direction's rate. Values in an unknown format, such as the localized `30,1k`, become None."""
    line = _MARK.sub("", line) if "=" in line else line
    for pattern, kilo in ((_NEW_RATE, 1000), (_OLD_RATE, 1024)):
        match = pattern.match(line)
        if match is not None:
            moved = attempt(partial(amount, kilo=kilo), match["io"])
            bandwidth, lasted_ms = _bandwidth(match, kilo), int(match["runtime"]) if match["runtime"] else None
            values = Direction(
                io_bytes=None if moved is None else whole_size(match["io"], moved, bandwidth, lasted_ms),
                bandwidth_bytes=bandwidth,
                iops=attempt(number, match["iops"] or ""),
                runtime_ms=lasted_ms,
            )
            is_known = (values.io_bytes, values.bandwidth_bytes, values.iops) != (None, None, None)
            return RateLine(match["direction"], values, kilo) if is_known else None
    return _cut_off_rate(line)


def _cut_off_rate(line: str) -> RateLine | None:
    """Parse a fio 3 rate line that was cut off, or return None if the IOPS may have lost digits."""
    match = _CUT_RATE.match(line)
    if match is None or not (match["bw"] or _ENDS_HERE.match(line, match.end("iops"))):
        return None
    bandwidth, iops = _bandwidth(match, 1000) if match["bw"] else None, attempt(number, match["iops"])
    if iops is None or (match["bw"] and bandwidth is None):
        return None
    return RateLine(match["direction"], Direction(iops=iops, bandwidth_bytes=bandwidth), 1000)


def latency(line: str) -> tuple[str, Latency] | None:
    """Parse a latency line. Return its kind (slat, clat, lat or sync) and its values."""
    match = _LATENCY.match(line)
    values = _four(match, _UNIT_NS[match["unit"]]) if match else None
    return (match["kind"], Latency(mean_ns=values[2])) if match and values else None


def percentile_head(line: str) -> tuple[str, float] | None:
    """Parse the line above percentiles. Return the kind of latency and the unit in nanoseconds."""
    match = _PERCENTILE_HEAD.match(line)
    return (match["kind"], _UNIT_NS[match["unit"]]) if match else None


def percentiles(line: str) -> dict[float, float]:
    """Return percentiles keyed by percentage, in the unit stated on the line above. Empty if the line has none."""
    if not line.lstrip().startswith("|"):
        return {}
    found = ((float(percent), float(value)) for percent, value in _PERCENTILES.findall(line))
    return {percent: value for percent, value in found if value < LARGEST}


def sampled_rate(line: str, kilo: int | None) -> Direction | None:
    """Parse sampled bandwidth.

    If `kilo` is None, units are powers of 1024 for fio 2, which prints `KB` or a space after the unit, and otherwise
    powers of 1000.
    """
    match = _SAMPLED_RATE.match(line)
    if match is None:
        return None
    is_old = re.search(r"\(\s*[KMG]B\s+/s", line) is not None or match["unit"] == "KB"
    values = _four(match, amount("1" + match["unit"], kilo or (1024 if is_old else 1000)))
    if values is None:
        return None
    low, high, mean, deviation = values
    return Direction(
        bandwidth_min_bytes=low,
        bandwidth_max_bytes=high,
        bandwidth_mean_bytes=mean,
        bandwidth_stddev_bytes=deviation,
        samples=_samples(match),
    )


def sampled_iops(line: str) -> Direction | None:
    """Parse sampled IOPS."""
    match = _SAMPLED_IOPS.match(line)
    values = _four(match, 1.0) if match else None
    return Direction(iops_mean=values[2], samples=_samples(match)) if match and values else None


def _four(match: re.Match[str], factor: float) -> tuple[float, float, float, float] | None:
    """Return minimum, maximum, mean and standard deviation, times `factor`, or None if any of them is invalid."""
    try:
        low, high, mean, deviation = (number(match[name]) * factor for name in ("min", "max", "avg", "stdev"))
    except ValueError:
        return None
    return low, high, mean, deviation


def _samples(match: re.Match[str]) -> int | None:
    return int(match["samples"]) if match["samples"] else None


def cpu(line: str) -> tuple[float, float, int | None] | None:
    """Return user and system CPU usage in percent, and the number of context switches (None if cut off)."""
    match = _CPU.match(line)
    if match is None:
        return None
    return float(match["user"]), float(match["system"]), int(match["switches"]) if match["switches"] else None


def is_depths(line: str) -> bool:
    """True if the line contains the distribution of queue depths, near the end of a job's block."""
    return _DEPTHS.match(line) is not None


def issued(line: str) -> tuple[dict[str, int], int | None] | None:
    """Return the numbers of I/Os, keyed by direction, and the number of syncs (None if fio does not print it here)."""
    match = _ISSUED.match(line)
    if match is not None:
        counts = [int(part) for part in match["total"].split(",") if part]
        return dict(zip(("read", "write", "trim"), counts, strict=False)), counts[3] if len(counts) > 3 else None
    match = _OLD_ISSUED.match(line)
    return ({"read": int(match["r"]), "write": int(match["w"]), "trim": int(match["d"])}, None) if match else None


def group_head(line: str) -> int | None:
    """Return the number of the group whose totals follow, or None if the line is not a group header."""
    match = _GROUP_HEAD.match(line)
    return int(match["group"]) if match and len(match["group"]) < 7 else None


def group(line: str) -> RateLine | None:
    """Parse one direction's totals below `Run status group`. Values that were cut off become None."""
    for read, pattern in ((_old_group, _OLD_GROUP), (_new_group, _NEW_GROUP)):
        match = pattern.match(line)
        values = attempt(partial(read, match), line) if match else None
        if match and values:
            return RateLine(match["direction"].lower(), values, 1000)
    return None


def _old_group(match: re.Match[str], _line: str) -> Direction:
    return Direction(
        io_bytes=round(amount(match["io"], 1024)),
        bandwidth_bytes=amount(match["bw"], 1024),
        runtime_ms=int(match["runtime"]),
    )


def _new_group(match: re.Match[str], line: str) -> Direction:
    moved, lasted = _GROUP_IO.search(line), _GROUP_RUN.search(line)
    bandwidth, lasted_ms = stated_bandwidth(match, 1000), int(lasted["high"]) if lasted else None
    size = attempt(partial(amount, kilo=1000), moved["io"]) if moved else None
    if moved and size is not None and bandwidth and lasted_ms:
        size = agreeing_size(size, moved["decimal"], bandwidth * lasted_ms / 1000)
    return Direction(
        bandwidth_bytes=bandwidth,
        io_bytes=whole_size(moved["io"], size, bandwidth, lasted_ms) if moved and size is not None else None,
        runtime_ms=lasted_ms,
    )


def disk(line: str) -> DiskUtilization | None:
    """Parse a disk's statistics from a line below `Disk stats`."""
    match = _DISK.match(line)
    if match is None:
        return None
    busy = _UTILISATION.search(line)
    return DiskUtilization(
        name=match["name"],
        read_requests=int(match["reads"]),
        write_requests=int(match["writes"]),
        utilisation_percent=float(busy[1]) if busy else None,
        read_bytes=int(match["rs"]) * _SECTOR if match["rs"] else None,
        write_bytes=int(match["ws"]) * _SECTOR if match["ws"] else None,
        read_merges=int(match["rm"]) if match["rm"] else None,
        write_merges=int(match["wm"]) if match["wm"] else None,
    )


def has_components(line: str) -> bool:
    """True if the disk's statistics already include those of its component disks, which follow on the next lines."""
    return "aggrios=" in line


def latency_shares(line: str) -> dict[float, float]:
    """Return the percentage of I/Os per latency bin, keyed by the bin's upper bound in ns. Empty without bins."""
    match = _SHARES.match(line)
    if match is None:
        return {}
    unit_ns = _UNIT_NS[match["unit"]]
    return {
        float("inf") if share["least"] else int(share["bound"]) * unit_ns: float(share["percent"])
        for share in _SHARE.finditer(line)
    }


def version(line: str) -> str | None:
    match = _VERSION.match(line)
    return match[1] if match else None


def is_filler(line: str) -> bool:
    """True for ellipses and similar lines, and for lines of fio output without any value that poolproof uses."""
    return _FILLER.match(line) is not None


def has_words(line: str) -> bool:
    """True for a line of words, such as `writing to /dev/sdb`, but not for the rest of a wrapped line of values."""
    return _WORDS.match(line) is not None


def _bandwidth(match: re.Match[str], kilo: int) -> float | None:
    return attempt(lambda _: stated_bandwidth(match, kilo), "")


def _header_sizes(text: str) -> str:
    """Convert `(R) 4096B-4096B, …` or `4K-4K/…` to a value of `bs=` in bytes, or to an empty string if sizes vary."""
    ranges = re.findall(r"([\d.]+\s?[kKMG]?i?B?)-([\d.]+\s?[kKMG]?i?B?)", text)
    spans = [[round(amount(f"{size.removesuffix('B')}B", 1024)) for size in pair] for pair in ranges]  # fio 2 has no B
    if any(low != high for low, high in spans):
        return ""
    lows = [str(low) for low, _ in spans]
    return lows[0] if len(set(lows)) == 1 else ",".join(lows)


def printed_at(line: str) -> datetime | None:
    """Return the time that fio prints at the end of the first line of a job's block."""
    match = _PRINTED.search(line)
    if match is None or match["month"] not in _MONTHS:
        return None
    year, day, hour, minute, second = (int(match[name]) for name in ("year", "day", "hour", "minute", "second"))
    try:
        return datetime(year, 1 + _MONTHS.index(match["month"]), day, hour, minute, second)
    except ValueError:
        return None
