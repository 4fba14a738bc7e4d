"""The `poolproof run` command that would prove a result: the same I/O, with the disks' counters."""

import math
import shlex
from collections.abc import Iterator

from poolproof.campaign.flags import parse_workload_flag
from poolproof.errors import PoolproofError
from poolproof.foreign.audit.formats.protocol import ForeignResult
from poolproof.load.fio.load import job_of
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction, Outcome
from poolproof.rules.model import Case
from poolproof.units import canonical_size

_OPTIONS = (
    "rw", "bs", "size", "io_size", "iodepth", "numjobs", "direct", "ioengine", "fsync", "fdatasync", "sync",
    "end_fsync", "rwmixread", "refill_buffers", "norandommap", "randrepeat",
)  # fmt: skip
_SPECIAL = frozenset(" |()$:,{}'\"\\")
_UNKNOWN_FOLDER = "/path/on/the/disk"
_SECTOR, _NEAR = 512, 0.05


def proof_of(case: Case, foreign: ForeignResult | None) -> str | None:
    """Return the command, or None if the load has several parts or uses options that a campaign refuses.

    If the load is unknown, the command does the I/O that can be inferred from the values: direction, block size and
    clones.
    """
    if not case.jobs:
        return _similar(case.outcome)
    if len(case.jobs) != 1:
        return None
    (part,) = case.jobs
    options = dict(_of_fio(part) if part.source is not None else _of_program(part, foreign))
    if "rw" not in options or any("$" in value or "," in value for value in options.values()):
        return None
    workload = ",".join(f"{name}={value}" for name, value in options.items())
    try:
        parse_workload_flag(workload)
    except PoolproofError:
        return None
    return shlex.join(["poolproof", "run", "--layout", f"dir {_folder(part)}", "--workload", workload])


def _of_fio(part: LoadPart) -> Iterator[tuple[str, str]]:
    given = job_of(part).options
    for name in _OPTIONS:
        if name in given:
            yield name, given[name] or "1"


def _of_program(part: LoadPart, foreign: ForeignResult | None) -> Iterator[tuple[str, str]]:
    """Yield the fio options that reproduce another program's I/O."""
    directions = "rw" if part.is_mixed else "read" if part.reads else "write" if part.writes else ""
    if not directions or part.block_bytes <= 0:
        return
    yield "rw", f"rand{directions}" if part.is_random else directions
    yield "bs", canonical_size(part.block_bytes).lower()
    if foreign is not None and foreign.size_bytes:
        yield "size", canonical_size(foreign.size_bytes).lower()
    if part.depth > 1:
        yield from (("ioengine", "libaio"), ("iodepth", str(part.depth)))
    if part.clones > 1:
        yield "numjobs", str(part.clones)
    if part.direct:
        yield "direct", "1"
    if part.writes and part.sync_every:
        yield "fsync", str(part.sync_every)
    elif part.writes and not part.direct:
        yield "end_fsync", "1"


def _similar(outcome: Outcome | None) -> str | None:
    """Return a command with a result's direction, block size and number of clones.

    Return None unless the result comes from a single job.

    The block size is 1 MiB if the values do not show it. If the result has no direction, as in dd's last line, the
    command reads and writes.
    """
    parts = [part for part in outcome.parts if part.directions] if outcome else []
    if len({part.name for part in parts}) != 1:
        return None
    directions = parts[0].directions
    order = "rand" if "rand" in parts[0].name.lower() else ""
    kinds = (
        ["rw"] if {"read", "write"} <= directions.keys() else [kind for kind in ("read", "write") if kind in directions]
    )
    options = f"bs={_block(next(iter(directions.values())))},direct=1"
    if (clones := sum(part.clones for part in parts)) > 1:
        options += f",numjobs={clones}"
    runs = [words for kind in kinds or ["read", "write"] for words in ("--workload", f"rw={order}{kind},{options}")]
    return shlex.join(["poolproof", "run", "--layout", f"dir {_UNKNOWN_FOLDER}", *runs])


def _block(direction: Direction) -> str:
    """Return the block size: the power of two that is close to bandwidth / IOPS, or 1 MiB if there is no such power."""
    if direction.iops and direction.bandwidth_bytes:
        size = direction.bandwidth_bytes / direction.iops
        power = 2 ** round(math.log2(size)) if size >= _SECTOR else 0
        if power and abs(size / power - 1) <= _NEAR:
            return canonical_size(power).lower()
    return "1m"


def _folder(part: LoadPart) -> str:
    """Return the folder of the job's files, or a placeholder if it is unknown or if the job uses a device."""
    job = job_of(part)
    path = job.directory or (job.filename or "").rpartition("/")[0]
    is_plain = path.startswith("/") and not path.startswith("/dev") and not _SPECIAL.intersection(path)
    return path if is_plain else _UNKNOWN_FOLDER
