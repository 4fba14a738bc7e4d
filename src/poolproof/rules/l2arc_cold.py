"""A ZFS cache device that is still filling."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import asked_s, ran_s
from poolproof.rules.reproduction import script
from poolproof.units import format_duration, format_size

_FILL_BYTES_PER_S = 32 * 1024**2
_STILL_FILLING = 0.05
_FIX = "read the whole working set until l2_hits stop growing, then measure; or `zpool remove` the cache device"


def _in_job(case: Case) -> Iterable[Finding]:
    zfs, seconds = case.target.zfs if case.target else None, asked_s(case)
    if zfs is None or not zfs.has_cache or not case.load.reads or not seconds:
        return
    size = case.load.unique_bytes or 0
    if 0 < seconds * _FILL_BYTES_PER_S < size:
        yield Finding(
            rule="l2arc-cold",
            effect="notes",
            message=f"the cache device fills at no more than 32 MiB/s (8 MiB/s before 2.3): {format_size(size)} takes "
            f"{format_duration(size / _FILL_BYTES_PER_S)}, and the run lasts only {format_duration(seconds)}",
            fix=_FIX,
            weight=35,
        )


def _in_result(case: Case) -> Iterable[Finding]:
    use, found = case.evidence.zfs if case.evidence else None, case.evidence.account if case.evidence else None
    seconds = ran_s(case.outcome)
    if use is None or found is None or not use.l2_write_bytes or not seconds:
        return
    if use.l2_write_bytes > _STILL_FILLING * found.fio_read_bytes > 0:
        yield Finding(
            rule="l2arc-cold",
            effect="notes",
            message=f"the cache device wrote {format_size(use.l2_write_bytes)} and read "
            f"{format_size(use.l2_read_bytes or 0)} during the run: it was still filling",
            fix=_FIX,
            weight=45,
        )


RULE = Rule(
    id="l2arc-cold",
    title="The cache device is still filling",
    wrong="A ZFS cache device fills slowly (l2arc_write_max, 32 MiB/s), and by default not from sequential reads. A "
    "short test measures a cold cache; export and import do not empty it, so another test may measure a warm one.",
    shows="In a job: the pool has a cache device, and the run is shorter than filling it takes. In evidence: "
    "l2_write_bytes is still growing.",
    error="Too low if the cache is cold, too high if it happens to be warm.",
    fix=_FIX,
    sources=("man zfs.4 (l2arc_write_max)", "https://github.com/openzfs/zfs/issues/10687"),
    pitfall_numbers="#23",
    in_job=_in_job,
    options=("runtime", "size"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    reproduce=script(
        "for run in 1 2 3 4 5; do fio --name=trap --filename=trap --rw=randread --bs=16k --size=8g --time_based "
        "--runtime=60; grep l2_ /proc/spl/kstat/zfs/arcstats | head -4; done",
        needs="On a pool with a cache device.",
    ),
)
