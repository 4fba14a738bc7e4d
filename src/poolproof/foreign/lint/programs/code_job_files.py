"""Job files in the strings of a program, which writes them to a file and passes this file to fio.

Values that the program puts into them, such as `{size}`, stay as written, so they are unknown. A program may join two
strings (`GLOBAL + JOB`); the options of the first then apply to the jobs of the second.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.foreign.lint.jobfiles import has_fio_options
from poolproof.foreign.lint.programs.code_strings import STRING, text_of

_LONGEST = 8000
_STRING = re.compile(
    rf"@[\"']\r?\n(?P<powershell>.{{0,{_LONGEST}}}?)\n[\"']@"
    rf"|r?#?(?P<quotes>\"\"\"|''')(?:\\\n)?(?P<python>.{{0,{_LONGEST}}}?)(?P=quotes)"
    rf"|r#\"(?P<rust>.{{0,{_LONGEST}}}?)\"#"
    rf"|(?<!`)`(?P<other>[^`]{{1,{_LONGEST}}})`(?!`)",
    re.DOTALL,
)
_ASSIGNED = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_]\w{0,60})[ \t]{0,9}=[ \t]{0,9}$")
_SUM = re.compile(r"(?<![\w.])(?P<first>[A-Za-z_]\w{0,60})\s{0,9}\+\s{0,9}(?P<second>[A-Za-z_]\w{0,60})\b(?!\()")
_LOOKBACK = 80


@dataclass(frozen=True)
class CodeJobFile:
    """A job file in a string, and its first line in the program.

    `before`: the string that the program puts before it.
    """

    text: str
    line: int
    before: str = ""


_WRITES = re.compile(
    rf"^[ \t]*(?P<file>[A-Za-z_]\w{{0,40}})\.(?:write|writelines|append)\([ \t]*(?={STRING.pattern}[ \t]*\)[ \t]*$)",
    re.MULTILINE,
)
_FURTHEST = 40  # lines between two calls


def written_line_by_line(text: str) -> Iterator[CodeJobFile]:
    """Yield the job files that a program writes with several calls (`file.write("[a]\\n")`)."""
    name, first, last, found = "", 0, 0, ""
    for each in _WRITES.finditer(text) if "[" in text else ():
        line, string = text.count("\n", 0, each.end()) + 1, STRING.match(text, each.end())
        written = text_of(string).replace("\\n", "\n").rstrip("\n") if string is not None else ""
        if each["file"] != name or line - last > _FURTHEST:
            yield from _several(found, first, name)
            name, first, found = each["file"], line, ""
        found += "\n" * max(1 if found else 0, line - first - found.count("\n")) + written
        last = line
    yield from _several(found, first, name)


def _several(text: str, line: int, name: str) -> Iterator[CodeJobFile]:
    if name and has_fio_options(text):
        yield CodeJobFile(text + "\n", line)


def job_files_in(text: str) -> Iterator[CodeJobFile]:
    line = counted = 0
    named: dict[str, str] = {}
    sums = {found["second"]: found["first"] for found in _SUM.finditer(text)} if "[global" in text else {}
    for found in _STRING.finditer(text):
        kind = next(each for each in ("powershell", "python", "rust", "other") if found[each] is not None)
        line, counted = line + text.count("\n", counted, found.start(kind)), found.start(kind)
        if has_fio_options(found[kind]):
            name = _ASSIGNED.search(text[max(0, found.start() - _LOOKBACK) : found.start()])
            before = named.get(sums.get(name["name"], ""), "") if name is not None else ""
            yield CodeJobFile(found[kind], line + 1, before)
            named |= {name["name"]: found[kind]} if name is not None else {}
