"""Parse fio job files, recording the line number of every option. `commandline.py` uses `JobDraft` too.

A value ends at `#` or `;`, even inside quotes. A space after `=` is part of the value. `[global]` applies to all
sections below it, and each section can override the global options. `include FILE` inserts another file. `${NAME}` is
an environment variable. `$ncpus`, `$pagesize` and `$mb_memory` describe the machine. A value that contains one of them
is evaluated as an arithmetic expression. fio reads a section's `kb_base` after the global options, but before the
section's other options, because options.c gives it priority. Source: `parse_jobs_ini` in fio's init.c; tested with `fio
--debug=parse` of fio 3.33.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.option_names import ALL_NAMES, JOB_OPTIONS, PROGRAM_OPTIONS, canonical, nearest
from poolproof.load.fio.quantity import evaluate, kb_base_of

_SECTION = re.compile(r"^\s*\[(?P<name>[^\n]*)\]")
_INCLUDE = re.compile(r"^\s*include\s+(?P<path>\S+)\s*$")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(ncpus|pagesize|mb_memory)")
_COMMENT = re.compile(r"[#;]")
_PATHS = frozenset({"filename", "directory"})
_PATH_AFTER = re.compile(r"[;#]\s*\S*/\S*\s*$|[;#]\S+$")
_BLANK_BEFORE_UNIT = re.compile(r"^\s{1,20}(?P<number>\d{1,20})(?P<unit>[a-zA-Z]{1,5})$")
_SECONDS = frozenset({"runtime", "ramp_time", "startdelay"})
_COMMANDS = frozenset({"exec_prerun", "exec_postrun"})
_TIMES = _SECONDS | {"thinktime", "steadystate_duration", "steadystate_ramp_time", "latency_window", "max_latency"}
_NUMBERS = _TIMES | {"size", "filesize", "io_size", "bs", "offset", "offset_increment"}
_UNKNOWN_UNIT = re.compile(
    r"(?P<number>\d{1,20}+)(?P<unit>secs?|seconds?|mins?|minutes?|hrs?|hours?|days?)", re.IGNORECASE
)
_RANGE = re.compile(r"(?P<first>\d{1,20}+[kmg]?i?b?)-(?P<last>\d{1,20}+[kmg]?i?b?)", re.IGNORECASE)
_FRACTION = re.compile(r"(?P<number>\d{1,20}+)(?P<rest>\.\d{1,20}[a-zA-Z]{0,5})")
_DEEPEST_INCLUDE = 8
_MOST_INCLUDED = 512 * 1024
"""The maximum total size of all included files in characters. It is needed because a file may include itself."""
_LONGEST_SHOWN = 60
_DEFAULT_BASE = 1024
_MISSPELT = 0.75  # low enough to recognize four letters with two swapped: `nmae`
_SIMILAR = 0.5
MOST_PROBLEMS = 100
"""The maximum number of problems reported for one file or command."""


@dataclass(frozen=True)
class Problem:
    """An error in a job file or command: something that fio would reject or misread.

    `line`: the line number (1-based).
    `is_certain`: False for an unknown option that may exist in another release or engine, because it does not resemble
    any known option.
    `option`: the name of an unknown option.
    `meant`: the most similar known option.
    `fix`: the corrected text, if known.
    `runs`: True if fio runs anyway, but does something other than the text seems to say.
    `is_absent`: True if an included file does not exist here, although it may exist where fio runs.
    """

    line: int
    message: str
    is_certain: bool = True
    option: str | None = None
    meant: str | None = None
    fix: str = ""
    runs: bool = False
    is_absent: bool = False


@dataclass
class JobDraft:
    """A section that is still being parsed. `early`: the options that fio has read before `kb_base`."""

    name: str
    line: int
    options: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    early: set[str] = field(default_factory=set)

    def put(self, name: str, value: str, line: int) -> None:
        """Set an option by its canonical name. An option that is already set moves to the end."""
        self.options.pop(name, None)
        self.options[name] = value
        self.lines[name] = line
        self.early.discard(name)

    def copied(self, line: int) -> "JobDraft":
        """Return a copy of the section, to which a later [global] section can add options."""
        return JobDraft(self.name, line, dict(self.options), dict(self.lines), set(self.early))

    def job(self, shared: "JobDraft") -> Job:
        """Return the finished job, including the global options in `shared`."""
        inherited = {name: value for name, value in shared.options.items() if name not in self.options}
        bases = dict.fromkeys(shared.early & inherited.keys(), _DEFAULT_BASE)
        if "kb_base" in self.options:
            before = kb_base_of(shared.options)
            bases = {name: bases.get(name, before) for name in inherited} | dict.fromkeys(self.early, before)
        options = {**inherited, **self.options}
        early = {name: base for name, base in bases.items() if base != kb_base_of(options)}
        return Job(self.name, options, self.line, {**shared.lines, **self.lines}, early)


def unknown_option(name: str, line: int, among: frozenset[str] = ALL_NAMES) -> Problem:
    """Return the problem for an unknown option name."""
    shown = name[:_LONGEST_SHOWN]
    near = nearest(shown, JOB_OPTIONS, _MISSPELT) or nearest(shown, among, _MISSPELT)
    if near is not None:
        return Problem(line, f"fio has no option {name!r}; did you mean `{near}`?", option=name, meant=near)
    similar = nearest(shown, among, _SIMILAR)
    message = f"unknown fio option {shown!r}"
    if similar:
        message += f"; the most similar is `{similar}`"
    return Problem(line, message, is_certain=False, option=name, meant=similar)


def misread_number(name: str, value: str, line: int) -> Problem | None:
    """Return a problem if fio reads another number than the one that was meant, or None.

    `name`: the option's canonical name. Source: parse.c, str_to_decimal, get_mult_time and get_mult_bytes.
    """
    word = value.strip()
    if name in _TIMES and (found := _UNKNOWN_UNIT.fullmatch(word)):
        message = f"fio does not know the unit `{found['unit']}`: it reads {name}={word} as {found['number']} µs"
        return Problem(line, message, fix=f"write {name}={found['number']}{found['unit'][0].lower()}", runs=True)
    if name in _NUMBERS and (found := _FRACTION.fullmatch(word)):
        message = f"fio reads whole numbers: it reads {name}={word} as {found['number']} and ignores `{found['rest']}`"
        return Problem(
            line, message, fix="write a whole number of a smaller unit: 1536m for 1.5g, 90m for 1.5h", runs=True
        )
    if name == "bs" and (found := _RANGE.fullmatch(word)):
        sizes = f"{found['first']} for reads and {found['last']} for writes"
        message = f"bs is not a range of block sizes: fio reads bs={word} as {sizes}"
        return Problem(line, message, fix=f"write bsrange={word}", runs=True)
    return None


@dataclass(frozen=True)
class ReadJobFile:
    """The jobs in a job file, and the problems found in it, in line order.

    `shared`: the options that would apply to further sections at the end of the file.
    """

    jobs: Jobs
    problems: tuple[Problem, ...] = ()
    shared: Mapping[str, str] = field(default_factory=dict)


def read_job_file(
    text: str,
    *,
    environment: Mapping[str, str] | None = None,
    machine: Mapping[str, int] | None = None,
    include: Callable[[str], str | None] | None = None,
    defaults: Mapping[str, str] | None = None,
    first_line: int = 1,
) -> ReadJobFile:
    """Parse a job file. Anything that fio would reject is listed in `problems` instead of raising an error.

    `environment`: the environment variables. Variables that it lacks are left unexpanded.
    `machine`: the values of `ncpus`, `pagesize` and `mb_memory`, if known.
    `include`: returns the content of an included file, or None if it is not read. It raises FileNotFoundError if the
    file does not exist, which is the default. Every line of an included file gets the line number of its `include`
    line.
    `defaults`: the options that fio's command line sets for the jobs of the file, by canonical name.
    """
    reader = _JobFileParser(environment or {}, machine or {}, include or _include_nothing)
    reader.shared.options.update(defaults or {})
    reader.read(text, first_line)
    jobs = tuple(draft.job(shared) for draft, shared in reader.drafts)
    return ReadJobFile(jobs, tuple(reader.problems), reader.shared.options)


def _include_nothing(path: str) -> str | None:
    raise FileNotFoundError(path)


class _JobFileParser:
    def __init__(
        self, environment: Mapping[str, str], machine: Mapping[str, int], include: Callable[[str], str | None]
    ) -> None:
        self.drafts: list[tuple[JobDraft, JobDraft]] = []
        self.problems: list[Problem] = []
        self._environment = environment
        self._machine = machine
        self._include = include
        self._included = 0
        self.shared = JobDraft("global", 0)
        self._section: JobDraft | None = None

    def read(self, text: str, first_line: int, depth: int = 0) -> None:
        """Parse a file. `depth` is above 0 for an included file, whose lines all get the same line number."""
        for offset, line in enumerate(text.split("\n")):
            number = first_line if depth else first_line + offset
            setting = _COMMENT.split(line, maxsplit=1)[0].strip()
            if not line.strip() or line.lstrip()[0] in "#;":
                continue
            if section := _SECTION.match(line):
                self._open(section["name"], number)
            elif included := _INCLUDE.match(line):
                if self._section is None:
                    self._report(number, "`include` is above the first [section]")
                    self._section = self.shared
                self._read_included(included["path"], number, depth)
            elif setting.startswith("["):
                shown, name = setting[:_LONGEST_SHOWN], setting[1:-1]  # sscanf does not need the bracket (init.c)
                message = f"{shown!r} lacks its `]`: fio cuts off the last letter and reads the section [{name}]"
                self._add(Problem(number, message, fix=f"write {shown}]", runs=True))
                self._open(name, number)
            elif self._section is None:
                self._report(number, f"{setting[:_LONGEST_SHOWN]!r} is above the first [section]")
            else:
                self._put(self._section, setting, number)
                self._report_cut(line, setting, number)

    def _report_cut(self, line: str, setting: str, number: int) -> None:
        """Report a value that fio cuts off at `;` or `#`, if the rest appears to belong to the value."""
        name = canonical(setting.partition("=")[0].strip())
        cut = line.strip()[len(setting) :]
        if (name in _PATHS and _PATH_AFTER.match(cut)) or (name in _COMMANDS and cut):
            rest = cut[:_LONGEST_SHOWN]
            message = f"`{cut[0]}` begins a comment, even inside a value: fio reads `{setting}` and ignores `{rest}`"
            of_commands = "join commands with && or put them in a script"
            fix = "separate file names with a colon" if name in _PATHS else of_commands
            self._add(Problem(number, message, fix=fix, runs=True))

    def _open(self, name: str, number: int) -> None:
        if name.startswith("global"):  # fio compares six letters (init.c, __parse_jobs_ini)
            self._section = self.shared = self.shared.copied(number)
        else:
            self._section = JobDraft(name, number)
            self.drafts.append((self._section, self.shared))

    def _put(self, section: JobDraft, setting: str, number: int) -> None:
        name, equals, value = setting.partition("=")
        name = name.strip()
        if name in PROGRAM_OPTIONS - ALL_NAMES:
            self._report(number, f"{name} is an option of fio's command line, not of job files", f"run fio --{name} …")
        elif name not in ALL_NAMES:
            self._add(unknown_option(name, number))
        found = _BLANK_BEFORE_UNIT.match(value)
        if found and not (found["unit"] == "s" and canonical(name) in _SECONDS):
            message = f"`{setting}`: because of the space after `=`, fio reads {found['number']} and ignores the unit"
            self._add(Problem(number, message, fix=f"write {name}={value.strip()}", runs=True))
        if problem := misread_number(canonical(name), value, number):
            self._add(problem)
        section.put(canonical(name), self._substituted(value) if equals else "", number)

    def _report(self, number: int, message: str, fix: str = "") -> None:
        self._add(Problem(number, message, fix=fix))

    def _add(self, problem: Problem) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def _read_included(self, path: str, number: int, depth: int) -> None:
        shown = path[:_LONGEST_SHOWN]
        if depth >= _DEEPEST_INCLUDE:
            self._report(number, f"{shown!r} is included more than {_DEEPEST_INCLUDE} levels deep, so it is not read")
            return
        try:
            text = self._include(path)
        except FileNotFoundError:
            message = f"the included file {shown!r} is not here, so lint does not know its options"
            fix = "run lint where the file exists: without the file, fio refuses the job"
            self._add(Problem(number, message, fix=fix, is_absent=True))
            return
        self._included += len(text or "") + len(path)
        if text is None:
            message = f"the included file {shown!r} cannot be read, or contains lines that are not fio options"
            self._report(number, message, "create the file, correct its path, or keep only fio options in it")
        elif self._included > _MOST_INCLUDED:
            self._report(number, "the total size of the included files exceeds 512 KiB, so the rest is not read")
        elif any(map(_SECTION.match, text.split("\n"))):
            self._report(number, f"fio does not read {shown!r}: an included file may not have sections")
        else:
            self.read(text, number, depth + 1)

    def _substituted(self, value: str) -> str:
        value = _VARIABLE.sub(lambda match: self._environment.get(match[1], match[0]), value)
        keywords = _KEYWORD.findall(value)
        if not keywords or any(word not in self._machine for word in keywords):
            return value
        value = _KEYWORD.sub(lambda match: str(self._machine[match[1]]), value)
        try:
            return str(int(evaluate(f"({value})", lambda _: 1)))
        except (ValueError, OverflowError):
            return value
