"""Results faster than the disks allow."""

from poolproof.evidence.model import Target
from poolproof.rules.model import Case, Findings, Rule, finding, refutes
from poolproof.rules.reported import Kind, bandwidth_bytes, parts
from poolproof.units import format_count, format_number_of, format_rate

_OVER = 1.01
_SEEKS_MANY, _SEEKS_IMPOSSIBLE = 600, 1500


def _in_result(case: Case) -> Findings:
    if case.target is None:
        return
    if case.cold:
        yield from _bandwidth(case, "read", case.target.ceiling_read_bytes_per_s)
        yield from _seeks(case, case.target)
    yield from _bandwidth(case, "write", case.target.ceiling_write_bytes_per_s)


def _bandwidth(case: Case, kind: Kind, ceiling: float | None) -> Findings:
    rate = bandwidth_bytes(case.outcome, kind)
    if ceiling and rate is not None and rate > _OVER * ceiling:
        yield refutes(
            f"the {kind} rate is {format_rate(rate)}, {rate / ceiling:.3g} times the {format_rate(ceiling)} that all "
            "disks together can deliver: a cache answered",
            weight=88,
        )


def _seeks(case: Case, target: Target) -> Findings:
    """Check random reads of rotational disks: about 250/s per disk, 400/s with a deep queue, more on a small span."""
    if not target.rotational or not target.disks:
        return
    rates: dict[int, float] = {}
    for part in parts(case.outcome):
        job = case.job_named(part.job.name)
        if part.kind == "read" and job is not None and job.is_random:
            rates[part.job.group] = rates.get(part.job.group, 0.0) + (part.figures.iops or 0.0)
    fastest = max(rates.values(), default=0.0)
    each = fastest / target.disks
    if each > _SEEKS_MANY:
        yield finding(
            "refutes" if each > _SEEKS_IMPOSSIBLE else "suspects",
            f"{format_count(fastest)} random reads/s from {format_number_of(target.disks, 'rotational disk')} are "
            f"{format_count(each)} per disk, but a rotational disk reaches 400/s at best: a cache answered",
            weight=86,
        )


RULE = Rule(
    title="More than the disks can do",
    wrong="The rate is higher than the links and disks can deliver. A cache answered, even if all counters agree: they "
    "do not show the memory of a controller or a hypervisor.",
    shows="In a result: the rate is more than 1.01 times the ceilings of all disks together (HDD 300 MB/s, SATA 560 "
    "MB/s, SAS3 1.2 GB/s, PCIe 3/4/5 ×4 3.5/7.3/14.5 GB/s), or more than 600 random reads/s per rotational disk. More "
    "than 1500 is proof.",
    error="Too high. Observed: 25.6 GB/s from three drives of 3.2 GB/s each.",
    fix="find the cache (ARC, page cache, controller or hypervisor); use more data than it can hold, and drop caches "
    "first",
    sources=("vendors' data sheets; PCI Express and SATA link rates without encoding overhead",),
    in_result=_in_result,
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=512m --invalidate=0; done  # compare with the data sheet",
)
