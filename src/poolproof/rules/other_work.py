"""Other work on the machine during a trial: programs that use processors or disks, and other virtual machines."""

from poolproof.evidence.model import OtherWork
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Findings, Rule, linux_source, rule_id, suspects
from poolproof.units import format_rate

OTHER_WORK = rule_id(__name__)
_BY_HYPERVISOR, _BY_PROGRAMS, _BY_DISKS = 75, 76, 74
PROCESSOR_WEIGHTS = (_BY_HYPERVISOR, _BY_PROGRAMS)
"""The weights of the findings about processor time, by which they are recognized in saved runs. They must not change.

These findings do not depend on what the load achieved. The finding about disks does: it compares the bytes of other
programs with those of the load, so it is more likely if the load was slow.
"""

_STEAL = 0.05
_CPU, _WAITING = 0.10, 0.10
_DELAYED, _LEAST_DELAYED = 0.10, 0.02
_IO, _IO_PER_S = 0.10, 2e6


def _in_result(case: Case) -> Findings:
    host = case.evidence.host if case.evidence else None
    cpus = host.cpus if host else ()
    stolen = sum(cpu.steal for cpu in cpus) / len(cpus) if cpus else 0.0
    if stolen >= _STEAL:
        yield suspects(
            f"the hypervisor gave {100 * stolen:.0f}% of the processor time to other virtual machines, so I/Os waited "
            "for a processor",
            weight=_BY_HYPERVISOR,
            fix="stop the other virtual machines on this host, or repeat the measurement when they are idle",
        )
    others = case.evidence.others if case.evidence else None
    if others is not None and others.seconds > 0:
        yield from _processors(case, others, len(cpus) or 1)
        yield from _disks(case, others)


def _processors(case: Case, others: OtherWork, cpus: int) -> Findings:
    """Yield a finding if other processes used processors while tasks were waiting for one.

    The load's threads may also wait for each other. Their delay is therefore evidence only if other processes used
    enough processor time to explain it.
    """
    used, delayed = others.cpu_s / others.seconds, others.delay_share
    waiting = None if others.waiting_s is None else others.waiting_s / others.seconds
    delays_load = delayed is not None and delayed >= _DELAYED and used >= delayed / 2
    busy = used >= _CPU * cpus
    if waiting is None and delayed is not None:
        busy = busy and delayed >= _LEAST_DELAYED
    if not delays_load and (not busy or (waiting is not None and waiting < _WAITING)):
        return
    waited = ""
    if delayed is not None and (delays_load or waiting is None):
        share = f"{100 * delayed:.0f}% of the time"
        waited = f", and {case.generator}'s threads were ready to run but waited for a processor {share}"
    elif waiting is not None:
        waited = f", and tasks waited for a processor {100 * min(waiting, 1):.0f}% of the time"
    yield suspects(
        f"other programs used {used:.2g} of {cpus} processors while {case.generator} ran{waited}: the latency is too "
        "high, and the rate may be too low",
        weight=_BY_PROGRAMS,
    )


def _disks(case: Case, others: OtherWork) -> Findings:
    """Yield a finding if other processes moved many bytes compared with the disks of the layout.

    Layouts of emulated disks are excluded, because other processes do not use those disks.
    """
    found, target = account(case), case.target
    if found is None or (target is not None and target.emulated and len(target.emulated) == len(case.leaves)):
        return
    used = found.leaf_read_bytes + found.leaf_write_bytes
    moved = others.read_bytes + others.write_bytes
    if moved <= max(_IO * used, _IO_PER_S * others.seconds):
        return
    did = (("read", others.read_bytes), ("wrote", others.write_bytes))
    rates = " and ".join(f"{verb} {format_rate(count / others.seconds)}" for verb, count in did if count)
    yield suspects(
        f"other programs {rates} while {case.generator} ran. If they used the same disks, they slowed {case.generator} "
        "down and may have hidden a cache: the counters of a disk do not show which program moved the bytes",
        weight=_BY_DISKS,
    )


RULE = Rule(
    title="Other work on the machine",
    wrong="Another program, a second benchmark or another virtual machine uses the processors or disks. Latencies grow "
    "first: the 99th percentile doubles long before the mean changes.",
    shows="In a result: at least one of the following is true. (1) Other processes used at least 10% of all processor "
    "time, while tasks waited for a processor at least 10% of the time (/proc/pressure/cpu). Without that file, it is "
    "enough if fio's own threads waited at least 2% of the time, or if nothing shows how long they waited. (2) fio's "
    "own threads waited for a processor at least 10% of the time (/proc/PID/task/TID/schedstat), and other processes "
    "used a processor for at least half as long. (3) A hypervisor took at least 5% of the processor time. (4) Other "
    "processes moved more than 2 MB/s and more than 10% of the bytes that the disks moved. Layouts that consist only "
    "of emulated disks are excluded from (4).",
    error="Rates are too low and latencies too high, but rates are too high if the other I/O hides a cache. Measured: "
    "two runs at once raised the p99 of fsync from 509 to 659 µs; 16 busy loops on two processors halved the IOPS.",
    fix="stop the other programs (to find them: top, iotop -ao), do one run at a time, and repeat the measurement",
    sources=(
        linux_source("6.12", "kernel/sched/psi.c", "psi_show"),
        "Linux Documentation/accounting/psi.rst",
        "Linux Documentation/scheduler/sched-stats.rst",
        "man 5 proc (PID/stat, PID/io)",
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    prepare="for i in $(seq 16); do (while :; do :; done) & done; trap 'kill $(jobs -p)' EXIT",
    is_about_data=False,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --time_based --runtime=5",
)
