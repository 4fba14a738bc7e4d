"""The history before a fio call in the same text: the earlier loads, and whether the caches were dropped since."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.foreign.dropped_caches import drops_caches, drops_clean_pages, syncs
from poolproof.foreign.lint.model import FioCall
from poolproof.foreign.lint.prepared_files import PreparedFile, State
from poolproof.foreign.lint.shell.function_calls import functions_in
from poolproof.foreign.lint.shell.script_values import known_variables
from poolproof.foreign.lint.shell.variable_keys import lines_of_loop
from poolproof.foreign.lint.variables import with_paths
from poolproof.load.fio.job import Jobs
from poolproof.load.fio.load import load_of
from poolproof.load.model import Load, LoadPart
from poolproof.rules.earlier import only_creates
from poolproof.rules.path import may_leave_dirty
from poolproof.units import parse_size

_MOST_LOADS = 64
_MOST_LOOPS = 64
_FUNCTION = re.compile(
    r"^[ \t]*(?:function[ \t]+(?P<named>[\w-]+)[ \t]*(?:\(\))?|(?P<name>[\w-]+)[ \t]*\(\))\s*"
    r"\{(?P<body>.{0,1000}?)(?:^[ \t]*|;[ \t]*)\}",
    re.MULTILINE | re.DOTALL,
)
_CALL = re.compile(r"(?:^|[;&|(]|\b(?:do|then|else)\b)[ \t]{0,99}(?P<name>[\w-]{1,99})(?![\w(=-])")
_LOOP = r"\bfor\s+{name}\s+in\b"
_LOOPS = re.compile(r"^[ \t]*(?:for|while|until)\b", re.MULTILINE)
_ASSIGNED = re.compile(r"^[ \t]*(?P<name>[A-Za-z_]\w{0,40})=(?P<quote>[\"'])(?P<value>.*)(?P=quote)[ \t]*$")
_EVAL = re.compile(r"\beval[ \t]+\"?\$\{?(?P<name>\w+)")
_EMPTIES_ARC = re.compile(r"\bzpool\s+export\b|\breboot\b")
_VARIABLE = re.compile(r"\$\{?(?P<name>\w+)")
_RECORD = re.compile(r"\b(?P<property>recordsize|volblocksize)=[\"']?(?P<value>[^\s\"';&|,)`]{1,60})")
_LEAST_RECORD = 512
_DONE = re.compile(r"^[ \t]*done\b", re.MULTILINE)

_Lines = Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Before:
    """The history before a fio call.

    `loads`: the earlier loads, oldest first. `jobs`: the jobs of each of them, or nothing if their unknown paths may
    have changed since.
    `drops_caches`: True if the caches were dropped after the last write, including the written data.
    `drops_only_clean`: True if the written data was still dirty when the caches were dropped, so that it stayed in RAM.
    `drops_each_time`: True if the caches were dropped after the last fio call, each time that the script gets to this
    call.
    `empties_arc_each_time`: the same for a `zpool export` or a reboot, which also empty ZFS's ARC.
    `empty`: the programs that emptied files and devices, keyed by path. Only paths that still contain no data are
    listed.
    `zeros`: the programs that filled files and devices with zeros, keyed by path. Only paths that still contain only
    zeros are listed.
    `nodatacow`: the files and directories that `chattr +C` made nodatacow.
    `mounts`: the mount points of the script's mounts, mapped to True if the file system is in RAM.
    `snapshot`: the command that created a cloud volume from a snapshot. Empty if there is none.
    `was_read`: the devices that a program has read completely since the volume was created.
    `cached_loops`: the loop devices that use the page cache of their backing files, and the mount points of such
    devices.
    `record_bytes`: the recordsize and the volblocksize that the script sets, keyed by these names. The smallest one if
    there are several.
    """

    loads: tuple[Load, ...] = ()
    jobs: tuple[Jobs, ...] = ()
    drops_caches: bool = False
    drops_only_clean: bool = False
    drops_each_time: bool = False
    empties_arc_each_time: bool = False
    empty: Mapping[str, str] = field(default_factory=dict)
    zeros: Mapping[str, str] = field(default_factory=dict)
    nodatacow: frozenset[str] = frozenset()
    mounts: Mapping[str, bool] = field(default_factory=dict)
    snapshot: str = ""
    was_read: frozenset[str] = frozenset()
    cached_loops: frozenset[str] = frozenset()
    record_bytes: Mapping[str, int] = field(default_factory=dict)

    def loads_with(self, renamed: Mapping[str, str]) -> tuple[Load, ...]:
        """Return the earlier loads with other paths. `renamed`: the new paths, keyed by the unknown ones."""
        if not renamed:
            return self.loads
        others = (with_paths(jobs, renamed) for jobs in self.jobs)
        return tuple(
            load if other == jobs else load_of(other)
            for load, jobs, other in zip(self.loads, self.jobs, others, strict=True)
        )


NOTHING_BEFORE = Before()


class History:
    """Collects the loads of the fio calls in a text, in the order in which they run."""

    def __init__(self, text: str, prepared: tuple[PreparedFile, ...] = ()) -> None:
        self._prepared = prepared
        self._text = text
        lines = list(enumerate(text.split("\n"), 1))
        if any(drops_caches(line) for _, line in lines):
            lines += [*_calls(text, lines), *_evaluated(lines)]
        self._drops = [number for number, line in lines if drops_caches(line)]
        self._only_clean = {number for number, line in lines if drops_clean_pages(line)}
        self._empties_arc = {number for number, line in lines if _EMPTIES_ARC.search(line)}
        self._syncs = [number for number, line in lines if syncs(line)]
        self._never_called = _never_called(text)
        self._loops = _spans(text)
        self._places: list[int] = []
        self._loads: list[Load] = []
        self._jobs: list[Jobs] = []
        self._last_write = 0
        self._last_call = 0
        self._is_dirty = False
        self._values: Mapping[str, str] = {}
        self._repeats: tuple[int, int] | None = None

    def begin(self, values: Mapping[str, str]) -> None:
        """Start the iteration of the script's loops in which the loop variables have these values."""
        changed = [name for name, value in values.items() if self._values.get(name, value) != value]
        loops = [line for name in changed if (line := loop_line(name, self._text))]
        if loops and self._last_write:
            ends = (_line_of(self._text, found.start()) for found in _DONE.finditer(self._text))
            end = next((line for line in ends if line >= self._last_write), self._last_write)
            self._repeats = min(loops), end
        self._values = values

    def before(self, unit: FioCall) -> Before:
        """Return what ran before this call."""
        at = unit.runs_at or unit.line
        drops = self._since_write(self._drops, at)
        dropped = any(self._empties(line) for line in drops)
        prepared = [each for each in self._prepared if each.line <= at]
        empty, zeros, nodatacow, loops = (
            {each.path: each.command for each in _last(prepared, state) if each.state == state}
            for state in ("empty", "zeros", "nodatacow", "cached loop")
        )
        earlier = [place for place, line in enumerate(self._places) if self._runs_before(line, at)][-_MOST_LOADS:]
        created = [at for at, each in enumerate(prepared) if each.state == "from a snapshot"]
        return Before(
            tuple(self._loads[place] for place in earlier),
            tuple(self._jobs[place] for place in earlier),
            dropped,
            bool(drops) and not dropped,
            any(self._drops_each_time(line, at) for line in drops),
            any(self._drops_each_time(line, at) for line in drops if line in self._empties_arc),
            empty,
            zeros,
            frozenset(nodatacow),
            {each.path: each.state == "in RAM" for each in _last(prepared, "in RAM") if each.command == "mount"},
            prepared[created[-1]].command if created else "",
            frozenset(each.path for each in prepared[created[-1] :] if each.state == "read")
            if created
            else frozenset(),
            frozenset(loops),
            self._record_bytes(at),
        )

    def _runs_before(self, line: int, at: int) -> bool:
        """True if a call on `line` can run before one on line `at`: it is above it, or in the same loop."""
        return line <= at or any(first <= line <= last and first <= at <= last for first, last in self._loops)

    def _record_bytes(self, at: int) -> Mapping[str, int]:
        found = [each for each in _RECORD.finditer(self._text) if _line_of(self._text, each.start()) <= at]
        sizes: dict[str, int] = {}
        for each in found:
            size = self._size(each["value"])
            sizes[each["property"]] = min(size, sizes.get(each["property"], size))
        return sizes

    def _size(self, value: str) -> int:
        """Return the size in bytes, or the smallest size that ZFS has if lint does not know the variable in it."""
        if (name := _VARIABLE.match(value)) is not None:
            value = self._values.get(name["name"]) or known_variables(self._text).get(name["name"], "")
        try:
            return max(parse_size(value), _LEAST_RECORD)
        except ValueError:
            return _LEAST_RECORD

    def _drops_each_time(self, line: int, at: int) -> bool:
        """True if neither another fio call nor the start of a loop separates the line from the call on line `at`."""
        is_outside_loop = sum(map(_change_of_depth, self._text.split("\n")[line:at])) > 0
        return not is_outside_loop and not line < self._last_call < at

    def _empties(self, line: int) -> bool:
        """True if dropping the caches on this line also drops the data that was just written.

        This is the case if the data was clean or had been synced, or if the line itself writes it back, as umount does.
        """
        is_synced = bool(self._since_write(self._syncs, line))
        return not self._is_dirty or is_synced or line not in self._only_clean

    def _since_write(self, lines: Iterable[int], until: int) -> list[int]:
        """Return the lines, out of `lines`, that ran after the last write and no later than the line `until`."""
        if self._repeats is None:
            return [line for line in lines if self._last_write <= line <= until]
        start, end = self._repeats
        return [line for line in lines if start <= line <= until or self._last_write <= line <= end]

    def add(self, unit: FioCall) -> None:
        """Add a call, unless it is in a function that the script never calls."""
        if unit.jobs and (unit.called_at or unit.line not in self._never_called):
            load = load_of(unit.jobs)
            self._loads.append(load)
            self._places.append(unit.runs_at or unit.line)
            self._jobs.append(unit.jobs if self._keeps_paths(unit.jobs) else ())
            self._last_call = unit.runs_at or unit.line
            if any(part.writes and not only_creates(part) for part in load.parts):
                self._last_write = unit.runs_at or unit.line
                self._repeats = None
                self._is_dirty = any(map(_leaves_dirty, load.parts))

    def _keeps_paths(self, jobs: Jobs) -> bool:
        """True if unknown paths of the jobs are the same everywhere: the script sets each variable at most once."""
        paths = " ".join(job.options.get(name, "") for job in jobs for name in ("filename", "directory"))
        names = [found["name"] for found in _VARIABLE.finditer(paths)]
        if any(name.isdecimal() for name in names) and function_bodies(self._text):
            return False
        return all(len(re.findall(rf"(?<![\w$]){name}=|\bfor\s+{name}\s", self._text)) <= 1 for name in names)


