"""The hypervisor's cache, which the guest's counters cannot see."""

from collections.abc import Iterable
from functools import partial

from poolproof.rules.flow import cold_reads
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import ReportedDirection, each_part, job_of
from poolproof.rules.reproduction import script
from poolproof.units import format_duration

_NAND_NS = 40_000.0
_FIX = "cache=none and io=native (or io_uring) for the virtual disk; also read the disk counters on the host"


def _in_job(case: Case) -> Iterable[Finding]:
    if case.target is not None and case.target.in_guest and case.cold:
        yield Finding(
            rule="guest-cache",
            effect="notes",
            message="this is a virtual machine: its disks' counters do not show whether the host answered "
            "from its own RAM",
            fix=_FIX,
            weight=20,
        )


def _in_result(case: Case) -> Iterable[Finding]:
    flow = cold_reads(case)
    if case.target is None or not case.target.in_guest or flow is None or not flow.in_order:
        return
    yield from each_part(case.outcome, partial(_of_part, case))


def _of_part(case: Case, part: ReportedDirection) -> Finding | None:
    job = job_of(case, part)
    if job is None or part.kind != "read" or not (job.direct and job.is_random) or part.median_ns is None:
        return None
    if part.median_ns >= _NAND_NS:
        return None
    return Finding(
        rule="guest-cache",
        effect="notes",
        message=f"the median random read took {format_duration(part.median_ns / 1e9)}, faster than flash "
        "through a hypervisor: the hypervisor's cache may have answered, below the guest's counters",
        fix=_FIX,
        weight=55,
    )


RULE = Rule(
    id="guest-cache",
    title="The hypervisor's cache",
    wrong="With cache=writeback, writethrough or unsafe a virtual disk is a file in the host's page cache. The guest's "
    "counters agree with fio, because the cache is below them.",
    shows="Before the run: the target is in a virtual machine. In a result: random direct reads in a virtual machine "
    "with "
    "a median under 40 µs. Otherwise only a rate above what the disks can do reveals it (`physical-ceiling`).",
    error="Too high. Observed: 1095, then 3940 MiB/s.",
    fix=_FIX,
    sources=("Red Hat Virtualization Tuning Guide (disk caching)",),
    pitfall_numbers="#25, A6",
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    reproduce=script(
        "for run in 1 2; do fio --name=trap --filename=trap --rw=randread --bs=4k --size=1g --io_size=64m --direct=1; "
        "done",
        needs="In a guest whose disk has cache=writeback.",
    ),
)
