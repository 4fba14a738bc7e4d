"""Evidence from disk counters that people post with a result: iostat output and fio's disk statistics.

This evidence is weaker than that from poolproof's own counters, because it covers an unknown part of the run and the
layout is unknown. It can refute a result, and it can show that reads came from the disks. It cannot show that writes
reached every disk.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.evidence.model import Account, Evidence, LeafUse
from poolproof.foreign.audit.iostat import DiskRates
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import Outcome
from poolproof.rules.disk_requests import UPDATE_S
from poolproof.rules.flow import ends_durable
from poolproof.rules.model import Case
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import lasted_s, moved_bytes, parts
from poolproof.rules.tolerances import READ, WRITTEN
from poolproof.units import format_duration, format_rate, format_size

_NEAR_LINES = 60
_LARGEST_REQUEST_BYTES = 4 << 20
_SHORTEST_S = 1.0
_CONTRADICTION = 0.5
_AGREES = (WRITTEN, 1.15)
_FASTEST_FLUSH = {"sd": 2.4e9, "mmcblk": 0.4e9}
_FASTEST = 16e9
"""The most that a disk writes, in bytes per second: 24G SAS, an SD card, and four lanes of PCIe 5 for all others."""


@dataclass(frozen=True)
class ExternalCounters:
    """Evidence from counters that poolproof did not read itself. `words` describes where the values come from.

    `at_most`: True if the values are upper bounds.
    """

    evidence: Evidence
    words: str
    at_most: bool = False


def block_of(found: FoundResult, blocks: Sequence[DiskRates], next_line: float) -> DiskRates | None:
    """Return the quoted iostat output that belongs to a result, or None if no output matches.

    The output must begin after the result's command, less than 60 lines below the result, and before the next result or
    command. If the text shows no command, the output must begin after the start of the result. If several outputs
    match, the first one is returned. If these are about different pools, only pools named in the job's paths are
    considered.
    """
    first = found.made.line if found.made is not None and found.made.origin == "command" else found.line
    after = [block for block in blocks if first <= block.line < min(next_line, found.last_line + _NEAR_LINES)]
    if len({block.name for block in after}) > 1:
        jobs = found.made.jobs if found.made is not None else ()
        paths = [path for job in jobs for path in (job.filename, job.directory) if path]
        after = [block for block in after if any(block.name in re.split(r"[/:]", path) for path in paths)]
    return after[0] if after else None


def agreeing_above(found: FoundResult, blocks: Sequence[DiskRates], starts: Sequence[int]) -> ExternalCounters | None:
    """Return evidence from iostat output above the first command and result of a text, or None if it doesn't agree.

    Such output may be from another time. It counts only if its rates agree with those of the result. Also returns None
    without such output, or if a command or another result precedes the result.

    `starts`: the first lines of all commands and results.
    """
    first = starts[0] if starts else found.line
    of_this = found.line if found.made is None else min(found.line, found.made.line)
    above = [block for block in blocks if block.last_line < first and first - block.last_line < _NEAR_LINES]
    if not above or of_this > first:
        return None
    counters = from_block(found, above[-1])
    account = counters.evidence.account if counters else None
    if account is None:
        return None
    pairs = (
        (account.fio_read_bytes, account.leaf_read_bytes),
        (account.fio_write_bytes, account.leaf_write_bytes),
    )
    agrees = all(_AGREES[0] * moved <= counted <= _AGREES[1] * moved for moved, counted in pairs if moved)
    return counters if agrees else None


def from_block(found: FoundResult, block: DiskRates) -> ExternalCounters | None:
    """Return evidence of the bytes that the disks transferred, computed as iostat's rates times fio's run time.

    None if fio's bytes or run time are unknown, or if the product is not finite.
    """
    seconds = lasted_s(found.result)
    read, wrote = moved_bytes(found.result, "read"), moved_bytes(found.result, "write")
    if not seconds or read is None or wrote is None:
        return None
    over = block.read_bytes_per_s * seconds, block.write_bytes_per_s * seconds
    if not all(map(math.isfinite, over)):
        return None
    rows = [
        ("read", "read", block.read_bytes_per_s, over[0], read),
        ("wrote", "written", block.write_bytes_per_s, over[1], wrote),
    ]
    active = [row[:4] for row in rows if row[4]]
    rates = " and ".join(f"{verb} {format_rate(rate)}" for verb, _, rate, _ in active)
    duration = format_duration(seconds)
    amounts = " and ".join(f"{format_size(size)} {done} in {duration}" for _, done, _, size in active)
    subject = "the disks" if block.name == "disks" else f"the pool `{block.name}`"
    reports = "1 report" if len(block.reports) == 1 else f"mean of {len(block.reports)} reports"
    place = f"{block.program}, lines {block.line}–{block.last_line}"
    words = f"{place}: {subject} {rates} ({reports}), which is {amounts}"
    return ExternalCounters(_evidence(block.name, (read, wrote), (int(over[0]), int(over[1])), seconds), words)


def for_group(counters: ExternalCounters, group: Outcome) -> ExternalCounters:
    """Convert the counters of an entire fio run into evidence for one group of its jobs.

    fio's read bytes are set to 0 if the group did not read, and its written bytes if the group did not write.
    """
    account = counters.evidence.account
    if account is None:
        return counters
    moved = {part.kind for part in parts(group)}
    kept = replace(
        account,
        fio_read_bytes=account.fio_read_bytes if "read" in moved else 0,
        fio_write_bytes=account.fio_write_bytes if "write" in moved else 0,
    )
    return replace(counters, evidence=replace(counters.evidence, account=kept))


def with_late_writes(case: Case, counters: ExternalCounters | None) -> tuple[Case, ExternalCounters | None]:
    """Return the case and the counters, with the writes that the disks may have done after the counters were read.

    The counters end with fio, but the kernel writes unsynced data later, so the case gets the missing writes as late
    ones. If a final sync wrote the data, all of it may have come after fio's last update of its disk statistics.
    Nothing changes if the writes bypassed RAM.
    """
    found = case.evidence.account if case.evidence is not None else None
    if case.evidence is None or found is None or counters is None:
        return case, counters
    if not _has_ended(case):
        drained = max(found.leaf_write_bytes, found.fio_write_bytes)
        leaves = tuple(replace(leaf, drained_write_bytes=drained) for leaf in case.leaves)
        account = replace(found, leaf_drained_write_bytes=drained)
        return replace(case, evidence=replace(case.evidence, account=account, leaves=leaves)), counters
    missing, burst = found.fio_write_bytes - found.leaf_write_bytes, _flushed_bytes(case)
    if not (counters.at_most and missing > 0 and burst):
        return case, counters
    bound = found.leaf_write_bytes + min(missing, burst)
    read, wrote = (found.fio_read_bytes, found.fio_write_bytes), (found.leaf_read_bytes, bound)
    evidence = _evidence(case.leaves[0].device, read, wrote, found.window_s)
    note = f"without what the final sync wrote after fio's last update of them, at most {format_size(burst)}"
    return replace(case, evidence=evidence), replace(counters, evidence=evidence, words=f"{counters.words}, {note}")


def _flushed_bytes(case: Case) -> int:
    """Return the most that a final sync can have written since fio's last update of its disk statistics, in bytes.

    fio updates them every 250 ms and not when it ends (backend.c, stat.c). Returns 0 if all writes bypass RAM.
    """
    if all(job.direct for job in case.jobs if job.writes) or case.outcome is None:
        return 0
    names = [disk.name for disk in case.outcome.disks if not disk.is_component]
    rates = [next((rate for name, rate in _FASTEST_FLUSH.items() if each.startswith(name)), _FASTEST) for each in names]
    return round(sum(rates) * UPDATE_S)


def _has_ended(case: Case) -> bool:
    """True if the text shows that no data was left in RAM when fio ended."""
    assumed = (case.quoted or UNQUOTED).assumed
    writers = [job for job in case.jobs if job.writes]
    is_direct = all(job.direct for job in writers) and "direct" not in assumed
    return bool(writers) and (is_direct or (ends_durable(case) and "end_fsync" not in assumed))


def from_disk_use(result: Outcome) -> ExternalCounters | None:
    """Return fio's disk statistics as evidence if they contradict fio's result, otherwise None.

    The statistics are an upper bound, because they also cover fio's ramp time and file layout. Since fio 3.36 (stat.c,
    print_disk_util), they include the bytes, which contradict the result if they are clearly less than those that fio
    reported. Older releases show only requests. Each of these is counted as 4 MiB, which is larger than any request
    that Linux sends, and only less than half of fio's bytes is a contradiction. Runs shorter than 1 s are ignored.
    """
    seconds = lasted_s(result)
    read, wrote = moved_bytes(result, "read"), moved_bytes(result, "write")
    if read is None or wrote is None or not seconds or seconds < _SHORTEST_S:
        return None
    if not result.disks or counted_nothing(result):
        return None
    read_by = [(disk.read_bytes, disk.read_requests) for disk in result.disks]
    written_by = [(disk.write_bytes, disk.write_requests) for disk in result.disks]
    most_read, most_wrote = _upper_bound(read_by), _upper_bound(written_by)
    bounds = (read if most_read is None else most_read, wrote if most_wrote is None else most_wrote)
    limits = (_limit(read_by, READ, seconds), _limit(written_by, WRITTEN, seconds))
    if not (bounds[0] < limits[0] * read or bounds[1] < limits[1] * wrote):
        return None
    names = ", ".join(disk.name for disk in result.disks)
    known = [("read", most_read), ("wrote", most_wrote)]
    words = ", ".join(f"{verb} at most {format_size(most)}" for verb, most in known if most is not None)
    evidence = _evidence(names, (read, wrote), bounds, seconds)
    return ExternalCounters(evidence, f"fio's disk statistics: {names} {words}", at_most=True)


def counted_nothing(result: Outcome) -> bool:
    """True if fio's disk statistics are all 0, in which case they prove nothing.

    Either the disks were idle, or their counters do not work. The counters are known to stay at 0 for zvols of OpenZFS
    2.0 (openzfs#12066), and for the paths of NVMe disks with native multipath (fio#1890).
    """
    names = ("read_requests", "write_requests", "read_bytes", "write_bytes", "utilisation_percent")
    return bool(result.disks) and not any(getattr(disk, name) for disk in result.disks for name in names)


def _upper_bound(counted: Sequence[tuple[int | None, int | None]]) -> int | None:
    """Return an upper bound on the bytes that the disks transferred, or None if nothing is known about one of them.

    `counted`: the bytes and requests of each disk.
    """
    most = 0
    for counted_bytes, requests in counted:
        if counted_bytes is None and requests is None:
            return None
        most += (requests or 0) * _LARGEST_REQUEST_BYTES if counted_bytes is None else counted_bytes
    return most


def _limit(counted: Sequence[tuple[int | None, int | None]], share: float, seconds: float) -> float:
    """Return the fraction of fio's bytes below which the disks' bytes contradict the result.

    The statistics may lack the end of a run, because fio reads them a few times per second.
    """
    is_exact = all(counted_bytes is not None for counted_bytes, _ in counted)
    return max(share - UPDATE_S / seconds, _CONTRADICTION) if is_exact else _CONTRADICTION


def _evidence(name: str, fio: tuple[int, int], disks: tuple[int, int], seconds: float) -> Evidence:
    read, wrote = disks
    leaf = LeafUse(name, read, wrote, wrote, 0, 0, 0, utilisation=0.0, latency_s=None)
    account = Account(fio[0], fio[1], read, wrote, wrote, write_factor=1.0, window_s=seconds, drain_s=0.0)
    return Evidence(account, (leaf,))
