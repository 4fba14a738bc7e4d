"""Import other people's results as a run directory, and judge them by the same rules as poolproof's own trials."""

import math
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

from poolproof.campaign.names import slug
from poolproof.campaign.workload import LARGE_BLOCK_BYTES, MOST_CELLS
from poolproof.campaign.write import scalar
from poolproof.errors import FioError, PoolproofError, RunError
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.logs import grouped, is_log, result_of_logs
from poolproof.foreign.audit.sources import Unread, files_below, job_files_of, read_text
from poolproof.foreign.audit.texts import Judged, judge_result, judge_text
from poolproof.foreign.importing.cell_assignment import FAMILY, ImportedRecord, Record, common_folder, place, record_of
from poolproof.load.fio.job import Job
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.source_commands import SourceCommand
from poolproof.load.model import Load
from poolproof.measure.figures import figures_of
from poolproof.metrics import MetricId, TrialMetrics
from poolproof.process import share_out
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord, Trial
from poolproof.version import __version__

_MIN_FILES_FOR_PROCESSES = 200
_CHUNK_FILES = 50
_UNSURE = "these logs may belong to a result in the same folder; if they do not, move them to another folder"
_LOG_OPTIONS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")
_SHOWN_BY_CHARTS = ("rw", "rwmixread", "sync", "fsync", "fdatasync")
_BENCH_FIO_WORDS = re.compile(r"-(?:iodepth|numjobs)(?=-)")

_Owner = Literal["none", "a result", "unsure"]
_FoundAndUnread = tuple[list[Record], list[Unread]]


@dataclass
class Import:
    """The path of the new run, its trials, and the files that could not be read or contained no result."""

    path: Path
    trials: tuple[Trial, ...]
    unread: list[Unread] = field(default_factory=list)


def import_results(sources: Sequence[Path], out: Path, context: Context, *, layout_from: str | None = None) -> Import:
    """Create a run directory from every result in the files and folders.

    For `layout_from`, see `cell_assignment.place`.

    Raises:
        FioError: none of the files contains a result.
        RunError: the directory exists and is not empty, or it cannot be created.
        UsageError: `layout_from` is an option that no result has.
    """
    unread: list[Unread] = []
    files: list[Path] = []
    for source in sources:
        try:
            files += files_below(Path(os.path.realpath(source)), unread) if source.is_dir() else [source]
        except OSError as error:
            unread.append(Unread(str(source), error.strerror or str(error)))
    distinct = dict.fromkeys(Path(os.path.realpath(file)) for file in files)  # a file may be named twice, or by a link
    job_files = job_files_of(sources)
    records = _records(tuple(distinct), context, job_files, unread) if files else []
    if not records:
        first = f": {unread[0].source}: {unread[0].why}" if unread else ""
        raise FioError(
            f"no result in the given files{first}",
            "specify files or folders with benchmark results; to create some: fio --output-format=json+ "
            "--output=result.json …",
        )
    placed = place(records, layout_from)
    trials = tuple(_trial(each) for each in placed)
    metrics = {trial.workload: trial.metric for trial in trials}
    text = _campaign_text(out.name, placed, set(metrics.values()))
    if out.is_dir() and any(out.iterdir()):
        raise RunError(f"{out} exists and is not empty", "choose a directory that does not exist yet")
    run = RunDirectory.create(out, text, _run_record(text, placed))
    run.write_trials(trials)
    return Import(run.path, trials, unread)


def _records(
    files: Sequence[Path], context: Context, job_files: Sequence[SourceCommand], unread: list[Unread]
) -> list[Record]:
    """Return the results in the files. fio's logs are used only if no other file has the result of their run."""
    base = common_folder(files)
    records: list[Record] = []
    for found, failed in _read_files([file for file in files if not is_log(file)], base, context, job_files):
        records += found
        unread += failed
    whole = _WholeResults(records)
    for prefix, paths in grouped(file for file in files if is_log(file)).items():
        owner = whole.owner_of(prefix)
        if owner == "none":
            records += _read_logs(paths, base, context, unread)
        elif owner == "unsure":
            unread.append(Unread(f"{prefix}_*.log", _UNSURE))
    return records


