"""Recognize disks that respond within 10 µs, because fio's disk statistics in the text show a request for each read."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import Outcome
from poolproof.rules.disk_requests import disk_requests
from poolproof.rules.quoted import Quoted
from poolproof.rules.reported import parts
from poolproof.rules.service_time import submission_ns

_FAST_NS = 10_000.0
_DRIVES = ("nvme", "sd")  # not devices in RAM, such as nullb0 and ram0


def with_fast_disks(facts: Sequence[Quoted], results: Iterable[FoundResult]) -> Sequence[Quoted]:
    """Return the facts of a text, with `has_fast_media` if the disk of one of its results is that fast.

    Results without disk statistics are then judged like those of a text that mentions such a disk.
    """
    if any(_is_fast(found.result) for found in results):
        return [replace(quoted, has_fast_media=True) for quoted in facts]
    return facts


def _is_fast(result: Outcome) -> bool:
    reads = [part for part in parts(result) if part.kind == "read"]
    requests = disk_requests(result, "read")
    means = [
        part.completion.mean_ns + submission_ns(part) for part in reads if part.completion and part.completion.mean_ns
    ]
    is_drive = all(disk.name.startswith(_DRIVES) for disk in result.disks)
    is_fast = is_drive and bool(means) and len(means) == len(reads) and all(0 < mean < _FAST_NS for mean in means)
    return is_fast and requests is not None and requests.in_order
