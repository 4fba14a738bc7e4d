"""Format lint findings like compiler messages: location, severity, rule and message, then the fix on the next line."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from poolproof.foreign.lint.model import Diagnostic
from poolproof.units import format_number_of

_WIDTH = 110


def lines_of(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield the lines for each finding and its fix, then a line with the number of findings per severity."""
    for each in found:
        message = each.message.replace("\n", " ")  # a mount point may contain a line break
        yield f"{_place(each)}: {each.severity}: {each.rule}: {message}"
        yield from textwrap.wrap(each.fix, _WIDTH, initial_indent="  fix: ", subsequent_indent="       ")
    counts = sorted(Counter(each.severity for each in found).items())
    yield ", ".join(format_number_of(count, severity) for severity, count in counts) or "nothing found"


def fixed_lines_of(fixed: Sequence[Diagnostic], removed: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield one line for each finding that was fixed, or that disappeared because another one was fixed."""
    for what, found in (("fixed", fixed), ("removed by another fix", removed)):
        yield from (f"{_place(each)}: {what}: {each.rule}" for each in found)


def _place(each: Diagnostic) -> str:
    return f"{'<stdin>' if each.source == '-' else each.source}:{each.line}"
