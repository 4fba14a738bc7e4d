"""Random writes that leave parts of the file untouched."""

from poolproof.rules.earlier import is_skewed, skips_blocks, was_filled, writes_again
from poolproof.rules.fio_job import is_on_devices
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.writes and not job.reads and skips_blocks(job)]
    if jobs := [job for job in jobs if not (writes_again(job) or is_on_devices(job) or was_filled(case, job))]:
        share = "far fewer than 63%" if is_skewed(jobs[0]) else "about 63%"
        yield notes(
            f"{case.who(jobs)} picks random blocks without tracking which ones are already written (norandommap, or a "
            f"random_distribution): one pass writes {share} of the blocks, so a later read of the file finds holes",
            weight=30,
        )


RULE = Rule(
    title="Random writes do not cover the whole file",
    wrong="With norandommap, fio does not track which blocks are already written, so random writes hit some blocks "
    "several times and miss others: one pass writes 1 − 1/e = 63% of the blocks. The other blocks remain holes, and "
    "later reads of holes do not reach a disk.",
    shows="In a job: one pass of random writes to a file that no earlier job filled, with norandommap (unless "
    "random_generator=lfsr is set) or a random_distribution such as zipf. A job that also reads is not reported, "
    "because fio lays out its file first.",
    error="Too high for a later read job.",
    fix="fill the file with a sequential write first, and remove norandommap if every block must be written",
    sources=(
        fio_source("3.42", "io_u.c", "__get_next_rand_offset"),
        fio_source("3.42", "init.c", "fixup_options (a random_distribution turns the map off)"),
        fio_source("3.42", "filesetup.c", "extend_file (which files fio lays out)"),
        fio_doc("norandommap"),
    ),
    in_job=_in_job,
    options=("norandommap", "random_distribution"),
    commands="rm -f trap; fio --rw=randwrite --size=64m --norandommap --end_fsync=1 --fallocate=none; du -k trap",
)
