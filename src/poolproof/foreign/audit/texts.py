"""Find every benchmark result in a text and judge it, based on the surrounding text and the user's options."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from poolproof.campaign.generator_option import DEFAULT_GENERATOR
from poolproof.errors import FioError, PoolproofError
from poolproof.evidence.target_facts import Target
from poolproof.foreign.audit.advice import estimate_of, overwritten_devices, proof_of, rerun_command
from poolproof.foreign.audit.context import Context, target_of
from poolproof.foreign.audit.earlier_jobs import earlier_jobs
from poolproof.foreign.audit.external_counters import (
    ExternalCounters,
    agreeing_above,
    block_of,
    for_group,
    from_block,
    from_disk_use,
    with_late_writes,
)
from poolproof.foreign.audit.fast_disks import with_fast_disks
from poolproof.foreign.audit.formats.protocol import ForeignResult, find_foreign
from poolproof.foreign.audit.iostat import DiskRates, find_disk_rates
from poolproof.foreign.audit.missing import assumed_options, jobs_of, missing_of
from poolproof.foreign.audit.model import Audited, AuditedMetrics, metrics_of
from poolproof.foreign.audit.progress_lines import find_progress
from poolproof.foreign.audit.reporting_groups import groups_of
from poolproof.foreign.audit.sentences import find_in_sentences, without_refutation, without_refuting_ceilings
from poolproof.foreign.audit.surroundings.compressed_files import CompressedFile, compressed_files, compressed_words
from poolproof.foreign.audit.surroundings.memory_mounts import NO_MOUNTS, MemoryMounts, find_memory_mounts
from poolproof.foreign.audit.surroundings.memory_paths import memory_below, memory_of, named_memory, without_other_disks
from poolproof.foreign.audit.surroundings.quoted_facts import quoted_facts, with_foreign
from poolproof.foreign.audit.surroundings.quoted_machine import (
    NO_MACHINES,
    QuotedMachine,
    QuotedMachines,
    find_machines,
    for_load,
    host_of,
    known_of,
    with_machine,
)
from poolproof.foreign.audit.surroundings.quoted_names import with_name
from poolproof.foreign.audit.surroundings.quoted_zfs import NO_ZFS, OldZfs, find_old_zfs
from poolproof.foreign.audit.surroundings.stated_compression import find_stated_compression, with_stated_compression
from poolproof.foreign.audit.surroundings.stated_depths import with_stated_depths
from poolproof.foreign.audit.surroundings.stated_disks import Statement, find_statements, largest_above
from poolproof.foreign.audit.surroundings.truenas import find_truenas, with_default_compression
from poolproof.foreign.audit.tables.table_repeats import without_repeated_rows
from poolproof.foreign.audit.tables.tables import find_tables
from poolproof.load.fio.find import MOST_RESULTS, find_results, without_repeats
from poolproof.load.fio.job import render
from poolproof.load.fio.load import load_of
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.fio.source_commands import SourceCommand, find_commands
from poolproof.load.model import Extent, Load
from poolproof.rules.judge import Judgement, judge
from poolproof.rules.model import Case, Finding
from poolproof.rules.quoted import UNQUOTED, Quoted
from poolproof.units import format_number_of, format_rate

_IN_FIO_OPTIONS = re.compile(r"(?:use|set|make)\b.*\b[a-z_]+=\w")
_ADJACENT_LINES = 40  # fio prints fewer lines than this between the command and the first result
_MOST_JOBS = 1000


@dataclass(frozen=True)
class _QuotedContext:
    """The parts of a text that give context for judging its results.

    `blocks`: quoted iostat output.
    `statements`: sentences about the speed of the disks.
    `starts`: the lines on which results and commands begin.
    `machines`: facts about the machines that other programs printed in the text.
    `prompts`: the lines with a shell prompt, each with the name of the machine in it.
    `callers`: the lines of commands that run a job file rather than define jobs. These lines are skipped when a job
    file is matched to its result.
    `compressed`: the files that compsize shows to be compressed.
    `old_zfs`: the paths on ZFS, if its release ignores direct=1.
    `mounts`: the mount points in memory.
    `truenas`: a quotation that names TrueNAS.
    `stated_compression`: the method of compression that a sentence states, and a quotation.
    """

    blocks: tuple[DiskRates, ...] = ()
    statements: tuple[Statement, ...] = ()
    starts: tuple[int, ...] = ()
    machines: QuotedMachines = NO_MACHINES
    prompts: tuple[tuple[int, str], ...] = ()
    callers: frozenset[int] = frozenset()
    compressed: tuple[CompressedFile, ...] = ()
    old_zfs: OldZfs = NO_ZFS
    mounts: MemoryMounts = NO_MOUNTS
    truenas: str = ""
    stated_compression: tuple[str, str] = ("", "")

    def machine_at(self, line: int) -> QuotedMachine:
        """Return the machine of the last shell prompt up to this line, or the only machine if none precedes it."""
        at = bisect_right(self.prompts, line, key=itemgetter(0))
        return self.machines.of(self.prompts[at - 1][1] if at else "")

    def next_start(self, line: int) -> float:
        """Return the first line after `line` on which a result or a command begins, or infinity if none follows."""
        at = bisect_right(self.starts, line)
        return self.starts[at] if at < len(self.starts) else float("inf")


_ALONE = _QuotedContext()


@dataclass(frozen=True)
class Judged:
    """A result found in a text, and how it was judged.

    `known`: the facts taken from the surrounding text and the user's options.
    `is_assumed`: True if the command found in the text probably, but not certainly, produced the result.
    `foreign`: the values parsed from another program's output, or None if the result is fio's.
    """

    found: FoundResult
    case: Case
    judgement: Judgement
    known: tuple[str, ...] = ()
    is_assumed: bool = False
    foreign: ForeignResult | None = None


def audit_text(
    source: str, text: str, context: Context, job_files: Sequence[SourceCommand] = ()
) -> tuple[Audited, ...]:
    """Audit every result in the text. `job_files`: job files outside the text that may have produced them."""
    return tuple(audited(source, judged, context) for judged in judge_text(text, context, job_files))


def judge_text(text: str, context: Context, job_files: Sequence[SourceCommand] = ()) -> tuple[Judged, ...]:
    """Judge every result in the text, in line order. Anything else in the text is ignored.

    Raises a FioError if there are more than 10,000 results, or if a result has more than 1,000 jobs, which are compared
    with one another.
    """
    runs = find_results(text, job_files)
    for run in runs:
        if len(run.result.parts) > _MOST_JOBS:
            why = f"the result on line {run.line} has {len(run.result.parts):,} jobs"
            raise FioError(f"{why}, and at most {_MOST_JOBS:,} can be judged", "run fio with --group_reporting")
    if len(runs) == 1 and _is_whole_text(text, runs[0]):
        alone = list(groups_of(runs[0]))
        return tuple(
            judge_result(group.found, context, whole=group.whole, quoted=quoted)
            for group, quoted in zip(alone, earlier_jobs([group.found for group in alone]), strict=True)
        )
    others = [(_found(result), result) for result in find_foreign(text, _spans(runs))]
    foreign = {id(found): result for found, result in others}
    found_others = [found for found, _ in others]
    tables = without_repeated_rows(find_tables(text, _spans([*runs, *found_others])), [*runs, *found_others])
    results = sorted([*without_repeats(runs), *found_others, *tables], key=lambda found: (found.line, found.last_line))
    results = results or list(find_progress(text) or find_in_sentences(text))
    if not results:
        return ()
    if len(results) > MOST_RESULTS:
        raise FioError(f"it contains more than {MOST_RESULTS:,} results", "split it into several files")
    commands = find_commands(text)
    prompts = tuple((number, host) for number, line in plain_lines(text) if (host := host_of(line)))
    surroundings = _QuotedContext(
        find_disk_rates(text),
        find_statements(text, _spans(results)),
        tuple(sorted({*(command.line for command in commands), *(found.line for found in results)})),
        find_machines(text),
        prompts,
        frozenset(command.line for command in commands if not command.jobs),
        compressed_files(plain_lines(text)),
        find_old_zfs(plain_lines(text)),
        find_memory_mounts(plain_lines(text)),
        find_truenas(plain_lines(text)),
        find_stated_compression(plain_lines(text)),
    )
    groups = [group for found in results for group in groups_of(found)]
    facts = with_fast_disks(quoted_facts(text, [group.found for group in groups]), results)
    facts = with_stated_depths(facts, [group.found for group in groups], commands)
    return tuple(
        judge_result(group.found, context, surroundings, group.whole, quoted, foreign.get(id(group.whole)))
        for group, quoted in zip(groups, facts, strict=True)
    )


def _spans(results: Sequence[FoundResult]) -> list[tuple[int, int]]:
    return [span for found in results for span in found.spans]


def _found(result: ForeignResult) -> FoundResult:
    return FoundResult(result.outcome, result.line, result.last_line, "text")


def judge_result(
    found: FoundResult,
    context: Context,
    surroundings: _QuotedContext = _ALONE,
    whole: FoundResult | None = None,
    quoted: Quoted = UNQUOTED,
    foreign: ForeignResult | None = None,
) -> Judged:
    """Judge one result in its context.

    `whole`: the result of the entire run, if this result is for one group of its jobs.
    `foreign`: the values parsed from another program's output, or None if the output is fio's.
    """
    jobs = jobs_of(found.made, found.result)
    is_group = whole is not None and whole is not found
    whole = whole or found
    statement = largest_above(surroundings.statements, whole.line) if context.devices is None else None
    next_start = surroundings.next_start(whole.last_line)
    load = _foreign_load(foreign, found) if foreign else _named_files(load_of(jobs), found, quoted.shared_file_bytes)
    found = replace(found, result=without_other_disks(found.result, load))
    if (path := named_memory(load)) and not quoted.memory:
        quoted = replace(quoted, memory=f"the path is “{path}”")
    if (words := surroundings.mounts.words(load)) and not quoted.memory:
        quoted = replace(quoted, memory=words)
    if foreign is None and found.made is None:
        quoted = with_name(quoted, found)
    quoted = replace(
        quoted,
        compressed=compressed_words(surroundings.compressed, load, found.line),
        ignores_direct=surroundings.old_zfs.ignores_direct(load),
    )
    block = block_of(whole, surroundings.blocks, next_start)
    counters = from_block(whole, block) if block else None
    counters = counters or from_disk_use(found.result)
    counters = counters or agreeing_above(whole, surroundings.blocks, surroundings.starts)
    counters = counters and for_group(counters, found.result)
    command_line = foreign.command_line if foreign else _command_line(found)
    machine = surroundings.machine_at(command_line or found.line)
    machine = for_load(machine, load, is_on_device=foreign is not None and foreign.is_on_device)
    machine = with_default_compression(machine, surroundings.truenas, load)
    machine = with_stated_compression(machine, surroundings.stated_compression, load)
    quoted = replace(quoted, counts_at_most=counters is not None and counters.at_most, shares_statistics=is_group)
    quoted = replace(quoted, is_moment=found.format == "progress")
    memory = memory_of(load) or surroundings.mounts.memory_of(load, whole.line) or memory_below(found.result)
    case = Case(
        load=load,
        outcome=found.result,
        evidence=counters.evidence if counters else None,
        target=_target(context, statement, machine, memory),
        cold=context.cold,
        quoted=with_foreign(quoted, foreign) if foreign else replace(quoted, assumed=assumed_options(found.made, jobs)),
    )
    case, counters = with_late_writes(case, counters)
    judgement = judge(case)
    if statement is not None:
        judgement = without_refuting_ceilings(judgement)
    if found.format in ("progress", "sentence"):
        judgement = without_refutation(judgement)
    job_file = (f"the job file is {found.made.source}",) if found.made is not None and found.made.source else ()
    known = (*job_file, *_known(context, statement, counters), *known_of(context, machine))
    return Judged(found, case, judgement, known, _is_assumed(found, surroundings), foreign)


def _foreign_load(foreign: ForeignResult, found: FoundResult) -> Load:
    """Return the load of a program other than fio. If its result has groups, return only the load of the judged group.

    The output of other programs does not show whether they drop the page cache, so we assume that they do.
    """
    names = {part.name for part in found.result.parts}
    parts = (replace(part, invalidates_cache=True) for part in foreign.parts if part.name in names)
    return Load(tuple(parts), foreign.generator)


def _named_files(load: Load, found: FoundResult, shared_bytes: int) -> Load:
    """Return the load, without files if only fio's header line is known, because that line does not name them.

    `shared_bytes`: if this is not 0, the load gets a single file of this size, which all clones share.
    """
    if found.made is None or found.made.origin != "header":
        return load
    clones = found.result.parts[0].clones if shared_bytes else 1
    extents = (Extent("", 0.0, float(shared_bytes)),) * clones if shared_bytes else ()
    return replace(
        load,
        parts=tuple(
            replace(part, extents=extents, clones=part.clones * clones, queue=part.queue * clones)
            for part in load.parts
        ),
    )


def audited(source: str, judged: Judged, context: Context) -> Audited:
    found, case, judgement, foreign = judged.found, judged.case, judged.judgement, judged.foreign
    reported = [job.name for job in found.result.parts if job.name and not job.name.startswith("group ")]
    given = [job.name for job in found.made.jobs] if found.made else []
    names = ", ".join(dict.fromkeys(reported or given))
    figures = metrics_of(found.result)
    is_header = found.made is not None and found.made.origin == "header"
    # fio's header line does not show enough options for a command to run again.
    rerun = rerun_command(case, judgement.findings) if found.made and not is_header else None
    return Audited(
        source=source,
        line=found.line,
        last_line=found.last_line,
        job=names if foreign is None or names == foreign.program else ": ".join(filter(None, (foreign.program, names))),
        command=foreign.command or None if foreign else _command(found.made),
        figures=figures,
        verdict=judgement.verdict,
        verdicts={
            metric: verdict
            for metric, verdict in judgement.verdicts.items()
            if verdict != judgement.verdict and figures.may_show(metric)
        },
        findings=tuple(_worded(judgement.findings, figures, case.generator)),
        known=judged.known,
        missing=missing_of(found, case, context, foreign.missing if foreign else None),
        estimate=estimate_of(case, judgement),
        rerun=rerun,
        overwrites=overwritten_devices(case) if rerun is not None else (),
        proof=proof_of(case, foreign, is_header=is_header) if judgement.verdict in ("unproven", "suspect") else None,
        command_line=foreign.command_line if foreign else _command_line(found),
        is_assumed=judged.is_assumed,
    )


def _worded(findings: Iterable[Finding], figures: AuditedMetrics, generator: str) -> Iterator[Finding]:
    """Yield the findings about values that the result contains.

    If a program other than fio produced the result, fixes that consist of fio options are marked with `with fio:`.
    """
    for finding in findings:
        if not finding.metrics or any(figures.may_show(metric) for metric in finding.metrics):
            is_for_fio = generator != DEFAULT_GENERATOR and _IN_FIO_OPTIONS.match(finding.fix)
            yield replace(finding, fix=f"with fio: {finding.fix}") if is_for_fio else finding


def _is_whole_text(text: str, found: FoundResult) -> bool:
    """True if the text consists only of the result and white space."""
    bare = text.lstrip()
    first = 1 + text.count("\n", 0, len(text) - len(bare))
    return (found.line, found.last_line) == (first, first + bare.rstrip().count("\n"))


def _is_assumed(found: FoundResult, surroundings: _QuotedContext) -> bool:
    """True if it is uncertain whether the command found in the text produced the result.

    This is the case if another command fits as well, or if the command is below the result, more than 40 lines above
    it, or separated from it by another result or command.
    """
    line = _command_line(found)
    if line is None or found.made is None:
        return found.made is not None and bool(found.made.source) and found.is_assumed
    last = line + found.made.text.count("\n")
    first, end = bisect_right(surroundings.starts, last), bisect_left(surroundings.starts, found.line)
    between = any(start not in surroundings.callers for start in surroundings.starts[first:end])
    return found.is_assumed or between or found.line - last > _ADJACENT_LINES


def _command_line(found: FoundResult) -> int | None:
    """Return the line on which the result's command or job file begins, or None if the text does not contain it."""
    made = found.made
    return made.line if made is not None and made.origin in ("command", "job file") and not made.source else None


def _target(context: Context, statement: Statement | None, machine: QuotedMachine, memory: str | None) -> Target | None:
    target = with_machine(target_of(context), machine)
    if memory is not None and context.file_system is None:
        target = replace(target or Target(file_system=""), file_system=memory, zfs=None, volatile=True)
    if statement is None:
        return target
    return replace(
        target or Target(file_system=""),
        ceiling_read_bytes_per_s=statement.read_bytes_per_s,
        ceiling_write_bytes_per_s=statement.write_bytes_per_s,
    )


def _known(context: Context, statement: Statement | None, counters: ExternalCounters | None) -> Iterator[str]:
    if context.devices is not None:
        rate = format_rate(context.devices.ceiling_bytes_per_s)
        yield f"--devices: {format_number_of(context.devices.disks, 'disk')}, at most {rate} in total"
    if statement is not None:
        yield f"line {statement.line} says “{statement.words}”: {statement.sum}"
    if counters is not None:
        yield counters.words


def _command(made: SourceCommand | None) -> str | None:
    """Return a result's command line or job file, or None if the source does not show enough of the options."""
    if made is None or made.origin == "header":
        return None
    if made.text:
        return made.text
    try:
        return render(made.jobs).strip()
    except PoolproofError:
        return None
