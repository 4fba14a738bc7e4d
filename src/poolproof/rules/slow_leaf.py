"""One disk that holds the others back."""

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
                message=f"{leaf.device} holds the layout back: {' and '.join(signs)}. The figure is true, for a layout "
                "with this disk in it",
                fix=f"if {leaf.device} is of the same kind as its peers it is likely failing: smartctl -x, look at its "
                "errors and reallocated sectors, replace it; if it is of a slower kind, that is its speed",
                weight=75,
            )


def _bytes(leaf: LeafUse) -> int:
    return leaf.read_bytes + leaf.drained_write_bytes


def _had_like_work(leaf: LeafUse, peers: Sequence[LeafUse]) -> bool:
    """A disk that is busy because it alone had work is no slow disk."""
    mean = sum(_bytes(peer) for peer in peers) / len(peers)
    return leaf.read_ios + leaf.write_ios >= _FEWEST_IOS and mean >= _FAIR_SHARE * _bytes(leaf)


def _busier(leaf: LeafUse, peers: Sequence[LeafUse]) -> str | None:
    most = max(peer.utilisation for peer in peers)
    if leaf.utilisation < _BUSY or leaf.utilisation < _BUSIER * most:
        return None
    return f"it was busy {100 * leaf.utilisation:.0f} % of the time, its peers at most {100 * most:.0f} %"


def _slower(leaf: LeafUse, peers: Sequence[LeafUse]) -> str | None:
    known = [peer.latency_s for peer in peers if peer.latency_s]
    if not known or not leaf.latency_s or leaf.utilisation < _BUSY or leaf.latency_s < _SLOWER * max(known):
        return None
    return f"a request took it {format_duration(leaf.latency_s)}, its peers at most {format_duration(max(known))}"


RULE = Rule(
    id="slow-leaf",
    title="One disk holds the layout back",
    wrong="A mirror or a stripe is as fast as its slowest disk. One sick disk makes the whole layout look slow.",
    shows="In evidence: a leaf was busy 70 % of the time or more and 1.5 times as much as any peer, or its requests "
    "took five times as long, while its peers moved at least half as many bytes.",
    error="Low.",
    fix="Look at the disk (smartctl -x) and replace it, or accept that it is of a slower kind.",
    sources=("https://www.kernel.org/doc/html/latest/block/stat.html",),
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randread --bs=16k --size=256m --direct=1 --time_based --runtime=10 & "
        "iostat -x 1 10; wait",
        needs="On a mirror with one disk that is sick or of a slower kind; needs sysstat.",
    ),
)
