"""Results faster than the disks allow."""

from collections.abc import Iterable

from poolproof.evidence.model import Target
from poolproof.rules.model import Case, Effect, Finding, Rule
from poolproof.rules.naming import count
from poolproof.rules.reported import Kind, bandwidth_bytes, job_of, parts
from poolproof.rules.reproduction import script
from poolproof.units import format_count, format_rate

_OVER = 1.01
_SEEKS_MANY, _SEEKS_IMPOSSIBLE = 600, 1500
_FIX = "find the cache (ARC, page cache, controller or hypervisor); use more data than it holds, and drop caches first"


def _in_result(case: Case) -> Iterable[Finding]:
    if case.target is None:
        return
    if case.cold:
        yield from _bandwidth(case, "read", case.target.ceiling_read_bytes_per_s)
        yield from _seeks(case, case.target)
    yield from _bandwidth(case, "write", case.target.ceiling_write_bytes_per_s)


def _bandwidth(case: Case, kind: Kind, ceiling: float | None) -> Iterable[Finding]:
    rate = bandwidth_bytes(case.outcome, kind)
    if not ceiling or rate is None or rate <= _OVER * ceiling:
        return
    yield Finding(
        rule="physical-ceiling",
        effect="refutes",
        message=f"the {kind} rate is {format_rate(rate)}; the disks give at most {format_rate(ceiling)} together, "
        f"so the result is {rate / ceiling:.3g} times that: a cache answered",
        fix=_FIX,
        weight=88,
    )


def _seeks(case: Case, target: Target) -> Iterable[Finding]:
    """Random reads from rotational disks: about 250/s per disk, 400/s with a deep queue, more over a small span."""
    if not target.rotational or not target.disks:
        return
    rates: dict[int, float] = {}
    for part in parts(case.outcome):
        if part.kind == "read" and (job := job_of(case, part)) is not None and job.is_random:
            rates[part.job.group] = rates.get(part.job.group, 0.0) + (part.figures.iops or 0.0)
    fastest = max(rates.values(), default=0.0)
    each = fastest / target.disks
    if each <= _SEEKS_MANY:
        return
    effect: Effect = "refutes" if each > _SEEKS_IMPOSSIBLE else "suspects"
    yield Finding(
        rule="physical-ceiling",
        effect=effect,
        message=f"{format_count(fastest)} random reads/s from {count(target.disks, 'rotational disk')} are "
        f"{format_count(each)} per disk; such a disk reaches 400/s at best: a cache answered",
        fix=_FIX,
        weight=86,
    )


RULE = Rule(
    id="physical-ceiling",
    title="More than the disks can do",
    wrong="The rate is higher than the links and disks can deliver. A cache answered, even if all counters agree: the"
    " counters do not see the memory of a controller or a hypervisor.",
    shows="In a result: the rate is over 1.01 × the sum of the ceilings of the disks, if these are known; or there are "
    "more than 600 random reads/s per rotational disk (over 1500 is proof). Ceilings: HDD 300 MB/s, SATA "
    "560 MB/s, SAS3 1.2 GB/s, PCIe 3/4/5 ×4 3.5/7.3/14.5 GB/s.",
    error="Too high. Observed: 25.6 GB/s from three drives of 3.2 GB/s.",
    fix=_FIX,
    sources=("vendors' data sheets; PCI Express and SATA link rates less coding",),
    pitfall_numbers="A5, #25, #26",
    in_result=_in_result,
    reproduce=script(
        "for run in 1 2; do fio --name=trap --filename=trap --rw=read --bs=1m --size=512m --invalidate=0; done  # the "
        "second run is above what the disk's data sheet says"
    ),
)
