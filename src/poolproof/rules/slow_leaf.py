"""A disk that is slower than the others and holds back the whole layout."""

from collections.abc import Iterable, Iterator, Sequence

from poolproof.evidence.model import LeafUse
from poolproof.rules.model import Case, Finding, Findings, Rule, linux_source, notes, rule_id
from poolproof.units import format_duration

SLOW_LEAF = rule_id(__name__)
"""The id of this rule. It is also used for findings about a disk that became slow during a trial."""

_BUSY = 0.7


def is_slow(device: str, findings: Iterable[Finding]) -> bool:
    """True if one of the findings is this rule's finding about the disk.

    The message of such a finding starts with the disk's name.
    """
    return any(each.rule == SLOW_LEAF and each.message.startswith(f"{device} ") for each in findings)


def _in_result(case: Case) -> Findings:
    for leaf in case.leaves:
        peers = [peer for peer in case.leaves if peer is not leaf]
        signs = [*_busier(leaf, peers), *_slower(leaf, peers)] if peers and _had_equal_work(leaf, peers) else []
        if signs:
            yield notes(
                f"{leaf.device} limits the layout: {'; '.join(signs)}. The result is valid for a layout with this disk",
                weight=75,
                fix=f"if {leaf.device} is the same kind of disk as the others, it is probably failing: check it with "
                "smartctl -x (errors, reallocated sectors) and replace it; if it is a slower kind of disk, this is its "
                "normal speed",
            )


def _bytes(leaf: LeafUse) -> int:
    return leaf.read_bytes + leaf.drained_write_bytes


def _had_equal_work(leaf: LeafUse, peers: Sequence[LeafUse]) -> bool:
    """True if the disk served at least 20 requests, and the other disks moved at least half as many bytes on average.

    If the others had less work, the disk may be busy rather than slow.
    """
    mean = sum(_bytes(peer) for peer in peers) / len(peers)
    return leaf.read_ios + leaf.write_ios >= 20 and mean >= 0.5 * _bytes(leaf)


def _busier(leaf: LeafUse, peers: Sequence[LeafUse]) -> Iterator[str]:
    most = max(peer.utilisation for peer in peers)
    if leaf.utilisation >= max(_BUSY, 1.5 * most):
        yield (
            f"it was busy {100 * leaf.utilisation:.0f}% of the time, while the other disks were busy at most "
            f"{100 * most:.0f}% of the time"
        )


def _slower(leaf: LeafUse, peers: Sequence[LeafUse]) -> Iterator[str]:
    most_s = max((peer.latency_s for peer in peers if peer.latency_s), default=None)
    if most_s and leaf.latency_s and leaf.utilisation >= _BUSY and leaf.latency_s >= 5 * most_s:
        yield (
            f"its requests took {format_duration(leaf.latency_s)} on average, while those of the other disks took at "
            f"most {format_duration(most_s)}"
        )


RULE = Rule(
    title="One disk limits the layout",
    wrong="A mirror or a stripe is only as fast as its slowest disk. One failing disk makes the whole layout look "
    "slow.",
    shows="In the counters: a disk was busy at least 70% of the time, although the other disks moved at least half as "
    "many bytes on average. In addition, it was at least 1.5 times as busy as any other disk, or its requests took at "
    "least five times as long.",
    error="Too low for a layout of healthy disks.",
    fix="check the disk (smartctl -x) and replace it, or accept that it is a slower kind of disk",
    sources=(
        linux_source("6.12", "block/genhd.c", "part_stat_show"),
        "https://www.kernel.org/doc/html/latest/block/stat.html",
    ),
    in_result=_in_result,
    needs="Run this on a mirror with one failing or slower disk. Needs sysstat.",
    commands="fio --rw=randread --bs=16k --size=256m --direct=1 --time_based --runtime=10 & iostat -x 1 10; wait",
)
