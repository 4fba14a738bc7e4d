"""Measure twelve cells with bench-fio and with poolproof: `python -m benchmarks.bench_fio_peer [--seconds S]`.

bench-fio (from the package fio-plot) runs each cell once for a fixed time, 60 s by default. poolproof measures until
each result is precise to within 3%, in trials of at most that length. Both use the same queue depth, file size
and direct I/O, on ext4 on a new emulated SSD. The speed of this SSD does not change over time, so any difference comes
from the programs.

With `--dir DIR`, both programs measure in that directory instead, and the speed of its disk may change.

Prints the time that each program took, and the difference between the results for each cell.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.fio_plot import VERSION, installed
from benchmarks.own_program import poolproof
from benchmarks.standing_layout import standing
from poolproof import process
from poolproof.campaign.yaml import parse_campaign
from poolproof.cli.signals import end_in_order
from poolproof.errors import PoolproofError
from poolproof.units import parse_size

MODES = ("read", "randread", "write", "randwrite")
BLOCKS = ("4k", "64k", "1m")
_DEPTH = 4
_SIZE = "256m"
_SPARE_S = 60.0
_MOST_TRIALS = 6
_MODEL = "sata-ssd"
_DISK_SIZE = "2G"
_LAYOUT = "ssd | ext4"
_STANDING = f"""
name: peer
devices: {{ssd: {{emulate: {_MODEL}, size: {_DISK_SIZE}}}}}
layouts: {{here: {_LAYOUT}}}
workloads: {{none: {{rw: read, size: {_SIZE}}}}}
"""

ModeAndSize = tuple[str, str]
"""An access mode and a block size."""


@dataclass(frozen=True)
class Measured:
    """The time that one program took, and its results.

    `iops`: I/Os per second, keyed by cell.
    `half`: half the width of the confidence interval, for cells for which the program prints one.
    """

    took_s: float
    fio_s: float
    iops: Mapping[ModeAndSize, float]
    half: Mapping[ModeAndSize, float]
    words: Mapping[ModeAndSize, str]


def by_bench_fio(program: Path, target: Path, out: Path, seconds: int) -> Measured:
    """Run the twelve cells with bench-fio."""
    argv = [str(program), "-d", str(target), "-t", "directory", "-s", _SIZE, "-o", str(out), "--destructive", "--quiet"]
    argv += ["-b", *BLOCKS, "-m", *MODES, "--iodepth", str(_DEPTH), "--numjobs", "1", "--time-based"]
    argv += ["--runtime", str(seconds)]
    begun = time.monotonic()
    process.run(argv, timeout_s=len(MODES) * len(BLOCKS) * (seconds + _SPARE_S))
    took_s = time.monotonic() - begun
    reports = {(mode, bs): _report(out, mode, bs) for mode in MODES for bs in BLOCKS}
    fio_s = sum(report["jobs"][0]["job_runtime"] for report in reports.values()) / 1000
    return Measured(took_s, fio_s, {place: _iops(report) for place, report in reports.items()}, {}, {})


def _report(out: Path, mode: str, block: str) -> dict[str, Any]:
    (path,) = [path for path in out.rglob(f"{mode}-{_DEPTH}-1.json") if block in path.parts]
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _iops(report: Mapping[str, Any]) -> float:
    return sum(float(job[way]["iops"]) for job in report["jobs"] for way in ("read", "write"))


def by_poolproof(layout: Sequence[str], out: Path, seconds: int) -> Measured:
    """Run the same cells with poolproof.

    `layout`: the command-line options that name the layout.

    Raises:
        PoolproofError: poolproof printed nothing.
    """
    modes, blocks = ",".join(MODES), ",".join(BLOCKS)
    argv = ["run", *layout]
    argv += ["--workload", f"grid:rw={{{modes}}},bs={{{blocks}}},iodepth={_DEPTH},size={_SIZE}"]
    argv += ["--until", "3%", "--max", f"{seconds}s", "--min", f"{min(3, seconds)}s", "--out", str(out), "--json"]
    limit_s = _MOST_TRIALS * len(MODES) * len(BLOCKS) * (seconds + _SPARE_S)
    begun = time.monotonic()
    code, printed = poolproof(argv, limit_s, keep=True)
    took_s = time.monotonic() - begun
    if not printed:
        raise PoolproofError(f"poolproof exited with {code} and measured nothing")
    return printed_by_poolproof(json.loads(printed), took_s)


def printed_by_poolproof(printed: Mapping[str, Any], took_s: float) -> Measured:
    """Return the results and their confidence intervals from the JSON object that poolproof printed.

    A rate in bytes per second is converted to I/Os per second, because bench-fio prints those.
    """
    cells = {_place(cell["workload"]): cell for cell in printed["cells"]}
    return Measured(
        took_s,
        printed["seconds"]["fio"],
        {place: cell["figure"]["mean"] / _unit(place, cell) for place, cell in cells.items() if cell["figure"]},
        {
            place: _half(cell["figure"])
            for place, cell in cells.items()
            if cell["figure"] and cell["figure"]["low"] is not None
        },
        {place: _word(cell) for place, cell in cells.items()},
    )


def _unit(place: ModeAndSize, cell: Mapping[str, Any]) -> float:
    return parse_size(place[1]) if cell["metric"] == "bandwidth" else 1.0


def _place(workload: str) -> ModeAndSize:
    """Return the access mode and the block size in a name such as `grid[rw=read,bs=4k]`."""
    options = dict(part.split("=") for part in workload.partition("[")[2].rstrip("]").split(","))
    return options["rw"], options["bs"]


def _half(interval: Mapping[str, float]) -> float:
    return (interval["high"] - interval["low"]) / 2 / interval["mean"]


def _word(cell: Mapping[str, Any]) -> str:
    precision = (
        "precise" if cell["settled"] else f"not converged ({', '.join(each['name'] for each in cell['unsettled'])})"
    )
    return f"{precision}, {cell['trials']} trials, {cell['verdict']}"


def lines(peer: Measured, ours: Measured) -> Iterator[str]:
    """Yield the lines of the table, and a line with each program's total time."""
    yield "| cell | bench-fio, IOPS | poolproof, IOPS | ± | difference | poolproof says |\n|---|---|---|---|---|---|"
    for place, theirs in peer.iops.items():
        own = ours.iops.get(place)
        half = f"{ours.half[place]:.1%}" if place in ours.half else ""
        apart = "" if own is None else f"{own / theirs - 1:+.1%}"
        figure = "none" if own is None else f"{own:.0f}"
        yield f"| {' '.join(place)} | {theirs:.0f} | {figure} | {half} | {apart} | {ours.words.get(place, '')} |"
    yield f"\nbench-fio {VERSION}: {peer.took_s:.0f} s, {peer.fio_s:.0f} s of it fio"
    yield f"poolproof: {ours.took_s:.0f} s, {ours.fio_s:.0f} s of it fio: {peer.took_s / ours.took_s:.2f} times as fast"


