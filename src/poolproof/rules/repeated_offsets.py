"""The same random offsets in every run."""

from poolproof.load.model import LoadPart
from poolproof.rules.flow import lost_reads
from poolproof.rules.memory_values import waited_for_disks
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_source, suspects
from poolproof.rules.path import is_fuse, is_uncached_when_closed, is_zfs, may_end_in_ram
from poolproof.rules.proof import OF_READS


def _repeating(case: Case) -> list[LoadPart]:
    readers = [job for job in case.jobs if job.reads and job.is_random and job.repeats_offsets]
    return [job for job in readers if may_end_in_ram(job, case.target)]


def _in_job(case: Case) -> Findings:
    cache_remains = is_zfs(case.target) or is_fuse(case.target)
    jobs = [
        job
        for job in _repeating(case)
        if cache_remains or not (job.invalidates_cache or is_uncached_when_closed(job, case.target))
    ]
    is_emptied = case.empties_arc_each_time if is_zfs(case.target) else case.drops_each_time
    if case.cold and jobs and not is_emptied and not waited_for_disks(case):
        yield suspects(
            f"{case.who(jobs)} reads the same random offsets in every run (randrepeat=1 is the default), and nothing "
            "drops these blocks from RAM in between: the second run reads what the first one left in the cache",
            weight=55,
        )


def _in_result(case: Case) -> Findings:
    flow, jobs = lost_reads(case), _repeating(case)
    if flow and jobs and not any(job.direct for job in jobs):
        yield finding(
            flow.effect,
            f"{case.generator} read {flow.moved} at the offsets that every run of this job uses (randrepeat=1); the "
            f"disks read {flow.counted} ({flow.share}): an earlier run had left the rest in RAM",
            weight=70,
            metrics=OF_READS,
        )


RULE = Rule(
    title="Every run reads the same random blocks",
    wrong="With randrepeat=1, the default, every run of a job uses the same random offsets. If the cache is not "
    "dropped between runs, the reads are served from RAM.",
    shows="In a job: buffered random reads, randrepeat other than 0, and invalidate=0 (except on block devices, which "
    "lose their cached pages when they are closed) or a file system on which invalidate has no effect. Scripts that "
    "drop the caches before each run (on ZFS, by exporting the pool) are not reported, nor are results in which 90% "
    "of the reads took longer than a copy from RAM (1 ms, 250 MB/s). In the counters: the disks read less than fio.",
    error="Too high from the second run on. Measured: 133 MB/s in the first run, then 2,675 MB/s. With randrepeat=0: "
    "143 MB/s, then 154 MB/s.",
    fix="drop the caches before each run (and keep the seed for a fair comparison), or set randrepeat=0",
    sources=(
        "measured cases L07, L08",
        fio_source("3.42", "init.c", "init_rand_seed, setup_random_seeds"),
        fio_doc("randrepeat"),
    ),
    in_job=_in_job,
    options=("randrepeat", "invalidate", "rw"),
    fixed_options={"randrepeat": "0"},
    in_result=_in_result,
    explains_lost={"read": "already in RAM: an earlier run read the same offsets"},
    prepare="fio --name=fill --filename=trap --rw=write --bs=1m --size=1g --refill_buffers --end_fsync=1\n"
    "sync; echo 1 | dd of=/proc/sys/vm/drop_caches status=none  # needs root; without root, remount or reboot",
    commands="for run in 1 2; do fio --rw=randread --bs=4k --size=1g --io_size=64m --invalidate=0; counted $run; done",
)
