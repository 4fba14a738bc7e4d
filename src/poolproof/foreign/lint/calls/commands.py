"""Find the fio calls in a shell script, including those quoted for another program to run (ssh, docker, sh -c)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from poolproof.foreign.lint.calls.fio_command import read_fio_call
from poolproof.foreign.lint.calls.hidden_commands import option_strings, with_hidden_commands
from poolproof.foreign.lint.calls.program_words import BEFORE_FIO, place_of_program
from poolproof.foreign.lint.calls.shown_files import shown_files
from poolproof.foreign.lint.calls.written_files import written_files
from poolproof.foreign.lint.documents.template_variables import with_values
from poolproof.foreign.lint.documents.yaml_lists import arguments_in, blocks_in, lists_in, without_lists
from poolproof.foreign.lint.jobfiles import has_fio_options, inherited, on_line, without_control_lines
from poolproof.foreign.lint.jobfiles import is_job_file as starts_with_section
from poolproof.foreign.lint.jobfiles import unit_of as unit_of_job_file
from poolproof.foreign.lint.model import FioCall, JobEnvironment, LoopIteration, RunsIn
from poolproof.foreign.lint.programs.code_job_files import job_files_in, written_line_by_line
from poolproof.foreign.lint.programs.code_lists import code_lists_in
from poolproof.foreign.lint.programs.code_strings import commands_in, unknown, without_commands, without_prefixes
from poolproof.foreign.lint.programs.code_tables import option_tables_in
from poolproof.foreign.lint.runners import PLACES, places_in, reads_commands, run_by
from poolproof.foreign.lint.shell.branch_choices import live_texts
from poolproof.foreign.lint.shell.function_calls import calls_of, functions_in
from poolproof.foreign.lint.shell.loop_lists import loop_values
from poolproof.foreign.lint.shell.script_branches import without_dead_branches
from poolproof.foreign.lint.shell.script_values import RUNS_FIO, alternative_options, is_definition, known_variables
from poolproof.foreign.lint.shell.shell_words import HereDocument, Script, ShellWord, read_script
from poolproof.foreign.lint.shell.straight_values import straight_values
from poolproof.foreign.lint.shell.variable_keys import key_without_default, on_each_line, variable_of
from poolproof.foreign.lint.shell.working_folder import jobs_in
from poolproof.load.fio.commandline import place_of_fio, without_windows_path
from poolproof.load.fio.job import Jobs
from poolproof.load.fio.jobfile import Problem
from poolproof.load.fio.option_names import DEFAULT_ENGINE_ON_WINDOWS

_MAX_DEPTH = 3
_MOST_BOUND = 512
_IN_QUOTES = re.compile(r"[\"']--?(?:name|rw|readwrite)\b")
_NAME = re.compile(r"\$\{(\w+)\}")
_FIO_IN_NAME = re.compile(r"(?<![a-z])fio(?![a-z])|fio[-_A-Z]", re.IGNORECASE)
_FIO = re.compile(r"\bfio\b", re.IGNORECASE)
_PRINTS = frozenset({"echo", "printf", "logger", "log", "log_info", "log_debug", "info", "msg"})  # no command runs
_NEVER_RUNS = frozenset({"pgrep", "pkill", "killall", "grep", "egrep", "man", "[", "[[", "test"})  # [ "$FIO_RC" -ne 0 ]
_OWN_BUILD = re.compile(r"^(?!/(?:usr/)?(?:local/)?s?bin/).*/")  # a fio that is not installed
_EDITORS = frozenset({"sed", "envsubst", "awk", "perl", "tr"})  # these change a job file that is piped into them
_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh", "eval"})  # these run a quoted command in the same directory
_SUBSTITUTED = re.compile(r"\$\(|`")  # read_script has already parsed these
_EXPORTED = re.compile(
    r"\b(?:export|declare -x)\s+(?P<names>[^\n;&|]*)|\b(?P<name>\w+)=\S{0,200}+[ \t][^\n;|&]{0,300}\bfio\s"
)
_EVALUATES = re.compile(r"\beval\s+\"?\$|=[\"']fio\s")
_APPENDED = re.compile(r"[ \t]{0,40}+>>[ \t]{0,40}+(?P<file>[^\s;&|]{1,300})")
_ARGUMENTS = frozenset({"name", "rw"})
_OPTIONS = re.compile(r"^[A-Za-z_]\w*+\+?=\s*+(?:-|(?:sudo\s+)?(?:/\S*/)?fio\s)")


def runs_in(text: str, surroundings: JobEnvironment) -> tuple[LoopIteration, ...]:
    """Return the script's fio calls for each combination of its loop variables' values.

    If no values are known, the result is a single combination without values.
    """
    runs = _runs_in(text, surroundings)
    if any(run.units for run in runs) or not _FIO_IN_NAME.search(text):
        return runs
    return _runs_in(with_hidden_commands(text), surroundings, takes_options=True)


def _runs_in(text: str, surroundings: JobEnvironment, *, takes_options: bool = False) -> tuple[LoopIteration, ...]:
    known = known_variables(text)
    script = read_script(text, known)
    loops = {**alternative_options(script, text), **loop_values(script, text)}
    for document in script.documents:
        if "fio " in document.text and _is_script(document):
            loops = {**_loops_in(document, known_variables(document.text)), **loops}
    used = {name: values for name, values in loops.items() if re.search(rf"\$\{{?{variable_of(name)}\b", text)}
    if takes_options and (options := tuple(_of_options(text))):
        return (LoopIteration({}, options),)
    texts = live_texts(text, used)
    most = _MOST_BOUND // len(texts)
    calls = (_bound_units(live.text, surroundings, live.variables, on_each_line(live.values), most) for live in texts)
    return tuple(LoopIteration(live.shown, each, live.starts_over) for live, each in zip(texts, calls, strict=True))


def _bound_units(
    text: str, surroundings: JobEnvironment, known: Mapping[str, str], values: Mapping[str, str], most: int
) -> tuple[FioCall, ...]:
    """Return the script's fio calls. Those in a function are returned once for each call of the function.

    `known`: the values of variables. `values`: the values of the loop variables.
    `most`: the maximum number of function calls to distinguish. If the script has more, their arguments stay unknown.
    """
    variables = {**known, **values, **straight_values(text)}
    units = list(_units(text, surroundings, variables))
    script = read_script(text, variables)
    for function in functions_in(text):
        inside = [unit for unit in units if function.line <= unit.line <= function.last_line]
        whole = text[function.start : function.end]
        calls = calls_of(function, text, script) if inside or _EVALUATES.search(whole) else ()
        if not calls or len(calls) * max(1, len(inside)) > most:
            continue
        most -= len(calls) * max(1, len(inside))
        units = [unit for unit in units if not function.line <= unit.line <= function.last_line]
        for call in calls:
            body = without_dead_branches(whole, {**known, **values, **call.arguments})
            set_inside = known_variables(body, call.arguments)
            is_set = {name for name in known if name[0].isdecimal() or key_without_default(name) in set_inside}
            outer = {name: value for name, value in known.items() if name not in is_set}
            bound = known_variables(body, {**outer, **values, **call.arguments})
            found = _units(body, surroundings, bound, start=function.start, line=function.line)
            runs_at = call.line if len(found) == 1 else 0  # several calls keep their order
            units += (replace(unit, called_at=call.line, runs_at=unit.runs_at or runs_at) for unit in found)
    return tuple(sorted(units, key=lambda unit: unit.runs_at or unit.line))


def units_of(text: str, surroundings: JobEnvironment) -> tuple[FioCall, ...]:
    """Return the script's fio calls that can be checked, and the job files that the script or its YAML contains."""
    text = without_dead_branches(text, known_variables(text))
    found = _units(text, surroundings, {**known_variables(text), **straight_values(text)})
    if found or not _FIO_IN_NAME.search(text):
        return found
    text = with_hidden_commands(text)
    return tuple(_of_options(text)) or _units(text, surroundings, known_variables(text))


