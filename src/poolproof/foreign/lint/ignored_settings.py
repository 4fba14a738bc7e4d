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
    found: dict[Diagnostic, None] = {}
    for job in unit.jobs:
        if job.flag("time_based") and job.text("runtime") is None and not unit.unknown_words:
            line = job.lines.get("time_based") or job.line or unit.line
            message = (
                "time_based has no effect without a runtime: fio says so, and the job ends when it has moved its size"
            )
            # the command that runs a job file may set the runtime
            severity: Severity = "warning" if unit.form == "command" else "note"
            found[Diagnostic(source, line, _MISREAD, severity, message, "set runtime=")] = None
        for name in _PATHS:
            if unit.form == "job file" and (quoted := _QUOTED.fullmatch((job.text(name) or "").strip())):
                line = job.lines.get(name) or job.line or unit.line
                message = f"{name}={quoted[0]}: fio keeps the quotes, so they become part of the name"
                found[Diagnostic(source, line, _MISREAD, "warning", message, f"write {name}={quoted['path']}")] = None
            if (path := job.text(name) or "").startswith("~") and _is_literal(unit, name, text):
                line = job.lines.get(name) or job.line or unit.line
                message = f"{name}={path}: `~` is not expanded here, so fio looks for a directory with the name `~`"
                fix = "write ${HOME} instead of `~`" if unit.form == "job file" else "write $HOME instead of `~`"
                found[Diagnostic(source, line, _MISREAD, "warning", message, fix)] = None
    yield from found


def _is_literal(unit: FioCall, name: str, text: str) -> bool:
    """True if no shell expands the `~` at the beginning of an option's value."""
    if unit.form == "job file":
        return not unit.is_expanded
    settings = [each for section in unit.sections or () for each in section.settings if each.name == name]
    return bool(settings) and all("=~" in text[each.start : each.end] for each in settings)
