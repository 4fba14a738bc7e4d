"""Findings of lint in the format of a compiler: place, severity, rule, message, and the fix on the next line."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from poolproof.foreign.lint.model import Diagnostic
from poolproof.units import format_number_of

_WIDTH = 110


def lines_of(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield each finding with its fix, then a line that counts them."""
    for each in found:
        yield f"{_place(each)}: {each.severity}: {each.rule}: {each.message}"
        yield from textwrap.wrap(each.fix, _WIDTH, initial_indent="  fix: ", subsequent_indent="       ")
    yield _counted(found)


def fixed_lines_of(fixed: Sequence[Diagnostic], removed: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield one line for each finding that was fixed, or removed by the fix of another one."""
    for each in fixed:
        yield f"{_place(each)}: fixed: {each.rule}"
    for each in removed:
        yield f"{_place(each)}: removed by another fix: {each.rule}"


def _place(each: Diagnostic) -> str:
    return f"{'<stdin>' if each.source == '-' else each.source}:{each.line}"


def _counted(found: Sequence[Diagnostic]) -> str:
    counts = Counter(each.severity for each in found)
    words = [format_number_of(counts[severity], severity) for severity in counts]
    return ", ".join(sorted(words, key=lambda word: word.split()[1])) or "nothing found"