def _units(
    text: str, surroundings: JobEnvironment, variables: Mapping[str, str], *, start: int = 0, line: int = 1
) -> tuple[FioCall, ...]:
    plain = without_prefixes(without_windows_path(without_commands(without_lists(text))))
    script = read_script(plain, variables, start=start, line=line)
    calls = tuple(_of_commands(script, variables, places_in(text), 0))
    units = list(calls)
    if script.documents:
        inputs = replace(surroundings, environment={**surroundings.environment, **_exported(text, variables)})
        units += _of_documents(script.documents, inputs, calls, variables)
    if _FIO.search(text):
        for words, following in zip_longest(script.commands, script.commands[1:]):
            if not (words[0].is_piped and following and following[0].text in _EDITORS):
                appended = _APPENDED.match(plain, words[-1].end - start)
                more = ((words[-1].line, appended["file"]),) if appended else ()
                printed = _printed_job_file(words, surroundings)
                units += (replace(unit, unknown_words=(*unit.unknown_words, *more)) for unit in printed)
    units += _written_line_by_line(script, plain, surroundings, calls, start)
    units += _in_session(text, surroundings, calls, start, line)
    in_yaml = _in_yaml(text, surroundings, variables, line - 1)
    units += (replace(unit, sections=None, runs_in="machine") for unit in in_yaml)
    units += _in_code(text, variables, line - 1)
    for each in (*job_files_in(text), *written_line_by_line(text)):
        shared = unit_of_job_file(each.before, surroundings).defaults
        inputs = replace(surroundings, defaults={**surroundings.defaults, **shared})
        written = unit_of_job_file(each.text, inputs, first_line=line - 1 + each.line)
        units.append(replace(written, sections=None, is_expanded=True))
    return tuple(sorted(units, key=lambda unit: unit.runs_at or unit.line))


