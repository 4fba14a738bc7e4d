"""Check the jobs in a file or command: report rule violations and anything that fio would reject."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from poolproof.errors import as_word
from poolproof.foreign.lint.destroyed_data import RULE as DESTROYS
from poolproof.foreign.lint.destroyed_data import destroyed_data
from poolproof.foreign.lint.earlier_commands import Before, History, loop_spans
from poolproof.foreign.lint.job_groups import Targets, group_jobs
from poolproof.foreign.lint.jobfiles import INCLUDE
from poolproof.foreign.lint.located_findings import locate_findings
from poolproof.foreign.lint.missing_size import SIZE_FIX, jobs_without_size, with_sizes_of_files
from poolproof.foreign.lint.model import SEVERITIES, Diagnostic, FioCall, LoopIteration, Severity
from poolproof.foreign.lint.own_findings import OWN_FINDINGS
from poolproof.foreign.lint.possible_values import PossibleValues
from poolproof.foreign.lint.refusals import InstalledFio, refusals
from poolproof.foreign.lint.shell.variable_keys import variable_of
from poolproof.foreign.lint.sources import COMMAND, MOST_JOBS, Source
from poolproof.foreign.lint.time_limit import cut_off_runs
from poolproof.foreign.lint.variables import unknown_in
from poolproof.load.fio.job import Jobs
from poolproof.rules.model import Finding
from poolproof.rules.rule_catalogue import all_rules
from poolproof.units import format_list

_Place = tuple[int, str, Severity, str]
_Found = tuple[Diagnostic, Mapping[str, str], FioCall]
"""A finding, and the values of the loop variables and the fio call that trigger it."""

_RANK = {"error": 0, "warning": 1, "note": 2}
_EMPTY = '""'
_UNKNOWN_VARIABLE = "unknown-variable"
_MOST_CALLS = 500
_MOST_NAMES = 5
_MOST_LINES = 6
_NAME_A_SOURCE = "specify a job file, a script that calls fio, or a command: `-- fio …`"
_NOT_EXPANDED = re.compile(r"\$(?!\{\w+\}|ncpus\b|pagesize\b|mb_memory\b|jobn|filenum\b|clientuid\b)|`")
_FIO = re.compile(r"\bfio\b", re.IGNORECASE)
_PATTERN = re.compile(r"[\w./*?-]+")  # which the shell expands
_VARIABLE = re.compile(r"\$[\w{$]")
_BARE_VARIABLE = re.compile(r"\$(?:\w+|\{\w+\})")
_NAME_OF_FILE = re.compile(r"\A(?!-)\S*(?:/\S*|\.(?:fio|job|ini|cfg|conf|txt))")
_IN_SHELL = re.compile(r"\$\{?(?:PWD|OLDPWD|HOME|TMPDIR)\}?|\$\(pwd\)|`pwd`")  # folders, whatever their values
_EDITS = re.compile(r"\b(?:envsubst|sed|awk|perl|m4|python3?)\b")
"""Matches the programs that replace variables in a job file before fio reads it."""

_SET_IT = {
    "job file": "write the value into the job file, or set a variable whose name describes a fio option, such as SIZE "
    "or FIO_DEVICE, in poolproof's environment",
    "expanded": "assign the variable one literal value in the script, or write its value into the job file",
    "command": "assign the variable one literal value in the script, or write its value into the command",
}

_RENDER_IT = "write the value in place of the placeholder, or lint the text that the program or template produces"
_GIVE_IT = "to check all options, lint the complete command: `poolproof lint -- fio …`"


def lint(source: Source, targets: Targets | None = None, fio: InstalledFio | None = None) -> tuple[Diagnostic, ...]:
    """Return all findings in line order, most severe first within a line.

    `targets`: looks up the jobs' targets. Without it, the targets are unknown.
    `fio`: the installed fio that would run the jobs, or None if unknown.
    """
    if not source.is_text:
        message = "this is not a text file, so fio cannot read jobs from it"
        return (Diagnostic(source.name, 1, "not-text", "error", message, _NAME_A_SOURCE),)
    runs, history = source.runs, History(source.text, source.prepared)
    if (calls := max(len(run.units) for run in runs)) > _MOST_CALLS:
        message = f"this source calls fio {calls} times, but lint accepts at most {_MOST_CALLS} calls"
        return (Diagnostic(source.name, 1, "too-many-calls", "error", message, "split it into several files"),)
    if (jobs := max(sum(len(unit.jobs) for unit in run.units) for run in runs)) > MOST_JOBS:
        message = f"this source has {jobs:,} jobs, but lint accepts at most {MOST_JOBS:,}"
        return (Diagnostic(source.name, 1, "too-many-calls", "error", message, "split it into several files"),)
    found: dict[_Place, list[_Found]] = {}
    spans = loop_spans(runs[0].values, source.text)
    called: dict[int, set[int]] = {}
    told: dict[str, int] = {}
    first = runs[0]
    for number, run in enumerate(runs):
        if run.starts_over:
            first, history = run, History(source.text, source.prepared)
        history.begin(run.values)
        for place, unit in enumerate(run.units):
            if run is not first and _is_outside(unit, spans) and unit.jobs == _at(first.units, place):
                continue
            before = history.before(unit)
            called.setdefault(unit.line, set()).add(unit.called_at)
            for each in _unit_findings(source, unit, before, targets, None if number or unit.runs_in else fio, told):
                what = each.message if each.rule == DESTROYS else ""  # each device must be named
                found.setdefault((each.line, each.rule, each.severity, what), []).append((each, run.values, unit))
            history.add(unit)
    diagnostics = [each for place in found.values() for each in _merged(place, runs, source.text, called)]
    if not any(unit.jobs or unit.files for run in runs for unit in run.units):
        diagnostics += _without_jobs(source, runs[0].units)
    if source.name != COMMAND:
        diagnostics += _not_read(source, runs[0].units)
    ordered = sorted(diagnostics, key=lambda each: (each.line, _RANK[each.severity]))
    return tuple(_without_repetitions(tuple(dict.fromkeys(ordered))))


def _without_repetitions(ordered: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings, and only once each note and each of lint's own findings, with the other lines it applies to.

    For example, a misspelt option may be in many sections. A finding about the machine is not about any line.
    """
    about_machine = {rule.id for rule in all_rules() if rule.is_about_machine}
    lines: dict[Diagnostic, list[int]] = {}
    for each in ordered:
        lines.setdefault(replace(each, line=0), []).append(each.line)
    for each in ordered:
        first, *others = lines[replace(each, line=0)]
        if each.severity != "note" and each.rule not in OWN_FINDINGS:
            yield each
        elif each.line == first:
            where = f"on {'lines' if len(others) > 1 else 'line'} {format_list(list(map(str, others)), _MOST_LINES)}"
            is_somewhere = others and each.rule not in about_machine
            yield replace(each, message=f"{each.message} (also {where})") if is_somewhere else each


