"""fio's JSON and json+ as figures: one document, or several in one text, with whatever fio printed around them.

fio 3 gives nanoseconds, bytes and `bw_bytes`; fio 2 microseconds and KiB (`io_bytes` too, until `io_kbytes` came).
Sources: `add_ddir_status_json` in fio's stat.c over its history, and captured output.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from poolproof.errors import FioError
from poolproof.load.fio.histogram import PLAT_BITS, bin_value
from poolproof.load.fio.json_mending import mended
from poolproof.load.fio.option_names import canonical
from poolproof.load.outcome import Direction, DiskUse, Latency, Outcome, PartOutcome

_KIB = 1024
_SECTOR = 512
_LARGEST = 10**24
_MOST_NOTES = 200
_MOST_FAILURES = 50  # damaged documents in one text; each costs a look at what follows it
_START = re.compile(r'\{\s*"fio version"')
_SORTED_START = re.compile(r"^\{", re.MULTILINE)  # where another program has put the keys in order
_NO_NUMBER = re.compile(r":\s*[-+]?(?:nan|inf(?:inity)?)\b", re.IGNORECASE)
_JSON_LINE = re.compile(r'\s*(?:["{}\[\],]|$)')

Number = int | float


class _RawLatency(msgspec.Struct):
    min: Number | None = None
    max: Number | None = None
    mean: Number | None = None
    stddev: Number | None = None
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
    short_ios: Number | None = None
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
    iops_min: Number | None = None
    iops_max: Number | None = None
    iops_mean: Number | None = None
    iops_stddev: Number | None = None


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
    iodepth_level: dict[str, Number | None] | None = None


class _RawDisk(msgspec.Struct):
    name: str = ""
    read_ios: Number | None = None
    write_ios: Number | None = None
    read_sectors: Number | None = None
    write_sectors: Number | None = None
    util: Number | None = None


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
    """The result of a run. With several documents (`--status-interval`) the last one that is whole: fio's figures grow.

    Lines before and after are kept as notes.

    Raises:
        FioError: there is no whole JSON document of fio in the text.
    """
    results = read_json_stream(text)
    if not results:
        raise FioError(_no_json(text), "run fio with --output-format=json, or give the whole of its output")
    return results[-1]


def read_json_stream(text: str) -> tuple[Outcome, ...]:
    """Every whole document of fio in the text, in order; one that is cut off or damaged is named in the notes."""
    return tuple(document.result for document in find_documents(text))


@dataclass(frozen=True)
class Document:
    """A result and where its text starts and ends, in characters. `is_cut_off`: figures after the cut are missing."""

    result: Outcome
    start: int
    end: int
    is_cut_off: bool = False


def find_documents(text: str, *, mend_cut_off: bool = False) -> tuple[Document, ...]:
    """Every document of fio in the text and its place. `mend_cut_off` keeps what a cut-off one holds before the cut."""
    try:
        return (Document(_result(_DECODER.decode(text), ()), 0, len(text)),)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _search(text, mend_cut_off)


def _no_json(text: str) -> str:
    said = " ".join(text.split())[:300]
    return f"no JSON result of fio is in its output; it said: {said}" if said else "fio printed nothing"


def _search(text: str, mend_cut_off: bool) -> tuple[Document, ...]:
    """Documents among other text; the other text's lines become the notes of the last one."""
    if '"fio version"' not in text:
        return ()
    return _search_from(text, _START, mend_cut_off) or _search_from(text, _SORTED_START, mend_cut_off)


def _search_from(text: str, first: re.Pattern[str], mend_cut_off: bool) -> tuple[Document, ...]:
    """The same for documents that start as `first` says."""
    decoder = json.JSONDecoder()
    found: list[tuple[_RawResult, int, int, bool]] = []
    notes: list[str] = []
    done = failures = 0
    for start in (match.start() for match in first.finditer(text)):
        if start < done:
            continue
        if failures > _MOST_FAILURES or text.find('"fio version"', start) < 0:
            break
        document, end, inside = _decode_at(decoder, text, start)
        is_cut_off = document is None and mend_cut_off and first is _START
        if is_cut_off:
            document, end = mended(text, start)
        raw = None if document is None else _converted(document)
        if raw is None:
            failures += 1
            continue
        notes += _lines(text[done:start]) + inside
        found.append((raw, start, end, is_cut_off))
        done = end
    rest = _lines(text[done:])
    if _START.search(text, done):
        rest = ["a JSON document of fio is cut off or damaged", *(line for line in rest if not _JSON_LINE.match(line))]
    every = tuple((notes + rest)[:_MOST_NOTES])
    last = len(found) - 1
    return tuple(
        Document(_result(raw, every if number == last else ()), start, end, is_cut_off)
        for number, (raw, start, end, is_cut_off) in enumerate(found)
    )


