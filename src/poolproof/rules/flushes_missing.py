"""Syncs that the disks never heard of."""

from collections.abc import Iterable

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_count

_FEWEST = 100
_SHARE = 0.5


def _syncs(job: PartOutcome) -> int:
    """fio 3.x can say 0 syncs for psync while the latency holds the count."""
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
        message=f"fio synced {format_count(syncs)} times, and the disks got {format_count(flushes)} flushes although "
        "their write cache is on: something between answers for them",
        fix="look for sync=disabled, eatmydata, nobarrier, a battery-backed controller, cache=unsafe of a hypervisor",
        weight=60,
    )


RULE = Rule(
    id="flushes-missing",
    title="Syncs without flushes",
    wrong="A disk with a write cache holds data safely only after a flush. If syncs bring no flushes, their latency is "
    "that of something else, and the data is not safe.",
    shows="In evidence: the leaves have a volatile write cache and got less than half a flush for each sync (less "
    "still where several jobs sync at once, since one flush serves them all). A write counts as two I/Os there when it "
    "is flushed: count bytes, not I/Os.",
    error="Low latency of commits. Measured when honest: 4096 syncs, 4095 flushes, 8612 writes.",
    fix="Find what answers in the disk's place, or say so beside the figure.",
    sources=("measured case L16", "https://www.kernel.org/doc/html/latest/block/stat.html"),
    pitfall_numbers="#19, #27",
    in_result=_in_result,
    reproduce=script(
        "for run in '' eatmydata; do $run fio --name=trap --filename=trap --rw=write --bs=4k --size=4m --fdatasync=1; "
        'cut -c1-200 "$disk"; done',
        needs="Needs eatmydata.",
    ),
)
