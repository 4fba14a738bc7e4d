"""A ZFS log device that is not used."""

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Findings, Rule, notes, zfs_source
from poolproof.rules.path import release_of
from poolproof.units import format_size

_DIRECT_SINCE = (2, 3, 0)


def _in_job(case: Case) -> Findings:
    writers = [job for job in case.jobs if job.writes]
    idle = [job for job in writers if not (job.sync_every or job.writes_are_synchronous)]
    if case.zfs is None or not case.zfs.has_log or not writers:
        return
    direct = [job for job in writers if _passes_by(case, job)]
    if idle and case.zfs.sync != "always":
        why = f"{case.who(idle)} issues no synchronous writes, but only synchronous writes go to the log device"
        yield notes(f"{why}: the log device does not affect these writes", weight=40)
    elif case.zfs.logbias == "throughput" or direct:
        what = "direct writes of whole records go"
        if case.zfs.logbias == "throughput":
            what = "with logbias=throughput, the data goes"
        yield notes(
            f"{what} straight to the pool, and the log device gets only a small record of each write",
            weight=40,
        )


def _passes_by(case: Case, job: LoadPart) -> bool:
    """True if the job writes whole records with direct I/O to a ZFS release that honours it.

    OpenZFS 2.3 and later write only a reference to such data to the log.
    """
    release, record = release_of(case.zfs), case.target.record_bytes if case.target else None
    honours = release is not None and release >= _DIRECT_SINCE and case.zfs is not None and not case.zfs.is_zvol
    whole = bool(record) and job.block_bytes % (record or 1) == 0
    return honours and whole and job.direct and case.zfs is not None and case.zfs.direct != "disabled"


def _in_result(case: Case) -> Findings:
    evidence = case.evidence
    if evidence is None or evidence.zfs is None or evidence.account is None or not (case.zfs and case.zfs.has_log):
        return
    logged, written = evidence.zfs.zil_slog_bytes, evidence.account.fio_write_bytes
    if logged is not None and logged < 0.01 * written:
        yield notes(
            f"{case.generator} wrote {format_size(written)}, but only {format_size(logged)} went to the log device: "
            "the result says little about the log device"
        )


RULE = Rule(
    title="The log device is hardly used",
    wrong=(
        "A log device receives only synchronous writes. Without synchronous writes, a test does not show the effect of "
        "the log device, and any difference has another cause, such as the ARC."
    ),
    shows=(
        "In a job: no synchronous writes (unless the dataset has sync=always), logbias=throughput, or direct writes of "
        "whole records on OpenZFS 2.3 or later. In the last two cases, the data goes to the pool, and the log device "
        "gets only a small record of each write. In the counters: zil_itx_metaslab_slog_bytes grew by less than 1% of "
        "the bytes that fio wrote."
    ),
    error="The result itself is correct, but conclusions about the log device are wrong.",
    fix="use fdatasync=1 or sync=dsync with iodepth=1 and numjobs above 1; set logbias=latency, or sync=always on the "
    "dataset",
    sources=(
        zfs_source(
            "2.3.0", "module/zfs/zfs_log.c", "zfs_log_write (WR_INDIRECT for logbias=throughput and direct I/O)"
        ),
        zfs_source("2.3.0", "module/zfs/zil.c", "zil_lwb_write_issue (zil_itx_metaslab_slog_bytes)"),
        "man zfsprops (logbias, sync)",
        "https://www.truenas.com/docs/references/slog/",
    ),
    in_job=_in_job,
    options=("rw",),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Run this on a pool with a log device.",
    commands="for s in 0 1; do fio --rw=write --size=64m --fdatasync=$s; grep slog_bytes /proc/spl/kstat/zfs/zil; done",
)