def _decode_at(decoder: json.JSONDecoder, text: str, start: int) -> tuple[object, int, list[str]]:
    """(document or None, where it ends, lines of other programs found inside it)."""
    try:
        document, end = decoder.raw_decode(text, start)
        return document, end, []
    except (json.JSONDecodeError, RecursionError, ValueError):
        return _decode_mended(decoder, text, start)


def _decode_mended(decoder: json.JSONDecoder, text: str, start: int) -> tuple[object, int, list[str]]:
    """The same for a document with `-nan`, which old fio prints, or with lines of stderr among its own."""
    closing = re.compile(r"^\}", re.MULTILINE).search(text, start)
    end = closing.end() if closing else len(text)
    lines = text[start:end].splitlines()
    own = [line for line in lines if _JSON_LINE.match(line)]
    strange = [line.strip() for line in lines if not _JSON_LINE.match(line)]
    try:
        return decoder.decode(_NO_NUMBER.sub(": null", "\n".join(own))), end, strange
    except (json.JSONDecodeError, RecursionError, ValueError):
        return None, start, []


def _converted(document: object) -> _RawResult | None:
    try:
        return msgspec.convert(document, _RawResult)
    except (msgspec.ValidationError, RecursionError):
        return None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _result(raw: _RawResult, notes: tuple[str, ...]) -> Outcome:
    jobs = _without_total(raw.jobs or raw.client_stats or [])
    entries = Counter((job.jobname, job.groupid, job.hostname) for job in jobs)
    common = raw.global_options or {}
    return Outcome(
        version=raw.version,
        parts=tuple(_job(job, common, entries[job.jobname, job.groupid, job.hostname]) for job in jobs),
        disks=tuple(_disk(disk) for disk in raw.disk_util or []),
        timestamp_ms=_whole(raw.timestamp_ms) or _whole(_times(raw.timestamp, 1000)),
        notes=notes,
    )


def _without_total(jobs: list[_RawJob]) -> list[_RawJob]:
    """The jobs of client/server output without the sum that follows them; the sum where it is all there is."""
    return [job for job in jobs if job.jobname != "All clients"] or jobs


def _job(raw: _RawJob, common: Mapping[str, str | None], entries: int) -> PartOutcome:
    options = {canonical(name): value or "" for name, value in (*common.items(), *(raw.options or {}).items())}
    sync = raw.sync.lat_ns if raw.sync else None
    return PartOutcome(
        name=raw.jobname,
        error=_whole(raw.error) or 0,
        clones=_clones(options, entries),
        options=options,
        read=_direction(raw.read),
        write=_direction(raw.write),
        trim=_direction(raw.trim),
        mixed=_direction(raw.mixed),
        sync=_latency(sync, 1) if sync and sync.N else None,
        syncs=_syncs(raw.sync),
        job_runtime_ms=_whole(raw.job_runtime),
        job_start_ms=_whole(raw.job_start),
        user_cpu_percent=_real(raw.usr_cpu),
        system_cpu_percent=_real(raw.sys_cpu),
        depth_levels=_shares(raw.iodepth_level or {}),
        host=raw.hostname,
        group=_whole(raw.groupid) or 0,
    )


def _shares(raw: Mapping[str, Number | None]) -> dict[str, float]:
    return {level: known for level, share in raw.items() if (known := _real(share)) is not None}


def _clones(options: Mapping[str, str], entries: int) -> int:
    """Clones in one entry: `numjobs` where it has one entry only, as group_reporting makes it."""
    value = options.get("numjobs", "1")
    numjobs = int(value) if value.isascii() and value.isdecimal() and len(value) < 6 else 1
    return max(1, numjobs) if entries == 1 else 1


def _syncs(raw: _RawSync | None) -> int | None:
    """Calls counted; fio's synchronous engines leave `total_ios` at 0 and count in the latency's N."""
    if raw is None:
        return None
    counted = (raw.lat_ns.N if raw.lat_ns else None) or 0
    return _whole(max(raw.total_ios or 0, counted))