def _is_outside(unit: FioCall, spans: Sequence[tuple[int, int]]) -> bool:
    """True if the call is outside of all loops, so that it runs only once."""
    line = unit.called_at or unit.runs_at or unit.line
    return not any(start <= line <= end for start, end in spans)


def _at(units: Sequence[FioCall], place: int) -> Jobs | None:
    return units[place].jobs if place < len(units) else None


def _merged(
    found: Sequence[_Found], runs: Sequence[LoopIteration], text: str, called: Mapping[int, set[int]]
) -> Iterator[Diagnostic]:
    """Merge one rule's findings at one location, so that a loop yields one finding instead of one per iteration.

    The message names the values of those loop variables, and the calls of a function, on which the finding depends.
    `called`: the lines of these calls for each line with a fio call.
    """
    first, values, unit = found[0]
    if len(runs) == 1 and not unit.called_at:
        yield from (each for each, _, _ in found)
        return
    if first.rule == _UNKNOWN_VARIABLE:
        yield first
        return
    with_finding = [each for _, each, _ in found]
    needed = [*_needed_values(first, values, with_finding, runs, text)]
    if unit.called_at and (calls := {each.called_at for _, _, each in found}) < called[unit.line]:
        lines = "lines" if len(calls) > 1 else "line"
        needed.append(f"the arguments on {lines} {', '.join(map(str, sorted(calls)))}")
    shown = ", ".join(needed)
    yield replace(first, message=f"{first.message} (with {shown})") if shown else first


