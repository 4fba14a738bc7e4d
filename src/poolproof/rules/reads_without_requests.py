"""Random reads that the disks did not serve one by one."""

from poolproof.rules.coverage import random_reads, random_reads_in_order
from poolproof.rules.model import Case, Findings, Rule, fill, finding, linux_source, zfs_issue, zfs_source
from poolproof.rules.proof import IOPS_AND_LATENCIES_OF_READS, OF_READS
from poolproof.rules.tolerances import REFUTED, REQUESTS, percent
from poolproof.units import format_count

_ON_ZFS = "on ZFS, set recordsize to the value of bs or set primarycache=metadata, so that each read reaches the disks"


def _in_result(case: Case) -> Findings:
    found = random_reads(case)
    if found and not found.in_order:
        yield finding(
            found.effect,
            f"{case.generator} counted {format_count(found.ios)} random reads, but the counters show only "
            f"{found.counted_text} ({100 * found.ratio:.2g}% of what these reads need): the rest was in RAM, where "
            "readahead or an earlier read of the same record or page had put it",
            weight=65,
            metrics=IOPS_AND_LATENCIES_OF_READS if random_reads_in_order(case) else OF_READS,
        )


RULE = Rule(
    title="Random reads without requests",
    wrong="The disks moved as many bytes as fio, but in fewer and larger requests, because of readahead, or because "
    "the file system read a whole record or page for each small read. Most reads were served from RAM, so their IOPS "
    "and latency are those of RAM.",
    shows="In the counters: there are too few requests (including merged ones), bytes, records (computed from the "
    f"bytes) or ARC misses. Too few means less than {percent(REQUESTS)} of what fio's random reads need. Below "
    f"{percent(REFUTED)}, the result is refuted. Reads that took less than 4 µs are not counted as disk reads: no disk "
    "is that fast. They show hits in RAM even if other jobs cause many requests. If they are only a small part of the "
    "bytes, the bandwidth is not affected.",
    error="Too high by a factor of up to record / bs (128 KiB / 4 KiB = 32). Measured: with mmap, 186k IOPS, 16,384 "
    "reads counted by fio and 94 requests to the disk; on ZFS, 10,270 reads of 4 KiB and 769 records read from the "
    "disk.",
    fix=f"use direct=1 if the file system honours it; {_ON_ZFS}; leave fadvise_hint at its default and do not use mmap",
    fix_if_direct=_ON_ZFS,
    sources=(
        linux_source("6.12", "block/blk-merge.c", "blk_account_io_merge_bio"),
        zfs_source("2.3.0", "module/zfs/arc.c", "arc_read"),
        zfs_issue(6040),
    ),
    in_result=_in_result,
    explains_lost={"read": "served from RAM after readahead or an earlier read of the same record"},
    prepare=fill("256m"),
    commands="fio --rw=randread --bs=4k --size=256m --ioengine=mmap --fadvise_hint=0",
)
