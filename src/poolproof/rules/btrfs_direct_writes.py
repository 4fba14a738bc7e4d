"""direct=1 writes on btrfs with checksums."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import is_btrfs
from poolproof.rules.reproduction import script

_SINCE = (6, 15)
_WITHOUT_CHECKSUMS = {"nodatasum", "nodatacow"}


def _in_job(case: Case) -> Iterable[Finding]:
    target = case.target
    if target is None or not is_btrfs(target) or _WITHOUT_CHECKSUMS & set(target.mount_options):
        return
    jobs = [job for job in case.load.parts if job.direct and job.writes]
    if jobs and (target.kernel is None or target.kernel >= _SINCE):
        yield Finding(
            rule="btrfs-direct-writes",
            effect="notes",
            message=f"{who(case, jobs)} writes with direct=1, which btrfs with checksums turns into buffered writes "
            "from Linux 6.15 on: submission blocks until the write is done, and its pages stay in RAM",
            fix="more numjobs for parallel writes, each with its own file, and drop caches before reads; nodatacow "
            "gives direct writes, but without checksums, so the results are not comparable",
            weight=35,
        )


RULE = Rule(
    id="btrfs-direct-writes",
    title="direct=1 writes on btrfs are buffered",
    wrong="A direct write on btrfs with checksums goes through the page cache, because its buffer could change while "
    "the "
    "checksum is computed. The bytes do reach the disk, but iodepth has no effect and a read afterwards finds them "
    "in RAM.",
    shows="In a job: direct=1 writes on btrfs with checksums, on Linux 6.15 or later.",
    error="Too low for writes with iodepth over 1; too high for reads that follow.",
    fix="More jobs; drop caches before reads.",
    sources=("Linux commit 968f19c5b1b7",),
    pitfall_numbers="#41",
    in_job=_in_job,
    options=("direct", "buffered"),
    cleared_by_byte_count=False,
    reproduce=script(
        "for depth in 1 32; do fio --name=trap --filename=trap --rw=randwrite --bs=4k --size=256m --io_size=32m "
        "--direct=1 --ioengine=libaio --iodepth=$depth; done",
        needs="On btrfs.",
    ),
)
