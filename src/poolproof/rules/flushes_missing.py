"""Syncs that never reach the disks."""

from collections.abc import Iterable

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_count

_FEWEST = 100
_SHARE = 0.5


def _syncs(job: PartOutcome) -> int:
    """Return the number of syncs: fio 3.x can report 0 for psync, so use the sample count of the sync latency too."""
    return max(job.syncs or 0, (job.sync.samples or 0) if job.sync else 0)


def _in_result(case: Case) -> Iterable[Finding]:
    leaves = case.evidence.leaves if case.evidence else ()
    if case.outcome is None or case.target is None or case.target.write_through is not False or not leaves:
        return
    syncs = sum(_syncs(job) for job in case.outcome.parts)
    flushes = sum(leaf.flush_ios for leaf in leaves)
    if syncs < _FEWEST or flushes >= _SHARE * syncs / max(case.load.clones, 1):
        return
    yield Finding(
        rule="flushes-missing",
        effect="notes",
        message=f"fio synced {format_count(syncs)} times, but the disks got {format_count(flushes)} flushes although "
        "their write cache is on: something between fio and the disks acknowledges the syncs",
        fix="look for sync=disabled, eatmydata, nobarrier, a battery-backed controller, or cache=unsafe in the "
        "hypervisor",
        weight=60,
    )


RULE = Rule(
    id="flushes-missing",
    title="Syncs without flushes",
    wrong="A disk with a write cache holds data safely only after a flush. If syncs cause no flushes, their latency is "
    "not the disk's, and the data is not safe.",
    shows="In evidence: the disks have a volatile write cache and got less than half a flush per sync (the limit is "
    "lower if several jobs sync at once, because one flush serves them all). A flushed write counts as two I/Os in "
    "the disks' counters: count bytes, not I/Os.",
    error="Commit latency is too low. Measured in a valid run: 4096 syncs, 4095 flushes, 8612 writes.",
    fix="Find what acknowledges the syncs, or report this with the result.",
    sources=("measured case L16", "https://www.kernel.org/doc/html/latest/block/stat.html"),
    pitfall_numbers="#19, #27",
    in_result=_in_result,
    reproduce=script(
        "for run in '' eatmydata; do $run fio --name=trap --filename=trap --rw=write --bs=4k --size=4m --fdatasync=1; "
        'cut -c1-200 "$disk"; done',
        needs="Needs eatmydata.",
    ),
)
