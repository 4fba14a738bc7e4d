"""The tests of CrystalDiskMark, KDiskMark and tdeDiskMark, and the unit of their rates."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from poolproof.foreign.audit.formats.protocol import ForeignResult, outcome_of, values
from poolproof.load.model import LoadPart

_UNITS = (1e6, 1.024e6, 1.048576e6)
_LEAST_SLACK = 1e-3
_DECIMALS = re.compile(r"[.,](\d*)$")
_CRYSTAL = "CrystalDiskMark"
_MISSING_OF_CRYSTAL = ("whether the drive's own cache held the test file",)


@dataclass(frozen=True)
class DiskMarkTest:
    """A test of these programs. `side`: `read`, `write` or `mix`."""

    side: str
    is_random: bool
    block_bytes: int
    depth: int = 1
    threads: int = 1


def block_of(is_random: bool, number: str | None, unit: str | None, depth: int) -> int:
    """Return a test's block size in bytes.

    Before version 7, CrystalDiskMark does not print the block size of sequential tests: 1 MiB, or 128 KiB with a queue.
    """
    if number is None:
        return 128 * 1024 if depth > 1 and not is_random else 1024**2
    return max(1, int(number)) * 1024 ** (2 if (unit or "M").upper() == "M" else 1)


def rate_in_bytes(rate: float, iops: float | None, block: int, printed: tuple[str, str]) -> float:
    """Return a rate that the program calls MB/s in bytes per second.

    KDiskMark and tdeDiskMark divide fio's KiB/s by 1000. `MB/s` is read as such a unit only if IOPS × block size equals
    the rate in exactly one of the units. `printed`: the rate and the IOPS as printed, whose last digits are rounded.
    """
    if iops:
        slack = _LEAST_SLACK + _rounding(printed[0]) / rate + _rounding(printed[1]) / iops
        fitting = [unit for unit in _UNITS if abs(rate * unit / (iops * block) - 1) <= slack]
        if len(fitting) == 1:
            return rate * fitting[0]
    return rate * _UNITS[0]


def _rounding(printed: str) -> float:
    decimals = _DECIMALS.search(printed)
    return 0.5 / 10.0 ** (len(decimals[1]) if decimals else 0)


def measured(
    program: str,
    line: int,
    test: DiskMarkTest,
    *,
    rate_bytes: float | None,
    iops: float | None,
    microseconds: float | None = None,
) -> ForeignResult:
    """Return the result of one test."""
    kind, queue = test.side, test.depth * test.threads
    order = "random" if test.is_random else "sequential"
    name = f"{order} {kind} Q{test.depth} T{test.threads}"
    figures = values(bandwidth_bytes=rate_bytes, iops=iops, mean_ns=1000 * microseconds if microseconds else None)
    part = LoadPart(
        name,
        reads=kind != "write",
        writes=kind != "read",
        is_random=test.is_random,
        block_bytes=test.block_bytes,
        max_block_bytes=test.block_bytes,
        clones=test.threads,
        depth=test.depth,
        queue=queue,
        is_synchronous=test.depth == 1,
        direct=program == _CRYSTAL,
        syncs=kind != "read",
        averages_runs=program != _CRYSTAL,
    )
    outcome = outcome_of(program, name, {"mixed" if kind == "mix" else kind: figures})
    missing = _MISSING_OF_CRYSTAL if program == _CRYSTAL else (_missing(program),)
    return ForeignResult(program, line, line, outcome, (part,), missing=missing)


def with_same_file(found: Sequence[ForeignResult]) -> Iterator[ForeignResult]:
    """Yield the results of one run of the program, whose tests all use the same file.

    If its random reads at depth 1 show that the file is in RAM, this applies to the other reads as well. It also
    applies to the writes of CrystalDiskMark, which bypasses the file cache of Windows. Tests that occur twice belong to
    different disks.
    """
    names = [(part.name, part.block_bytes) for result in found for part in result.parts]
    random_reads = [result for result in found if all(part.is_random and part.queue == 1 for part in result.parts)]
    intervals = {
        result.line: 1e9 / values.iops
        for result in random_reads
        if (values := result.outcome.parts[0].read) is not None and values.iops
    }
    line, interval_ns = min(intervals.items(), key=itemgetter(1), default=(0, 0.0))
    words = f"line {line} shows {interval_ns / 1000:.3g} µs for each random read at depth 1"
    for result in found:
        is_read = result.outcome.parts[0].read is not None
        is_other = result.line != line if is_read else result.program == _CRYSTAL
        if line and is_other and len(set(names)) == len(names):
            yield replace(result, same_file_read=(interval_ns, words))
        else:
            yield result


def _missing(program: str) -> str:
    return f"whether {program} used O_DIRECT and flushed the page cache (its settings are not in the text)"
