"""direct=1 writes on btrfs with checksums."""

from poolproof.rules.model import Case, Findings, Rule, notes

_SINCE = (6, 15)
_WITHOUT_CHECKSUMS = {"nodatasum", "nodatacow"}


def _in_job(case: Case) -> Findings:
    target, jobs = case.target, [job for job in case.jobs if job.direct and job.writes]
    if target is None or target.file_system != "btrfs" or _WITHOUT_CHECKSUMS & set(target.mount_options):
        return
    if jobs and (target.kernel is None or target.kernel >= _SINCE):
        yield notes(
            f"{case.who(jobs)} writes with direct=1, but since Linux 6.15 btrfs with checksums buffers such writes: "
            "submission blocks until the write is done, and its pages stay in RAM",
            weight=35,
        )


RULE = Rule(
    title="direct=1 writes on btrfs are buffered",
    wrong="A direct write on btrfs with checksums goes through the page cache, because its buffer could change while "
    "the checksum is computed. The bytes do reach the disk, but iodepth has no effect, and later reads find the data "
    "in RAM.",
    shows="In a job: direct=1 writes on btrfs with checksums, on Linux 6.15 or later.",
    error="Too low for writes with iodepth above 1; too high for later reads.",
    fix="use more numjobs for parallel writes, each with its own file, and drop caches before reads; nodatacow allows "
    "direct writes but also turns off checksums, so it is a different configuration",
    sources=("Linux commit 968f19c5b1b7",),
    in_job=_in_job,
    options=("direct", "buffered"),
    cleared_by_byte_count=False,
    needs="Run on btrfs.",
    commands="for d in 1 32; do fio --rw=randwrite --bs=4k --size=32m --direct=1 --ioengine=libaio --iodepth=$d; done",
)
