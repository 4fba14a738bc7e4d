"""Syncs that never reach the disks as flushes."""

from poolproof.rules.commits import commits
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, linux_source, suspects
from poolproof.rules.path import is_fuse, writes_are_synchronous
from poolproof.rules.proof import OF_COMMITS, OF_WRITES, SYNCS, syncs_other_files
from poolproof.rules.reported import parts
from poolproof.rules.tolerances import FLUSHED
from poolproof.units import format_count, format_list

_LEAST_SYNCS = 100
_NONE = 0.1
_SHOWN_WHOLE = 1000
_OFF = {"nobarrier", "barrier=0", "barrier=none"}


def _in_result(case: Case) -> Findings:
    yield from _of_syncs(case)
    yield from _of_synchronous_writes(case)
    yield from _of_branches(case)
    yield from _of_files_below(case)
    yield from _of_quoted_mount(case)
    yield from _of_quoted_flush(case)


def _of_branches(case: Case) -> Findings:
    """Yield a finding if the disk of a branch of a FUSE pool received no flush, while other disks did.

    Each file is on one branch, so the flushes of the other disks cover only the syncs of other files.
    """
    jobs = [job for job in case.jobs if job.writes and job.sync_every]
    if not jobs or not is_fuse(case.target) or case.target is None or case.target.write_through is None:
        return
    cached = [leaf for leaf in case.leaves if leaf.device not in case.target.without_write_cache]
    least = max(_LEAST_SYNCS, _NONE * sum(leaf.write_ios for leaf in case.leaves))
    without = [leaf.device for leaf in cached if leaf.flush_ios == 0 and leaf.write_ios >= least]
    if without and any(leaf.flush_ios for leaf in cached):
        yield suspects(
            f"{case.who(jobs)} syncs its writes, but {' and '.join(without)} received no flushes, although the write "
            "cache is on: the file system on this branch acknowledges syncs without a flush",
            weight=88,
            metrics=OF_COMMITS if all(job.sync_every == 1 for job in jobs) else SYNCS,
        )


def _of_files_below(case: Case) -> Findings:
    """Yield a finding if flushes of loop devices do not reach the disks that store their files."""
    off = sorted(_OFF & set(case.target.backing.mount_options)) if case.target else []
    unflushed = case.target.backing.unflushed if case.target else ()
    jobs = [job for job in case.jobs if job.writes and (job.sync_every or job.writes_are_synchronous)]
    if unflushed and jobs:
        yield suspects(
            f"{case.who(jobs)} makes its writes durable, but the file of a loop device is on {format_list(unflushed)}, "
            "to which the kernel sends no flush (`write through` in queue/write_cache), although the disk's write "
            "cache is on",
            weight=87,
            metrics=OF_COMMITS,
            fix=f"as root: echo write back > /sys/block/{unflushed[0]}/queue/write_cache",
        )
    if off and jobs:
        yield suspects(
            f"{case.who(jobs)} makes its writes durable, but the file of a loop device is on a file system mounted "
            f"with {off[0]}, which sends no flush to its disk, although the disk's write cache is on",
            weight=87,
            metrics=OF_COMMITS,
        )


def _of_quoted_mount(case: Case) -> Findings:
    """Yield a finding if a text without counters says that barriers are off, and a job syncs its writes."""
    words = case.quoted.without_barriers if case.quoted else ""
    jobs = [job for job in case.jobs if job.writes and (job.sync_every or job.writes_are_synchronous)]
    if words and jobs and not case.leaves:
        yield suspects(
            f"{case.who(jobs)} makes its writes durable, but without barriers, the file system acknowledges them "
            f"without a flush, so they may be only in the disk's write cache: {words}",
            weight=70,
            metrics=OF_COMMITS,
        )


def _of_quoted_flush(case: Case) -> Findings:
    """Yield a finding if another result of the text shows that the syncs left the data in the drive's cache."""
    words = case.quoted.without_flush if case.quoted else ""
    if words and not case.leaves:
        yield suspects(
            f"the syncs do not flush the drive's cache, so the data is not durable when they return: {words}",
            weight=75,
            metrics=OF_COMMITS,
        )


