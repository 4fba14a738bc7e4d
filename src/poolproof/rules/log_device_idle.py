"""A ZFS log device that nothing writes to."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_FIX = "fdatasync=1 or sync=dsync at iodepth=1 with several numjobs; logbias=latency; or sync=always on the dataset"


def _in_job(case: Case) -> Iterable[Finding]:
    zfs = case.target.zfs if case.target else None
    writers = [job for job in case.load.parts if job.writes]
    if zfs is None or not zfs.has_log or not writers:
        return
    idle = [job for job in writers if not (job.sync_every or job.writes_are_synchronous)]
    if zfs.logbias == "throughput":
        why = f"{who(case, writers)} writes to a dataset with logbias=throughput, which bypasses the log device"
    elif idle and zfs.sync != "always":
        why = f"{who(case, idle)} makes no synchronous writes, and only those go to the log device"
    else:
        return
    yield Finding("log-device-idle", "notes", f"{why}: it does not affect the result", _FIX, 40)


def _in_result(case: Case) -> Iterable[Finding]:
    zfs, use = case.target.zfs if case.target else None, case.evidence.zfs if case.evidence else None
    found = case.evidence.account if case.evidence else None
    if zfs is None or not zfs.has_log or use is None or use.zil_slog_bytes is None or found is None:
        return
    if use.zil_slog_bytes < 0.01 * found.fio_write_bytes:
        yield Finding(
            rule="log-device-idle",
            effect="notes",
            message=f"fio wrote {format_size(found.fio_write_bytes)}, and {format_size(use.zil_slog_bytes)} went to "
            "the log device: it does not affect the result",
            fix=_FIX,
            weight=50,
        )


RULE = Rule(
    id="log-device-idle",
    title="The log device has nothing to do",
    wrong="A ZFS log device takes only synchronous writes. A test without them suggests that a log device has no "
    "benefit, or credits it with the effect of the ARC.",
    shows="In a job: the pool has a log device, and the job never syncs, or logbias is throughput. In evidence: "
    "zil_itx_metaslab_slog_bytes hardly grew.",
    error="None in the result; the conclusion about the log device is wrong.",
    fix=_FIX,
    sources=("man zfsprops (logbias, sync)", "https://www.truenas.com/docs/references/slog/"),
    pitfall_numbers="#21",
    in_job=_in_job,
    options=("rw",),
    in_result=_in_result,
    cleared_by_byte_count=False,
    reproduce=script(
        "for sync in 0 1; do fio --name=trap --filename=trap --rw=write --bs=4k --size=64m --fdatasync=$sync; "
        "grep -h slog_bytes /proc/spl/kstat/zfs/zil; done",
        needs="On a pool with a log device.",
    ),
)
