"""Parse fio's json and json+ output: one or more documents, which may be surrounded by other output.

fio 3 reports nanoseconds, bytes and `bw_bytes`. fio 2 reports microseconds and KiB. Before fio introduced `io_kbytes`,
even `io_bytes` was in KiB. Sources: `add_ddir_status_json` in all versions of fio's stat.c, and captured output.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from poolproof.errors import FioError
from poolproof.load.fio.histogram import PLAT_BITS, bin_value
from poolproof.load.fio.job import delay_ms
from poolproof.load.fio.merged_sections import described
from poolproof.load.fio.ramp_ios import with_ramp_ios
from poolproof.load.outcome import DIRECTIONS, Direction, DiskUtilization, Latency, Outcome, PartOutcome, separate

_KIB = 1024
_SECTOR = 512
_LARGEST = 10**24
_MOST_NOTES = 200
_MOST_FAILURES = 50  # the search starts again after each damaged document
_VERSION_KEY = '"fio version"'
_START = re.compile(r'\{\s*"fio version"')
_SORTED_START = re.compile(r"^\{", re.MULTILINE)  # needed if another program has sorted the keys
_NO_NUMBER = re.compile(r":\s*[-+]?(?:nan|inf(?:inity)?)\b", re.IGNORECASE)
_JSON_LINE = re.compile(r'\s*(?:["{}\[\],]|$)')
_CLOSING_LINE = re.compile(r"^\}", re.MULTILINE)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_COMPLETE_ENDING = (",", "{", "[", "}", "]")
_LONGEST_CUT_OFF = 4_000_000
_MOST_DROPPED_LINES = 6
_CLOSING = {"{": "}", "[": "]"}
_FENCE = re.compile(r"^[^\S\n]*+(?:```|~~~|</?(?:pre|code)\b)", re.MULTILINE)

Number = int | float


class _RawLatency(msgspec.Struct):
    max: Number | None = None
    mean: Number | None = None
    N: Number | None = None
    percentile: dict[str, Number | None] | None = None
    bins: dict[str, Number] | None = None


class _RawDirection(msgspec.Struct):
    io_bytes: Number | None = None
    io_kbytes: Number | None = None
    bw_bytes: Number | None = None
    bw: Number | None = None
    iops: Number | None = None
    runtime: Number | None = None
    total_ios: Number | None = None
    slat_ns: _RawLatency | None = None
    clat_ns: _RawLatency | None = None
    lat_ns: _RawLatency | None = None
    slat: _RawLatency | None = None
    clat: _RawLatency | None = None
    lat: _RawLatency | None = None
    bw_min: Number | None = None
    bw_max: Number | None = None
    bw_mean: Number | None = None
    bw_dev: Number | None = None
    bw_samples: Number | None = None
    iops_mean: Number | None = None


class _RawSync(msgspec.Struct):
    total_ios: Number | None = None
    lat_ns: _RawLatency | None = None


class _RawJob(msgspec.Struct):
    jobname: str = ""
    hostname: str | None = None
    groupid: Number | None = None
    error: Number = 0
    options: dict[str, str | None] | None = msgspec.field(default=None, name="job options")
    read: _RawDirection | None = None
    write: _RawDirection | None = None
    trim: _RawDirection | None = None
    mixed: _RawDirection | None = None
    sync: _RawSync | None = None
    job_runtime: Number | None = None
    job_start: Number | None = None
    usr_cpu: Number | None = None
    sys_cpu: Number | None = None
    ctx: Number | None = None
    latency_ns: dict[str, Number] | None = None
    latency_us: dict[str, Number] | None = None
    latency_ms: dict[str, Number] | None = None


class _RawDisk(msgspec.Struct):
    name: str = ""
    read_ios: Number | None = None
    write_ios: Number | None = None
    read_sectors: Number | None = None
    write_sectors: Number | None = None
    util: Number | None = None
    read_merges: Number | None = None
    write_merges: Number | None = None
    aggr_read_ios: Number | None = None


class _RawResult(msgspec.Struct):
    version: str = msgspec.field(name="fio version")
    timestamp: Number | None = None
    timestamp_ms: Number | None = None
    global_options: dict[str, str | None] | None = msgspec.field(default=None, name="global options")
    jobs: list[_RawJob] | None = None
    client_stats: list[_RawJob] | None = None
    disk_util: list[_RawDisk] | None = None


_DECODER = msgspec.json.Decoder(_RawResult)


def read_json(text: str) -> Outcome:
    """Return the result of a run from the last complete document, which includes the values of earlier ones.

    Lines outside the documents become notes. Raises FioError if the input has no complete fio JSON document.
    """
    results = read_json_stream(text)
    if not results:
        output = " ".join(text.split())[:300]
        raise FioError(
            f"fio's output contains no JSON result: {output}" if output else "fio printed nothing",
            "run fio with --output-format=json, and pass its complete output",
        )
    return results[-1]


def read_json_stream(text: str) -> tuple[Outcome, ...]:
    """Return the results in all complete documents. Damaged documents are mentioned in the notes."""
    return tuple(document.result for document in find_documents(text))


@dataclass(frozen=True)
class Document:
    """A result, and the position of its JSON in the input. If `is_cut_off`, its last values are missing."""

    result: Outcome
    start: int
    end: int
    is_cut_off: bool = False


def find_documents(text: str, *, include_cut_off: bool = False) -> tuple[Document, ...]:
    """Return all complete fio documents and, with `include_cut_off`, the readable parts of incomplete ones."""
    try:
        return (Document(_result(_DECODER.decode(text), ()), 0, len(text)),)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        if _VERSION_KEY not in text:
            return ()
        return _search(text, _START, include_cut_off) or _search(text, _SORTED_START, include_cut_off=False)


def _search(text: str, first: re.Pattern[str], include_cut_off: bool) -> tuple[Document, ...]:
    """Find documents whose start matches `first`. Lines outside them become notes of the last document."""
    found: list[tuple[_RawResult, int, int, bool]] = []
    notes: list[str] = []
    done = failures = 0
    for start in (match.start() for match in first.finditer(text)):
        if start < done:
            continue
        if failures > _MOST_FAILURES or text.find(_VERSION_KEY, start) < 0:
            break
        document, end, inside = _decode_at(text, start)
        is_cut_off = document is None and include_cut_off
        if is_cut_off:
            document, end = _decode_cut_off(text, start)
        try:
            raw = msgspec.convert(document, _RawResult)
        except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):  # the last: a lone surrogate as a number
            failures += 1
            continue
        notes += _lines(text[done:start]) + inside
        found.append((raw, start, end, is_cut_off))
        done = end
    rest = _lines(text[done:])
    if _START.search(text, done):
        rest = ["a fio JSON document is cut off or damaged", *(line for line in rest if not _JSON_LINE.match(line))]
    all_notes = tuple((notes + rest)[:_MOST_NOTES])
    return tuple(
        Document(_result(raw, all_notes if number == len(found) else ()), start, end, is_cut_off)
        for number, (raw, start, end, is_cut_off) in enumerate(found, start=1)
    )


def _decode_at(text: str, start: int) -> tuple[object, int, list[str]]:
    """Return the document at `start` (None if damaged), its end, and any lines of other output inside it.

    Such lines can be fio's own error messages. Numbers such as `-nan`, which old releases print, become null.
    """
    decoder = json.JSONDecoder()
    try:
        document, end = decoder.raw_decode(text, start)
        return document, end, []
    except (ValueError, RecursionError):
        closing = _CLOSING_LINE.search(text, start)
    end = closing.end() if closing else len(text)
    lines = text[start:end].splitlines()
    json_lines = "\n".join(line for line in lines if _JSON_LINE.match(line))
    try:
        document = decoder.decode(_NO_NUMBER.sub(": null", json_lines))
    except (ValueError, RecursionError):
        return None, start, []
    return document, end, [line.strip() for line in lines if not _JSON_LINE.match(line)]


def _decode_cut_off(text: str, start: int) -> tuple[object, int]:
    """Decode an incomplete document. Return its readable part (None if nothing is readable) and the end of its text.

    The last line is used up to its last comma, unless it is complete: a number at its end may have lost digits.
    All open brackets are closed. If the result is still not valid JSON, a few more lines at the end are dropped.
    """
    fence = _FENCE.search(text, start)
    end = min(fence.start() if fence else len(text), start + _LONGEST_CUT_OFF)
    lines = list(itertools.takewhile(lambda line: line.strip()[0] in '{}[]"', _nonblank(text[start:end])))
    for count in range(len(lines), max(0, len(lines) - _MOST_DROPPED_LINES), -1):
        last = lines[count - 1].rstrip()
        whole = last if last.endswith(_COMPLETE_ENDING) else last[: last.rfind(",") + 1]
        document = _decode_unclosed("\n".join([*lines[: count - 1], whole])) if whole else None
        if document is not None:
            return document, end
    return None, start


def _decode_unclosed(text: str) -> object:
    open_brackets: list[str] = []
    for token in _TOKEN.findall(text):
        if token in _CLOSING:
            open_brackets.append(token)
        elif token in ("}", "]") and open_brackets:
            open_brackets.pop()
    closing = "".join(_CLOSING[bracket] for bracket in reversed(open_brackets))
    try:
        document: object = json.loads(text.rstrip().rstrip(",") + closing)
    except (ValueError, RecursionError):
        return None
    return document


def _nonblank(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _nonblank(text)]


def _result(raw: _RawResult, notes: tuple[str, ...]) -> Outcome:
    every = raw.jobs or raw.client_stats or []
    jobs = [job for job in every if job.jobname != "All clients"] or every  # without the totals of all clients
    entries = Counter((job.jobname, job.groupid, job.hostname) for job in jobs)
    common = raw.global_options or {}
    has_components = any(disk.aggr_read_ios is not None for disk in raw.disk_util or [])
    return Outcome(
        version=raw.version,
        parts=tuple(_job(job, common, entries[job.jobname, job.groupid, job.hostname]) for job in jobs),
        disks=tuple(
            DiskUtilization(
                name=disk.name,
                read_requests=_whole(disk.read_ios),
                write_requests=_whole(disk.write_ios),
                utilisation_percent=_real(disk.util),
                read_bytes=_whole(_real(disk.read_sectors, _SECTOR)),
                write_bytes=_whole(_real(disk.write_sectors, _SECTOR)),
                read_merges=_whole(disk.read_merges),
                write_merges=_whole(disk.write_merges),
                is_component=has_components and disk.aggr_read_ios is None,
            )
            for disk in raw.disk_util or []
        ),
        timestamp_ms=_whole(raw.timestamp_ms) or _whole(_real(raw.timestamp, 1000)),
        notes=notes,
    )


def _job(raw: _RawJob, common: Mapping[str, str | None], entries: int) -> PartOutcome:
    sync, syncs = (raw.sync.lat_ns, raw.sync.total_ios or 0) if raw.sync else (None, None)
    if syncs is not None and sync:
        syncs = max(syncs, sync.N or 0)  # synchronous engines are counted only here
    ways: dict[str, Direction | None] = {name: _direction(getattr(raw, name)) for name in DIRECTIONS}
    options, clones = described(common, raw.options or {}, ways, _whole(raw.job_runtime), is_only=entries == 1)
    ways = with_ramp_ios(ways, options)
    return PartOutcome(
        name=raw.jobname,
        error=_whole(raw.error) or 0,
        clones=clones,
        options=options,
        **{**ways, "mixed": separate(*ways.values())},
        sync=_latency(sync, 1) if sync and sync.N else None,
        syncs=_whole(syncs),
        job_runtime_ms=_whole(raw.job_runtime),
        job_start_ms=_whole(raw.job_start),
        delay_ms=delay_ms(options),
        user_cpu_percent=_real(raw.usr_cpu),
        system_cpu_percent=_real(raw.sys_cpu),
        context_switches=_whole(raw.ctx),
        host=raw.hostname,
        group=_whole(raw.groupid) or 0,
        latency_shares=_shares(raw),
    )


def _shares(raw: _RawJob) -> dict[float, float]:
    units = ((raw.latency_ns, 1.0), (raw.latency_us, 1e3), (raw.latency_ms, 1e6))
    return {
        float("inf") if bound.startswith(">=") else int(bound) * unit_ns: percent
        for bins, unit_ns in units
        for bound, share in (bins or {}).items()
        if (bound.startswith(">=") or _is_bin(bound)) and (percent := _real(share))
    }


def _direction(raw: _RawDirection | None) -> Direction | None:
    if raw is None or not (raw.io_bytes or raw.total_ios or raw.iops):
        return None
    has_nanoseconds = raw.clat_ns is not None or raw.lat_ns is not None or raw.slat_ns is not None
    factor = 1 if has_nanoseconds else 1000
    has_bytes = raw.io_kbytes is not None or raw.bw_bytes is not None  # before fio 2.99, io_bytes is in KiB
    return Direction(
        io_bytes=_whole(raw.io_bytes if has_bytes else _real(raw.io_bytes, _KIB)),
        ios=_whole(raw.total_ios),
        runtime_ms=_whole(raw.runtime),
        bandwidth_bytes=_real(raw.bw_bytes) if raw.bw_bytes is not None else _real(raw.bw, _KIB),
        iops=_real(raw.iops),
        bandwidth_min_bytes=_real(raw.bw_min, _KIB),
        bandwidth_max_bytes=_real(raw.bw_max, _KIB),
        bandwidth_mean_bytes=_real(raw.bw_mean, _KIB),
        bandwidth_stddev_bytes=_real(raw.bw_dev, _KIB),
        iops_mean=_real(raw.iops_mean),
        samples=_whole(raw.bw_samples),
        slat=_latency(raw.slat_ns or raw.slat, factor),
        clat=_latency(raw.clat_ns or raw.clat, factor),
        lat=_latency(raw.lat_ns or raw.lat, factor),
    )


def _latency(raw: _RawLatency | None, factor: int) -> Latency | None:
    """Return a latency distribution in nanoseconds, or None if fio measured none.

    `factor`: the number of nanoseconds in one unit of `raw`.
    """
    if raw is None or (raw.N is None and not raw.max and not raw.mean):
        return None
    if raw.N == 0:
        return Latency(samples=0)
    percentiles = {_percent(name): _real(value, factor) for name, value in (raw.percentile or {}).items()}
    return Latency(
        samples=_whole(raw.N),
        mean_ns=_real(raw.mean, factor),
        percentiles_ns={percent: value for percent, value in percentiles.items() if percent and value is not None},
        bins_ns=_bins(raw.bins or {}, factor),
    )


def _percent(name: str) -> float | None:
    """Parse a percentage, or return None if it is invalid. fio 2 prints `0.00` for unused entries."""
    try:
        value = float(name)
    except ValueError:
        return None
    return value if 0 < value <= 100 else None  # also None for NaN


def _bins(raw: Mapping[str, Number], factor: int) -> dict[int, int]:
    """Return the histogram, keyed by latency in nanoseconds.

    `raw` is keyed by latency or, in fio 2's json+, by bin index, next to some of fio's constants.
    """
    counted = {int(name): int(count) for name, count in raw.items() if _is_bin(name) and count and _is_sane(count)}
    if "FIO_IO_U_PLAT_BITS" not in raw:
        return {value * factor: count for value, count in counted.items()}
    bits = min(max(_whole(raw["FIO_IO_U_PLAT_BITS"]) or PLAT_BITS, 1), 2 * PLAT_BITS)
    return {bin_value(index, bits) * factor: count for index, count in counted.items()}


def _is_bin(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 20


def _whole(value: Number | None) -> int | None:
    return int(value) if value is not None and _is_sane(value) else None


def _real(value: Number | None, factor: int = 1) -> float | None:
    return float(value * factor) if value is not None and _is_sane(value) else None


def _is_sane(value: Number) -> bool:
    return -_LARGEST < value < _LARGEST
