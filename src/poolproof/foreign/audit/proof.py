"""The `poolproof run` command that would prove a result: the same I/O, with the disks' counters."""

import shlex
from collections.abc import Iterator

from poolproof.campaign.flags import parse_workload_flag
from poolproof.errors import PoolproofError
from poolproof.foreign.audit.formats.protocol import ForeignResult
from poolproof.load.fio.load import job_of
from poolproof.load.model import LoadPart
from poolproof.rules.model import Case
from poolproof.units import canonical_size

_OPTIONS = (
    "rw", "bs", "size", "io_size", "iodepth", "numjobs", "direct", "ioengine", "fsync", "fdatasync", "sync",
    "end_fsync", "rwmixread", "refill_buffers", "norandommap", "randrepeat",
)  # fmt: skip
_SPECIAL = frozenset(" |()$:,{}'\"\\")
_UNKNOWN_FOLDER = "/path/on/the/disk"


def proof_of(case: Case, foreign: ForeignResult | None) -> str | None:
    """Return the command; None if the load is unknown, has several parts, or has options that a campaign refuses."""
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
    """Yield fio's options for the I/O of another program."""
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


def _folder(part: LoadPart) -> str:
    """Return the folder of the job's files; a placeholder if it is unknown, or if the job uses a device."""
    job = job_of(part)
    path = job.directory or (job.filename or "").rpartition("/")[0]
    is_plain = path.startswith("/") and not path.startswith("/dev") and not _SPECIAL.intersection(path)
    return path if is_plain else _UNKNOWN_FOLDER
