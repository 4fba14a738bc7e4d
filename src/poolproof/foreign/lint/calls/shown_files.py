"""Job files that a terminal session shows: `$ cat job.fio`, the lines of the file, and the next prompt.

The file ends earlier at a line that cannot be part of a job file, for example if prose follows the session.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.foreign.lint.jobfiles import has_fio_options

_SHOWN = re.compile(
    r"^(?P<prompt>[ \t]*(?:\[[^\]\n]{1,60}\]|[\w.@:~/-]{0,60})[$#>%][ \t]*)(?:sudo[ \t]+)?(?:cat|more|less)[ \t]+"
    r"(?P<name>[^\s;|<>&]{1,200})[ \t]*\n(?P<text>(?:.*\n?){0,400})",
    re.MULTILINE,
)
_PROMPT = re.compile(r"^[ \t]*(?:\[[^\]\n]{1,60}\]|[\w.@:~/-]{0,60})[$#>%][ \t]*\S", re.MULTILINE)
_LINE = re.compile(r"[> \t]*(?:[#;\[]|include[ \t]|[A-Za-z][\w-]*[ \t]*(?:[=#;].*)?$|$)")
"""Matches a line of a job file, which may have a misspelt option."""


@dataclass(frozen=True)
class ShownFile:
    """A job file in a session. `start`, `line`: the position of its text."""

    name: str
    text: str
    start: int
    line: int


def shown_files(text: str) -> Iterator[ShownFile]:
    place = 0
    while (found := _SHOWN.search(text, place)) is not None:
        place = found.start("text")
        following = next((each for each in _PROMPT.finditer(text, place) if _is_prompt(each[0], found["prompt"])), None)
        shown = text[place : following.start() if following else found.end()]
        shown = "\n".join(itertools.takewhile(_LINE.match, shown.split("\n")))
        if has_fio_options(shown):
            yield ShownFile(found["name"], shown, place, text.count("\n", 0, place) + 1)


def _is_prompt(line: str, prompt: str) -> bool:
    """True if a line begins with the same kind of prompt. In a job file, `#` and blanks begin a comment."""
    mark = prompt.strip()[-1]
    return line.strip()[:-1].rstrip().endswith(mark) and (mark != "#" or len(prompt.strip()) > 1)
