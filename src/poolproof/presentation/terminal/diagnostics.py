"""Format lint findings like compiler messages: location, severity, rule and message, with the fix on the next line."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from poolproof.foreign.lint.model import Diagnostic
from poolproof.units import format_number_of

_WIDTH = 110


def lines_of(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield each finding with its fix, then the number of findings per severity."""
    for each in found:
        message = " ".join(each.message.split("\n"))  # a mount point may contain a line break
        yield f"{_place(each)}: {each.severity}: {each.rule}: {message}"
        yield from textwrap.wrap(each.fix, _WIDTH, initial_indent="  fix: ", subsequent_indent="       ")
    counts = sorted(Counter(each.severity for each in found).items())
    yield ", ".join(format_number_of(count, severity) for severity, count in counts) or "nothing found"


def fixed_lines_of(fixed: Sequence[Diagnostic], removed: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield one line per finding that was fixed or that disappeared when another one was fixed."""
    for what, found in (("fixed", fixed), ("removed by another fix", removed)):
        yield from (f"{_place(each)}: {what}: {each.rule}" for each in found)


def _place(each: Diagnostic) -> str:
    return f"{'<stdin>' if each.source == '-' else each.source}:{each.line}"
