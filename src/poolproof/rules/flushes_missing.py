"""Syncs that never reach the disks."""

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Findings, Rule, fio_source, linux_source, notes
from poolproof.rules.reported import each_sync_has_data
from poolproof.units import format_count


def _in_result(case: Case) -> Findings:
    if case.outcome is None or case.target is None or case.target.write_through is not False or not case.leaves:
        return
    if any(leaf.flush_ios is None for leaf in case.leaves):
        return
    syncs = sum(_syncs(case, job) for job in case.outcome.parts)
    flushes = sum(leaf.flush_ios or 0 for leaf in case.leaves)
    if syncs >= 100 and flushes < 0.5 * syncs / max(case.load.clones, 1):
        yield notes(
            f"fio synced {format_count(syncs)} times, but the disks received only {format_count(flushes)} flushes, "
            "although their write cache is on: something between fio and the disks acknowledges syncs without a flush",
            weight=60,
        )


def _syncs(case: Case, reported: PartOutcome) -> int:
    """Return the number of syncs that had data to write.

    Because fio 3.x can report 0 for psync, samples of the sync latency count as syncs too. If some calls may have had
    nothing to write, each needs a write of its own: at most one sync for each `sync_every` writes counts.
    """
    syncs = max(reported.syncs or 0, (reported.sync.samples or 0) if reported.sync else 0)
    job = case.job_named(reported.name)
    if job is None or each_sync_has_data(case, job):
        return syncs
    if job.writes_are_synchronous:
        return 0
    writes = (reported.write.ios or 0) if reported.write else 0
    return min(syncs, writes // (job.sync_every or 1) // max(job.queue_each, 1))


RULE = Rule(
    title="Syncs without flushes",
    wrong="Data in a disk's write cache is durable only after a flush. A sync without a flush is not durable, and is "
    "too fast.",
    shows="In the evidence: the disks have a volatile write cache and received less than half a flush per sync (fewer "
    "are expected if several jobs sync at once, because one flush serves all of them). In the disks' counters, a "
    "flushed write is two I/Os. Counters without a flush field (before Linux 5.5, and of partitions) show nothing.",
    error="Commit latency is too low. Measured in a valid run: 4096 syncs, 4095 flushes, 8612 writes.",
    fix="look for sync=disabled, eatmydata, nobarrier, a battery-backed controller, or cache=unsafe in the hypervisor",
    sources=(
        "measured case L16",
        linux_source("5.5", "block/genhd.c", "part_stat_show (the first release with a flush field)"),
        linux_source("6.12", "block/blk-flush.c", "blk_account_io_flush (counts flushes of whole disks only)"),
        fio_source("3.37", "io_u.c", "get_rw_ddir (syncs after reads, up to this release)"),
    ),
    in_result=_in_result,
    needs="Needs eatmydata.",
    commands="for run in '' eatmydata; do $run fio --rw=write --bs=4k --size=4m --fdatasync=1; cat \"$disk\"; done",
)
