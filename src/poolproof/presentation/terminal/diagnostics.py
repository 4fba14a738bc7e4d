"""Findings of lint as a compiler prints them: place, severity, rule, why; below it the mend."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from poolproof.foreign.lint.model import Diagnostic
from poolproof.units import format_number_of

_WIDTH = 110


def lines_of(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Each finding in two parts, and a line that counts them."""
    for each in found:
        yield f"{_place(each)}: {each.severity}: {each.rule}: {each.message}"
        yield from textwrap.wrap(each.fix, _WIDTH, initial_indent="  mend: ", subsequent_indent="        ")
    yield _counted(found)


def mended_lines_of(mended: Sequence[Diagnostic], gone: Sequence[Diagnostic] = ()) -> Iterator[str]:
    """One line for each finding that is no more: by a change of its own, or `gone` with the change of another."""
    for each in mended:
        yield f"{_place(each)}: mended: {each.rule}"
    for each in gone:
        yield f"{_place(each)}: gone with another mend: {each.rule}"


def _place(each: Diagnostic) -> str:
    return f"{'<stdin>' if each.source == '-' else each.source}:{each.line}"


def _counted(found: Sequence[Diagnostic]) -> str:
    counts = Counter(each.severity for each in found)
    words = [format_number_of(counts[severity], severity) for severity in counts]
    return ", ".join(sorted(words, key=lambda word: word.split()[1])) or "nothing found"
