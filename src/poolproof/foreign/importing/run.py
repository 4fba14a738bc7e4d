"""The run directory of an import: results of others as trials, judged by the same rules as poolproof's own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from poolproof.campaign.workload import LARGE_BLOCK_BYTES
from poolproof.errors import FioError, PoolproofError
from poolproof.foreign.audit.logs import grouped, is_log, result_of_logs
from poolproof.foreign.audit.sources import Unread, files_below, read_text
from poolproof.foreign.audit.texts import AuditContext, Judged, judge_result, judge_text
from poolproof.foreign.importing.campaign import campaign_text
from poolproof.foreign.importing.cells import ImportedRecord, place
from poolproof.foreign.importing.logs import WholeResults
from poolproof.foreign.importing.record import Record, common_folder, record_of
from poolproof.load.fio.find import FoundResult
from poolproof.load.model import Load
from poolproof.measure.figures import figures_of
from poolproof.metrics import MetricId
from poolproof.process import share_out
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord, Trial, TrialMetrics
from poolproof.version import __version__

_WORTH_SHARING = 200
_CHUNK = 50
_BESIDE = "logs in a folder with a whole result, which may be of its run; if not, give them a folder of their own"


@dataclass
class Import:
    """What became of an import: the run, its trials, and the files that could not be read or held no result."""

    path: Path
    trials: tuple[Trial, ...]
    unread: list[Unread] = field(default_factory=list)


def import_results(
    sources: Sequence[Path], out: Path, setting: AuditContext, *, layout_from: str | None = None
) -> Import:
    """Make a run directory of every result in the files and folders.

    Raises:
        FioError: none of the files holds a result.
        RunError: the directory is there already, or cannot be made.
        UsageError: `layout_from` names nothing.
    """
    unread: list[Unread] = []
    files = [file for source in sources for file in _files(source, unread)]
    records = _records(files, setting, unread)
    if not records:
        raise FioError("there is no fio result in what was given" + _first(unread), "see: poolproof audit FILES…")
    placed = place(records, layout_from)
    trials = tuple(_trial(each) for each in placed)
    text = campaign_text(out.name, placed, {trial.workload: trial.metric for trial in trials})
    run = RunDirectory.create(out, text, _run_record(text, placed))
    run.write_trials(trials)
    return Import(run.path, trials, unread)


def _first(unread: Sequence[Unread]) -> str:
    return f": {unread[0].source}: {unread[0].why}" if unread else ""


def _files(source: Path, unread: list[Unread]) -> list[Path]:
    try:
        return list(files_below(source.resolve())) if source.is_dir() else [source.resolve()]
    except OSError as error:
        unread.append(Unread(str(source), error.strerror or str(error)))
        return []


def _records(files: Sequence[Path], setting: AuditContext, unread: list[Unread]) -> list[Record]:
    """Logs of a run of which the whole result is there as well add nothing to it, and are left out."""
    if not files:
        return []
    base = common_folder(files)
    records: list[Record] = []
    for found, missed in _each([file for file in files if not is_log(file)], base, setting):
        records += found
        unread += missed
    whole = WholeResults(records)
    for prefix, paths in grouped(file for file in files if is_log(file)).items():
        standing = whole.standing_of(prefix)
        if standing == "apart":
            records += _in_logs(paths, base, setting, unread)
        elif standing == "unsure":
            unread.append(Unread(f"{prefix}_*.log", _BESIDE))
    return records


_Outcome = tuple[list[Record], list[Unread]]


def _each(files: Sequence[Path], base: Path, setting: AuditContext) -> Iterable[_Outcome]:
    """What is in each file, in order. Many files are shared out over the processors: each is read by itself."""
    work = partial(_in_file, base=base, setting=setting)
    if len(files) < _WORTH_SHARING:
        return map(work, files)
    return share_out(work, files, chunk=_CHUNK)


def _in_file(file: Path, base: Path, setting: AuditContext) -> _Outcome:
    try:
        text = read_text(file)
    except OSError as error:
        return [], [Unread(str(file), error.strerror or str(error))]
    judged = [each for each in judge_text(text or "", setting) if _says_something(each)]
    missed = [] if judged else [Unread(str(file), "it is binary" if text is None else "no fio result in it")]
    return [record_of(file, base, each) for each in judged], missed


def _says_something(judged: Judged) -> bool:
    """It holds a figure or an error: of a document that was cut off early nothing is left."""
    jobs = judged.found.result.parts
    return any(job.error or job.read or job.write or job.trim or job.mixed or job.sync for job in jobs)


def _in_logs(paths: Sequence[Path], base: Path, setting: AuditContext, unread: list[Unread]) -> list[Record]:
    try:
        found = FoundResult(result_of_logs(paths), 1, 1, "text")
    except PoolproofError as error:
        unread.append(Unread(str(paths[0]), error.message))
        return []
    return [record_of(paths[0], base, judge_result(found, setting))]


def _trial(placed: ImportedRecord) -> Trial:
    record = placed.record
    figures = figures_of(record.result)
    return Trial(
        layout=placed.layout,
        workload=placed.workload,
        number=placed.number,
        verdict=record.judged.judgement.verdict,
        findings=record.judged.judgement.findings,
        metric=_metric(record.judged.case.load, figures),
        figures=figures,
        begun_at=record.begun_at,
        source=f"{record.source}:{record.line}",
        columns=record.columns,
    )


def _metric(load: Load, figures: TrialMetrics) -> MetricId:
    """The figure that the job is about, if the source holds it; else the first that it holds."""
    wanted: tuple[MetricId, ...] = (_usual_metric(load), "iops", "bandwidth", "p99")
    return next((metric for metric in wanted if figures.metric(metric) is not None), wanted[0])


def _usual_metric(load: Load) -> MetricId:
    """As in campaigns: bandwidth for large blocks in sequence, syncs where each write is committed, else IOPS."""
    every = load.parts
    if every and all(job.sync_every == 1 for job in every):
        return "sync_p99"
    streams = every and all(job.is_sequential and job.block_bytes >= LARGE_BLOCK_BYTES for job in every)
    return "bandwidth" if streams else "iops"


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
