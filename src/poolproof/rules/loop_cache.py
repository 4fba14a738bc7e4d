"""Loop devices that cache what lies below them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from poolproof.evidence.model import LeafUse
from poolproof.rules.flow import BROKEN, IN_ORDER
from poolproof.rules.model import Case, Effect, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_MATTERS = 0.05
_FIX = "losetup --direct-io=on LOOP FILE, and fill the file behind it (no holes)"


@dataclass(frozen=True)
class _Hop:
    """What went into the leaves on one disk, and what that disk did for them."""

    leaves: tuple[str, ...]
    below: str
    verb: str
    above_bytes: int
    below_bytes: int

    @property
    def ratio(self) -> float:
        return self.below_bytes / self.above_bytes


def _hops(case: Case) -> Iterator[_Hop]:
    """One for each disk below and each direction. Leaves on one disk are summed: it has one counter for all of them."""
    leaves = case.evidence.leaves if case.evidence else ()
    for below in sorted({leaf.below_device for leaf in leaves if leaf.below_device}):
        above = [leaf for leaf in leaves if leaf.below_device == below]
        names = tuple(leaf.device for leaf in above)
        if case.cold:
            yield _Hop(names, below, "read", _sum(above, "read_bytes"), _most(above, "below_read_bytes"))
        wrote = _sum(above, "drained_write_bytes")
        yield _Hop(names, below, "wrote", wrote, _most(above, "below_drained_write_bytes"))


def _sum(leaves: list[LeafUse], field: str) -> int:
    return sum(getattr(leaf, field) for leaf in leaves)


def _most(leaves: list[LeafUse], field: str) -> int:
    return max(getattr(leaf, field) or 0 for leaf in leaves)


def _matters(case: Case, hop: _Hop) -> bool:
    account = case.evidence.account if case.evidence else None
    if account is None:
        return False
    moved = account.fio_read_bytes if hop.verb == "read" else account.fio_write_bytes
    return hop.above_bytes > _MATTERS * moved > 0


def _in_job(case: Case) -> Iterable[Finding]:
    loops = case.target.loop_without_direct if case.target else ()
    if not loops or not (case.cold or case.job.writes):
        return
    yield Finding(
        rule="loop-cache",
        effect="suspects",
        message=f"{', '.join(loops)} goes through the page cache of the file below it: direct=1 ends at the loop "
        "device, and RAM stands behind it",
        fix=_FIX,
        weight=80,
    )


def _in_result(case: Case) -> Iterable[Finding]:
    loops = case.target.loop_without_direct if case.target else ()
    for hop in _hops(case):
        if hop.ratio >= IN_ORDER if hop.above_bytes else True:
            continue
        if not _matters(case, hop):
            continue
        effect: Effect = "refutes" if hop.ratio < BROKEN else "suspects"
        why = "the page cache of the loop file" if loops else "RAM or holes in the file below"
        yield Finding(
            rule="loop-cache",
            effect=effect,
            message=f"{', '.join(hop.leaves)} {hop.verb} {format_size(hop.above_bytes)}; {hop.below}, the disk below, "
            f"{hop.verb} {format_size(hop.below_bytes)} ({100 * hop.ratio:.0f} %): the rest is {why}",
            fix=_FIX,
            weight=95,
        )


RULE = Rule(
    id="loop-cache",
    title="A loop device with a cache below it",
    wrong="A loop device reads and writes its file through the page cache unless direct I/O is on, so direct=1 above "
    "it still ends in RAM.",
    shows="Before the run: /sys/block/loopN/loop/dio is 0. In evidence: the disk that the file lives on moved less "
    "than 90 % of what the loop device moved.",
    error="High. Measured: 1236 MB/s with no read on the disk, 377 MB/s with direct I/O on.",
    mend=_FIX,
    sources=("measured cases L09, L10", "https://github.com/longhorn/longhorn-engine/issues/207"),
    catalogue="#17",
    in_job=_in_job,
    in_result=_in_result,
    reproduce=script(
        trap="fio --name=trap --filename=$loop --rw=randread --bs=4k --size=64m --direct=1 --ioengine=libaio "
        "--iodepth=16\nlosetup -d $loop",
        before="fio --name=fill --filename=trap --rw=write --bs=1m --size=64m --refill_buffers --end_fsync=1\n"
        "loop=$(losetup -f --show trap)",
        needs="Needs root.",
    ),
)
