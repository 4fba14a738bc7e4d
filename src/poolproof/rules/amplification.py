"""Disks that move more than fio did."""

from collections.abc import Iterable

from poolproof.rules.flow import Flow, reads, writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script

_READS = 1.2
_WRITES = 1.3


def _in_result(case: Case) -> Iterable[Finding]:
    read, wrote = reads(case), writes(case)
    if read and read.ratio > _READS:
        yield _finding(read, "read", "readahead, blocks larger than the request, or another reader")
    if wrote and wrote.ratio > _WRITES:
        small = any(job.writes and job.commits_each_write for job in case.load.parts)
        journal = "each small commit writes a whole page, the journal and metadata"
        yield _finding(
            wrote, "wrote", journal if small else "journal, metadata, or records rewritten for smaller writes"
        )


def _finding(flow: Flow, verb: str, why: str) -> Finding:
    return Finding(
        rule="amplification",
        effect="notes",
        message=f"fio {verb} {flow.moved}; the disks {verb} {flow.counted} ({flow.ratio:.2g} times {flow.wanted}): "
        f"{why}. The figure is what an application would see, less than the disks could do",
        fix="for the disk's own speed use blocks as large as the file system's record and fewer commits; else leave it",
        weight=30,
    )


RULE = Rule(
    id="amplification",
    title="The disks move more than the application",
    wrong="Nothing is wrong with the figure: it is what the application gets. But the disks did more work than it "
    "says, so it is no measure of the disks.",
    shows="In evidence: the leaves read more than 1.2 times, or wrote more than 1.3 times, what fio did times the "
    "write factor.",
    error="Low, as a measure of the disk. Measured: 2 to 3 times for small synchronous writes (page rounding, "
    "journal).",
    fix="Report it. For media tests match bs to the record.",
    sources=("measured case L16", "https://github.com/openzfs/zfs/issues/6040"),
    pitfall_numbers="A4, #24",
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=2300 --size=4m --fdatasync=1"),
)
