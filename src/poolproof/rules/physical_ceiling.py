"""Results that exceed what the disks can physically reach."""

from poolproof.rules.coverage import proves
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, refutes, suspects
from poolproof.rules.repeated_area import keeps_order
from poolproof.rules.reported import Kind, bandwidth_bytes, parts
from poolproof.rules.turning_disks import turning_disks
from poolproof.units import format_count, format_number, format_number_of, format_rate

_OVER = 1.05  # rated speeds are rounded, and a link may be a little faster than its nominal rate
_FAR_OVER = 1.5  # providers let volumes exceed their limit a little, and count large I/Os as several
_FAR_OVER_BASE = 2.0  # a layer may merge requests, or run at another time
_SEEKS_MANY, _SEEKS_IMPOSSIBLE = 600, 1500


def _in_result(case: Case) -> Findings:
    yield from _stated_iops(case)
    yield from _above_base(case)
    if case.target is None:
        return
    if case.cold:
        yield from _bandwidth(case, "read", case.target.ceiling_read_bytes_per_s)
        yield from _seeks(case)
    yield from _bandwidth(case, "write", case.target.ceiling_write_bytes_per_s)


def _stated_iops(case: Case) -> Findings:
    """Yield a finding if the I/Os per second are far above the limit that the text gives for the storage."""
    limit, words = case.quoted.iops_limit if case.quoted else (0.0, "")
    found = [part.figures.iops or 0.0 for part in parts(case.outcome) if case.cold or part.kind == "write"]
    if limit and sum(found) > _FAR_OVER * limit and not proves(case):
        yield suspects(
            f"the result is {format_count(sum(found))} I/Os/s, {format_number(sum(found) / limit)} times the limit of "
            f"the storage ({words}): a cache was involved, or the result is from other storage",
            weight=64,
        )


def _above_base(case: Case) -> Findings:
    """Yield a finding if the result is far above that of the same test on the underlying drive in the same text."""
    for part in parts(case.outcome) if case.quoted and case.quoted.bases and not proves(case) else ():
        base = next((each for each in case.quoted.bases if each.direction == part.kind), None) if case.quoted else None
        if base is None or (part.kind == "read" and not case.cold):
            continue
        rate, iops = part.figures.bandwidth_bytes or 0.0, part.figures.iops or 0.0
        times = max(
            (each / other for each, other in ((rate, base.bytes_per_s), (iops, base.iops)) if other), default=0.0
        )
        if times >= _FAR_OVER_BASE:
            yield suspects(
                f"the {part.kind}s are {format_number(times)} times as fast as those of the underlying drive "
                f"({base.words}): a cache was involved, or the requests were merged",
                weight=63,
            )
            return


def _bandwidth(case: Case, kind: Kind, ceiling: float | None) -> Findings:
    rate = bandwidth_bytes(case.outcome, kind)
    if ceiling and rate is not None and rate > _OVER * ceiling:
        yield refutes(
            f"the {kind} rate is {format_rate(rate)}, {format_number(rate / ceiling, 3)} times the "
            f"{format_rate(ceiling)} that all disks together can deliver: a cache was involved",
            weight=88,
        )


def _seeks(case: Case) -> Findings:
    """Yield a finding if the random reads would need more seeks than rotational disks can do.

    A rotational disk can do about 250 seeks/s, 400/s with a deep queue, and more if the offsets are close together.
    Only I/Os at a new random offset need a seek. With `rw=randread:8`, that is one I/O in eight. If the job uses many
    files of one or two blocks in order, there are none.
    """
    turning = turning_disks(case, "read")
    if turning is None:
        return
    rates: dict[int, float] = {}
    for part in parts(case.outcome):
        job = case.job_named(part.job.name)
        if part.kind == "read" and job is not None and job.is_random and not keeps_order(job):
            seeks = (part.figures.iops or 0.0) * job.random_share
            rates[part.job.group] = rates.get(part.job.group, 0.0) + seeks
    fastest = max(rates.values(), default=0.0)
    each = fastest * turning.share / turning.count
    if each > _SEEKS_MANY:
        yield finding(
            "refutes" if each > _SEEKS_IMPOSSIBLE else "suspects",
            f"{format_count(fastest * turning.share)} random reads/s from "
            f"{format_number_of(turning.count, 'rotational disk')} are {format_count(each)} per disk, "
            "but a rotational disk reaches at most 400/s: a cache was involved",
            weight=86,
        )


RULE = Rule(
    title="More than the disks can do",
    wrong="The rate is higher than the links and disks can deliver. A cache was involved, even if all counters agree: "
    "they do not show the memory of a controller or a hypervisor.",
    shows="In a result: the rate is more than 1.05 times what all disks together can deliver, which refutes the "
    "result; or there are more than 600 seeks/s per rotational disk (more than 1,500 refute the result). Random I/O on "
    "files or zones of one or two blocks, one after the other, needs no seeks. In a text: the "
    "I/Os per second are more than 1.5 times the limit that a line gives for the storage (`provisioned IOPS 6000`), "
    "which makes the result suspect; or the same test has a result below a heading such as `Underlying drive`, `raw "
    "device` or `host`, and the result is at least twice as fast, which makes it suspect if the text mentions no "
    "arrays and no caches on disks. If a disk's speed is unknown, the maximum of its kind is used: 560 MB/s for a "
    "hard disk (with two actuators), 600 MB/s for SATA, 4.8 GB/s for SAS (with both ports), and 3.94, 7.88 or 15.75 "
    "GB/s for four lanes of PCIe 3, 4 or 5.",
    error="Too high. Observed: 25.6 GB/s from three drives of 3.2 GB/s each.",
    fix="find the cache (ARC, page cache, controller or hypervisor); use more data than it can hold, and drop caches "
    "first",
    sources=(
        fio_source("3.42", "io_u.c", "get_next_block (one random offset for every N I/Os of rw=randread:N)"),
        "PCI Express Base Specification 5.0, SATA 3.5 and SAS-4: link rates after line encoding",
        "Seagate data sheet Exos 2X18: 545 MB/s from one SATA drive with two actuators",
    ),
    is_ceiling=True,
    in_result=_in_result,
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=512m --invalidate=0; done  # compare with the data sheet",
)