def _calls(text: str, lines: _Lines) -> Iterator[tuple[int, str]]:
    """Yield, for each call of a function that drops the caches, the commands in it that drop the caches or sync.

    Each command comes with the line number of the call.
    """
    bodies = {
        name: [line for line in body.split("\n") if drops_caches(line) or syncs(line)]
        for name, body in function_bodies(text).items()
        if any(map(drops_caches, body.split("\n")))
    }
    for number, line in lines:
        for call in _CALL.finditer(line):
            yield from ((number, each) for each in bodies.get(call["name"], ()))


def _evaluated(lines: _Lines) -> Iterator[tuple[int, str]]:
    """Yield, for each `eval $NAME`, the command in the variable if it drops the caches."""
    found = (_ASSIGNED.match(line) for _, line in lines if drops_caches(line))
    values = {each["name"]: each["value"] for each in found if each is not None}
    for number, line in lines:
        for each in _EVAL.finditer(line):
            if each["name"] in values:
                yield number, values[each["name"]]


def _never_called(text: str) -> frozenset[int]:
    """Return the lines of the functions whose name the script does not use."""
    unused = [each for each in functions_in(text) if len(re.findall(rf"(?<![\w-]){each.name}(?![\w-])", text)) == 1]
    return frozenset(line for each in unused for line in range(each.line, each.last_line + 1))


