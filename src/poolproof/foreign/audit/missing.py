"""What could not be judged because the source does not hold it, and what to say for it."""

from collections.abc import Iterator

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.external_counters import counted_nothing
from poolproof.load.fio.find import FoundResult
from poolproof.rules.model import Case
from poolproof.rules.reported import ReportedDirection, parts

_NOTHING_COUNTED = (
    "whether the disks did anything: fio's disk statistics are all 0, as after a run out of RAM or of a fraction of a "
    "second, and as of counters that do not count (NVMe multipath, zvols of OpenZFS 2.0)"
)


def missing_of(found: FoundResult, case: Case, context: Context) -> tuple[str, ...]:
    """Things that are not known, the most important first; each fits after `not known:`."""
    return (*_of_the_job(found), *_of_the_figures(found), *_of_the_machine(case, context))


def _of_the_job(found: FoundResult) -> Iterator[str]:
    if found.made is None:
        yield "the command or job: direct, size, files, depth, engine"
    elif found.made.origin == "header":
        yield "the command: of direct, size and files fio's own line says nothing"
    elif found.made.origin == "printed options":
        yield "the command: switches without a value, such as refill_buffers, are not printed"
    variables = sorted({name for job in _jobs(found) for name, value in job.items() if "$" in value})
    if variables:
        yield f"what the variables in {', '.join(variables)} stood for"


def _jobs(found: FoundResult) -> list[dict[str, str]]:
    return [dict(job.options) for job in found.made.jobs.jobs] if found.made else []


def _of_the_figures(found: FoundResult) -> Iterator[str]:
    if found.is_cut_off:
        yield "what came after the place where the output is cut off"
    every = list(parts(found.result))
    if any(part.figures.io_bytes is None for part in every):
        yield "how many bytes were moved"
    if any(part.figures.runtime_ms is None for part in every):
        yield "how long it ran"
    if every and not any(_has_latency(part) for part in every):
        yield "latencies"
    yield from found.result.notes
    if counted_nothing(found.result):
        yield _NOTHING_COUNTED
    if not every and not any(job.error for job in found.result.parts):
        yield "rates and bytes"


def _has_latency(part: ReportedDirection) -> bool:
    return any(latency and latency.mean_ns for latency in (part.figures.lat, part.figures.clat)) or bool(part.median_ns)


def _of_the_machine(case: Case, context: Context) -> Iterator[str]:
    """What flags would sharpen."""
    asked = []
    if context.file_system is None:
        asked.append(("the file system", "--fs"))
    if context.ram_bytes is None:
        asked.append(("RAM", "--ram"))
    if case.target is None or not (case.target.ceiling_read_bytes_per_s or case.target.ceiling_write_bytes_per_s):
        asked.append(("the disks", "--devices"))
    if asked:
        yield f"{', '.join(name for name, _ in asked)} ({', '.join(flag for _, flag in asked)})"
    if case.evidence is None:
        yield "what the disks themselves counted"
