"""Verification in a speed test."""

from poolproof.load.model import LoadPart
from poolproof.load.outcome import PartOutcome
from poolproof.metrics import rates_of
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Findings, Rule, fio_doc, fio_source, notes, suspects
from poolproof.rules.proof import OF_READS, OF_WRITES
from poolproof.rules.read_back import may_write_twice, reads_back, writes_twice
from poolproof.rules.reported import each_job, parts

_BUSY_PERCENT, _CHECKSUM_PERCENT = 90, 20


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if job.verifies and job.writes]:
        yield notes(
            f"{case.who(jobs)} sets verify={fio_job(jobs[0]).text('verify')}: fio spends processor time on checksums"
            + _and_then(case, jobs[0]),
            weight=30,
        )


def _and_then(case: Case, job: LoadPart) -> str:
    if writes_twice(job, case.outcome):
        return ". With experimental_verify and this engine, it then writes everything again, and verifies nothing"
    if may_write_twice(job) and case.outcome is None:
        return ", and before release 3.42 writes everything again instead of reading it back (experimental_verify)"
    return " and reads back everything that it wrote" if reads_back(job) else ""


def _in_result(case: Case) -> Findings:
    """Yield findings if the result includes the reads or the processor time of verification.

    fio adds the reads that verify to the job's own reads. verify_backlog interrupts the writes.
    """
    if case.outcome is None:
        return
    yield from _only_verified(case)
    yield from each_job(_saturated)(case)
    checked = [
        job
        for job in case.jobs
        if job.verifies and job.writes and reads_back(job) and not writes_twice(job, case.outcome)
    ]
    if jobs := [job for job in checked if job.is_mixed]:
        yield suspects(
            f"{case.who(jobs)} reads, writes and sets verify={fio_job(jobs[0]).text('verify')}: fio's reads include "
            "those that verify the written data",
            weight=60,
            metrics=OF_READS,
        )
    if jobs := [job for job in checked if fio_job(job).number("verify_backlog")]:
        yield suspects(
            f"{case.who(jobs)} sets verify_backlog: fio interrupts its writes to read back what it has written, so "
            "the rate of the writes includes the time of these reads",
            weight=60,
            metrics=rates_of("all", "write"),
        )


def _only_verified(case: Case) -> Findings:
    """Yield a finding if the result of a job that only writes contains reads. These reads only verify the data."""
    for part in parts(case.outcome):
        job = case.job_named(part.job.name) if part.kind == "read" else None
        if job is not None and job.writes and not job.reads:
            why = "those with which fio verifies the written data: they are not a test of reading"
            if writes_twice(job, case.outcome):
                why = "in fact writes: with experimental_verify and this engine, fio writes everything again"
            yield suspects(
                f"{case.who([job])} only writes, so its reads are {why}",
                weight=60,
                metrics=OF_READS,
            )
            return


def _saturated(case: Case, reported: PartOutcome) -> Finding | None:
    """Return a finding if the CPU, on which fio computes checksums, limited a job that verifies its writes."""
    job, user, system = case.job_named(reported.name), reported.user_cpu_percent, reported.system_cpu_percent
    if job is None or not job.writes or reported.write is None or user is None or system is None:
        return None
    shows_verification = not job.reads and reported.read is not None and bool(reported.read.io_bytes)
    if not (job.verifies or shows_verification) or user + system < _BUSY_PERCENT or user < _CHECKSUM_PERCENT:
        return None
    return suspects(
        f"the job verifies what it writes, and used {user + system:.0f}% of a CPU ({user:.0f}% in fio, which computes "
        "the checksums there): the CPU limits the writes, not the disk",
        weight=60,
        metrics=OF_WRITES,
    )


RULE = Rule(
    title="Verifying while measuring",
    wrong="With verify, fio refills its buffers and computes checksums. It then also reads back what it wrote, and "
    "reports these reads next to the writes. It skips them if do_verify=0 is set or if a time_based job without "
    "verify_backlog uses up its runtime. With experimental_verify and libaio, io_uring or sg, fio before 3.42 writes "
    "everything again instead, and verifies nothing (measured with fio 3.33: 4,096 writes, but 8,192 at the disk, and "
    "no reads).",
    shows="In a job: verify is set, and the job writes. In a result: the job also reads, and fio reports these reads "
    "together with those that verify; the job only writes, but the result has reads; verify_backlog interrupts the "
    "writes; or the job used at least 90% of a CPU, of which at least 20% was in fio itself.",
    error="Too low, and the result may include reads that nobody requested.",
    fix="use verify only in a correctness test, and measure speed without it",
    sources=(
        fio_source("3.42", "init.c", "fixup_options (refill_buffers; `verification read phase will never start`)"),
        fio_source("3.42", "backend.c", "thread_main (do_verify)"),
        fio_source("3.33", "backend.c", "do_verify (experimental_verify)"),
        fio_source("3.33", "engines/libaio.c", "fio_libaio_prep"),
        fio_doc("verify"),
    ),
    in_job=_in_job,
    in_result=_in_result,
    options=("verify", "experimental_verify"),
    cleared_by_byte_count=False,
    commands="for verify in 0 crc32c; do fio --rw=write --bs=1m --size=256m --end_fsync=1 --verify=$verify; done",
)
