"""I/Os for which fio did not have to wait, so that no disk can have done them."""

from poolproof.load.model import LoadPart
from poolproof.load.outcome import PartOutcome
from poolproof.rules.coverage import proves
from poolproof.rules.disk_requests import statistics_cover
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Finding, Rule, fio_source, linux_source, suspects
from poolproof.rules.path import is_persistent_memory
from poolproof.rules.reported import counted_ios, each_job, parts_of
from poolproof.units import format_count

_MOST_WAITS = 0.1
_FEWEST_IOS = 1000


def _in_reported_job(case: Case, reported: PartOutcome) -> Finding | None:
    job, switches = case.job_named(reported.name), reported.context_switches
    if job is None or not switches or not case.cold or not _waits_for_each(job) or proves(case):
        return None
    if is_persistent_memory(case, job) or any(statistics_cover(case, part.kind) for part in parts_of(reported)):
        return None
    ios = sum(counted_ios(part) or 0 for part in parts_of(reported))
    if ios < _FEWEST_IOS or switches > _MOST_WAITS * ios:
        return None
    kinds = " and ".join(f"{part.kind}s" for part in parts_of(reported))
    return suspects(
        f"fio did {format_count(ios)} {kinds} one at a time, but gave up the CPU only {format_count(switches)} times "
        "(ctx): if a disk had done them, fio would have waited for each of them, so RAM did at least "
        f"{int(100 * (1 - switches / ios))}% of them",
        weight=67,
    )


def _waits_for_each(job: LoadPart) -> bool:
    """True if fio sleeps during each of the job's I/Os, if a disk does it.

    This is not so if the job polls for completions, or if readahead or the page cache does the I/O of buffered jobs.
    """
    if not is_fio_job(job) or not job.is_synchronous or job.queue_each > 1:
        return False
    fio = fio_job(job)
    if fio.flag("hipri") or fio.engine == "mmap" or job.random_share < 1.0:
        return False
    return job.direct or (not job.writes and job.is_random) or (not job.reads and job.writes_are_synchronous)


RULE = Rule(
    title="fio never had to wait",
    wrong="With an engine such as psync, fio does one I/O at a time and sleeps until it is done. Each I/O of a disk "
    "therefore takes at least one context switch. I/Os without one were done by the CPU, which copied from or to RAM.",
    shows="In a result without counters: a job with a synchronous engine did at least 1,000 I/Os, and fio reports at "
    "most a tenth as many context switches (`ctx`). The I/Os must be direct, random reads, or synchronous writes. "
    "Sequential buffered I/O, mmap, polling (hipri), persistent memory and systems that do not count context switches "
    "(`ctx=0`) are excluded, and so are results for which fio's disk statistics cover all bytes.",
    error="Too high. Observed: 57,036 direct reads of 16 MiB on ZFS with 1,351 context switches, at 8.0 GB/s.",
    fix="make the file twice the size of the RAM, and use a file system that honours direct=1 (not ZFS before 2.3)",
    sources=(
        fio_source("3.42", "stat.c", "update_rusage_stat (ru_nvcsw + ru_nivcsw)"),
        linux_source("6.12", "block/fops.c", "__blkdev_direct_IO (blk_io_schedule)"),
        linux_source("6.12", "mm/filemap.c", "folio_wait_bit_common (io_schedule)"),
    ),
    in_result=each_job(_in_reported_job),
    commands="fio --rw=randread --bs=4k --size=256m --ioengine=psync --invalidate=0  # compare ctx with issued rwts",
)