class _WholeResults:
    """The imported results from files other than fio logs, indexed by the names that their logs may have."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._names: dict[Path, set[str]] = defaultdict(set)
        self._elsewhere: dict[tuple[str, ...], set[Path]] = defaultdict(set)
        for record in records:
            folder = Path(record.source).parent
            self._names[folder].update(_log_names(record))
            for _, path in _log_paths(record):
                if len(path.parts) > 1:
                    self._elsewhere[path.parts].add(folder)

    def owner_of(self, prefix: str) -> _Owner:
        """Decide whether the logs with this prefix (folder and base name) belong to another result. Returns one of:

        - `a result`: a job of some result requests these logs, or a result in the same folder has the same base name.
        - `unsure`: the folder contains a result that may be from the same run.
        - `none`: the folder contains no result.
        """
        logs = Path(prefix)
        if logs.name in self._names.get(logs.parent, ()) or self._are_requested(logs):
            return "a result"
        return "unsure" if logs.parent in self._names else "none"

    def _are_requested(self, logs: Path) -> bool:
        """True if a job requested these logs and its result is in a folder above them.

        For example, a job with `write_bw_log=logs/x` requests `…/logs/x`.
        """
        ends = (logs.parts[at:] for at in range(len(logs.parts) - 1))
        return any(logs.is_relative_to(folder) for end in ends for folder in self._elsewhere.get(end, ()))


def _log_names(record: Record) -> Iterator[str]:
    """Yield the possible base names of a result's logs in the result's own folder, such as `x` for `x_bw.1.log`."""
    yield record.stem
    if record.is_bench_fio:
        # bench-fio names results like `randread-16-4.json`, and logs like `randread-iodepth-16-numjobs-4_bw.1.log`.
        mode, depth, clones = _BENCH_FIO_WORDS.sub("", record.stem).split("-")
        yield f"{mode}-iodepth-{depth}-numjobs-{clones}"
    for name, path in _log_paths(record):
        yield path.name or name


def _log_paths(record: Record) -> Iterator[tuple[str, Path]]:
    """Yield (job name, log path) for each log option of each job. The path is empty if the option has no value."""
    made = record.judged.found.made
    jobs = [*(made.jobs if made is not None else ()), *(Job(job.name, job.options) for job in record.result.parts)]
    for job in jobs:
        for option in _LOG_OPTIONS:
            value = job.text(option)
            if value is not None:
                yield job.name, Path(value)


def _read_files(
    files: Sequence[Path], base: Path, context: Context, job_files: Sequence[SourceCommand]
) -> Iterable[_FoundAndUnread]:
    """Read the files in order, in several parallel processes if there are many. The job files have no results."""
    given = {os.path.realpath(job_file.source) for job_file in job_files}
    files = [file for file in files if str(file) not in given]
    work = partial(_read_file, base=base, context=context, job_files=job_files)
    if len(files) < _MIN_FILES_FOR_PROCESSES:
        return map(work, files)
    return share_out(work, files, chunk=_CHUNK_FILES)


def _read_file(file: Path, base: Path, context: Context, job_files: Sequence[SourceCommand]) -> _FoundAndUnread:
    try:
        text = read_text(file)
    except OSError as error:
        return [], [Unread(str(file), error.strerror or str(error))]
    judged = [each for each in judge_text(text or "", context, job_files) if _has_content(each)]
    if not judged:
        return [], [Unread(str(file), "it is binary" if text is None else "it contains no result")]
    return [record_of(file, base, each) for each in judged], []


def _has_content(judged: Judged) -> bool:
    """True if the result contains a value or an error. Truncated JSON output may contain neither."""
    return any(part.error or part.directions or part.sync for part in judged.found.result.parts)


def _read_logs(paths: Sequence[Path], base: Path, context: Context, unread: list[Unread]) -> list[Record]:
    try:
        found = FoundResult(result_of_logs(paths), 1, 1, "text")
    except PoolproofError as error:
        unread.append(Unread(str(paths[0]), error.message))
        return []
    return [record_of(paths[0], base, judge_result(found, context))]


def _trial(placed: ImportedRecord) -> Trial:
    record = placed.record
    figures = figures_of(record.result)
    return Trial(
        layout=placed.layout,
        workload=placed.workload,
        number=placed.number,
        verdict=record.judged.judgement.verdict,
        verdicts=record.judged.judgement.verdicts,
        findings=record.judged.judgement.findings,
        metric=_metric(record.judged.case.load, figures),
        figures=figures,
        begun_at=record.begun_at,
        source=f"{record.source}:{record.line}",
        columns=record.columns,
    )


def _metric(load: Load, figures: TrialMetrics) -> MetricId:
    """Return the most suitable metric for the load that the source contains.

    Sync latency suits jobs that sync after every write, bandwidth suits large sequential blocks, and IOPS suit all
    other jobs. If the source has no value for that metric, return the first of IOPS, bandwidth and p99 that it
    contains.
    """
    usual: MetricId = "iops"
    if load.parts and all(part.sync_every == 1 for part in load.parts):
        usual = "sync_p99"
    elif load.parts and all(part.is_sequential and part.block_bytes >= LARGE_BLOCK_BYTES for part in load.parts):
        usual = "bandwidth"
    preferred: tuple[MetricId, ...] = (usual, "iops", "bandwidth", "p99")
    return next((metric for metric in preferred if figures.metric(metric) is not None), usual)


def _run_record(text: str, placed: Sequence[ImportedRecord]) -> RunRecord:
    versions = sorted({each.record.result.version for each in placed if each.record.result.version})
    return RunRecord(
        poolproof=__version__,
        campaign=text,
        label="imported",
        state_dir="",
        ram_dir="",
        seed=0,
        host="",
        begun_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        facts={},
        versions={"poolproof": __version__, "fio": ", ".join(versions)},
        imported=True,
    )


def _campaign_text(name: str, placed: Sequence[ImportedRecord], metrics: set[MetricId]) -> str:
    """Return the YAML of a campaign with the imported cells. Its layouts are placeholders and cannot be built."""
    lines = [f"name: {scalar(slug(name) or 'imported')}", "layouts:"]
    for layout in dict.fromkeys(each.layout for each in placed):
        lines.append(f"  {scalar(layout)}: dir imported/{layout}")
    lines += ["workloads:", f"  {FAMILY}: {{{', '.join(_options(placed, metrics))}}}", "measure: {trials: 1}"]
    return "\n".join(lines) + "\n"


def _options(placed: Sequence[ImportedRecord], metrics: set[MetricId]) -> list[str]:
    """Return the fio options of the campaign's workload, and the metric if it is the same for all results.

    Options that vary become lists, unless the resulting matrix would have too many cells for a campaign. Options with
    the same value in all results are included only if charts show them.
    """
    values: dict[str, dict[str, None]] = defaultdict(dict)
    for each in placed:
        for axis, value in each.varies:
            values[axis][value] = None
    found: list[str] = []
    if math.prod(map(len, values.values())) <= MOST_CELLS:
        found += (f"{axis}: [{', '.join(map(scalar, several))}]" for axis, several in values.items())
    for name in _SHOWN_BY_CHARTS:
        first, *others = {each.record.options.get(name) for each in placed}
        if first and not others and name not in values:
            found.append(f"{name}: {scalar(first)}")
    found += (f"metric: {metric}" for metric in metrics if len(metrics) == 1)
    return found or ["rw: read"]
