"""Builders for invented posts that look real: output of several fio releases, with numbers that are consistent."""

import json

MIB = 1024**2


def count(value: float) -> str:
    """Return a count in the form in which fio prints it, for example `950` or `24.4k`."""
    return f"{value:.0f}" if value < 10_000 else f"{value / 1000:.1f}k" if value < 100_000 else f"{value / 1000:.0f}k"


def header(name: str, rw: str, bs: int = 4096, engine: str = "libaio", depth: int = 1, *, old: bool = False) -> str:
    """Return the lines that precede the results. fio 2 formats block sizes as `4K-4K/4K-4K/4K-4K`."""
    size = f"{bs // 1024}K-{bs // 1024}K"
    span = f"{size}/{size}/{size}" if old else f"(R) {bs}B-{bs}B, (W) {bs}B-{bs}B, (T) {bs}B-{bs}B"
    version = "fio-2.16" if old else "fio-3.28"
    return f"{name}: (g=0): rw={rw}, bs={span}, ioengine={engine}, iodepth={depth}\n{version}\nStarting 1 process\n"


def block(
    name: str,
    kind: str,
    iops: float,
    seconds: float = 60.0,
    bs: int = 4096,
    p50_us: float | None = None,
    p10_us: float | None = None,
    slat_us: float | None = None,
    clat_us: float | None = None,
    old: bool = False,
    group: int = 0,
    jobs: int = 1,
) -> str:
    """Return the results of a job or group. The mean latency is `clat_us`, or otherwise the median."""
    moved, rate = iops * bs * seconds, iops * bs
    lines = [f"{name}: (groupid={group}, jobs={jobs}): err= 0: pid=4711: Thu Aug 13 17:56:57 2020"]
    milliseconds = round(seconds * 1000)
    if old:
        runt = f"iops={iops:.0f}, runt={milliseconds:>6}msec"
        lines.append(f"  {kind:<5}: io={moved / MIB:.1f}MB, bw={rate / 1024:.0f}KB/s, {runt}")
    else:
        lines.append(
            f"  {kind}: IOPS={count(iops)}, BW={rate / MIB:.1f}MiB/s ({rate / 1e6:.1f}MB/s)"
            f"({moved / MIB:.0f}MiB/{milliseconds}msec)"
        )
    mean = clat_us if clat_us is not None else p50_us
    if slat_us is not None:
        lines.append(f"    slat (usec): min=1, max=900, avg={slat_us:.2f}, stdev=10.00")
    if mean is not None:
        lines.append(f"    clat (usec): min=1, max=9000, avg={mean:.2f}, stdev=10.00")
        lines.append(f"     lat (usec): min=2, max=9001, avg={mean + (slat_us or 0):.2f}, stdev=10.00")
    if p50_us is not None:
        low = p10_us if p10_us is not None else p50_us
        lines.append("    clat percentiles (usec):")
        lines.append(f"     |  1.00th=[{low:5.0f}],  5.00th=[{low:5.0f}], 10.00th=[{low:5.0f}], 20.00th=[{low:5.0f}],")
        lines.append(f"     | 50.00th=[{p50_us:5.0f}], 99.00th=[{3 * p50_us:5.0f}], 99.99th=[{9 * p50_us:5.0f}]")
    total = round(iops * seconds)
    pair = f"{total},0" if kind == "read" else f"0,{total}"
    lines.append(f"     issued rwts: total={pair},0,0 short=0,0,0,0 dropped=0,0,0,0")
    return "\n".join(lines) + "\n"


def disks(
    name: str,
    reads: int = 0,
    writes: int = 0,
    read_merges: int = 0,
    write_merges: int = 0,
    sectors: tuple[int, int] | None = None,
) -> str:
    """Return the lines with the statistics of one disk.

    `sectors`: the sectors read and written, which fio prints since 3.36.
    """
    shown = f", sectors={sectors[0]}/{sectors[1]}" if sectors else ""
    counts = f"ios={reads}/{writes}{shown}, merge={read_merges}/{write_merges}"
    return f"\nDisk stats (read/write):\n  {name}: {counts}, ticks=1/1, in_queue=2, util=93.10%\n"


def document(name: str, kind: str, iops: float, options: dict[str, str], seconds: float = 30.0, bs: int = 4096) -> str:
    """Return fio's JSON output for one job."""
    moved = int(iops * bs * seconds)
    values = {
        "io_bytes": moved, "bw_bytes": int(iops * bs), "iops": iops, "runtime": int(1000 * seconds),
        "total_ios": int(iops * seconds),
    }  # fmt: skip
    job = {"jobname": name, "groupid": 0, "error": 0, "job options": {"name": name, **options}, kind: values}
    return json.dumps({"fio version": "fio-3.33", "timestamp": 1700000000, "jobs": [job]}, indent=2)
