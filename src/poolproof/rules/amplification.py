"""The disks move more data than fio asked for."""

from poolproof.rules.flow import Flow, reads, writes
from poolproof.rules.model import Case, Finding, Findings, Rule, linux_source, notes, zfs_issue
from poolproof.rules.path import is_block_device, is_zfs
from poolproof.rules.read_back import writes_twice
from poolproof.units import format_number

_FIX = (
    "set bs to the file system's record size and commit less often if you want to measure the disks; otherwise "
    "change nothing"
)
_FIX_OF_PAGES = (
    "set bs to a multiple of 4k and commit less often if you want to measure the disks; otherwise change nothing"
)


def _in_result(case: Case) -> Findings:
    if case.quoted is not None and case.quoted.counts_at_most:
        return
    read, wrote = reads(case), writes(case)
    if read and read.ratio > 1.2:
        yield _finding(
            case,
            read,
            "read",
            "the cause is readahead, file-system blocks larger than the I/O, or reads by another program",
        )
    if wrote and wrote.ratio > 1.3:
        small_commits = any(job.writes and job.commits_each_write for job in case.jobs)
        is_bare = is_block_device(case.target) and not is_zfs(case.target)
        journal = f"each small commit writes a whole page{'' if is_bare else ', the journal and metadata'}"
        records = f"whole {'records' if is_zfs(case.target) else 'pages'} that are rewritten for smaller writes"
        others = f"the cause is {'' if is_bare else 'the journal, metadata, or '}{records}"
        twice = any(writes_twice(job, case.outcome) for job in case.jobs)
        again = "with experimental_verify, fio writes everything again instead of reading it back"
        yield _finding(case, wrote, "wrote", again if twice else journal if small_commits else others)


def _finding(case: Case, flow: Flow, verb: str, why: str) -> Finding:
    return notes(
        f"{case.generator} {verb} {flow.moved}; the disks {verb} {flow.counted}, which is {format_number(flow.ratio)} "
        f"times {flow.expected}: {why}. The result is the rate that an application sees; the disks themselves can do "
        "more",
        weight=30,
        fix=_FIX if is_zfs(case.target) else _FIX_OF_PAGES,
    )


RULE = Rule(
    title="The disks move more data than the application",
    wrong=(
        "The result is correct, because it is the rate that an application sees. However, the disks did more work than "
        "this rate suggests."
    ),
    shows=(
        "In the counters: the disks read more than 1.2 times as many bytes as expected, or wrote more than 1.3 times "
        "as many."
    ),
    error=(
        "The result is lower than what the disks can deliver. Measured: for small synchronous writes, the disks wrote "
        "2 to 3 times as many bytes as fio, because they also wrote whole pages and the journal."
    ),
    fix=_FIX,
    sources=(
        "measured case L16",
        linux_source("6.12", "fs/jbd2/commit.c", "jbd2_journal_commit_transaction"),
        zfs_issue(6040),
    ),
    in_result=_in_result,
    commands="fio --rw=write --bs=2300 --size=4m --fdatasync=1",
)
