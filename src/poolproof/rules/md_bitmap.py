"""An md array with a write-intent bitmap, which delays the first write to each clean region."""

from poolproof.rules.model import Case, Findings, Rule, linux_source, notes


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.writes and (job.is_random or job.commits_each_write)]
    jobs = [job for job in jobs if job.block_bytes <= 64 * 1024]
    if case.target and case.target.md_bitmap and jobs:
        yield notes(
            f"{case.who(jobs)} issues small random or synchronous writes on an md array with an internal "
            "write-intent bitmap. Before the first write to a clean region, md sets that region's bit in the bitmap "
            "and waits until the bit is on disk",
            weight=45,
        )


RULE = Rule(
    title="md's write-intent bitmap",
    wrong=(
        "Before md writes to a clean region, it sets the bit of that region in the bitmap on every disk. This slows "
        "down small random writes the most."
    ),
    shows=(
        "Before the run: the target has an internal write-intent bitmap, and the job issues small random or "
        "synchronous writes."
    ),
    error="Too low. Observed: 115 MB/s without the bitmap, and 22 MB/s with it.",
    fix="run mdadm --grow --bitmap=none /dev/mdX for the test, or choose a larger --bitmap-chunk; report the setting "
    "with the result",
    sources=(
        linux_source("6.12", "drivers/md/md-bitmap.c", "bitmap_startwrite, bitmap_unplug (waits for the bitmap pages)"),
        "https://louwrentius.com (md bitmap)",
        "https://blog.liw.fi (md bitmap)",
        "man md",
    ),
    in_job=_in_job,
    options=("bs", "rw"),
    cleared_by_byte_count=False,
    needs="Needs root, and a test array, /dev/md/trap, whose file system is mounted on this directory.",
    commands="for bitmap in none internal; do mdadm --grow --bitmap=$bitmap /dev/md/trap; fio --name=trap "
    "--filename=trap --rw=randwrite --bs=4k --size=256m --io_size=32m --direct=1 --fdatasync=1; done",
)
