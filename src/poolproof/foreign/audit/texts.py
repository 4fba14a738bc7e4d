"""Every fio result in a text, judged with what the text itself tells and what the user said of the machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from poolproof.errors import PoolproofError
from poolproof.evidence.model import Target
from poolproof.foreign.audit.context import Context, target_of
from poolproof.foreign.audit.estimate import estimate_of
from poolproof.foreign.audit.external_counters import ExternalCounters, block_of, from_block, from_disk_use
from poolproof.foreign.audit.iostat import DiskRates, find_disk_rates
from poolproof.foreign.audit.missing import jobs_of, missing_of
from poolproof.foreign.audit.model import Audited, AuditedMetrics
from poolproof.foreign.audit.rerun import rerun_command
from poolproof.foreign.audit.stated_disks import Statement, find_statements, largest_above
from poolproof.foreign.audit.tables import find_tables
from poolproof.load.fio.find import FoundResult, find_results
from poolproof.load.fio.load import load_of
from poolproof.load.fio.makers import find_commands
from poolproof.load.fio.render import render
from poolproof.load.merge import whole
from poolproof.load.outcome import Direction, Outcome
from poolproof.rules.judge import Judgement, judge
from poolproof.rules.model import Case
from poolproof.rules.naming import count
from poolproof.units import format_rate

_UNKNOWN = ""
_ADJACENT_LINES = 40  # what fio prints between its call and the first figure is shorter
_DIRECTIONS = ("read", "write", "trim", "mixed")


@dataclass(frozen=True)
class AuditContext:
    """What the user says of all results: the machine; `cold` False where RAM is meant to be a part of the figure."""

    context: Context = field(default_factory=Context)
    cold: bool = True


@dataclass(frozen=True)
class _Around:
    """What a text holds beside its results. `starts`: lines of results and commands; `callers`: those of commands that
    only name a job file, which stand between the file and its result.
    """

    blocks: tuple[DiskRates, ...]
    statements: tuple[Statement, ...]
    starts: tuple[int, ...]
    callers: frozenset[int] = frozenset()

    def next_start(self, line: int) -> float:
        """The first line after `line` at which another result or command begins."""
        return min((start for start in self.starts if start > line), default=float("inf"))


@dataclass(frozen=True)
class Judged:
    """A result in a text with the case that was made of it, the judgement, the facts from beside it, and whether its
    command stands apart from it.
    """

    found: FoundResult
    case: Case
    judgement: Judgement
    known: tuple[str, ...] = ()
    is_assumed: bool = False


def judge_text(text: str, setting: AuditContext) -> tuple[Judged, ...]:
    """Every result in the text, in order of lines. Nothing is raised: what is no result is passed over."""
    runs = find_results(text)
    if len(runs) == 1 and not _has_more(text, runs[0]):
        return (judge_result(runs[0], setting),)
    tables = find_tables(text, [(found.line, found.last_line) for found in runs])
    results = sorted([*runs, *tables], key=lambda found: (found.line, found.last_line))
    if not results:
        return ()
    around = _around(text, results)
    return tuple(_judged(found, around, setting) for found in results)


def judge_result(found: FoundResult, setting: AuditContext) -> Judged:
    """One result that stands alone."""
    return _judged(found, _Around((), (), ()), setting)


def audit_text(source: str, text: str, setting: AuditContext) -> tuple[Audited, ...]:
    """Every result in the text with all that an audit says of it."""
    return tuple(audited(source, judged, setting) for judged in judge_text(text, setting))


def audited(source: str, judged: Judged, setting: AuditContext) -> Audited:
    """What an audit says of a result."""
    found, case, judgement = judged.found, judged.case, judged.judgement
    return Audited(
        source=source,
        line=found.line,
        last_line=found.last_line,
        job=_job_name(found),
        command=_command(found),
        figures=figures_of(found.result),
        verdict=judgement.verdict,
        findings=judgement.findings,
        known=judged.known,
        missing=missing_of(found, case, setting.context),
        estimate=estimate_of(case, judgement),
        rerun=_rerun(found, case, judgement),
        command_line=_command_line(found),
        is_assumed=judged.is_assumed,
    )


def _has_more(text: str, found: FoundResult) -> bool:
    """Whether anything stands before or after a result."""
    bare = text.lstrip()
    first = 1 + text.count("\n", 0, len(text) - len(bare))
    return (found.line, found.last_line) != (first, first + bare.rstrip().count("\n"))


def _around(text: str, results: Sequence[FoundResult]) -> _Around:
    commands = find_commands(text)
    return _Around(
        find_disk_rates(text),
        find_statements(text, [(found.line, found.last_line) for found in results]),
        tuple(sorted({*(command.line for command in commands), *(found.line for found in results)})),
        frozenset(command.line for command in commands if not command.jobs.jobs),
    )


def _judged(found: FoundResult, around: _Around, setting: AuditContext) -> Judged:
    statement = largest_above(around.statements, found.line) if setting.context.devices is None else None
    beside = _beside(found, around)
    case = Case(
        load=load_of(jobs_of(found.made, found.result)),
        outcome=found.result,
        evidence=beside.evidence if beside else None,
        target=_target(setting.context, statement),
        cold=setting.cold,
    )
    judgement = _as_far_as_proven(judge(case), found.result)
    known = tuple(_known(setting.context, statement, beside))
    return Judged(found, case, judgement, known, _is_assumed(found, around))


def _is_assumed(found: FoundResult, around: _Around) -> bool:
    """Another command fits as well, or it stands below, or above but not right above: another result or command lies
    between, or too many lines.
    """
    line = _command_line(found)
    if line is None or found.made is None:
        return False
    if found.is_assumed:
        return True
    last = line + found.made.text.count("\n")
    between = any(last < start < found.line and start not in around.callers for start in around.starts)
    return between or found.line - last > _ADJACENT_LINES


def _command_line(found: FoundResult) -> int | None:
    """Where the command or job file stands that was found beside the result; None where the result told its own."""
    return found.made.line if found.made is not None and found.made.origin in ("command", "job file") else None


def _beside(found: FoundResult, around: _Around) -> ExternalCounters | None:
    block = block_of(found, around.blocks, around.next_start(found.last_line))
    return (from_block(found, block) if block else None) or from_disk_use(found.result)


def _target(context: Context, statement: Statement | None) -> Target | None:
    target = target_of(context)
    if statement is None:
        return target
    return replace(
        target or Target(_UNKNOWN),
        ceiling_read_bytes_per_s=statement.ceiling.read_bytes_per_s,
        ceiling_write_bytes_per_s=statement.ceiling.write_bytes_per_s,
    )


def _as_far_as_proven(judgement: Judgement, result: Outcome) -> Judgement:
    """Quoted rates can show that reads came from the disks; of writes they don't know the layout's write factor."""
    wrote = any(job.write is not None for job in result.parts)
    return replace(judgement, verdict="unproven") if judgement.verdict == "sound" and wrote else judgement


def _known(context: Context, statement: Statement | None, beside: ExternalCounters | None) -> list[str]:
    known = []
    if context.devices is not None:
        rate = format_rate(context.devices.ceiling_bytes_per_s)
        known.append(f"--devices: {count(context.devices.disks, 'disk')}, at most {rate} together")
    if statement is not None:
        known.append(f"line {statement.line} says: “{statement.words}”: {statement.sum}")
    if beside is not None:
        known.append(beside.words)
    return known


def _job_name(found: FoundResult) -> str:
    """The names of the jobs, as the result or else the command has them."""
    told = [job.name for job in found.result.parts if job.name and not job.name.startswith("group ")]
    given = [job.name for job in found.made.jobs.jobs] if found.made else []
    return ", ".join(dict.fromkeys(told or given))


def _command(found: FoundResult) -> str | None:
    """The command; for a job file, and for the options that fio printed, the job file."""
    made = found.made
    if made is None or made.origin == "header":
        return None
    if made.text:
        return made.text
    try:
        return render(made.jobs).strip()
    except PoolproofError:
        return None


def figures_of(result: Outcome) -> AuditedMetrics:
    """All jobs together, by direction."""
    if not result.parts:
        return AuditedMetrics({})
    together = whole(result)
    parts: dict[str, Direction | None] = {name: getattr(together, name) for name in _DIRECTIONS}
    return AuditedMetrics({name: part for name, part in parts.items() if part is not None}, together.sync)


def _rerun(found: FoundResult, case: Case, judgement: Judgement) -> str | None:
    """Only of a job that is known: fio's header line is too little."""
    if found.made is None or found.made.origin == "header":
        return None
    return rerun_command(case, judgement.findings)
