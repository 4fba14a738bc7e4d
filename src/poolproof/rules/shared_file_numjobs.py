"""Several jobs that access the same bytes of one file."""

from collections.abc import Callable, Iterable

from poolproof.load.model import Load, LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.flow import Flow, cold_reads, writes
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.path import all_go_past_ram, may_end_in_ram
from poolproof.rules.reproduction import script
from poolproof.units import canonical_size

_NEAR = 0.2
_MOST_PARTS = 100


def _fix(case: Case) -> str:
    """Return the two possible fixes, with sizes if all sections have the same size."""
    sizes = {job.size_bytes for job in case.load.parts}
    size = next(iter(sizes))
    if len(sizes) > 1 or size is None or size < case.load.sharers:
        return (
            "directory= instead of filename= (a file per job), or offset_increment= so that each job has its own part"
        )
    part = canonical_size(_round_down(size // case.load.sharers)).lower()
    return f"directory= instead of filename= (a file per job), or offset_increment={part} size={part}"


def _round_down(size_bytes: int) -> int:
    """Round down to whole MiB, or to whole 4 KiB below 1 MiB: both are multiples that O_DIRECT accepts."""
    unit = 1024**2 if size_bytes >= 1024**2 else 4096
    return max(size_bytes // unit * unit, 1)


def _in_job(case: Case) -> Iterable[Finding]:
    sharers = _sharers(case, lambda _job: True)
    if sharers < 2:
        return
    by_writers = _written(case, sharers)
    if not (case.cold or by_writers):
        return
    verb = "write" if by_writers else "read"
    in_step = _sharers(case, _walks_forward) > 1
    order = "start at the same offset" if in_step else "sometimes access the same blocks"
    yield Finding(
        rule="shared-file-numjobs",
        effect="suspects" if in_step else "notes",
        message=f"{sharers} jobs {verb} the same bytes of one file and {order}: RAM can serve all but one of them, so "
        f"the sum may be up to {sharers} × too high",
        fix=_fix(case),
        weight=80,
    )


def _sharers(case: Case, counts: Callable[[LoadPart], bool]) -> int:
    """Return how many numjobs clones access the same bytes at once, among the jobs that RAM may serve and that `counts`
    selects.
    """
    phases = (
        [job for job in phase if (job.reads or job.writes) and may_end_in_ram(job, case.target) and counts(job)]
        for phase in case.load.phases
    )
    return max((Load(tuple(phase)).sharers for phase in phases), default=0)


def _written(case: Case, sharers: int) -> bool:
    """True if writers are among the clones that share most: the writers alone are that many, or without them it is
    fewer.
    """
    alone, without = _sharers(case, lambda job: job.writes), _sharers(case, lambda job: not job.writes)
    return alone == sharers or without < sharers


def _walks_forward(job: LoadPart) -> bool:
    """True if the job is sequential and not backwards as with `rw=read:-8k`."""
    return job.is_sequential and not (fio_job(job).text("rw") or "").partition(":")[2].strip().startswith("-")


def _in_result(case: Case) -> Iterable[Finding]:
    if not case.load.shares_one_file or all_go_past_ram(case):
        return
    written, read = writes(case), cold_reads(case)
    if written and _explained(written, _times_over(case, written)):
        yield _finding(case, written, "wrote", "to", "reached the disks", "was overwritten in RAM")
    if read and _explained(read, _times_over(case, read)):
        yield _finding(
            case, read, "read", "from", "came from the disks", "was read from RAM after another job had read it"
        )


def _times_over(case: Case, flow: Flow) -> float:
    """Return how often each byte was moved on average: once per job, and again in each further pass over the file."""
    return max(case.load.sharers, flow.moved_bytes / case.load.unique_bytes if case.load.unique_bytes else 0)


def _explained(flow: Flow, times_over: float) -> bool:
    """True if RAM explains the missing bytes: it can absorb all but one of the times that a byte was moved, but no
    more.
    """
    return not flow.in_order and flow.ratio >= (1 - _NEAR) / times_over


def _finding(case: Case, flow: Flow, did: str, preposition: str, arrived: str, rest: str) -> Finding:
    sharers = case.load.sharers
    exact = abs(flow.ratio * sharers - 1) <= _NEAR
    print_of_it = f", 1/{sharers} as expected if each block reached a disk once" if exact else ""
    return Finding(
        rule="shared-file-numjobs",
        effect=flow.effect,
        message=f"{sharers} jobs {did} {flow.moved} {preposition} one file; {flow.counted} {arrived} ({flow.share} of "
        f"{flow.wanted}{print_of_it}): the rest {rest}",
        fix=_fix(case),
        weight=90,
    )


def _mended(_case: Case, job: LoadPart) -> Changes:
    """Return a part of the file for each numjobs clone, or a file for each if the size is unknown."""
    clones = job.clones
    if clones < 2:
        return {}
    if job.size_bytes is None and (fio_job(job).filename or "").startswith("/dev/"):
        return {"size": f"{100 // clones}%", "offset_increment": f"{100 // clones}%"} if clones <= _MOST_PARTS else {}
    if job.size_bytes is None or job.size_bytes < clones:
        return {"filename": None, "directory": _directory(job)}
    part = canonical_size(_round_down(job.size_bytes // clones)).lower()
    return {"size": part, "offset_increment": part}


def _directory(job: LoadPart) -> str:
    place = (fio_job(job).filename or "").rpartition("/")[0]
    return fio_job(job).directory or place or "."


RULE = Rule(
    id="shared-file-numjobs",
    title="Several jobs share one file",
    wrong="numjobs (or several sections) with one filename: every clone starts at the same byte, so the first one "
    "uses the disk and the others use RAM. fio adds them all up.",
    shows="In a job: clones that access the same bytes, without offset_increment, not known to bypass memory. In the "
    "counters: the disks moved about 1/numjobs of what fio did.",
    error="Too high, by up to a factor of numjobs. Measured: 6 times with 8 writers, 4.0 times with 4 readers. With "
    "direct=1 on ext4 no bytes are lost.",
    fix="directory= so that each job has its own file, or size=X/numjobs with offset_increment=X/numjobs.",
    sources=(
        "measured cases L02, L03, L04",
        "https://fio.readthedocs.io/en/latest/fio_doc.html (offset_increment)",
    ),
    pitfall_numbers="#3, A1, A3",
    in_job=_in_job,
    options=("numjobs", "filename"),
    fixed_options=_mended,
    in_result=_in_result,
    explains_lost={"read": "in RAM already: another job had read it", "write": "overwritten in memory by another job"},
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=1m --size=128m --numjobs=8 --end_fsync=1 --group_reporting"
    ),
)
