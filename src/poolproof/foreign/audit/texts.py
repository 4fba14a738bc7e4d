"""Find and judge every fio result in a text, using the surrounding text and the user's flags."""

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
from poolproof.load.fio.find import find_results
from poolproof.load.fio.job import render
from poolproof.load.fio.load import load_of
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.source_commands import find_commands
from poolproof.load.merge import whole
from poolproof.load.outcome import Direction, Outcome
from poolproof.rules.judge import Judgement, judge
from poolproof.rules.model import Case
from poolproof.units import format_number_of, format_rate

_UNKNOWN_FILE_SYSTEM = ""
_ADJACENT_LINES = 40  # fio prints fewer lines between its command and the first result
_DIRECTIONS = ("read", "write", "trim", "mixed")


@dataclass(frozen=True)
class AuditContext:
    """What the user says about all results. `cold` is False if the results are meant to include the effect of RAM."""

    context: Context = field(default_factory=Context)
    cold: bool = True


@dataclass(frozen=True)
class _Surroundings:
    """What a text contains besides its results.

    `starts`: the lines of results and commands.
    `callers`: the lines of commands that only name a job file, and so may be between that file and its result.
    """

    blocks: tuple[DiskRates, ...]
    statements: tuple[Statement, ...]
    starts: tuple[int, ...]
    callers: frozenset[int] = frozenset()

    def next_start(self, line: int) -> float:
        """Return the first line after `line` on which a result or command begins; infinity if there is none."""
        return min((start for start in self.starts if start > line), default=float("inf"))


@dataclass(frozen=True)
class Judged:
    """A result in a text and its judgement.

    `known`: the facts that were used from the surrounding text and the flags.
    `is_assumed`: it is not certain that its command made it.
    """

    found: FoundResult
    case: Case
    judgement: Judgement
    known: tuple[str, ...] = ()
    is_assumed: bool = False


def judge_text(text: str, audit_context: AuditContext) -> tuple[Judged, ...]:
    """Judge every result in the text, in order of lines. Text that is not a result is skipped without an error."""
    runs = find_results(text)
    if len(runs) == 1 and not _has_more(text, runs[0]):
        return (judge_result(runs[0], audit_context),)
    tables = find_tables(text, [(found.line, found.last_line) for found in runs])
    results = sorted([*runs, *tables], key=lambda found: (found.line, found.last_line))
    if not results:
        return ()
    surroundings = _surroundings(text, results)
    return tuple(_judged(found, surroundings, audit_context) for found in results)


def judge_result(found: FoundResult, audit_context: AuditContext) -> Judged:
    """Judge one result that has no surrounding text."""
    return _judged(found, _Surroundings((), (), ()), audit_context)


def audit_text(source: str, text: str, audit_context: AuditContext) -> tuple[Audited, ...]:
    """Audit every result in the text."""
    return tuple(audited(source, judged, audit_context) for judged in judge_text(text, audit_context))


def audited(source: str, judged: Judged, audit_context: AuditContext) -> Audited:
    """Return the audit of a judged result."""
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
        missing=missing_of(found, case, audit_context.context),
        estimate=estimate_of(case, judgement),
        rerun=_rerun(found, case, judgement),
        command_line=_command_line(found),
        is_assumed=judged.is_assumed,
    )


def _has_more(text: str, found: FoundResult) -> bool:
    """True if there is text before or after the result."""
    bare = text.lstrip()
    first = 1 + text.count("\n", 0, len(text) - len(bare))
    return (found.line, found.last_line) != (first, first + bare.rstrip().count("\n"))


def _surroundings(text: str, results: Sequence[FoundResult]) -> _Surroundings:
    commands = find_commands(text)
    return _Surroundings(
        find_disk_rates(text),
        find_statements(text, [(found.line, found.last_line) for found in results]),
        tuple(sorted({*(command.line for command in commands), *(found.line for found in results)})),
        frozenset(command.line for command in commands if not command.jobs.jobs),
    )