def _of_synchronous_writes(case: Case) -> Findings:
    """Yield a finding if mount options disable the flushes of O_SYNC writes and the disks received no flush.

    Direct writes may be durable even so, because the kernel can send them with FUA if the disk supports it.
    """
    off = sorted(_OFF & set(case.target.mount_options)) if case.target and case.target.write_through is False else []
    jobs = [job for job in case.jobs if job.writes and writes_are_synchronous(case, job)]
    writes = sum(part.figures.ios or 0 for part in parts(case.outcome) if part.kind == "write")
    if off and jobs and case.leaves and writes >= _LEAST_SYNCS and all(leaf.flush_ios == 0 for leaf in case.leaves):
        yield finding(
            "suspects" if all(job.direct for job in jobs) else "refutes",
            f"{case.who(jobs)} writes synchronously, but the disks received no flushes, although their write cache is "
            f"on: with the mount option {off[0]}, the file system acknowledges writes without a flush",
            weight=88,
            metrics=OF_WRITES,
        )


def _of_syncs(case: Case) -> Findings:
    found = commits(case) if case.target and case.target.write_through is False else None
    ratio = found.ratio if found else None
    if found is None or ratio is None or found.syncs < _LEAST_SYNCS or ratio >= FLUSHED:
        return
    if found.durable and syncs_other_files(case):
        return  # btrfs sends no flush for a file without new data
    off = sorted(_OFF & set(case.target.mount_options if case.target else ()))
    why = f"the file system (mounted with {off[0]})" if off else f"something between {case.generator} and the disks"
    done = found.durable or 0
    flushes = format_count(done) if done >= _SHOWN_WHOLE else str(done)
    each = all(job.sync_every == 1 for job in case.jobs if job.writes)
    yield finding(
        "refutes" if ratio < _NONE else "suspects",
        f"{case.generator} synced {format_count(found.syncs)} times, but the disks received only {flushes} flushes, "
        f"although their write cache is on: {why} acknowledges syncs without a flush",
        weight=88,
        metrics=OF_COMMITS if each else SYNCS,
    )


RULE = Rule(
    title="Syncs without flushes",
    wrong=(
        "Data in a disk's write cache is durable only after a flush. A sync without a flush does not make the data "
        "durable, so the sync returns too early."
    ),
    shows=(
        "In the evidence: the disks have a volatile write cache and received less than half a flush per sync. If "
        "several jobs sync at once, fewer flushes are expected, because one flush serves all of them. With less than a "
        "tenth of a flush per sync, the result is refuted. Fewer than 100 syncs are not judged. Jobs with several "
        "files are judged only if there were no flushes, because fio syncs the file that is next in turn, which may "
        "have no new data. On mergerfs and other FUSE pools, the syncs are also suspect if one disk received at least "
        "a tenth of the writes but no flush, while other disks received flushes. Synchronous writes (sync=1 or dsync, "
        "or the mount option sync) are reported too, if barriers are off and the disks received no flush. The finding "
        "affects the latency of syncs, and the rates of jobs that sync after each write. In the disks' counters, a "
        "write that is followed by a flush counts as two requests. "
        "Kernels before Linux 5.5 do not count flushes, and later kernels do not count those of partitions, md arrays, "
        "device-mapper devices and zvols. On such devices, missing flushes cannot be detected. In a text: a result of "
        "synced writes, below a line with the mount option nobarrier or barrier=0. This is not reported if the text "
        "mentions a battery or power-loss protection. Or the file of a loop device is on a file system with such an "
        "option, or on a disk whose queue/write_cache was set to `write through`. Or a row of pg_test_fsync is more "
        "than ten times as fast as `fsync_writethrough`, the only row that flushes the drive's cache on macOS."
    ),
    error=(
        "The latency of commits is too low. For comparison, 4,096 syncs in a valid run caused 4,095 flushes and 8,612 "
        "write requests."
    ),
    fix="look for sync=disabled, eatmydata, nobarrier, `write through` in queue/write_cache, a battery-backed "
    "controller, cache=unsafe in the hypervisor, or macOS, where only F_FULLFSYNC flushes",
    sources=(
        "measured case L16",
        linux_source("5.5", "block/partition-generic.c", "part_stat_show (the first release with a flush field)"),
        linux_source("6.12", "block/blk-flush.c", "blk_account_io_flush (counts flushes of whole disks only)"),
        linux_source("6.12", "block/blk-sysfs.c", "queue_wc_store (stops the flushes, but leaves queue/fua)"),
        fio_source("3.37", "io_u.c", "get_rw_ddir (syncs after reads, up to this release)"),
    ),
    in_result=_in_result,
    needs="Needs eatmydata.",
    commands="for run in '' eatmydata; do $run fio --rw=write --bs=4k --size=4m --fdatasync=1; cat \"$disk\"; done",
)
