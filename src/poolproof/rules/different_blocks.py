"""Computes how many of a job's writes go to different blocks, from the distribution of its offsets.

RAM replaces a block that is written again before it reaches a disk, so the disks receive each of these blocks once.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import ceil, log, pow

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import has_no_map, is_skewed
from poolproof.rules.fio_job import fio_job

_RANKS = 10_000
_ZIPF, _PARETO = 1.1, 0.2  # fio's defaults
_LARGEST_EXPONENT = 20.0
_STEPS = 400

Mass = tuple[float, float]
"""A part of the file: its share of the writes, and its number of blocks."""


def different_share(job: LoadPart, writes: float) -> float:
    """Return an upper bound on the fraction of this many writes in a row that go to different blocks.

    Sequential writes repeat a block only when they start over at the beginning of the file or of a zone. The same is
    true of random writes if fio records which blocks it has written, unless it writes several times to each offset.
    Other random writes repeat blocks by chance, and more often if their offsets are unevenly distributed.
    """
    return min(_share_of_zones(job, writes), _share_of_file(job, writes), _share_of_offsets(job, writes))


def zone_passes(job: LoadPart) -> float:
    """Return the number of times that a job covers each zone before it skips to the next one, or 1 without zones.

    With zonemode=strided, fio moves zonesize bytes within zonerange bytes. Old releases without the option zonemode do
    the same if zonesize is set.
    """
    fio = fio_job(job)
    each, span = fio.number("zonesize"), fio.number("zonerange")
    is_strided = (fio.text("zonemode") or "strided").strip() == "strided"
    return each / span if is_strided and each and span else 1.0


def _share_of_zones(job: LoadPart, writes: float) -> float:
    """Return an upper bound on the fraction of different blocks, based only on the repeated passes over each zone."""
    passes, span = zone_passes(job), fio_job(job).number("zonerange")
    if passes <= 1 or not span:
        return 1.0
    in_zone = max(1, span // job.block_bytes)
    each = passes * in_zone
    is_in_step = writes % each == 0 or each % writes == 0
    zones = ceil(writes / each) + (0 if is_in_step else 1)  # the writes may begin and end in the middle of a zone
    return min(1.0, zones * in_zone / writes)


def _share_of_offsets(job: LoadPart, writes: float) -> float:
    """Return an upper bound based only on writes that fio repeats at the same offset (`rw_sequencer=identical`).

    For example, `rw=randwrite:8` then writes eight times to each offset.
    """
    is_same = (fio_job(job).text("rw_sequencer") or "").strip() == "identical"
    return min(1.0, ceil(writes * job.random_share) / writes) if is_same and job.is_random else 1.0


def _share_of_file(job: LoadPart, writes: float) -> float:
    blocks = max(1, (job.size_bytes or 0) // job.block_bytes)
    if not (is_skewed(job) or has_no_map(job)):
        passes = (job.io_size_bytes or 0) / job.size_bytes if job.size_bytes else 0.0
        starts_over = job.time_based or passes > 1 or (fio_job(job).number("loops") or 1) > 1
        return min(1.0, blocks / writes) if starts_over else 1.0
    different = sum(count * (1 - pow(1 - min(1.0, mass / count), writes)) for mass, count in _masses(job, blocks))
    return min(1.0, different / writes)


def _masses(job: LoadPart, blocks: int) -> Sequence[Mass]:
    """Return the parts of the file between which the frequency of writes differs.

    Within a part, all blocks are assumed to be written equally often. In fact, some are written more often, so fewer
    blocks are different. This is also true of `normal`, for which the whole file is a single part.
    """
    kind, _, values = (fio_job(job).text("random_distribution") or "random").partition(":")
    kind, number = kind.strip(), _number(values.partition(":")[0])
    if kind == "zipf" and 0 < (theta := number or _ZIPF) < _LARGEST_EXPONENT:
        return _zipf(theta, blocks)
    if kind == "pareto" and 0 < (h := number or _PARETO) < 1:
        power = log(1 - h) / log(h)
        return _between(_edges(blocks), lambda edge: pow(edge / blocks, power))
    if kind in ("zoned", "zoned_abs") and (zones := list(_zones(kind, values, job, blocks))):
        return zones
    return [(1.0, blocks)]


def _zipf(theta: float, blocks: int) -> list[Mass]:
    """Return the most frequent blocks one by one, and the others as a single part."""
    weights = [pow(rank, -theta) for rank in range(1, min(blocks, _RANKS) + 1)]
    # a lower bound for the sum of the other weights: the integral from the next rank to the last
    first, last = len(weights) + 1.0, max(blocks, len(weights)) + 1.0
    rest = log(last / first) if theta == 1 else (pow(last, 1 - theta) - pow(first, 1 - theta)) / (1 - theta)
    total = sum(weights) + rest
    others = [(rest / total, float(blocks - len(weights)))] if blocks > len(weights) else []
    return [*((weight / total, 1.0) for weight in weights), *others]


def _edges(blocks: int) -> list[int]:
    """Return edges of parts of the file that become smaller towards both ends, down to single blocks."""
    sizes = [pow(blocks, index / _STEPS) for index in range(_STEPS + 1)]
    return sorted({0, blocks, *map(int, sizes), *(blocks - int(size) for size in sizes)})


def _between(edges: Sequence[int], share_below: Callable[[int], float]) -> list[Mass]:
    """Return the parts between the edges. `share_below`: returns the share of the writes that are below a block."""
    return [(share_below(end) - share_below(start), float(end - start)) for start, end in pairwise(edges)]


def _zones(kind: str, values: str, job: LoadPart, blocks: int) -> Iterator[Mass]:
    """Yield fio's zones: `PERCENT_OF_WRITES/PERCENT_OF_FILE`, or for zoned_abs `PERCENT_OF_WRITES/SIZE`."""
    for zone in values.split(",")[-1].split(":"):
        percent, _, size = zone.partition("/")
        share = _number(percent)
        if kind == "zoned":
            of_file = _number(size)
            count = None if of_file is None else blocks * of_file / 100
        else:
            in_bytes = fio_job(job).bytes_in("size", size)
            count = None if in_bytes is None else in_bytes / job.block_bytes
        if share is not None and count is not None and 0 < share <= 100 and count > 0:
            yield share / 100, max(1.0, min(count, blocks))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