def _direction(raw: _RawDirection | None) -> Direction | None:
    if raw is None or not (raw.io_bytes or raw.total_ios or raw.iops):
        return None
    nanoseconds = raw.clat_ns is not None or raw.lat_ns is not None or raw.slat_ns is not None
    factor = 1 if nanoseconds else 1000
    return Direction(
        io_bytes=_io_bytes(raw),
        ios=_whole(raw.total_ios),
        runtime_ms=_whole(raw.runtime),
        bandwidth_bytes=_real(raw.bw_bytes) if raw.bw_bytes is not None else _times(raw.bw, _KIB),
        iops=_real(raw.iops),
        short_ios=_whole(raw.short_ios),
        bandwidth_min_bytes=_times(raw.bw_min, _KIB),
        bandwidth_max_bytes=_times(raw.bw_max, _KIB),
        bandwidth_mean_bytes=_times(raw.bw_mean, _KIB),
        bandwidth_stddev_bytes=_times(raw.bw_dev, _KIB),
        iops_min=_real(raw.iops_min),
        iops_max=_real(raw.iops_max),
        iops_mean=_real(raw.iops_mean),
        iops_stddev=_real(raw.iops_stddev),
        samples=_whole(raw.bw_samples),
        slat=_latency(raw.slat_ns or raw.slat, factor),
        clat=_latency(raw.clat_ns or raw.clat, factor),
        lat=_latency(raw.lat_ns or raw.lat, factor),
    )


def _io_bytes(raw: _RawDirection) -> int | None:
    """Bytes moved. Without `io_kbytes` beside it, `io_bytes` is in KiB: fio before 2.99."""
    if raw.io_bytes is None:
        return None
    is_bytes = raw.io_kbytes is not None or raw.bw_bytes is not None
    return _whole(_times(raw.io_bytes, _KIB)) if not is_bytes else _whole(raw.io_bytes)


def _latency(raw: _RawLatency | None, factor: int) -> Latency | None:
    """A distribution, its figures times `factor` (fio 2 printed microseconds). Without samples it holds no figures."""
    if raw is None or (raw.N is None and not raw.max and not raw.mean):
        return None
    if raw.N == 0:
        return Latency(samples=0)
    return Latency(
        samples=_whole(raw.N),
        min_ns=_times(raw.min, factor),
        max_ns=_times(raw.max, factor),
        mean_ns=_times(raw.mean, factor),
        stddev_ns=_times(raw.stddev, factor),
        percentiles_ns=_percentiles(raw.percentile or {}, factor),
        bins_ns=_bins(raw.bins or {}, factor),
    )


def _percentiles(raw: Mapping[str, Number | None], factor: int) -> dict[float, float]:
    """fio 2 fills unused places of its list with `"0.00": 0`."""
    found = {}
    for name, value in raw.items():
        percent, latency = _percent(name), _times(value, factor)
        if percent and latency is not None:
            found[percent] = latency
    return found


def _percent(name: str) -> float | None:
    try:
        value = float(name)
    except ValueError:
        return None
    return value if 0 < value <= 100 else None  # false for NaN too


def _bins(raw: Mapping[str, Number], factor: int) -> dict[int, int]:
    """Values and counts; json+ of fio 2 counted by index of the bin and told so with its constants."""
    counted = {int(name): int(count) for name, count in raw.items() if _is_bin(name) and count and _is_sane(count)}
    if "FIO_IO_U_PLAT_BITS" not in raw:
        return {value * factor: count for value, count in counted.items()}
    bits = min(max(_whole(raw["FIO_IO_U_PLAT_BITS"]) or PLAT_BITS, 1), 2 * PLAT_BITS)
    return {bin_value(index, bits) * factor: count for index, count in counted.items()}


def _is_bin(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 20


def _disk(raw: _RawDisk) -> DiskUse:
    return DiskUse(
        name=raw.name,
        read_requests=_whole(raw.read_ios),
        write_requests=_whole(raw.write_ios),
        utilisation_percent=_real(raw.util),
        read_bytes=_whole(_times(raw.read_sectors, _SECTOR)),
        write_bytes=_whole(_times(raw.write_sectors, _SECTOR)),
    )


def _whole(value: Number | None) -> int | None:
    return int(value) if value is not None and _is_sane(value) else None


def _real(value: Number | None) -> float | None:
    return float(value) if value is not None and _is_sane(value) else None


def _times(value: Number | None, factor: int) -> float | None:
    return float(value * factor) if value is not None and _is_sane(value) else None


def _is_sane(value: Number) -> bool:
    """A number that fio can have counted; false for NaN."""
    return -_LARGEST < value < _LARGEST
