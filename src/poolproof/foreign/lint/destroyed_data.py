"""Find jobs that overwrite block devices, and report the data that they would destroy.

fio refuses only devices that the mount table lists. It writes to swap, to members of arrays and pools, to devices under
LVM or LUKS, and over unmounted file systems. Source: fio 3.33 filesetup.c (setup_files) and lib/mountcheck.c
(device_is_mounted).
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from posixpath import normpath

from poolproof.campaign.layout import BraceMistake, expand_text
from poolproof.foreign.lint.job_groups import Targets
from poolproof.foreign.lint.model import Diagnostic, FioCall, Severity
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job import Job, is_disk_path
from poolproof.load.fio.load import part_of
from poolproof.load.model import LoadPart

RULE = "destroys-data"
_MOST = 256
_MOST_STEPS = 3  # from a variable to an argument to a device
_NO_WRITES = frozenset({"null", "cpuio", "net", "netsplice", "exec", "filestat", "dirstat"})
_OTHER_DEVICES = ("\\\\.\\", "\\\\?\\", "trtype=")  # Windows, SPDK
_WORDS = r"\bfor\s+{name}\s+in\s+(?P<words>[^;\n]+)"
_ASSIGNED = r"(?:^|[\s;]){name}(?:[ ]?[?:]?=[ ]?)(\"[^\"\n]*\"|'[^'\n]*'|[^\s;()\"']+)(?=[\s;]|$)"
_LINES = ("filename", "replay_redirect", "filename_format", "directory", "rw")
_VARIABLE = re.compile(r"\$(?P<open>[{(])?(?P<name>\w+)(?(open)(?:\[[^\]]{0,40}\])?[})])")  # also $(NAME) of make
_ARRAY = r"(?:^|[\s;]){name}=\(([^()]*)\)"
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?([\w-]{1,60})[ \t]*(?:\(\))?\s{0,9}\{", re.MULTILINE)
_CALL = r"(?:^|[;&|]|\b(?:do|then|else)\b)[ \t]{{0,40}}{name}[ \t]+(?![=(])([^\n;|&]+)"
_MOST_FUNCTIONS = 64
_LONGEST = 4000  # of the body of a function
_FIX = (
    "to measure a file system, give filename= or directory= a path on it; with --readonly, fio refuses to write; "
    "to see what is on the device: lsblk -f, or poolproof lint --on HOST"
)


def destroyed_data(source: str, text: str, unit: FioCall, targets: Targets | None) -> Iterator[Diagnostic]:
    """Yield an error for each job that would overwrite data, and a warning if the device's contents are unknown.

    `text`: the script or job file. Its `for` loops supply the values of variables.
    `targets`: looks up devices. Without it, nothing is known about them.
    """
    if unit.read_only:
        return
    if targets is not None and unit.runs_in == "machine":
        targets = targets.seen_from(unit.runs_in)
    for job in unit.jobs:
        lines = (job.lines[name] for name in _LINES if name in job.lines)
        line = next(lines, None) or job.line or unit.line
        if job.text("read_iolog"):  # fio then takes the I/O and the files from the trace (iolog.c, init_iolog_read)
            for path in _values(job.text("replay_redirect") or "", text):
                if judged := _judged(path, "replays a trace on", "whose writes destroy", targets):
                    yield Diagnostic(source, line, RULE, "warning", judged[1], _FIX)
            continue
        part = _writing_part(job, text)
        if part is None:
            continue
        verb = "writes to" if part.writes else "trims"
        for path in _paths(job, text):
            judged = _judged(path, verb, "and destroys", targets)
            if judged is not None:
                yield Diagnostic(source, line, RULE, *judged, _FIX)


def _writing_part(job: Job, text: str) -> LoadPart | None:
    """Return the load of a job that writes or trims, or None if the job does neither or its direction is unknown."""
    if job.engine in _NO_WRITES or job.flag("verify_only"):
        return None
    for pattern in _in_loops(job.text("rw") or "read", text):
        part = part_of(replace(job, options={**job.options, "rw": pattern}))
        if not UNKNOWN.search(pattern) and (part.writes or part.trims):
            return part
    return None


def _paths(job: Job, text: str) -> Iterator[str]:
    """Yield the paths that the job names, without file names that fio generates on its own."""
    directory = job.directory or ""
    names = job.filenames
    if job.filename is None and (form := job.text("filename_format")):
        for keyword, value in (("$jobname", job.name), ("$jobnum", "0"), ("$filenum", "0")):
            form = form.replace(keyword, value)
        names = (form,)
    elif job.filename is None and directory.startswith("/dev") and "directory" not in job.lines:
        names = (job.name,)  # after `cd /dev`, a job with the name of a device uses the device
    for name in names:
        yield from map(normpath, _values(job.path(name), text))


def _values(path: str, text: str) -> Iterator[str]:
    """Yield the paths that a path with a variable may stand for.

    These are the values of a loop, or all values that the script assigns to the variable or passes to a function.
    Assigned values count only if each of them is a device, because the script shows no order if there are several.
    """
    paths = [path]
    for _ in range(_MOST_STEPS):
        paths = [each for choice in paths for each in _assigned(choice, text)][:_MOST]
    if paths == [path] or not all(each.startswith("/dev/") for each in paths):
        paths = list(_in_loops(path, text))
    for choice in paths:
        yield from (choice,) if UNKNOWN.search(choice) else _expanded(choice)


def _assigned(path: str, text: str) -> Iterator[str]:
    """Yield the path once for each value of its first variable, or unchanged if the script does not show any."""
    found = _VARIABLE.search(path)
    values = _values_of(found["name"], text) if found else ()
    if found is None or not values:
        yield path
        return
    yield from (path[: found.start()] + value + path[found.end() :] for value in values)


@lru_cache(maxsize=256)
def _values_of(name: str, text: str) -> tuple[str, ...]:
    """Return all values that the script assigns to a variable or array, or passes to a function as `$1`."""
    if name.isdecimal():
        values = list(_arguments(int(name), text))
    else:
        values = re.findall(_ASSIGNED.format(name=name), text, re.MULTILINE)
        arrays = re.findall(_ARRAY.format(name=name), text, re.MULTILINE)
        values += [word for words in arrays for word in words.split()]
    return tuple(dict.fromkeys(value.strip("\"'") for value in values))


def _arguments(number: int, text: str) -> Iterator[str]:
    """Yield the argument with this number from each call of the functions that call fio."""
    found = itertools.islice(_FUNCTION.finditer(text), _MOST_FUNCTIONS)
    for name in dict.fromkeys(each[1] for each in found if "fio" in _body(text, each.end())):
        for given in re.findall(_CALL.format(name=re.escape(name)), text, re.MULTILINE):
            yield from given.split()[number - 1 : number] if number else ()


def _body(text: str, start: int) -> str:
    """Return the body of the function whose brace ends at this position."""
    line, _, _ = text[start : start + _LONGEST].partition("\n")
    return line if line.rstrip().endswith("}") else text[start : start + _LONGEST].partition("\n}")[0]


def _in_loops(value: str, text: str) -> tuple[str, ...]:
    """Return the value once for each word that a `for` loop assigns to the value's first variable.

    In each copy, the word replaces the variable. Without such a loop, the value is returned unchanged.
    """
    found = _VARIABLE.search(value)
    loops = re.findall(_WORDS.format(name=found["name"]), text) if found else []
    if found is None or not loops:
        return (value,)
    words = [word.strip("\"'") for words in loops for word in words.split()]
    choices = itertools.chain.from_iterable(map(_expanded, words))
    every = (value[: found.start()] + word + value[found.end() :] for word in itertools.islice(choices, _MOST))
    return tuple(every)


def _expanded(word: str) -> tuple[str, ...]:
    try:
        return tuple(itertools.islice(expand_text(word), _MOST))
    except BraceMistake:
        return (word,)


def _judged(path: str, verb: str, loss: str, targets: Targets | None) -> tuple[Severity, str] | None:
    """Return the severity and message for a path to which a job writes, or None if no data would be lost."""
    if path.startswith("/dev/") and not is_disk_path(path):
        return None
    is_known = UNKNOWN.search(path) is None
    is_other = path.startswith(_OTHER_DEVICES)
    device = targets.written(path) if targets is not None and is_known and not is_other else None
    if device is not None and device.is_block:
        message = f"the job {verb} {path} {loss} the data there: the device {device.found}"
        return ("error", message) if device.found else None
    if not (is_other or is_disk_path(path)) or (device is not None and device.exists):
        return None
    why = "lint cannot check, because this machine has no such device" if device else "lint cannot tell what is on it"
    would = loss.replace("destroys", "destroy").replace("destroy", "would destroy")
    return "warning", f"the job {verb} the device {path} {would} any data on it; {why}"