def _needed_values(
    first: Diagnostic,
    values: Mapping[str, str],
    with_finding: Sequence[Mapping[str, str]],
    runs: Sequence[LoopIteration],
    text: str,
) -> Iterator[str]:
    others = [run.values for run in runs if run.values not in with_finding]
    for name in values:
        spans = loop_spans([name], text)
        is_inside = not spans or any(start <= first.line <= end for start, end in spans)
        if is_inside and any(_differ_only_in(name, one, other) for one in with_finding for other in others):
            occurred = dict.fromkeys(each[name] for each in with_finding)
            if any("$" in value for value in occurred):
                continue  # the value of another variable says nothing
            yield f"{variable_of(name)}={' or '.join(value or _EMPTY for value in occurred)}"


def _differ_only_in(name: str, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all((one[each] == other[each]) == (each != name) for each in one)


def _unit_findings(
    source: Source,
    unit: FioCall,
    before: Before,
    targets: Targets | None,
    fio: InstalledFio | None,
    told: dict[str, int],
) -> Iterator[Diagnostic]:
    yield from refusals(source.name, source.text, unit, fio)
    yield from _unknown_variables(source, unit, told)
    if unit.only_parses:
        return
    yield from destroyed_data(source.name, source.text, unit, targets)
    yield from cut_off_runs(source.name, unit)
    script = source.text if source.kind == "script" and source.name != COMMAND else ""
    unsized = list(jobs_without_size(unit, script, targets, before))
    others = [each for each in unsized if each.severity != "error"]
    for each in unsized:
        if each.severity == "error" or each is others[0]:
            more = _more(len(others)) if each.severity != "error" else ""
            yield Diagnostic(source.name, each.line, "refused-by-fio", each.severity, each.message + more, SIZE_FIX)
    unit = replace(unit, jobs=with_sizes_of_files(unit.jobs, before))
    by_place: dict[tuple[int, str, Severity], list[Finding]] = {}
    for located in locate_findings(unit, group_jobs(unit, targets, before), before):
        place = located.line, located.finding.rule, SEVERITIES[located.finding.effect]
        by_place.setdefault(place, []).append(located.finding)
    for (line, rule, severity), findings in by_place.items():
        message = findings[0].message + _more(len(findings))
        yield Diagnostic(source.name, line, rule, severity, message, findings[0].fix)


def _more(count: int) -> str:
    """Return the end of a message that represents so many findings."""
    return f" (and {count - 1} more like it)" if count > 1 else ""


def _unknown_variables(source: Source, unit: FioCall, told: dict[str, int]) -> Iterator[Diagnostic]:
    """Yield one note for each call with unknown values or arguments, and a warning for each that fio does not expand.

    `told`: the line of the first call that uses a variable, which is the only one that a note reports.
    """
    is_run_as_it_is = bool(unit.runs_at) and not (unit.is_expanded or _EDITS.search(source.text))
    is_literal = source.kind == "job file" or is_run_as_it_is
    settings: dict[str, tuple[str, int]] = {}
    for job in unit.jobs:
        for name, variable in unknown_in(job).items():
            is_option = name in job.lines or name in unit.defaults
            setting = f"{name}={job.options[name]}" if is_option else f"cd {job.options[name]}"
            line = job.lines.get(name, unit.line)
            is_misread = unit.form == "job file" and is_literal and _NOT_EXPANDED.match(variable) is not None
            if is_misread and not _is_explained(variable, source.text):
                message = f"{setting}: fio does not expand {variable}; it expands only the form ${{NAME}}"
                fix = "write ${NAME}, and export NAME; or expand the file with envsubst before fio reads it"
                yield Diagnostic(source.name, line, "misread-by-fio", "warning", message, fix)
            elif not _IN_SHELL.fullmatch(variable) and told.setdefault(variable, unit.line) == unit.line:
                settings.setdefault(setting, (variable, line))
    files = _job_files_in_variables(source, unit)
    words = [
        (line, word)
        for line, word in unit.unknown_words
        if word not in (*files, INCLUDE) and told.setdefault(word, unit.line) == unit.line
    ]
    if words:
        line, names = words[0][0], format_list(list(dict.fromkeys(word for _, word in words)), _MOST_NAMES)
        message = f"{names} may contain any options, so lint reports only problems that no option can fix"
        yield Diagnostic(source.name, line, _UNKNOWN_VARIABLE, "note", message, _GIVE_IT)
    elif settings:
        variable, line = min(settings.values(), key=lambda each: each[1])
        what = "these values" if len(settings) > 1 else f"the value of {variable}"
        only = "so it reports only problems that exist for every value"
        message = f"{format_list(list(settings), _MOST_NAMES)}: lint does not know {what}, {only}"
        fix = _SET_IT["expanded" if unit.is_expanded else unit.form] if variable[0] in "$%`" else _RENDER_IT
        yield Diagnostic(source.name, line, _UNKNOWN_VARIABLE, "note", message, fix)


def _job_files_in_variables(source: Source, unit: FioCall) -> tuple[str, ...]:
    """Return the arguments that are variables for job files, as in `for job in jobs/*; do fio $job; done`."""
    if unit.jobs or unit.form != "command" or source.kind != "script":
        return ()
    values = PossibleValues(source.text)
    possible = {word: values.of(word) for _, word in unit.unknown_words if _BARE_VARIABLE.fullmatch(word)}
    return tuple(
        word for word, found in possible.items() if word not in found and all(map(_NAME_OF_FILE.fullmatch, found))
    )


def _is_explained(variable: str, text: str) -> bool:
    """True if a comment mentions the variable, so that another program replaces it."""
    return re.search(rf"^[#;].*{re.escape(variable)}", text, re.MULTILINE) is not None


def _not_read(source: Source, units: Sequence[FioCall]) -> Iterator[Diagnostic]:
    """Yield a note for each job file that a script runs and that is not part of the script."""
    at_calls = {unit.line for unit in units if unit.files or unit.unknown_words}
    is_printed = any(unit.form == "job file" and unit.runs_at not in at_calls for unit in units)
    read = {unit.runs_at for unit in units}
    for unit in () if is_printed else units:
        named = [name for name in unit.files if not name.isdecimal()]  # the value of `--runtime= 60`
        files = (*named, *_job_files_in_variables(source, unit))
        for name in () if unit.line in read or unit.read_only or unit.problems else files:
            message = f"this command runs the job file {name}, which lint has not read"
            if name not in ("-", "/dev/stdin"):
                is_pattern = _PATTERN.fullmatch(name) is not None
                fix = f"poolproof lint {name if is_pattern else as_word(name)}"
                fix = "lint the job file itself: poolproof lint JOBFILE" if _VARIABLE.search(name) else fix
                yield Diagnostic(source.name, unit.line, "no-job", "note", message, fix)


def _without_jobs(source: Source, units: tuple[FioCall, ...]) -> list[Diagnostic]:
    if source.kind == "job file":
        message, fix = "the file defines no job: fio would stop with `No job(s) defined`", "add a section: [name]"
        severity: Severity = "error"
        if any(unit.defaults for unit in units):
            message, severity = f"{message}, unless another job file includes this one", "note"
        return [Diagnostic(source.name, 1, "refused-by-fio", severity, message, fix)]
    can_read = " that lint can read" if _FIO.search(source.text) else ""
    message = f"no fio command found{can_read}"
    return [] if units else [Diagnostic(source.name, 1, "no-job", "note", message, _NAME_A_SOURCE)]
