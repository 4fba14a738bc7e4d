"""Metrics that the counters neither prove nor contradict."""

from collections.abc import Iterator

from poolproof.metrics import BYTES_PER_S, MetricId, metric_of
from poolproof.rules import coverage, write_coverage
from poolproof.rules.commits import commits
from poolproof.rules.flow import account, bytes_prove, cold_reads, reads_as_filled
from poolproof.rules.merged_directions import is_merged
from poolproof.rules.model import Case, Findings, Rule, leaves_unproven, linux_source, zfs_source
from poolproof.rules.overwritten import hidden_share
from poolproof.rules.path import writes_are_synchronous
from poolproof.rules.proof import may_lack_copies, measured_metrics, proves_metric, syncs_other_files
from poolproof.rules.repeated_reads import are_read_ahead, are_read_around, hides_cached_reads, was_read_before
from poolproof.rules.reported import Kind, may_be_ramp, parts
from poolproof.rules.tolerances import FLUSHED, RAMP_END_S, REQUESTS_OF_EACH, percent
from poolproof.units import format_count, format_number_of

_DIRECT = "use direct=1 if the file system honours it"
_IN_RAM = (
    "some writes may return before their data has left RAM, so the latency may be only that of a copy into RAM",
    "set sync=dsync, or compare the rates",
)
_BANDWIDTH = "compare the bandwidth"
_COPIES = (
    "the counters in the text account for the data, but they do not show how many bytes the layout should have "
    "written, so some of the writes may not have reached every disk",
    "measure with `poolproof run`, which knows how many bytes the layout writes",
)
_READ_AGAIN = (
    "RAM may have served some of the reads, because they repeat data. The bytes cannot show this, because "
    "the disks also read data that the load did not ask for: readahead, or the rest of a page, record or stripe",
    "read each byte once, without clones or jobs that share a file, or use direct=1 if the file system honours it",
)
_READ_BEFORE = (
    "pre_read=1 reads the files of a job just before the job, and the disks' counters include these reads, so they "
    "cannot show where the reads that fio measured came from",
    "remove pre_read, or use direct=1 in all jobs",
)

_MERGED = (
    "unified_rw_reporting merges reads and writes, so it is unknown how many bytes and requests each of them needed",
    "remove unified_rw_reporting, or use direct=1 in all jobs and compare only the sums",
)
_READ_AROUND = (
    "the kernel read more data around the random reads than the load asked for, so later reads may have found their "
    "data in RAM. The requests cannot show this, because this data is split into several requests",
    f"leave fadvise_hint at its default, or {_DIRECT}",
)
_READ_AHEAD = (
    "the kernel reads ahead of sequential reads, so a read may take only as long as a copy from RAM, although the "
    "disks read all of the data",
    f"{_DIRECT}, or compare the rates",
)


def _or_direct(case: Case, advice: str) -> str:
    return advice if case.is_direct else f"{advice}, or {_DIRECT}"


def _in_result(case: Case) -> Findings:
    if account(case) is None or case.outcome is None:
        return
    reasons: dict[tuple[str, str], list[MetricId]] = {}
    for metric in measured_metrics(case):
        if not proves_metric(case, metric):
            reasons.setdefault(_reason(case, metric), []).append(metric)
    for (message, fix), metrics in reasons.items():
        yield leaves_unproven(message, weight=20, fix=fix, metrics=tuple(metrics))