def function_bodies(text: str) -> Mapping[str, str]:
    """Return the bodies of the script's functions, keyed by name."""
    return {found["named"] or found["name"]: found["body"] for found in _FUNCTION.finditer(text)}


def loop_line(name: str, text: str) -> int | None:
    """Return the line of the first loop over the variable, or None if there is none."""
    if (lines := lines_of_loop(name)) is not None:
        return lines[0]
    found = re.search(_LOOP.format(name=name), text)
    return _line_of(text, found.start()) if found else None


def loop_spans(names: Iterable[str], text: str) -> Sequence[tuple[int, int]]:
    """Return the first and last line of each loop over one of these variables."""
    names = list(names)
    starts = [_line_of(text, found.start()) for name in names for found in re.finditer(_LOOP.format(name=name), text)]
    lines = text.split("\n")
    with_own_key = [each for name in names if (each := lines_of_loop(name)) is not None]
    return [*((start, _end_of_loop(lines, start)) for start in starts), *with_own_key]


def _spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the first and last line of each loop."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if _change_of_depth(line) > 0]
    return [(start, _end_of_loop(lines, start)) for start in starts[:_MOST_LOOPS]]


def _end_of_loop(lines: Sequence[str], start: int) -> int:
    depth = 0
    for number, line in enumerate(lines[start - 1 :], start):
        depth += _change_of_depth(line)
        if depth <= 0:
            return number
    return len(lines)


def _change_of_depth(line: str) -> int:
    """Return 1 if a loop begins on the line, -1 if one ends there, and otherwise 0."""
    return int(bool(_LOOPS.match(line) and "done" not in line)) - int(bool(_DONE.match(line)))


def _line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _last(prepared: list[PreparedFile], state: State) -> Iterable[PreparedFile]:
    """Return the last change of each path: of its nodatacow attribute, of its loop device, or of its data."""
    command = {"nodatacow": "chattr", "cached loop": "losetup"}.get(state)
    others = () if command else ("chattr", "losetup")
    return {
        each.path: each for each in prepared if each.command == (command or each.command) and each.command not in others
    }.values()


def _leaves_dirty(part: LoadPart) -> bool:
    """True if some of the data that the job wrote may still be dirty when the job ends."""
    return part.writes and not only_creates(part) and may_leave_dirty(part, None)
