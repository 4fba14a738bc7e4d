"""Test files on mergerfs that may all end up on the same disk."""

from poolproof.rules.model import Case, Findings, Rule, notes
from poolproof.units import format_number_of


def _is_union(case: Case) -> bool:
    return case.target is not None and "mergerfs" in case.target.file_system


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.clones * job.files > 1 and not job.shares_one_file]
    if _is_union(case) and jobs:
        yield notes(
            f"{case.who(jobs)} creates {jobs[0].clones * jobs[0].files} files, and the create policy decides which "
            "disk stores each one: they may all end up on one disk",
            weight=35,
        )


def _in_result(case: Case) -> Findings:
    sizes = {leaf.device: leaf.read_bytes + leaf.drained_write_bytes for leaf in case.leaves}
    total = sum(sizes.values())
    if not _is_union(case) or len(sizes) < 2 or not total:
        return
    device, most = max(sizes.items(), key=lambda item: item[1])
    if most >= 0.95 * total:
        yield notes(
            f"{device} moved {100 * most / total:.0f}% of the bytes, and "
            f"{format_number_of(len(sizes) - 1, 'other disk')} moved almost none: the result describes {device}, not "
            "the pool",
            weight=45,
        )


RULE = Rule(
    title="One branch did all the work",
    wrong=(
        "mergerfs stores each file on a single branch. A test with one file measures one disk. A test with several "
        "files measures the disks that the create policy chose, but reports their combined rate as the rate of the "
        "whole pool."
    ),
    shows="In a job: several files on mergerfs. In the counters: a single disk moved at least 95% of the bytes.",
    error="Too high or too low, compared with the whole pool.",
    fix="report the branch of each file (`getfattr -n user.mergerfs.basepath FILE`), set the policy with "
    "category.create, and measure one branch alone first",
    sources=(
        "mergerfs 2.40 src/policies/mfs.cpp, Policy::MFS::Create",
        "https://trapexit.github.io/mergerfs/ (benchmarking, policies)",
    ),
    in_job=_in_job,
    options=("numjobs", "nrfiles", "filename", "directory"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Run this on a mergerfs mount.",
    commands="fio --name=trap --directory=. --rw=write --bs=1m --size=128m --numjobs=4 --end_fsync=1 "
    "--group_reporting; getfattr -n user.mergerfs.basepath trap.*",
)
