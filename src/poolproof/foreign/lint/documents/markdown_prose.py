"""Prepare Markdown and mail for the search for commands.

Apostrophes in prose (`Don't do this`) are not shell quotes, and the `>` before a quoted line is not a redirection.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.load.fio.option_names import ALL_NAMES

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)")
_FENCE_LINE = re.compile(_FENCE.pattern, re.MULTILINE)
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>```|~~~)[^`\n]*\n(?P<text>(?:(?![ \t]*(?P=fence)).*\n){1,400})[ \t]*(?P=fence)", re.MULTILINE
)
_ANNOTATION = re.compile(r"(?:^|(?<=\s))//(?:[ \t].*)?$", re.MULTILINE)
_INDENTED = re.compile(
    r"^(?P<indent>[ ]{2,12}|\t)\[[\w .-]{1,60}\][ \t]*\n(?:(?:(?P=indent).*|[ \t]*)(?:\n|\Z)){1,400}", re.MULTILINE
)
_UNFENCED = re.compile(
    r"^\[[\w .-]{1,60}\][ \t]*\n"
    r"(?:[ \t]*\n|[#;].*\n|\[[\w .-]{1,60}\][ \t]*\n|[a-z]\w{1,40}[ \t]*(?:=.*)?(?:\n|\Z)){2,400}",
    re.MULTILINE,
)
_WORD = re.compile(r"[a-z]\w*")
_QUOTATION = re.compile(r"(?:^>(?:[ >].*)?\n){2,}", re.MULTILINE)
_MARKS = re.compile(r"^[> ]+", re.MULTILINE)
_PROMPT = re.compile(r"^([ \t]*)#(?=[ \t]+(?:sudo[ \t]+)?fio[ \t]+--?[a-z])")
_FIO = re.compile(r"\A[ \t]{0,40}+(?:sudo[ \t]+)?fio[ \t]")
_OF_SESSIONS = ("", "console", "shell-session", "text", "terminal")
_LONGEST_LINE = 1000  # in a longer line, the search for options could take too long
_NAMED = re.compile(r"(?<![\w./-])fio(?=\s|$)")
_LOOKS_LIKE_COMMAND = re.compile(
    r"\bfio[\w.-]*[ \t].*(?:\s--?[a-z]\w+[= ][^\s].*\s--?[a-z]\w+|\s--?[a-z]\w+=|\.(?:fio|job|ini|cfg)\b|\\\s*$|[$<{])"
)
_QUOTES = str.maketrans("'\"", "  ")


@dataclass(frozen=True)
class FencedText:
    """The text between two fences. `start`, `line`: its position."""

    text: str
    start: int
    line: int


def fenced_texts(text: str) -> Iterator[FencedText]:
    """Yield the text in each fence. Explanations at the end of a line (`iodepth=16  // per job`) become spaces."""
    for found in _FENCED.finditer(text):
        plain = _ANNOTATION.sub(lambda each: " " * len(each[0]), found["text"])
        yield FencedText(plain, found.start("text"), text.count("\n", 0, found.start("text")) + 1)


def indented_texts(text: str) -> Iterator[FencedText]:
    """Yield the text below each indented section header (`    [global]`), as long as it is indented, without fences."""
    for found in _INDENTED.finditer(text) if not _FENCED.search(text) else ():
        indent = len(found["indent"])
        lines = [line[indent:] if not line[:indent].strip() else line.lstrip() for line in found[0].split("\n")]
        yield FencedText("\n".join(lines), found.start(), text.count("\n", 0, found.start()) + 1)


def unfenced_texts(text: str) -> Iterator[FencedText]:
    """Yield each job file in the prose of an issue, from a section header to a line that is not an option."""
    plain = _FENCED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    unclosed = next((found.start() for found in _FENCE_LINE.finditer(plain)), len(plain))
    for found in _UNFENCED.finditer(plain, 0, unclosed):
        lines = itertools.takewhile(lambda line: not _is_word(line), found[0].split("\n"))
        yield FencedText("\n".join(lines) + "\n", found.start(), text.count("\n", 0, found.start()) + 1)


def _is_word(line: str) -> bool:
    """True for a word that is not an option of fio."""
    return _WORD.fullmatch(line.strip()) is not None and line.strip() not in ALL_NAMES


def is_markdown(name: str, text: str = "") -> bool:
    """True if the file name is that of Markdown or reStructuredText, or if the text has fences."""
    return name.lower().endswith((".md", ".markdown", ".mdx", ".rst")) or _FENCED.search(text) is not None


def without_quote_marks(text: str) -> str:
    """Replace the `>` before each line of a quotation of several lines with spaces. The positions do not change."""
    return _QUOTATION.sub(lambda lines: _MARKS.sub(lambda marks: " " * len(marks[0]), lines[0]), text)


def without_quotes_in_prose(text: str) -> str:
    """Return the text without its fences, and without quotes outside of code. The positions of the rest stay the same.

    If the text has no fences, lines that are indented by four spaces (two in reStructuredText) or a tab count as code.
    """
    lines = text.split("\n")
    is_restructured = any(line.endswith("::") or line.lstrip().startswith(".. code") for line in lines)
    indented = () if any(map(_FENCE.match, lines)) else ("  " if is_restructured else "    ", "\t")
    found, is_code, has_prompts = [], False, False
    for number, line in enumerate(lines):
        if fence := _FENCE.match(line):
            is_code = not is_code
            has_prompts = is_code and _is_session(line[fence.end() :], lines[number + 1 :])
            found.append(" " * len(line))
        elif is_code or line.startswith(indented):
            found.append(_PROMPT.sub(r"\1 ", line) if has_prompts else line)
        else:
            found.append(_in_prose(line))
    return "\n".join(found)


def _in_prose(line: str) -> str:
    """Return a line of prose without quotes, and without the name `fio` if it is not a command with options."""
    plain = line.translate(_QUOTES)
    is_command = len(line) > _LONGEST_LINE or _LOOKS_LIKE_COMMAND.search(plain) is not None
    return plain if is_command else _NAMED.sub("   ", plain)


def _is_session(language: str, lines: Sequence[str]) -> bool:
    """True if `# fio` in a fence is a command after the prompt of root, and not a comment.

    `language`: the word after the fence. `lines`: the lines after it.
    """
    inside = itertools.takewhile(lambda line: not _FENCE.match(line), lines)
    return language.strip() in _OF_SESSIONS and not any(map(_FIO.match, inside))
