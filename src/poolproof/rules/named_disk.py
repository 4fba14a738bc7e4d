"""I/O that is too fast for the hard disks or the SATA drive mentioned in the text."""

import re
from collections.abc import Iterator

from poolproof.rules.coverage import proves
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.link_rates import SATA3
from poolproof.rules.model import Case, Findings, Rule, suspects
from poolproof.rules.proof import OF_READS
from poolproof.rules.quoted import NO_LINK
from poolproof.rules.reported import parts
from poolproof.units import format_count, format_rate

_MOST_EACH = 1500
_FLASH = re.compile(r"ssd|nvme|optane|flash|cache", re.IGNORECASE)
_RANDOM = re.compile(r"\bra?nd|random", re.IGNORECASE)
_OTHER_LINK = re.compile(r"nvme|optane|/dev/shm|tmpfs|ram\d", re.IGNORECASE)
_OVER = 1.1  # people round
_OTHER_ORDER = re.compile(r"\bseq|sequential", re.IGNORECASE)


def _in_result(case: Case) -> Findings:
    yield from list(_above_sata(case)) or _above_link(case)
    if case.quoted is None or not case.quoted.hard_disks or proves(case) or _has_cache_device(case):
        return
    if any(_FLASH.search(path) for path in _paths(case)):
        return
    disks = max(1, case.quoted.hard_disk_count)
    for part in parts(case.outcome):
        job, iops = case.job_named(part.job.name), part.figures.iops
        is_random = job.is_random if job is not None else not case.jobs and _is_named_random(part.job.name)
        if case.quoted.has_log_device and part.kind == "write":
            continue
        if iops and is_random and iops > _MOST_EACH * disks and (case.cold or part.kind == "write"):
            yield suspects(
                f"the result is {format_count(iops)} random {part.kind}s/s, but {case.quoted.hard_disks}: a hard disk "
                "reaches only a few hundred, so a cache was involved",
                weight=74,
                metrics=OF_READS if case.quoted.has_log_device else (),
            )
            return


def _is_named_random(name: str) -> bool:
    """True if the name of a result, such as a row of a table, mentions only random I/O, and no flash."""
    return _RANDOM.search(name) is not None and not _OTHER_ORDER.search(name) and not _FLASH.search(name)


def _paths(case: Case) -> Iterator[str]:
    """Yield the paths of the jobs. They may name flash although the nearest list of disks shows only hard disks."""
    for job in case.jobs:
        yield from (*fio_job(job).filenames, *fio_job(job).directories) if is_fio_job(job) else ()
        yield from (extent.file for extent in job.extents)


def _above_sata(case: Case) -> Findings:
    drive = case.quoted.sata_drive if case.quoted else ""
    for part in parts(case.outcome) if drive and not proves(case) and not _has_cache_device(case) else ():
        rate = part.figures.bandwidth_bytes or 0.0
        if rate > SATA3 and (case.cold or part.kind == "write"):
            yield suspects(
                f"the {part.kind} rate is {format_rate(rate)}, but {drive}: a SATA link transfers at most "
                f"{format_rate(SATA3)}, so a cache was involved",
                weight=74,
            )
            return


def _above_link(case: Case) -> Findings:
    """Yield a finding if the rate is clearly above that of the link that the text names."""
    link = case.quoted.link if case.quoted else NO_LINK
    if not link.bytes_per_s or proves(case) or _has_cache_device(case):
        return
    if any(_OTHER_LINK.search(path) for path in _paths(case)):
        return
    for part in parts(case.outcome):
        rate, iops = part.figures.bandwidth_bytes or 0.0, part.figures.iops or 0.0
        if part.kind == "read" and not case.cold:
            continue
        if rate > _OVER * link.bytes_per_s:
            what, most = (
                f"{part.kind} rate is {format_rate(rate)}",
                f"transfers at most {format_rate(link.bytes_per_s)}",
            )
        elif link.iops and iops > _OVER * link.iops:
            what, most = f"result is {format_count(iops)} {part.kind}s/s", f"allows at most {format_count(link.iops)}"
        else:
            continue
        yield suspects(
            f"the {what}, but {link.words}: {link.name} {most}, so a cache was involved, or the result is from other "
            "storage",
            weight=73,
        )
        return


def _has_cache_device(case: Case) -> bool:
    """True if fio used a bcache device, which can cache a hard disk's data on an SSD."""
    disks = case.outcome.disks if case.outcome else ()
    return any(disk.name.startswith("bcache") for disk in disks)


RULE = Rule(
    title="Faster than the disks that the text names",
    wrong="The text says that the data is on hard disks, but the random I/O is as fast as flash or RAM. Therefore, the "
    "RAM of the machine, of a NAS or of a controller was involved. A sentence is weaker evidence than a counter, so it "
    "never refutes a result.",
    shows="In a text: the nearest line about disks above the result mentions hard disks (7200 rpm, IronWolf, HDD, "
    "ST8000VN004) but no SSD or bcache device, and the result has more than 1,500 random I/Os per second per disk. "
    "If the job is unknown, the name of the result, such as the row of a table, must say that it is random. A "
    "line with a model number may be in a list of disks, such as the output of lsblk: the list must not mention flash, "
    "and its lines with model numbers are counted. A line about several machines (`4 nodes with HDDs`) is not judged. "
    "Jobs whose paths name flash (`/mnt/nvme`) are left out. If the line "
    "names an SSD as the log device (SLOG) of the hard disks, only reads are judged. If no line above "
    "names disks, the model of a NAS from Synology or QNAP (DS218: 2 drives) counts as such a line, and otherwise a "
    "sentence below the result (`these are HDDs, 4 x 4TB`) if the text never mentions flash. A table that lists pools "
    "or machines with their disks applies only to results whose path or name contains a name in it. Or a sentence near "
    "the result says that it was run on one SATA drive, and the result exceeds 600 MB/s. Or the nearest line about "
    "storage above the result, or its name in a table, mentions only SATA or USB drives, memory cards or eMMC, and the "
    "rate is more than 1.1 times that of their links, or above 165,000 I/Os/s for each SATA drive (data sheets give at "
    "most 100,000). If the text mentions arrays, the line must say how many drives there are. Or the lines above the "
    "result say that it used NFS, SMB or iSCSI, and the rate is more than 1.1 times that of the fastest network in the "
    "text.",
    error="Too high by a factor of up to 100. Observed: 27,416 random writes/s from one hard disk in a NAS.",
    fix="make the file twice the size of the RAM, set direct=1, and count the disks' requests (if they are in a NAS, "
    "count on the NAS)",
    fix_if_direct="make the file twice the size of the RAM, and count the disks' requests (if they are in a NAS, count "
    "on the NAS)",
    sources=(
        "data sheets: 8 ms for a seek and 4.2 ms for half a turn at 7200 rpm, about 120 random reads/s",
        "Serial ATA Revision 3.0",
    ),
    in_result=_in_result,
    commands="fio --rw=randwrite --bs=4k --size=256m --ioengine=libaio --iodepth=16 --runtime=5 --time_based",
)
