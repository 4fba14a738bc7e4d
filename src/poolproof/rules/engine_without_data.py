"""fio's engines that move no data."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.load.model import LoadPart
from poolproof.metrics import BYTES_PER_S, MetricId, metric_of
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_source, refutes
from poolproof.rules.proof import measured_metrics
from poolproof.rules.reported import parts
from poolproof.rules.tolerances import REFUTED, percent
from poolproof.units import format_count, format_number_of

_ENGINES: Mapping[str, str] = {
    "null": "does nothing", "cpuio": "only uses the CPU", "page_fault": "only causes page faults in memory",
    "filecreate": "creates files", "filestat": "reads the attributes of files", "filedelete": "removes files",
    "dircreate": "creates directories", "dirstat": "reads the attributes of directories",
    "dirdelete": "removes directories", "ftruncate": "sets the size of files", "falloc": "allocates space in files",
}  # fmt: skip
_NO_STORAGE = ("null", "cpuio", "page_fault")


def moves_no_data(case: Case) -> bool:
    """True if fio counts I/Os and bytes of a job that moves no data, so that no rule may compare them with counters.

    An audited result of the null engine is left to `volatile-target`.
    """
    jobs = _without_data(case) if case.outcome is not None else []
    return bool(jobs) and not (case.quoted is not None and _touches_no_storage(jobs))


def _without_data(case: Case) -> list[LoadPart]:
    return [job for job in case.jobs if is_fio_job(job) and fio_job(job).engine in _ENGINES]


def with_data_only(case: Case) -> tuple[Case, tuple[MetricId, ...]] | None:
    """Return the case without the jobs that move no data, and the metrics that only the other jobs determine.

    fio's results are added up by direction, so this is possible only if the other jobs have a direction of their own:
    for example, if they only write and the jobs without data only read. Otherwise, return None.
    """
    empty, outcome = _without_data(case), case.outcome
    if not empty or outcome is None or case.quoted is not None:
        return None
    names = {job.name for job in empty}
    real = [job for job in case.jobs if job.name not in names]
    if not real or {part.name for part in outcome.parts} != {job.name for job in case.jobs}:
        return None
    used = {part.kind for part in parts(outcome) if part.job.name in names}
    own = tuple(kind for kind in ("read", "write") if kind not in used)
    found = case.evidence.account if case.evidence else None
    if not own or case.evidence is None or found is None:
        return None
    moved = {kind: getattr(found, f"fio_{kind}_bytes") if kind in own else 0 for kind in ("read", "write")}
    account = replace(found, fio_read_bytes=moved["read"], fio_write_bytes=moved["write"])
    rest = replace(
        case,
        load=replace(case.load, parts=tuple(real)),
        outcome=replace(outcome, parts=tuple(part for part in outcome.parts if part.name not in names)),
        evidence=replace(case.evidence, account=account),
    )
    metrics = tuple(metric for metric in measured_metrics(rest) if metric_of(metric).of in own)
    return (rest, metrics) if metrics else None


def _touches_no_storage(jobs: list[LoadPart]) -> bool:
    return all(fio_job(job).engine in _NO_STORAGE for job in jobs)


def _in_result(case: Case) -> Findings:
    jobs = _without_data(case)
    if not moves_no_data(case):
        return
    others_only = with_data_only(case)
    separate = others_only[1] if others_only else ()
    engine = fio_job(jobs[0]).engine
    what = f"{case.who(jobs)} uses ioengine={engine}, which {_ENGINES[engine]} and moves no data"
    if _touches_no_storage(jobs):
        yield refutes(
            f"{what}: the result is the speed of fio itself{_not_told_apart(case, jobs, is_part=bool(separate))}",
            weight=96,
            metrics=tuple(metric for metric in measured_metrics(case) if metric not in separate),
            fix="use an engine that does I/O, such as psync, or measure the jobs one by one",
        )
        return
    bandwidths, others = (tuple(each for each in found if each not in separate) for found in _metrics(case))
    yield refutes(f"{what}: fio counts one block of bs bytes for each operation", weight=96, metrics=bandwidths)
    ios, requests = _operations(case, jobs), sum(leaf.read_ios + leaf.write_ios for leaf in case.leaves)
    if case.evidence is None or not case.evidence.account:
        in_ram, counted = False, "the disks' requests were not counted"
    else:
        in_ram = requests < REFUTED * ios
        counted = f"the disks counted {format_number_of(requests, 'request')} during {format_count(ios)} operations"
    yield finding(
        "refutes" if in_ram else "suspects",
        f"{what}: each of its I/Os is one such operation, and {counted}. "
        + ("The file system did them in RAM" if in_ram else "The file system may have done them in RAM"),
        weight=95,
        metrics=others,
    )


def _not_told_apart(case: Case, jobs: list[LoadPart], *, is_part: bool) -> str:
    """Return a clause on the other jobs of the load, whose I/Os are added to those of the jobs without data."""
    if len(jobs) == len(case.jobs):
        return ""
    if is_part:
        return ", and results of both directions include it"
    return (
        ", and the I/Os of the other jobs cannot be told apart from it, because fio's results are added up by direction"
    )


def _metrics(case: Case) -> tuple[tuple[MetricId, ...], tuple[MetricId, ...]]:
    """Return the measured bandwidths, and all other measured metrics."""
    measured = measured_metrics(case)
    bandwidths = tuple(metric for metric in measured if metric_of(metric).unit is BYTES_PER_S)
    return bandwidths, tuple(metric for metric in measured if metric not in bandwidths)


def _operations(case: Case, jobs: list[LoadPart]) -> int:
    names = {job.name for job in jobs}
    return sum(part.figures.ios or 0 for part in parts(case.outcome) if part.job.name in names)


RULE = Rule(
    title="The engine moves no data",
    wrong="Some of fio's engines do no reads and writes. They create, remove or look up files (filecreate, filedelete, "
    "filestat, dircreate, dirdelete, dirstat), resize them (ftruncate, falloc), or do nothing (null, cpuio, "
    "page_fault). fio still reports bytes, bandwidths, reads and writes.",
    shows="In a result: a job used such an engine. Bandwidths are refuted. The IOPS and latencies of operations on "
    f"files are refuted if the disks counted a request for fewer than {percent(REFUTED)} of them; otherwise, they "
    "are suspect. No other rule compares the result with the counters. If the load also has other jobs, their results "
    "are judged as usual if only these other jobs read, or only they write.",
    error="The bandwidth is the number of operations times bs. Measured: 500 files were created in 3 ms, and fio "
    "reported 1.95 MiB of writes; the disks wrote nothing until the final flush.",
    fix="use an engine that moves data, such as psync, and compare operations on files only as operations",
    sources=(
        fio_source("3.42", "engines/fileoperations.c", "ioengine_filecreate (FIO_FAKEIO, FIO_DISKLESSIO)"),
        fio_source("3.42", "engines/null.c", "null_queue"),
        fio_source("3.33", "engines/ftruncate.c", "fio_ftruncate_queue"),
        fio_doc("ioengine"),
    ),
    in_result=_in_result,
    is_about_data=False,
    commands="fio --name=files --ioengine=filecreate --rw=write --bs=4k --nrfiles=500 --size=2m",
)
