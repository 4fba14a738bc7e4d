"""Random I/O that is too fast for the hard disks mentioned in the text."""

from poolproof.rules.coverage import proves
from poolproof.rules.model import Case, Findings, Rule, suspects
from poolproof.rules.proof import OF_READS
from poolproof.rules.reported import parts
from poolproof.units import format_count

_MOST_EACH = 1500


def _in_result(case: Case) -> Findings:
    if case.quoted is None or not case.quoted.hard_disks or proves(case) or _has_cache_device(case):
        return
    disks = max(1, case.quoted.hard_disk_count)
    for part in parts(case.outcome):
        job, iops = case.job_named(part.job.name), part.figures.iops
        is_random = job is not None and job.is_random
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


def _has_cache_device(case: Case) -> bool:
    """True if fio used a bcache device, which can cache a hard disk's data on an SSD."""
    disks = case.outcome.disks if case.outcome else ()
    return any(disk.name.startswith("bcache") for disk in disks)


RULE = Rule(
    title="Faster than the hard disks that the text names",
    wrong="The text says that the data is on hard disks, but the random I/O is as fast as flash or RAM. Therefore, the "
    "RAM of the machine, of a NAS or of a controller was involved. A sentence is weaker evidence than a counter, so it "
    "never refutes a result.",
    shows="In a text: the nearest line about disks above the result mentions hard disks (7200 rpm, IronWolf, HDD) but "
    "no SSD or bcache device, and the result has more than 1,500 random I/Os per second per disk. If the line names an "
    "SSD as the log device (SLOG) of the hard disks, only reads are judged. If no line names disks, the model of a NAS "
    "from Synology or QNAP (DS218: 2 drives) counts as such a line.",
    error="Too high by a factor of up to 100. Observed: 27,416 random writes/s from one hard disk in a NAS.",
    fix="make the file twice the size of the RAM, set direct=1, and count the disks' requests (if they are in a NAS, "
    "count on the NAS)",
    fix_if_direct="make the file twice the size of the RAM, and count the disks' requests (if they are in a NAS, count "
    "on the NAS)",
    sources=("data sheets: 8 ms for a seek and 4.2 ms for half a turn at 7200 rpm, about 120 random reads/s",),
    in_result=_in_result,
    commands="fio --rw=randwrite --bs=4k --size=256m --ioengine=libaio --iodepth=16 --runtime=5 --time_based",
)
