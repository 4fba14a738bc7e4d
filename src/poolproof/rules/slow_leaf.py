"""One disk that slows the layout down."""

from collections.abc import Iterable, Sequence

from poolproof.evidence.model import LeafUse
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_duration

_BUSY = 0.7
_BUSIER = 1.5
_SLOWER = 5.0
_FEWEST_IOS = 20
_FAIR_SHARE = 0.5


def _in_result(case: Case) -> Iterable[Finding]:
    leaves = case.evidence.leaves if case.evidence else ()
    for leaf in leaves:
        peers = [peer for peer in leaves if peer is not leaf]
        if not peers or not _had_like_work(leaf, peers):
            continue
        signs = [sign for sign in (_busier(leaf, peers), _slower(leaf, peers)) if sign]
        if signs:
            yield Finding(
                rule="slow-leaf",
                effect="notes",
                message=f"{leaf.device} limits the layout: {' and '.join(signs)}. The result is valid for a layout "
                "with this disk in it",
                fix=f"if {leaf.device} is the same kind of disk as the others, it is probably failing: check it with "
                "smartctl -x (errors, reallocated sectors) and replace it; if it is a slower kind of disk, this is "
                "its normal speed",
                weight=75,
            )


def _bytes(leaf: LeafUse) -> int:
    return leaf.read_bytes + leaf.drained_write_bytes


def _had_like_work(leaf: LeafUse, peers: Sequence[LeafUse]) -> bool:
    """True if the disk did at least 20 I/Os and the others moved at least half as many bytes on average. A disk that is
    busy because it alone had work is not a slow disk.
    """
    mean = sum(_bytes(peer) for peer in peers) / len(peers)
    return leaf.read_ios + leaf.write_ios >= _FEWEST_IOS and mean >= _FAIR_SHARE * _bytes(leaf)


def _busier(leaf: LeafUse, peers: Sequence[LeafUse]) -> str | None:
    most = max(peer.utilisation for peer in peers)
    if leaf.utilisation < _BUSY or leaf.utilisation < _BUSIER * most:
        return None
    return f"it was busy {100 * leaf.utilisation:.0f} % of the time, the others at most {100 * most:.0f} %"


def _slower(leaf: LeafUse, peers: Sequence[LeafUse]) -> str | None:
    known = [peer.latency_s for peer in peers if peer.latency_s]
    if not known or not leaf.latency_s or leaf.utilisation < _BUSY or leaf.latency_s < _SLOWER * max(known):
        return None
    return (
        f"its requests took {format_duration(leaf.latency_s)} on average, those of the others at most "
        f"{format_duration(max(known))}"
    )


RULE = Rule(
    id="slow-leaf",
    title="One disk limits the layout",
    wrong="A mirror or a stripe is as fast as its slowest disk. One failing disk makes the whole layout look slow.",
    shows="In the counters: a disk was busy at least 70 % of the time and either at least 1.5 times as busy as any "
    "other, or its requests took at least five times as long, while the other disks moved at least half as many "
    "bytes.",
    error="Too low.",
    fix="Check the disk (smartctl -x) and replace it, or accept that it is a slower kind of disk.",
    sources=("https://www.kernel.org/doc/html/latest/block/stat.html",),
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randread --bs=16k --size=256m --direct=1 --time_based --runtime=10 & "
        "iostat -x 1 10; wait",
        needs="On a mirror with one disk that is failing or slower; needs sysstat.",
    ),
)