def on_an_emulated_disk(program: Path, folder: Path, seconds: int) -> tuple[Measured, Measured]:
    """Run both programs, one after the other, each on a new emulated SSD. poolproof creates its own."""
    with standing(parse_campaign(_STANDING, "peer"), folder) as target:
        peer = by_bench_fio(program, target, folder / "peer", seconds)
    layout = ["--layout", f"here={_LAYOUT}", "--device", f"ssd=emulate:{_MODEL},{_DISK_SIZE}"]
    return peer, by_poolproof(layout, folder / "run", seconds)


def in_a_directory(program: Path, target: Path, folder: Path, seconds: int) -> tuple[Measured, Measured]:
    """Run both programs, one after the other, in a new folder inside the given directory."""
    with tempfile.TemporaryDirectory(prefix="bench-peer-", dir=target) as inside:
        peer = by_bench_fio(program, Path(inside), folder / "peer", seconds)
        return peer, by_poolproof(["--layout", f"here=dir {inside}"], folder / "run", seconds)


def main() -> int:
    """Measure with both programs. Return 1 if bench-fio can't be installed or the disk can't be created."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_fio_peer", description=__doc__)
    parser.add_argument(
        "--seconds", type=int, default=60, help="of each cell of bench-fio, and at most of a trial [60]"
    )
    parser.add_argument("--dir", type=Path, help="measure in this directory, not on an emulated SSD")
    asked = parser.parse_args()
    end_in_order()
    program = installed("bench-fio")
    if program is None:
        print(f"fio-plot {VERSION} cannot be installed here", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="bench-peer-", dir="/var/tmp") as folder:
        try:
            if asked.dir:
                both = in_a_directory(program, asked.dir, Path(folder), asked.seconds)
            else:
                both = on_an_emulated_disk(program, Path(folder), asked.seconds)
        except PoolproofError as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130
    print("\n".join(lines(*both)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
