"""A cell's byte accounting, summed over its trials, and each disk's share of the bytes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.evidence.model import LeafUse
from poolproof.results.runs.model import Trial
from poolproof.verdicts import has_values


@dataclass(frozen=True)
class LeafShare:
    """A disk's share of the bytes that a cell read, wrote and stored, with its mean utilisation and latency.

    Shares and utilisation are numbers from 0 to 1. A share is None if the cell has no bytes of this kind.

    `latency_s`: the disk's mean latency per request, including time in the queue. None if the disk received no
    requests.
    """

    device: str
    read_share: float | None
    write_share: float | None
    stored_share: float | None
    utilisation: float
    latency_s: float | None = None


@dataclass(frozen=True)
class AccountSum:
    """A cell's byte accounting, summed over the trials that did not fail.

    `leaf_write_bytes`: the bytes that the disks wrote, including the drain.
    `write_factor`: the expected write amplification.
    """

    fio_read_bytes: int
    leaf_read_bytes: int
    fio_write_bytes: int
    leaf_write_bytes: int
    write_factor: float


def with_values(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that did not fail."""
    return [trial for trial in trials if has_values(trial.verdict)]


def account_sum(trials: Sequence[Trial]) -> AccountSum | None:
    """Return a cell's byte accounting. Return None if all trials failed, or if none has byte accounting."""
    accounts = [trial.account for trial in with_values(trials) if trial.account is not None]
    if not accounts:
        return None
    return AccountSum(
        fio_read_bytes=sum(account.fio_read_bytes for account in accounts),
        leaf_read_bytes=sum(account.leaf_read_bytes for account in accounts),
        fio_write_bytes=sum(account.fio_write_bytes for account in accounts),
        leaf_write_bytes=sum(account.leaf_drained_write_bytes for account in accounts),
        write_factor=accounts[0].write_factor,
    )


def leaf_shares(trials: Sequence[Trial]) -> tuple[LeafShare, ...]:
    """Return each disk's shares of the cell's bytes. Failed trials are included only for the stored bytes."""
    uses: dict[str, list[LeafUse]] = {}
    for leaf in (leaf for trial in with_values(trials) for leaf in trial.leaves):
        uses.setdefault(leaf.device, []).append(leaf)
    read = _shares({name: sum(leaf.read_bytes for leaf in own) for name, own in uses.items()})
    written = _shares({name: sum(leaf.drained_write_bytes for leaf in own) for name, own in uses.items()})
    stored_bytes = next((trial.stored_bytes for trial in reversed(trials) if trial.stored_bytes), {})
    stored = _shares({name: stored_bytes.get(name, 0) for name in {**uses, **stored_bytes}})
    return tuple(
        LeafShare(
            device=name,
            read_share=read.get(name),
            write_share=written.get(name),
            stored_share=stored.get(name),
            utilisation=sum(leaf.utilisation for leaf in own) / len(own),
            latency_s=_latency_s(own),
        )
        for name, own in uses.items()
    )


def _latency_s(uses: Sequence[LeafUse]) -> float | None:
    timed = [(use.latency_s, use.read_ios + use.write_ios) for use in uses if use.latency_s is not None]
    requests = sum(count for _, count in timed)
    return sum(latency * count for latency, count in timed) / requests if requests else None


def _shares(bytes_by_name: Mapping[str, int]) -> Mapping[str, float]:
    """Return each name's share of all bytes, or nothing if there are none."""
    total = sum(bytes_by_name.values())
    return {name: size / total for name, size in bytes_by_name.items()} if total else {}
