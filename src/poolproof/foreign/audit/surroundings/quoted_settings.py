"""Settings that a text gives above results, such as mount options, and to which of the results each of them applies.

The last setting above a result applies to it. If several settings without a result between them contradict each other,
they may be those before and after a change. Then a setting applies only to results below a line such as `After:` that
repeats the first word of the setting's line.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line

_LABEL = re.compile(r"^\W{0,9}(?P<word>before|after|old|new|with|without|first|second)\b", re.IGNORECASE)
_LABELS = re.compile(r"\b(?:before|after|old|new|with|without|first|second)\b", re.IGNORECASE)
_LONGEST_HEADING, _LINES_ABOVE = 80, 60


@dataclass(frozen=True)
class _SettingGroup:
    """Consecutive settings without a result between them. A harmless setting has an empty quotation.

    `line`: the line of the last setting.
    `words`: the quotation of the last setting, or "" if some of the settings are harmless and others are not.
    `labels`: if some are harmless and others are not, the quotations, keyed by the label at the start of each line. The
    labels are left out if a line has none or if two lines have the same.
    """

    line: int
    words: str
    labels: dict[str, str]


def applying(
    quotes: Iterable[tuple[int, str]], numbered: Sequence[Line], results: Sequence[FoundResult]
) -> Iterator[str]:
    """Yield the quotation of the setting that applies to each result, or an empty string.

    `quotes`: the line of each setting, in order, and its quotation, which is empty if the setting is harmless.
    """
    groups = list(_groups(quotes, numbered, results))
    for result in results:
        at = bisect_left(groups, result.line, key=attrgetter("line"))
        group = groups[at - 1] if at else None
        if group is not None and group.labels:
            yield group.labels.get(_label_above(numbered, group.line, result.line), "")
        else:
            yield group.words if group is not None else ""


def _groups(
    quotes: Iterable[tuple[int, str]], numbered: Sequence[Line], results: Sequence[FoundResult]
) -> Iterator[_SettingGroup]:
    for _, between in groupby(quotes, key=lambda quote: bisect_left(results, quote[0], key=attrgetter("line"))):
        group = list(between)
        is_contrary = any(words for _, words in group) and not all(words for _, words in group)
        matches = [_LABEL.match(_line(numbered, number)) for number, _ in group] if is_contrary else []
        labels = {
            match["word"].lower(): words for match, (_, words) in zip(matches, group, strict=False) if match is not None
        }
        is_labelled = is_contrary and len(labels) == len(group)
        yield _SettingGroup(group[-1][0], "" if is_contrary else group[-1][1], labels if is_labelled else {})


def _line(numbered: Sequence[Line], number: int) -> str:
    return numbered[bisect_left(numbered, number, key=itemgetter(0))][1]


def _label_above(numbered: Sequence[Line], first: int, last: int) -> str:
    """Return the label of the nearest heading between two lines that has labels. Empty if there are several or none."""
    begin, end = (
        bisect_left(numbered, line, key=itemgetter(0)) for line in (max(first + 1, last - _LINES_ABOVE), last)
    )
    for _, line in reversed(numbered[begin:end]):
        is_heading = line.rstrip(" *").endswith(":") or line.startswith("#")
        if len(line) <= _LONGEST_HEADING and is_heading and (found := {word.lower() for word in _LABELS.findall(line)}):
            return found.pop() if len(found) == 1 else ""
    return ""
