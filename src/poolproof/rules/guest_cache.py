"""The hypervisor's cache, which is invisible to the guest's counters."""

from poolproof.rules.coverage import proves
from poolproof.rules.flow import cold_reads
from poolproof.rules.link_rates import PCIE4_X4
from poolproof.rules.memory_values import reads_like_memory
from poolproof.rules.model import Case, Finding, Findings, Rule, notes, suspects
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, each_part, parts
from poolproof.rules.service_time import typical_ns
from poolproof.units import format_duration, format_rate


def _in_job(case: Case) -> Findings:
    if case.target and case.target.in_guest and case.cold:
        yield notes(
            "this is a virtual machine: the counters of its disks cannot show whether the hypervisor served "
            "the I/O from its own RAM",
            weight=20,
        )


def _in_result(case: Case) -> Findings:
    yield from each_part(_in_part)(case)
    yield from _through_host(case)
    guest = (case.quoted or UNQUOTED).guest
    rate = sum(part.figures.bandwidth_bytes or 0.0 for part in parts(case.outcome))
    if guest and case.cold and rate > PCIE4_X4 and not proves(case):
        yield suspects(
            f"the disk of a virtual machine transferred {format_rate(rate)}, more than a drive on PCIe 4.0 x4 can "
            f"({format_rate(PCIE4_X4)}): the hypervisor's RAM may have served the I/O ({guest})",
            weight=55,
        )


def _through_host(case: Case) -> Findings:
    """Yield a finding if the text says that the virtual disk uses the host's page cache, and reads may come from it."""
    words = (case.quoted or UNQUOTED).host_cached
    if words and case.cold and not proves(case) and reads_like_memory(case):
        yield suspects(
            f"the virtual disk uses the page cache of the host, so the host's RAM may have served the reads ({words})",
            weight=55,
        )


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    flow, job, typical = cold_reads(case), case.job_named(part.job.name), typical_ns(part)
    if case.target is None or not case.target.in_guest or flow is None or not flow.in_order:
        return None
    if job is None or part.kind != "read" or not (job.direct and job.is_random):
        return None
    if part.median_ns is None or typical is None or typical >= 40_000:
        return None
    return notes(
        f"the median random read took {format_duration(typical / 1e9)}, which is faster than flash behind a "
        "hypervisor: the hypervisor's cache may have served these reads, and the guest's counters cannot show this",
        weight=55,
    )


RULE = Rule(
    title="The hypervisor's cache",
    wrong=(
        "With cache=writeback, writethrough or unsafe, the hypervisor may serve reads from its own page cache, and the "
        "guest's counters cannot show this."
    ),
    shows=(
        "Before the run: the target is in a virtual machine. In a result: random direct reads in a virtual machine "
        "have a median latency below 40 µs. At higher latencies, only a rate above the disks' speed reveals the cache "
        "(`physical-ceiling`). In a text that shows that the machine is a virtual machine: reads and writes together "
        "exceed 7.88 GB/s, the limit of a drive on PCIe 4.0 x4; or a heading or a row of a table says that the disk "
        "has cache=writeback, writethrough or unsafe, and the reads are at least 1 GB/s or take less than 100 µs each."
    ),
    error="Too high. Observed: 1,095 MiB/s in one run, and 3,940 MiB/s in the next.",
    fix="set cache=none and io=native (or io_uring) for the virtual disk, and also read the disk counters on the "
    "hypervisor",
    is_about_machine=True,
    sources=(
        "QEMU 9.0 block/file-posix.c, raw_parse_flags (cache.direct)",
        "Red Hat Virtualization Tuning Guide (disk caching)",
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    needs="Run this in a guest whose disk has cache=writeback.",
    commands="for run in 1 2; do fio --rw=randread --bs=4k --size=1g --io_size=64m --direct=1; done",
)
