"""Syncs that never reach the disks."""

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Findings, Rule, notes
from poolproof.units import format_count


def _in_result(case: Case) -> Findings:
    if case.outcome is None or case.target is None or case.target.write_through is not False or not case.leaves:
        return
    syncs = sum(_syncs(job) for job in case.outcome.parts)
    flushes = sum(leaf.flush_ios for leaf in case.leaves)
    if syncs >= 100 and flushes < 0.5 * syncs / max(case.load.clones, 1):
        yield notes(
            f"fio synced {format_count(syncs)} times, but the disks received only {format_count(flushes)} flushes, "
            "although their write cache is on: something between fio and the disks acknowledges syncs without a flush",
            weight=60,
        )


def _syncs(job: PartOutcome) -> int:
    """Return the number of syncs.

    Because fio 3.x can report 0 for psync, samples of the sync latency count as syncs too.
    """
    return max(job.syncs or 0, (job.sync.samples or 0) if job.sync else 0)


RULE = Rule(
    title="Syncs without flushes",
    wrong="Data in a disk's write cache is durable only after a flush. A sync without a flush is not durable, and is "
    "too fast.",
    shows="In the evidence: the disks have a volatile write cache and received less than half a flush per sync (fewer "
    "are expected if several jobs sync at once, because one flush serves all of them). In the disks' counters, a "
    "flushed write is two I/Os.",
    error="Commit latency is too low. Measured in a valid run: 4096 syncs, 4095 flushes, 8612 writes.",
    fix="look for sync=disabled, eatmydata, nobarrier, a battery-backed controller, or cache=unsafe in the hypervisor",
    sources=("measured case L16", "https://www.kernel.org/doc/html/latest/block/stat.html"),
    in_result=_in_result,
    needs="Needs eatmydata.",
    commands="for run in '' eatmydata; do $run fio --rw=write --bs=4k --size=4m --fdatasync=1; cat \"$disk\"; done",
)