def _written_line_by_line(
    script: Script, text: str, surroundings: JobEnvironment, calls: Sequence[FioCall], start: int
) -> Iterator[FioCall]:
    """Yield the job files that several commands write (`echo '[a]' > job.fio`, then `echo rw=read >> job.fio`)."""
    for each in written_files(script, text, start):
        call = next((call for call in calls if each.name in call.files and call.line > each.line), None)
        inputs = inherited(surroundings, call) if call is not None else surroundings
        unit = unit_of_job_file(each.text, inputs, first_line=each.line)
        unit = replace(unit, sections=None, is_expanded=True)
        yield replace(unit, runs_at=call.line, runs_in=call.runs_in) if call is not None else unit


def _in_session(
    text: str, surroundings: JobEnvironment, calls: Sequence[FioCall], start: int, line: int
) -> Iterator[FioCall]:
    """Yield the job files that a terminal session shows. `start`, `line`: the position of the text."""
    for shown in shown_files(text) if "cat" in text or "more" in text or "less" in text else ():
        call = next((call for call in calls if shown.name in call.files), None)
        inputs = inherited(surroundings, call) if call is not None else surroundings
        at = line - 1 + shown.line
        unit = unit_of_job_file(shown.text, inputs, first_line=at, start=start + shown.start)
        yield replace(unit, runs_at=call.line, runs_in=call.runs_in, is_expanded=True) if call is not None else unit


def _in_yaml(text: str, surroundings: JobEnvironment, variables: Mapping[str, str], above: int) -> Iterator[FioCall]:
    """Yield the job files in literal scalars, and the fio calls in lists. `above`: the number of lines above."""
    for block in blocks_in(without_control_lines(text)):
        if has_fio_options(block.text):
            job_file = with_values(block.text, variables)
            yield unit_of_job_file(job_file, surroundings, first_line=above + block.line)
    before: list[ShellWord] = []
    for items in lists_in(text):
        words = [ShellWord(with_values(item.text, variables), 0, 0, above + item.line) for item in items]
        # `command: [fio]` and `args: [--name=a]` are one command
        is_split = len(before) == 1 and place_of_fio([before[0].text, "--name"]) == 0 and words[0].text.startswith("-")
        calls = tuple(_of_list([*before, *words] if is_split else words))
        before = words
        yield from calls or (unit for word in words for unit in _of_quoted(word, variables, PLACES, 0))
    for arguments in arguments_in(text):
        for command in read_script(" ".join(arguments.text.split()), variables).commands[:1]:
            yield from _of_list([replace(word, line=above + arguments.line) for word in command])


def _in_code(text: str, variables: Mapping[str, str], above: int) -> Iterator[FioCall]:
    """Yield the fio calls in the lists and strings of a program. `above`: the number of lines above."""
    text = without_lists(text)
    for each in code_lists_in(text) if _IN_QUOTES.search(text) else ():
        values = (_NAME.sub(lambda found: variables.get(found[1], found[0]), item.text) for item in each.items)
        words = [ShellWord(v, 0, 0, above + item.line) for v, item in zip(values, each.items, strict=True)]
        yield from (replace(call, ends_after=call.ends_after or each.ends_after) for call in _of_list(words))
    for items in option_tables_in(text):
        yield from _of_list([ShellWord(item.text, 0, 0, above + item.line) for item in items])
    for command in commands_in(text):
        yield from _of_quoted(ShellWord(command.text, 0, 0, above + command.line), variables, PLACES, 0)