def _reason(case: Case, metric: MetricId) -> tuple[str, str]:
    """Return an explanation of why the metric is not proven, and the suggested fix."""
    row = metric_of(metric)
    if row.of == "syncs":
        return _reason_of_syncs(case)
    if row.of == "trim":
        return "no counter shows what the disks do for a trim", "use trims only as part of another load"
    if is_merged(case):
        return _MERGED
    kind: Kind | None = "read" if row.of == "read" else "write" if row.of == "write" else None
    if not bytes_prove(case, kind, of_commits=row.unit is not BYTES_PER_S):
        return "the counters do not account for all of the data", _or_direct(case, "use a larger size")
    if row.of != "write" and (flow := reads_as_filled(case)) and not coverage.compressed_reads_in_order(case):
        return (
            f"{case.generator} read {flow.moved}; the disks read {flow.counted}. The load rewrites its files with data "
            "that compresses better, so it is unknown how many bytes had to be read",
            "read and write different files, or remove buffer_compress_percentage",
        )
    if row.of != "write" and was_read_before(case):
        return _READ_BEFORE
    if row.of != "write" and hides_cached_reads(case):
        return _READ_AGAIN
    if row.of != "write" and row.unit is not BYTES_PER_S and are_read_around(case) and coverage.reads_reach_disks(case):
        return _READ_AROUND
    if row.of != "read" and may_lack_copies(case):
        return _COPIES
    if row.of != "read" and (share := hidden_share(case, of_commits=row.unit is not BYTES_PER_S)) is not None:
        return (
            f"as few as {100 * share:.0f}% of the writes may have reached a disk, because the others repeat a block "
            "that is still in RAM. The bytes cannot show this, because the disks also write other data for these "
            "writes: whole pages, metadata, or data that did not shrink as expected",
            "use a larger size, or remove random_distribution and norandommap, so that each block is written once",
        )
    return next(
        _reasons_of_ios(case, row.of), _IN_RAM if row.of == "write" or not are_read_ahead(case) else _READ_AHEAD
    )


def _reasons_of_ios(case: Case, of: str) -> Iterator[tuple[str, str]]:
    if of != "write" and not coverage.reads_reach_disks(case):
        found = coverage.random_reads(case)
        if found is not None and found.in_order and not found.is_proof and may_be_ramp(case, 1 - found.ratio):
            yield (
                f"{case.generator} counted {format_count(found.ios)} random reads, but the counters show "
                f"{found.counted_text}. The end of the ramp is known only to within {RAMP_END_S} s, so in such a short "
                "run, this may be the reason",
                "use a longer runtime, or remove ramp_time",
            )
        if found is not None and not found.is_proof:
            yield (
                f"{case.generator} counted {format_count(found.ios)} random reads, but the counters show "
                f"{found.counted_text}, which is {100 * found.ratio:.2g}% of what these reads need: at least "
                f"{percent(REQUESTS_OF_EACH)} is needed to prove the IOPS and latencies",
                _or_direct(case, "use a larger file, so that fewer reads repeat a block")
                + "; on ZFS, set recordsize to bs, or primarycache=metadata",
            )
        flow = cold_reads(case)
        if flow is not None and not coverage.all_bytes_were_read(case):
            yield (
                f"{case.generator} read {flow.moved}; the disks read {flow.counted_share}. Random reads of more than a "
                "page may be split into several requests, so the number of requests does not show that every read "
                "reached the disks",
                _or_direct(case, "use a larger file, so that fewer reads repeat a block"),
            )
        left, requests = coverage.left_for_cached_reads(case), coverage.counted_requests(case, "read")
        if left is not None and not left.is_proof and (requests or 0) >= REQUESTS_OF_EACH * _ios(case, "read"):
            yield (
                f"RAM could have served {format_number_of(left.ios, 'read')}. The disks counted "
                f"{format_number_of(requests or 0, 'read request')}, but {case.generator}'s other I/O may have caused "
                f"all but {format_count(left.counted)} of them: large reads are split, and before a part of a page, "
                "record or stripe is written, the rest is read",
                _or_direct(case, "measure these reads alone"),
            )
        yield _too_few_requests(case, "read")
    if of != "read" and not write_coverage.writes_reach_disks(case):
        left, requests = write_coverage.left_for_cached_writes(case), write_coverage.data_write_requests(case)
        if left is not None and not left.is_proof and (requests or 0) >= _needed_for_writes(case):
            yield (
                f"RAM could have combined {format_number_of(left.ios, 'write')}. The disks counted "
                f"{format_number_of(requests or 0, 'write request')}, but the other writes may have caused all "
                f"but {format_count(left.counted)} of them, because large writes are split and commits write a journal",
                _or_direct(case, "measure these writes alone"),
            )
        yield _too_few_requests(case, "write")