def _judged(found: FoundResult, surroundings: _Surroundings, audit_context: AuditContext) -> Judged:
    statement = largest_above(surroundings.statements, found.line) if audit_context.context.devices is None else None
    counters = _counters(found, surroundings)
    case = Case(
        load=load_of(jobs_of(found.made, found.result)),
        outcome=found.result,
        evidence=counters.evidence if counters else None,
        target=_target(audit_context.context, statement),
        cold=audit_context.cold,
    )
    judgement = _without_proof_of_writes(judge(case), found.result)
    known = tuple(_known(audit_context.context, statement, counters))
    return Judged(found, case, judgement, known, _is_assumed(found, surroundings))


def _is_assumed(found: FoundResult, surroundings: _Surroundings) -> bool:
    """True if it is not certain that the command made the result.

    This is the case if another command fits as well, or if the command is below the result, more than 40 lines
    above it, or separated from it by another result or command.
    """
    line = _command_line(found)
    if line is None or found.made is None:
        return False
    if found.is_assumed:
        return True
    last = line + found.made.text.count("\n")
    between = any(last < start < found.line and start not in surroundings.callers for start in surroundings.starts)
    return between or found.line - last > _ADJACENT_LINES


def _command_line(found: FoundResult) -> int | None:
    """Return the line of the command or job file found in the text; None if the result itself shows its job."""
    return found.made.line if found.made is not None and found.made.origin in ("command", "job file") else None


def _counters(found: FoundResult, surroundings: _Surroundings) -> ExternalCounters | None:
    block = block_of(found, surroundings.blocks, surroundings.next_start(found.last_line))
    return (from_block(found, block) if block else None) or from_disk_use(found.result)


def _target(context: Context, statement: Statement | None) -> Target | None:
    target = target_of(context)
    if statement is None:
        return target
    return replace(
        target or Target(_UNKNOWN_FILE_SYSTEM),
        ceiling_read_bytes_per_s=statement.ceiling.read_bytes_per_s,
        ceiling_write_bytes_per_s=statement.ceiling.write_bytes_per_s,
    )


def _without_proof_of_writes(judgement: Judgement, result: Outcome) -> Judgement:
    """Turn `sound` into `unproven` if there were writes.

    Quoted rates can show that reads came from the disks. They cannot do so for writes, because the write amplification
    of the layout is unknown.
    """
    wrote = any(job.write is not None for job in result.parts)
    return replace(judgement, verdict="unproven") if judgement.verdict == "sound" and wrote else judgement


def _known(context: Context, statement: Statement | None, counters: ExternalCounters | None) -> list[str]:
    known = []
    if context.devices is not None:
        rate = format_rate(context.devices.ceiling_bytes_per_s)
        known.append(f"--devices: {format_number_of(context.devices.disks, 'disk')}, at most {rate} in total")
    if statement is not None:
        known.append(f"line {statement.line} says: “{statement.words}”: {statement.sum}")
    if counters is not None:
        known.append(counters.words)
    return known


def _job_name(found: FoundResult) -> str:
    """Return the job names from the result, or from the command if the result has none."""
    reported = [job.name for job in found.result.parts if job.name and not job.name.startswith("group ")]
    given = [job.name for job in found.made.jobs.jobs] if found.made else []
    return ", ".join(dict.fromkeys(reported or given))


def _command(found: FoundResult) -> str | None:
    """Return the command line or the job file; None if the source shows neither."""
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
    """Return the values of all jobs merged, by direction."""
    if not result.parts:
        return AuditedMetrics({})
    together = whole(result)
    parts: dict[str, Direction | None] = {name: getattr(together, name) for name in _DIRECTIONS}
    return AuditedMetrics({name: part for name, part in parts.items() if part is not None}, together.sync)


def _rerun(found: FoundResult, case: Case, judgement: Judgement) -> str | None:
    """Return None without a known job: fio's header line does not show enough options."""
    if found.made is None or found.made.origin == "header":
        return None
    return rerun_command(case, judgement.findings)
