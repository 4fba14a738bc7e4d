"""Loop devices that cache their backing file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from poolproof.rules.flow import READ_IN_ORDER, WRITE_IN_ORDER, Flow
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script

_MATTERS = 0.05
_OTHERS_TOO = 1.15
_FIX = "losetup --direct-io=on LOOP FILE, and fill the file behind it (no holes)"


@dataclass(frozen=True)
class _Hop:
    """What the leaves on one disk moved (`moved_bytes` of the flow), and what that disk counted."""

    leaves: tuple[str, ...]
    below: str
    verb: str
    flow: Flow


def _hops(case: Case) -> Iterator[_Hop]:
    """Yield one hop per disk below and direction. Leaves on the same disk are summed: its counter covers them all."""
    leaves = case.evidence.leaves if case.evidence else ()
    found = case.evidence.account if case.evidence else None
    for below in sorted({leaf.below_device for leaf in leaves if leaf.below_device}) if found else ():
        above = [leaf for leaf in leaves if leaf.below_device == below]
        names = tuple(leaf.device for leaf in above)
        read = sum(leaf.read_bytes for leaf in above)
        wrote = sum(leaf.drained_write_bytes for leaf in above)
        if case.cold and found and read > _MATTERS * found.fio_read_bytes > 0:
            below_read = max(leaf.below_read_bytes or 0 for leaf in above)
            yield _Hop(names, below, "read", Flow(read, read, below_read, READ_IN_ORDER))
        if found and wrote > _MATTERS * found.fio_write_bytes > 0:
            below_wrote = max(leaf.below_drained_write_bytes or 0 for leaf in above)
            yield _Hop(names, below, "wrote", Flow(wrote, wrote, below_wrote, WRITE_IN_ORDER))


def _in_job(case: Case) -> Iterable[Finding]:
    loops = case.target.loop_without_direct if case.target else ()
    if not loops or not (case.cold or case.load.writes):
        return
    yield Finding(
        rule="loop-cache",
        effect="suspects",
        message=f"{', '.join(loops)} goes through the page cache of the file below it: direct=1 ends at the loop "
        "device, and RAM caches the file behind it",
        fix=_FIX,
        weight=80,
    )


def _in_result(case: Case) -> Iterable[Finding]:
    loops = case.target.loop_without_direct if case.target else ()
    why = "the page cache of the loop file" if loops else "RAM or holes in the file below"
    hops = tuple(_hops(case))
    yield from _hidden(case, hops) if loops else ()
    for hop in hops:
        if hop.flow.in_order:
            continue
        yield Finding(
            rule="loop-cache",
            effect=hop.flow.effect,
            message=f"{', '.join(hop.leaves)} {hop.verb} {hop.flow.moved}; {hop.below}, the disk below, {hop.verb} "
            f"{hop.flow.counted} ({hop.flow.share}): the rest is {why}",
            fix=_FIX,
            weight=95,
        )


def _hidden(case: Case, hops: tuple[_Hop, ...]) -> Iterable[Finding]:
    """Yield a finding if the counters of the disk below can't show what the cache of a loop device served.

    The byte count of the leaves proves nothing here, because the cache is below them.
    """
    loops = ", ".join(case.target.loop_without_direct) if case.target else ""
    for hop in hops:
        if hop.flow.ratio > _OTHERS_TOO:
            yield _doubt(
                f"{loops} goes through the page cache of the file below it; {', '.join(hop.leaves)} {hop.verb} "
                f"{hop.flow.moved}, and {hop.below}, the disk below, {hop.verb} {hop.flow.counted}: something else "
                "uses that disk, or the cache read ahead, so its counters can't show what came from RAM"
            )
    if not hops and _moved(case):
        yield _doubt(f"{loops} goes through the page cache of the file below it, and no disk below it was counted")


def _doubt(message: str) -> Finding:
    return Finding(rule="loop-cache", effect="suspects", message=message, fix=_FIX, weight=80)


def _moved(case: Case) -> bool:
    """True if the leaves moved data that a cache below them could have served."""
    found = case.evidence.account if case.evidence and case.evidence.leaves else None
    return found is not None and bool((case.cold and found.leaf_read_bytes) or found.leaf_drained_write_bytes)


RULE = Rule(
    id="loop-cache",
    title="A loop device with a cache below it",
    wrong="A loop device reads and writes its file through the page cache unless direct I/O is on, so direct=1 above "
    "it still ends in RAM.",
    shows="Before the run: /sys/block/loopN/loop/dio is 0. In evidence: the disk that stores the file moved less "
    "than 85 % of what the loop device moved. If that disk moved over 15 % more, or was not counted, a loop device "
    "without direct I/O remains suspect.",
    error="Too high. Measured: 1236 MB/s with no reads on the disk, 377 MB/s with direct I/O on.",
    fix=_FIX,
    sources=("measured cases L09, L10", "https://github.com/longhorn/longhorn-engine/issues/207"),
    pitfall_numbers="#17",
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    reproduce=script(
        trap="fio --name=trap --filename=$loop --rw=randread --bs=4k --size=64m --direct=1 --ioengine=libaio "
        "--iodepth=16\nlosetup -d $loop",
        before="fio --name=fill --filename=trap --rw=write --bs=1m --size=64m --refill_buffers --end_fsync=1\n"
        "loop=$(losetup -f --show --direct-io=off trap)",
        needs="Needs root.",
    ),
)
