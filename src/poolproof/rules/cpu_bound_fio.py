"""fio is limited by the CPU."""

from poolproof.load.outcome import PartOutcome
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Findings, Rule, fio_issue, fio_source, linux_source, notes, zfs_source
from poolproof.rules.reported import each_job

_BUSY_PERCENT = 90
_BUSY = 0.95
_MOST_NAMED = 4


def _in_result(case: Case) -> Findings:
    found = tuple(each_job(_in_reported_job)(case))
    yield from found or _in_kernel_threads(case)


def _in_kernel_threads(case: Case) -> Findings:
    """Yield a finding if a CPU was fully busy, but not with fio.

    md, dm-crypt and ZFS do their work in threads of their own.
    """
    host = case.evidence.host if case.evidence else None
    busy = [cpu for cpu in host.cpus if cpu.busy >= _BUSY] if host and case.outcome else []
    if not busy or any(_polls(case, part) for part in (case.outcome.parts if case.outcome else ())):
        return
    names = ", ".join(f"{cpu.name} {100 * cpu.busy:.0f}%" for cpu in busy[:_MOST_NAMED])
    yield notes(
        f"{case.generator}'s own jobs did not saturate a CPU, but some CPUs were busy throughout ({names}): kernel "
        "threads (md, dm-crypt, ZFS's z_wr_iss) or other programs may be the limit, not the disk",
        fix="find the busy threads with `top -H` during the run; stop other programs; if kernel threads of md or "
        "dm-crypt are busy, spread the work over more arrays or dm-crypt devices",
    )


def _polls(case: Case, reported: PartOutcome) -> bool:
    """True if the job polls for completions, because polling keeps a CPU fully busy by design."""
    job = case.job_named(reported.name)
    return job is not None and any(fio_job(job).flag(name) for name in ("hipri", "sqthread_poll"))


def _in_reported_job(case: Case, job: PartOutcome) -> Finding | None:
    user, system = job.user_cpu_percent, job.system_cpu_percent
    if user is None or system is None or user + system < _BUSY_PERCENT or _polls(case, job):
        return None
    subject = f"job `{job.name}`" if job.name else "the job"
    return notes(
        f"{subject} used {user + system:.0f}% of a CPU ({user:.0f}% in fio, {system:.0f}% in the kernel): the "
        "CPU is the limit, not the disk"
    )


RULE = Rule(
    title="The CPU is the limit",
    wrong=(
        "A fio job runs on one CPU at a time. This CPU can be saturated by the generation of random data, "
        "verification, checksums or the file system."
    ),
    shows=(
        "In a result: the user and system time of a job add up to at least 90% of a CPU, and the job does not poll "
        "(hipri, sqthread_poll). In the evidence: a CPU was busy for at least 95% of the trial, although no fio job "
        "saturated a CPU."
    ),
    error=(
        "Too low. The highest rates observed with one core were 3.0 M IOPS at bs=4k, and 4.0 GB/s with refill_buffers."
    ),
    fix="raise numjobs (with one file per job), or set cpus_allowed or thread=1; if the target does not compress, "
    "remove refill_buffers and `verify`; use ioengine=null to find the highest rate that fio can reach",
    sources=(
        fio_source("3.42", "stat.c", "update_rusage_stat, show_thread_status_normal (usr, sys)"),
        linux_source("6.12", "drivers/md/dm-crypt.c", "kcryptd_queue_crypt"),
        zfs_source("2.3.0", "module/zfs/spa.c", "zio_taskqs (z_wr_iss)"),
        fio_issue(1206),
        "https://github.com/JonMagon/KDiskMark/issues/175",
    ),
    in_result=_in_result,
    is_about_data=False,
    commands="fio --name=trap --ioengine=null --size=100g --bs=4k --rw=write --refill_buffers --time_based --runtime=3",
)
