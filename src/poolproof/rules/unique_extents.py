"""Jobs that transferred more bytes than the region that they access holds."""

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import is_skewed
from poolproof.rules.flow import cold_reads, writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source
from poolproof.rules.path import all_go_past_ram, is_direct_on_unknown
from poolproof.rules.reported import Kind, moved_bytes
from poolproof.units import format_size

_MANY = 1000
_RARELY_TWICE, _RARELY_TWICE_IF_SKEWED = 0.1, 0.01  # about half of this share of the writes hits a block again


def _in_result(case: Case) -> Findings:
    unique = case.load.unique_bytes
    if not unique or all_go_past_ram(case):
        return
    if case.cold and cold_reads(case) is None:
        yield from _repeated(case, "read", unique)
    if writes(case) is None and not all(_syncs_often(job, unique) for job in case.jobs if job.writes):
        yield from _repeated(case, "write", unique)


def _syncs_often(job: LoadPart, unique: int) -> bool:
    """True if RAM cannot absorb repeated writes, because a block is rarely written twice between two syncs."""
    if job.commits_each_write:
        return True
    between = (job.sync_every or 0) * job.clones * job.max_block_bytes
    most = _RARELY_TWICE_IF_SKEWED if is_skewed(job) else _RARELY_TWICE
    return 0 < between <= most * unique and (job.is_random or not job.shares_one_file)


def _repeated(case: Case, kind: Kind, unique: int) -> Findings:
    moved = moved_bytes(case.outcome, kind)
    if moved is None or moved <= 1.05 * unique:
        return
    disks, jobs = bool(case.outcome and case.outcome.disks), "job" if len(case.jobs) == 1 else "jobs"
    counters = "fio's disk statistics cannot rule this out" if disks else "no counters show what the disks did"
    trusted = all(is_direct_on_unknown(job, case.target) for job in case.jobs)
    did, serve = ("read", "serve all but the first pass") if kind == "read" else ("wrote", "absorb repeated writes")
    ram = (
        f"a cache below the file (or RAM, if direct I/O is not honoured here) can {serve}"
        if trusted
        else f"RAM can {serve}"
    )
    yield finding(
        "notes" if trusted else "suspects",
        f"{case.generator} {did} {format_size(moved)}, but the {jobs} can access only {format_size(unique)}: on "
        f"average, each block was accessed {_times(moved / unique)} times, and {ram}; {counters}",
        weight=65,
        fix=_fix(kind, is_timed=any(job.time_based for job in case.jobs)),
    )


def _fix(kind: Kind, *, is_timed: bool) -> str:
    once = f"{kind} it once{' (no time_based)' if is_timed else ''}"
    counted = "run the job with poolproof, which counts what the disks do"
    return f"make the file twice the size of the RAM and {once}, or {counted}"


def _times(passes: float) -> str:
    return f"{passes:.3g}" if passes < _MANY else f"{passes:,.0f}"


RULE = Rule(
    title="The same bytes again and again",
    wrong="The job moved more bytes than the area that it accesses contains. Therefore, it accessed blocks repeatedly, "
    "and a cache may have served the repeated accesses.",
    shows="In a result without counters: the jobs moved more bytes than they can access. If there are counters, they "
    "take precedence: in one valid run of 16 passes, the disks moved every byte. Writes that are committed one by one "
    "(fsync=1, sync=1) are not reported, because they reach the disk. The same applies to jobs that write at most 10% "
    "of the area between two syncs (1% with a random_distribution), unless their clones write one file sequentially.",
    error="Too high. The factor is at most the number of passes. Observed: 20 to 135 passes in results that were too "
    "high.",
    fix=_fix("read", is_timed=True),
    sources=(
        "measured cases L02, L04",
        fio_source("3.42", "io_u.c", "get_next_seq_offset (starts over for time_based)"),
    ),
    in_result=_in_result,
    explains_lost={"read": "already in RAM: the same blocks again", "write": "overwritten in memory"},
    commands="fio --rw=read --bs=1m --size=256m --time_based --runtime=5 --invalidate=0",
)