def _too_few_requests(case: Case, kind: Kind) -> tuple[str, str]:
    requests = coverage.counted_requests(case, kind)
    is_proven = proves_metric(case, "read_bandwidth" if kind == "read" else "write_bandwidth")
    otherwise = "measure with `poolproof run`, which counts the disks' requests" if case.is_direct else _DIRECT
    if requests is None:
        did = "loaded the data of several reads" if kind == "read" else "stored the data of several writes"
        unknown = f"although the bytes are right, one request may have {did}"
        why = f"the disks' {kind} requests were not counted: "
        why += unknown if is_proven else f"the {kind}s may not have reached the disks"
        return why, _or_direct(case, _BANDWIDTH) if is_proven else otherwise
    ios = _ios(case, kind)
    needed = write_coverage.write_requests_needed(case) if kind == "write" else ios
    needs = f", although {format_count(needed)} are needed" if needed and needed > ios else ""
    trees = write_coverage.tree_blocks(case) if kind == "write" else 0
    combined = write_coverage.merged_in_ram(case) if kind == "write" else coverage.merged_after_readahead(case)
    merged = min(combined, requests - trees)
    others = (format_number_of(trees, "tree block"), format_number_of(merged, "merged request"))
    counted = format_number_of(requests - trees - merged, "request")
    left_out = " and ".join(text for count, text in zip((trees, merged), others, strict=True) if count)
    less = f" (not counting {left_out})" if left_out else ""
    return (
        f"{case.generator} counted {format_count(ios)} {kind}s, but the disks counted "
        f"{counted}{less}{needs}: the page cache and ZFS combine I/Os before they are counted, so the IOPS and "
        "latencies may reflect RAM, not the disks",
        _or_direct(case, f"{_BANDWIDTH}, which the byte counts prove") if is_proven else otherwise,
    )


def _ios(case: Case, kind: Kind) -> int:
    return sum(part.figures.ios or 0 for part in parts(case.outcome) if part.kind == kind)


def _needed_for_writes(case: Case) -> float:
    return REQUESTS_OF_EACH * (write_coverage.write_requests_needed(case) or 0.0)


def _reason_of_syncs(case: Case) -> tuple[str, str]:
    found = commits(case)
    if found is None:
        why = "it is unknown whether the disks have a volatile write cache, so flushes cannot prove the syncs"
        return why, "run poolproof where it can read queue/write_cache of every disk"
    if found.durable is None:
        names = [leaf.device for leaf in case.leaves if leaf.flush_ios is None]
        why = (
            f"the kernel does not count the flushes of {', '.join(names)} (Linux 5.5 and later count only those of "
            "whole disks)"
        )
        return why, "use whole disks and Linux 5.5 or later"
    if found.ratio is None and any(job.writes and writes_are_synchronous(case, job) for job in case.jobs):
        return (
            "each write is already durable when it returns, so a sync after it has nothing to write",
            "use the latency of the writes (metric: write_p99)",
        )
    if found.ratio is None:
        return "none of the syncs is known to have had data to write", "write before each sync"
    if syncs_other_files(case):
        return (
            f"{case.generator} syncs the file that is next in turn, not the one that it has just written, so some "
            "syncs may have had nothing to write",
            "use one file per job (nrfiles=1) and numjobs",
        )
    if found.ratio < FLUSHED:
        return (
            f"{format_number_of(found.syncs, 'sync')} had data to write, but only {format_count(found.durable)} "
            "flushes reached the disks",
            "run longer, and write before each sync",
        )
    return "the disks wrote less than the syncs had to store", "use a larger file, so that no block is replaced in RAM"


RULE = Rule(
    title="The counters do not prove the metric",
    wrong=(
        "The counters do not contradict the result, but they do not prove it either. A few large requests may have "
        "moved the bytes, while RAM served the other I/Os."
    ),
    shows="In the counters: there are too few requests, records or flushes to account for every I/O, but not so few "
    "that the result is suspect.",
    error="Unknown. The bandwidth is often proven even if the IOPS and latencies are not.",
    fix=f"{_BANDWIDTH}, or {_DIRECT}",
    sources=(
        linux_source("6.12", "block/blk-merge.c", "blk_account_io_merge_bio"),
        linux_source("5.5", "block/partition-generic.c", "part_stat_show (the first release with a flush field)"),
        zfs_source("2.1.11", "module/zfs/vdev_queue.c", "vdev_queue_aggregate"),
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    commands="fio --rw=read --bs=4k --size=256m",
)
