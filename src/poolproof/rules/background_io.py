"""Background I/O on the same disks during the measurement, such as a resync or the I/O of other programs."""

from poolproof.rules.flow import Flow, account, cold_reads, writes
from poolproof.rules.model import Case, Findings, Rule, finding, linux_source, suspects, zfs_source
from poolproof.units import format_rate, format_size

_SHARE = 0.05
_WATCHED_S = 1.0


def _in_job(case: Case) -> Findings:
    for busy in case.evidence.busy_with if case.evidence and case.outcome is None else ():
        yield suspects(
            f"the disks are currently busy with {busy}, which would compete with {case.generator}", weight=85
        )


def _in_result(case: Case) -> Findings:
    for busy in case.evidence.busy_with if case.evidence else ():
        yield suspects(
            f"the layout was busy with {busy}, which competed with {case.generator} for the disks", weight=85
        )
    if case.quoted and case.quoted.busy:
        yield suspects(
            f"the text says that other work competed with {case.generator} for the disks: {case.quoted.busy}", weight=70
        )
    found = account(case)
    if found is None or found.idle_s <= 0:
        return
    read, wrote, write_s = found.idle_read_bytes_per_s, found.idle_write_bytes_per_s, found.window_s + found.drain_s
    yield from _background(case, cold_reads(case), "read", read, read * found.window_s)
    yield from _background(case, writes(case), "wrote", wrote, wrote * write_s)


def _background(case: Case, flow: Flow | None, verb: str, rate: float, size: float) -> Findings:
    """Yield a finding if the counted bytes are sufficient, but background I/O accounts for more than 5% of them.

    `size`: the estimated number of bytes that background I/O moved in the measurement window.
    """
    if flow is None or size <= _SHARE * flow.counted_bytes or not flow.in_order:
        return
    rest = (flow.counted_bytes - size) / flow.expected_bytes
    found = account(case)
    hides = rest < flow.least and found is not None and found.idle_s >= _WATCHED_S
    remain = f"{100 * max(rest, 0):.0f}% of the expected bytes are left"
    doubt = f"without these bytes, only {remain}, so a cache may have affected the result"
    yield finding(
        "suspects" if hides else "notes",
        f"the disks {verb} {format_rate(rate)} while {case.generator} was not running, which adds up to about "
        f"{format_size(size)} over the measurement window: " + (doubt if hides else "this I/O may lower the result"),
        weight=70,
    )


RULE = Rule(
    title="Something else is using the disks",
    wrong=(
        "Background I/O slows fio down. Examples are a resync, a scrub, a trim, the lazy initialization of ext4's "
        "inode tables and the I/O of other programs. The disks' counters also include the bytes of background I/O, so "
        "these bytes can hide the effect of a cache."
    ),
    shows=(
        "Before a run and in the evidence: a layer reports background work, such as a resync. The result is then "
        "suspect. It is also suspect if a sentence above it says that an array was still rebuilding. In the counters: "
        "the disks moved bytes while fio was not running, at a rate that accounts for more than 5% of the bytes "
        "counted during the measurement. This is reported as a note. It makes the result suspect only if the remaining "
        "bytes are too few for fio's I/O and the disks were observed without fio for at least a second."
    ),
    error="Too low, or too high if the background I/O hides the effect of a cache.",
    fix=(
        "find the other I/O (iotop -ao; zpool status; cat /proc/mdstat; btrfs balance status) and stop it; wait until "
        "every resync, scrub and trim has finished; create ext4 with -E lazy_itable_init=0,lazy_journal_init=0"
    ),
    sources=(
        linux_source("6.12", "drivers/md/md.c", "md_do_sync"),
        linux_source("6.12", "fs/ext4/super.c", "ext4_lazyinit_thread"),
        zfs_source("2.3.0", "module/zfs/dsl_scan.c", "dsl_scan_sync"),
        "https://blog.liw.fi (md resync)",
        "man mkfs.ext4 (lazy_itable_init)",
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    prepare="(while :; do dd if=/dev/zero of=trap-noise bs=1M count=256 conv=fdatasync status=none; done) & "
    "noise=$!\ntrap 'kill $noise' EXIT",
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --time_based --runtime=5",
)
