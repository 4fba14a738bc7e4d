"""Find settings of a job that do not have their usual effect: time_based without runtime, `~` and quotes in a path.

Sources: fio 3.33 init.c (fixup_options: `time_based requires a runtime/timeout setting`), and measured: bash and
dash expand `~` only at the beginning of a word, so not in `--filename=~/f`, and fio 3.33 writes a file whose name
contains the quotes of `filename="f"`.
"""

import re
from collections.abc import Iterator

from poolproof.foreign.lint.model import Diagnostic, FioCall, Severity

_MISREAD = "misread-by-fio"
_QUOTED = re.compile(r"(?P<quote>[\"'])(?P<path>[^\"']+)(?P=quote)")
_PATHS = ("filename", "directory")


def ignored_settings(source: str, text: str, unit: FioCall) -> Iterator[Diagnostic]:
    """Yield a finding for each such setting. `text`: the content of the source."""
    yield from _without_runtime(source, unit)
    found: dict[Diagnostic, None] = {}
    for job in unit.jobs:
        for name in _PATHS:
            path = (job.text(name) or "").strip()
            line = job.lines.get(name) or job.line or unit.line
            if unit.form == "job file" and (quoted := _QUOTED.fullmatch(path)):
                message = f"{name}={path}: fio keeps the quotes, so they become part of the name"
                found[Diagnostic(source, line, _MISREAD, "warning", message, f"write {name}={quoted['path']}")] = None
            if path.startswith("~") and _is_literal(unit, name, text):
                message = f"{name}={path}: `~` is not expanded here, so fio looks for a directory with the name `~`"
                fix = "write ${HOME} instead of `~`" if unit.form == "job file" else "write $HOME instead of `~`"
                found[Diagnostic(source, line, _MISREAD, "warning", message, fix)] = None
    yield from found


def _without_runtime(source: str, unit: FioCall) -> Iterator[Diagnostic]:
    """Yield one finding for all jobs of a call that set time_based but no runtime.

    It is only a note for a job file, because the command that runs it may set the runtime.
    """
    jobs = [job for job in unit.jobs if job.flag("time_based") and job.text("runtime") is None]
    lines = list(dict.fromkeys(job.lines.get("time_based") or job.line or unit.line for job in jobs))
    if lines and not unit.unknown_words:
        more = f" (and {len(lines) - 1} more like it)" if len(lines) > 1 else ""
        message = f"time_based has no effect without a runtime: fio says so and ends the job after its size{more}"
        severity: Severity = "warning" if unit.form == "command" else "note"
        yield Diagnostic(source, lines[0], _MISREAD, severity, message, "set runtime=")


def _is_literal(unit: FioCall, name: str, text: str) -> bool:
    """True if no shell expands the `~` at the beginning of an option's value."""
    if unit.form == "job file":
        return not unit.is_expanded
    settings = [each for section in unit.sections or () for each in section.settings if each.name == name]
    return bool(settings) and all("=~" in text[each.start : each.end] for each in settings)
