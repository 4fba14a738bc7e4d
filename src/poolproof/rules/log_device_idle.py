"""A ZFS log device that nothing writes to."""

from poolproof.rules.model import Case, Findings, Rule, notes
from poolproof.units import format_size


def _in_job(case: Case) -> Findings:
    writers = [job for job in case.jobs if job.writes]
    idle = [job for job in writers if not (job.sync_every or job.writes_are_synchronous)]
    if case.zfs is None or not case.zfs.has_log or not writers:
        return
    if case.zfs.logbias == "throughput":
        why = f"{case.who(writers)} writes to a dataset with logbias=throughput, which bypasses the log device"
    elif idle and case.zfs.sync != "always":
        why = f"{case.who(idle)} makes no synchronous writes, and only those go to the log device"
    else:
        return
    yield notes(f"{why}: the log device does not affect the result", weight=40)


def _in_result(case: Case) -> Findings:
    evidence = case.evidence
    if evidence is None or evidence.zfs is None or evidence.account is None or not (case.zfs and case.zfs.has_log):
        return
    logged, written = evidence.zfs.zil_slog_bytes, evidence.account.fio_write_bytes
    if logged is not None and logged < 0.01 * written:
        yield notes(
            f"fio wrote {format_size(written)}, but only {format_size(logged)} went to the log device: the log device "
            "does not affect the result"
        )


RULE = Rule(
    title="The log device has nothing to do",
    wrong="A log device receives only synchronous writes. Without them, a test shows no benefit, or only that of the "
    "ARC.",
    shows="In a job: no synchronous writes, or logbias=throughput. In the counters: zil_itx_metaslab_slog_bytes grew "
    "by less than 1 % of what fio wrote.",
    error="None in the result; the conclusion about the log device is wrong.",
    fix="use fdatasync=1 or sync=dsync at iodepth=1 with several numjobs; set logbias=latency, or sync=always on the "
    "dataset",
    sources=("man zfsprops (logbias, sync)", "https://www.truenas.com/docs/references/slog/"),
    in_job=_in_job,
    options=("rw",),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Run on a pool with a log device.",
    commands="for s in 0 1; do fio --rw=write --size=64m --fdatasync=$s; grep slog_bytes /proc/spl/kstat/zfs/zil; done",
)