def _of_list(words: Sequence[ShellWord]) -> Iterator[FioCall]:
    place = place_of_fio([word.text for word in words])
    if place is None and {word.text.lstrip("-").partition("=")[0] for word in words} >= _ARGUMENTS:
        place = -1  # the arguments of fio, without its name
    if place is not None:
        yield run_by(words[: place + 1], replace(read_fio_call(words[place + 1 :], words[0].line), sections=None))


def _of_options(text: str) -> Iterator[FioCall]:
    """Yield the calls whose options are in the strings of a program. It may add other options."""
    for each in option_strings(text):
        words = [ShellWord(word, 0, 0, each.line) for word in (*each.text.split(), unknown("added options"))]
        yield replace(read_fio_call(words, each.line), sections=None)


def _exported(text: str, variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables that the script exports, or sets only for fio (`SIZE=1g fio …`)."""
    names = {name for found in _EXPORTED.finditer(text) for name in re.findall(r"\w+", found["names"] or found["name"])}
    return {name: value for name, value in variables.items() if name in names}


def _of_documents(
    documents: Sequence[HereDocument],
    surroundings: JobEnvironment,
    calls: Sequence[FioCall],
    variables: Mapping[str, str],
) -> Iterator[FioCall]:
    """Yield the fio calls in here-documents: job files, and scripts for another shell.

    `calls`: the calls in the script that contains the here-documents. They may run the job files.
    `variables`: the variables of that script, and those of the loops in the here-documents.
    """
    written: dict[str, list[FioCall]] = {}
    for document in documents:
        if document.program == ":":  # a comment of several lines
            continue
        before = written.setdefault(document.goes_to, []) if document.appends else []
        inputs = replace(surroundings, defaults=before[-1].defaults) if before else surroundings
        is_job_file = has_fio_options(document.text) or (bool(before) and starts_with_section(document.text))
        for unit in _of_document(document, inputs, calls, variables, is_job_file=is_job_file):
            found = unit if document.is_verbatim else replace(unit, sections=None)
            if before:
                found = replace(found, unknown_words=(*before[-1].unknown_words, *found.unknown_words))
            written[document.goes_to] = [*before, found]
            yield found
    for units in written.values():
        if units and units[0].runs_at and not any(unit.jobs for unit in units):
            problem = Problem(units[0].line, "the file defines no job: fio would stop with `No job(s) defined`")
            yield replace(units[0], problems=(problem,))


def _of_document(
    document: HereDocument,
    surroundings: JobEnvironment,
    calls: Sequence[FioCall],
    variables: Mapping[str, str],
    *,
    is_job_file: bool,
) -> Iterator[FioCall]:
    if is_job_file:
        for call in _runners(document, calls) or (None,):
            inputs = surroundings
            if call:
                defaults = {**call.defaults, **surroundings.defaults}
                inputs = replace(inherited(surroundings, call), defaults=defaults)
            unit = unit_of_job_file(document.text, inputs, first_line=document.line, start=document.start)
            unit = replace(unit, jobs=jobs_in(document.folder, unit.jobs), is_expanded=document.is_expanded)
            if call:
                unit = replace(unit, runs_at=call.line, read_only=call.read_only, only_parses=call.only_parses)
                unit = replace(unit, runs_in=call.runs_in, ends_after=call.ends_after)
            yield unit
    elif "fio " in document.text and _is_script(document):
        known = known_variables(document.text)
        known |= {name: variables[name] for name in _loops_in(document, known) if name in variables}
        for unit in _units(document.text, surroundings, known, start=document.start, line=document.line):
            yield run_by(document.runner, unit)


def _loops_in(document: HereDocument, known: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    return loop_values(read_script(document.text, known), document.text)


def _is_script(document: HereDocument) -> bool:
    """True if a shell runs the here-document, either directly or from a file. False if it is text for people."""
    is_named = document.goes_to.endswith((".sh", ".bash")) or document.goes_to == "|"
    return document.program not in ("cat", "echo", "tee") or document.text.startswith("#!") or is_named


def _runners(document: HereDocument, calls: Sequence[FioCall]) -> tuple[FioCall, ...]:
    """Return the calls that run the job file in a here-document. Empty if the script does not show any."""
    if document.program in ("cat", "tee") and document.goes_to != "|":
        return tuple(call for call in calls if document.goes_to in call.files and call.line >= document.line)
    return tuple(call for call in reversed(calls) if "-" in call.files and call.line < document.line)[:1]


def _of_commands(
    script: Script, variables: Mapping[str, str], places: Mapping[str, RunsIn], depth: int
) -> Iterator[FioCall]:
    for words, following in zip_longest(script.commands, script.commands[1:]):
        runner = words
        if words[0].text in _PRINTS:
            if not (words[0].is_piped and following and reads_commands(following) and words[1:]):
                continue
            words, runner = words[1:], [*following, *words[1:]]
        first = next((word.text for word in words if word.text not in BEFORE_FIO), "")
        if first.rpartition("/")[2] in _NEVER_RUNS or (first == "fio" and RUNS_FIO in variables):
            continue
        if depth < _MAX_DEPTH and (first == "alias" or (first == "eval" and any(word.is_split for word in words))):
            yield from _of_evaluated(words, variables, places, depth)
            continue
        place = place_of_program(words)
        if place is not None:
            unit = read_fio_call(words[place + 1 :], words[place].line)
            if is_definition(words) and not unit.jobs:  # FIO := fio --direct=1
                continue
            unit = replace(unit, jobs=jobs_in(words[place].folder, _on_system(words[place].text, unit.jobs)))
            unit = replace(unit, is_own_build=_OWN_BUILD.search(words[place].text) is not None)
            unit = run_by(runner[: place + 1 + len(runner) - len(words)], unit, places)
            if unit.jobs or unit.files or unit.problems or unit.unknown_words:
                yield unit
        elif depth < _MAX_DEPTH:
            is_here = any(word.text.rpartition("/")[2] in _SHELLS for word in words)
            for word in words:
                for unit in _of_quoted(word if is_here else replace(word, folder=""), variables, places, depth):
                    if unit.jobs or not is_definition(words):
                        yield run_by(runner, unit, places)


def _of_evaluated(
    words: Sequence[ShellWord], variables: Mapping[str, str], places: Mapping[str, RunsIn], depth: int
) -> Iterator[FioCall]:
    """Yield the fio calls of `eval $COMMAND` or `alias NAME="fio …"`, whose text the shell reads as a script."""
    is_alias = words[0].text == "alias"
    values = [word.text.partition("=")[2] if is_alias else word.text for word in words[1:]]
    text = (";" if is_alias else " ").join(values)
    script = read_script(text, variables, line=words[0].line, folder=words[0].folder)
    for unit in _of_commands(script, variables, places, depth + 1):
        if unit.jobs or not is_alias:  # the use of an alias may add the job
            yield replace(unit, sections=None)


def _on_system(program: str, jobs: Jobs) -> Jobs:
    """Return the jobs with the engine that the program uses by default."""
    engine = {"ioengine": DEFAULT_ENGINE_ON_WINDOWS}
    is_on_windows = program.lower().endswith(".exe")
    return tuple(replace(job, options={**engine, **job.options}) for job in jobs) if is_on_windows else jobs


def _printed_job_file(words: Sequence[ShellWord], surroundings: JobEnvironment) -> Iterator[FioCall]:
    """Yield the job file that `printf` or `echo` prints, as in `fio <(printf '[a]\\nrw=read\\n')`."""
    program, *rest = words
    given = [word for word in rest if word.text not in ("-e", "-n", "-ne", "-en", "--")]
    if program.text not in ("printf", "echo") or not given:
        return
    if program.text == "printf" and len(given) > 1 and "%s" in given[0].text:
        given = given[1:]
    printed = ("\n" if program.text == "printf" else " ").join(word.text for word in given)
    text = printed.replace("\\n", "\n").replace("\\t", "\t")
    if not has_fio_options(text):
        return
    unit = unit_of_job_file(text, surroundings, first_line=given[0].line)
    unit = replace(unit, jobs=jobs_in(program.folder, unit.jobs), sections=None, is_expanded=True)
    if text == given[0].text and given[0].verbatim is not None:
        # the job file's line numbers are those of the script
        yield unit
        return
    yield on_line(unit, given[0].line)


def _of_quoted(
    word: ShellWord, variables: Mapping[str, str], places: Mapping[str, RunsIn], depth: int
) -> Iterator[FioCall]:
    """Yield the fio calls of a word that is itself a command line, such as the last word of `ssh host 'fio …'`."""
    if "fio" not in word.text or " " not in word.text or _SUBSTITUTED.search(word.text):
        return
    if _OPTIONS.match(word.text):  # OPTIONS="--filename=/mnt/fio-1" or FIO="fio --filename=/mnt/fio-1 $MORE"
        return
    script = read_script(word.text, variables, start=word.verbatim or 0, line=word.line, folder=word.folder)
    for unit in _of_commands(script, variables, places, depth + 1):
        yield unit if word.verbatim is not None else replace(unit, sections=None)
