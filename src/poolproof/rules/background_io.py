"""I/O from other sources on the same disks during the measurement."""

from collections.abc import Iterable, Iterator

from poolproof.evidence.model import Account
from poolproof.rules.flow import Flow, account, cold_reads, writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_rate, format_size

_SHARE = 0.05
_WATCHED_S = 1.0
_FIX = (
    "find and stop it (iotop -ao; zpool status; cat /proc/mdstat; btrfs balance status), wait for resync, scrub and "
    "trim to finish, create ext4 with -E lazy_itable_init=0,lazy_journal_init=0"
)


def _background(case: Case, found: Account) -> Iterator[tuple[str, float, float, Flow]]:
    """Yield the direction, the bytes per second while fio was idle, that rate's bytes in the window, and the flow."""
    if read := cold_reads(case):
        yield "read", found.idle_read_bytes_per_s, found.idle_read_bytes_per_s * found.window_s, read
    if wrote := writes(case):
        seconds = found.window_s + found.drain_s
        yield "wrote", found.idle_write_bytes_per_s, found.idle_write_bytes_per_s * seconds, wrote


def _in_job(case: Case) -> Iterable[Finding]:
    for busy in case.evidence.busy_with if case.evidence and case.outcome is None else ():
        yield Finding(
            rule="background-io",
            effect="suspects",
            message=f"the disks are busy with {busy} now: it would compete with fio",
            fix=_FIX,
            weight=85,
        )


def _in_result(case: Case) -> Iterable[Finding]:
    for busy in case.evidence.busy_with if case.evidence else ():
        yield Finding(
            rule="background-io",
            effect="suspects",
            message=f"the layout was busy with {busy}: it competed with fio for the disks",
            fix=_FIX,
            weight=85,
        )
    found = account(case)
    if found is None or found.idle_s <= 0:
        return
    for direction, rate, size, flow in _background(case, found):
        if size <= _SHARE * flow.counted_bytes or not flow.in_order:
            continue
        rest = (flow.counted_bytes - size) / flow.wanted_bytes
        hides = rest < flow.least and found.idle_s >= _WATCHED_S
        doubt = f"without it the disks moved {100 * max(rest, 0):.0f} % of what fio did, so it may mask a cache"
        yield Finding(
            rule="background-io",
            effect="suspects" if hides else "notes",
            message=f"the disks {direction} {format_rate(rate)} while fio was not running, about {format_size(size)} "
            "in the window: " + (doubt if hides else "this may lower the result"),
            fix=_FIX,
            weight=70,
        )


RULE = Rule(
    id="background-io",
    title="Something else uses the disks",
    wrong="Resync, scrub, lazy inode tables, trim or another program use the same disks. That slows fio down and "
    "adds to the disks' counters, which can mask a cache.",
    shows="In evidence: a layer reports that it is busy; or the disks moved data while fio was idle, at a rate that "
    "amounts to more than 5 % of their bytes in the window. The result is suspect if the bytes that remain after "
    "subtracting it no longer account for what fio moved and the idle disks were watched for at least a second.",
    error="Too low; too high if it masks a cache.",
    fix=_FIX,
    sources=("https://blog.liw.fi (md resync)", "man mkfs.ext4 (lazy_itable_init)"),
    pitfall_numbers="#36",
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    reproduce=script(
        trap="fio --name=trap --filename=trap --rw=randread --bs=4k --size=256m --direct=1 --time_based --runtime=5",
        before="(while :; do dd if=/dev/zero of=trap-noise bs=1M count=256 conv=fdatasync status=none; done) & "
        "noise=$!\ntrap 'kill $noise' EXIT",
    ),
)
