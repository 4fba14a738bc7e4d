"""Format lint findings like compiler messages: location, severity, rule and message, then the fix on the next line."""

import posixpath
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from poolproof.foreign.lint.fix import FixedText
from poolproof.foreign.lint.model import Diagnostic, Severity
from poolproof.presentation.terminal.visible import visible_line
from poolproof.units import format_list, format_number_of

_WIDTH = 110
_OUTPUT = "<stdout>"
_HERE = "this machine"
_MOST_PATHS = 3


def lines_of(found: Sequence[Diagnostic], source: str = "") -> Iterator[str]:
    """Yield the lines for each finding and its fix, then a line with the number of findings per severity.

    `source`: the name to print instead of the findings' own source.
    """
    for each in found:
        message = each.message.replace("\n", " ")  # a mount point may contain a line break
        yield f"{_place(each, source)}: {each.severity}: {each.rule}: {message}"
        yield from textwrap.wrap(each.fix, _WIDTH, initial_indent="  fix: ", subsequent_indent="       ")
    counts = Counter(each.severity for each in found)
    shown = [format_number_of(counts[severity], severity) for severity in get_args(Severity) if counts[severity]]
    yield ", ".join(shown) or "nothing found"


def fixed_lines_of(fixed: FixedText) -> Iterator[str]:
    """Yield one line for each finding that was fixed or disappeared, then the findings that the new text still has.

    The lines of the remaining findings are those of the new text, which is on standard output.
    """
    for what, found in (("fixed", fixed.fixed), ("removed by another fix", fixed.resolved)):
        yield from (f"{_place(each)}: {what}: {each.rule}" for each in found)
    yield from (f"{_OUTPUT}: appeared after another fix, and fixed: {rule}" for rule in fixed.later)
    if fixed.left and not (fixed.fixed or fixed.resolved or fixed.later):
        yield f"{_OUTPUT}: unchanged: {_why_unchanged(fixed.left)}"
    yield from lines_of(fixed.left, _OUTPUT)


def _why_unchanged(left: Sequence[Diagnostic]) -> str:
    if any(each.rule == "misread-by-fio" for each in left):
        return "lint changes a job only if fio reads all its options as they are meant"
    return "none of these fixes can be made automatically"


def unknown_target_lines(paths: Sequence[str], host: str) -> Iterator[str]:
    """Yield lines that say that the storage below the jobs' files is unknown, and how to describe it."""
    missing = list(dict.fromkeys(path if path.startswith("/dev/") else posixpath.dirname(path) for path in paths))
    do = "does" if len(missing) == 1 else "do"
    yield visible_line(f"unknown storage: {format_list(missing, _MOST_PATHS)} {do} not exist on {host}")
    where = "name the machine that would run the job (--on HOST), or " if host == _HERE else ""
    yield f"  for findings about it, {where}describe it: --fs zfs-2.2 --ram 64G"


def _place(each: Diagnostic, source: str = "") -> str:
    return f"{source or ('<stdin>' if each.source == '-' else each.source)}:{each.line}"
