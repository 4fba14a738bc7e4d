"""The disks move more data than fio does."""

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
        f"{why}. The result is what an application gets; the disks could do more",
        fix="to measure the disk itself, set bs to the file system's record size and commit less often; otherwise "
        "change nothing",
        weight=30,
    )


RULE = Rule(
    id="amplification",
    title="The disks move more than the application",
    wrong="The result is correct: it is what the application gets. But the disks did more work than it shows, so it "
    "does not measure the disks.",
    shows="In evidence: the disks read more than 1.2 times what fio read, or wrote more than 1.3 times what fio wrote "
    "times the expected write amplification.",
    error="Too low as a measure of the disk. Measured: 2 to 3 times for small synchronous writes (page rounding, "
    "journal).",
    fix="Report it. To test the disks themselves, set bs to the record size.",
    sources=("measured case L16", "https://github.com/openzfs/zfs/issues/6040"),
    pitfall_numbers="A4, #24",
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=2300 --size=4m --fdatasync=1"),
)
