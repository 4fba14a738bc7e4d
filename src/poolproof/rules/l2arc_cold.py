"""A ZFS cache device that is still filling."""

from poolproof.rules.model import Case, Findings, Rule, notes, zfs_issue
from poolproof.rules.reported import asked_s, ran_s
from poolproof.units import format_duration, format_size

_FILL_BYTES_PER_S = 32 * 1024**2


def _in_job(case: Case) -> Findings:
    seconds, size = asked_s(case), case.load.unique_bytes
    if case.zfs is None or not case.zfs.has_cache or not case.load.reads or not seconds or not size:
        return
    if seconds * _FILL_BYTES_PER_S < size:
        yield notes(
            f"the cache device fills at no more than 32 MiB/s (8 MiB/s before OpenZFS 2.3): {format_size(size)} takes "
            f"{format_duration(size / _FILL_BYTES_PER_S)}, but the run lasts only {format_duration(seconds)}",
            weight=35,
        )


def _in_result(case: Case) -> Findings:
    evidence = case.evidence
    if evidence is None or evidence.zfs is None or evidence.account is None or not ran_s(case.outcome):
        return
    written, read = evidence.zfs.l2_write_bytes or 0, evidence.zfs.l2_read_bytes or 0
    if written > 0.05 * evidence.account.fio_read_bytes > 0:
        yield notes(
            f"the cache device wrote {format_size(written)} and read {format_size(read)} during the run: it was still "
            "filling",
            weight=45,
        )


RULE = Rule(
    title="The cache device is still filling",
    wrong="A ZFS cache device fills slowly (l2arc_write_max, 32 MiB/s), and by default sequential reads do not fill "
    "it. A short test measures a cold cache. Export and import do not empty the cache, so the next test may measure a "
    "warm one.",
    shows="In a job: the cache device takes longer to fill than the run lasts. In the counters: l2_write_bytes grew by "
    "more than 5 % of what fio read.",
    error="Too low if the cache is cold, too high if it happens to be warm.",
    fix="read the whole working set until l2_hits stops growing, then measure; or remove the cache device with `zpool "
    "remove`",
    sources=("man zfs.4 (l2arc_write_max)", zfs_issue(10687)),
    in_job=_in_job,
    options=("runtime", "size"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Run on a pool with a cache device.",
    commands="for run in 1 2 3; do fio --rw=randread --bs=16k --size=8g --runtime=60; grep l2_ "
    "/proc/spl/kstat/zfs/arcstats; done",
)
