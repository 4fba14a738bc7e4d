"""Split a shell script into simple commands of words with their positions: the part of sh that lint needs.

Quotes, escapes, continuation lines, comments, operators, redirections and here-documents are read as sh does. A
variable is replaced by its value if the script assigns it exactly one literal; otherwise it is left as written.
Nothing is raised: an unclosed quote ends with the text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_OPERATORS = ";&|()<>\n"
_BLANKS = " \t\r"
_NAME = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>[A-Za-z_]\w*))")
_HERE = re.compile(r"<<(?P<tabs>-?)[ \t]*(?P<quote>['\"\\]?)(?P<mark>[\w.-]+)['\"]?")
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
_MAX_DEPTH = 12


@dataclass(frozen=True)
class ShellWord:
    """One word without its quotes, from character `start` to `end`.

    `verbatim`: where its content starts, if the whole word is in one pair of quotes and contains no escapes.
    `is_split`: one of several words from an unquoted variable; all of them have the position of the variable.
    """

    text: str
    start: int
    end: int
    line: int
    verbatim: int | None = None
    is_split: bool = False


@dataclass(frozen=True)
class HereDocument:
    """The lines between `<<MARK` and the mark. `start` is the first character, `line` the first line."""

    text: str
    start: int
    line: int


@dataclass
class Script:
    """The simple commands of a script in order, and its here-documents."""

    commands: list[list[ShellWord]] = field(default_factory=list)
    documents: list[HereDocument] = field(default_factory=list)


def read_script(text: str, variables: Mapping[str, str] | None = None, *, start: int = 0, line: int = 1) -> Script:
    """Read a script that begins at character `start` of a larger text, on line `line`.

    Commands in `$(…)` and in backquotes come before the command around them.
    """
    return _Reader(text, variables or {}, start, line, 0).read()


class _Reader:
    def __init__(self, text: str, variables: Mapping[str, str], start: int, line: int, depth: int) -> None:
        self._depth = depth
        self._text = text
        self._variables = variables
        self._start = start
        self._line = line
        self._place = 0
        self._script = Script()
        self._command: list[ShellWord] = []
        self._waiting: list[re.Match[str]] = []
        self._drops_next = False

    def read(self) -> Script:
        while self._place < len(self._text):
            self._step()
        self._end_command()
        return self._script

    def _step(self) -> None:
        """Read one word, blank, comment or operator."""
        character = self._text[self._place]
        if character in _BLANKS:
            self._place += 1
        elif continued := _CONTINUED.match(self._text, self._place):
            self._place = continued.end()
            self._line += 1
        elif character == "#":
            ending = self._text.find("\n", self._place)
            self._place = len(self._text) if ending < 0 else ending
        elif here := (_HERE.match(self._text, self._place) if character == "<" else None):
            self._waiting.append(here)
            self._place = here.end()
        elif character in "<>":
            self._redirect()
        elif character in _OPERATORS:
            self._operator(character)
        else:
            self._word()

    def _redirect(self) -> None:
        """Skip the redirection: the next word is a file, and a number directly before it is a file descriptor."""
        before = self._command[-1] if self._command else None
        if before is not None and before.text.isdigit() and before.end == self._start + self._place:
            self._command.pop()
        while self._place < len(self._text) and self._text[self._place] in "<>&|":
            self._place += 1
        self._drops_next = True

    def _operator(self, character: str) -> None:
        self._place += 1
        self._end_command()
        if character == "\n":
            self._line += 1
            for here in self._waiting:
                self._document(here)
            self._waiting.clear()

    def _document(self, here: re.Match[str]) -> None:
        begin, line = self._place, self._line
        while self._place < len(self._text):
            ending = self._text.find("\n", self._place)
            ending = len(self._text) if ending < 0 else ending
            row = self._text[self._place : ending]
            upto = self._place
            self._place = min(ending + 1, len(self._text))
            self._line += 1
            if (row.lstrip("\t") if here["tabs"] else row).rstrip("\r") == here["mark"]:
                break
            upto = self._place
        else:
            upto = self._place
        self._script.documents.append(HereDocument(self._text[begin:upto], self._start + begin, line))

    def _end_command(self) -> None:
        self._drops_next = False
        if self._command:
            self._script.commands.append(self._command)
            self._command = []

    def _word(self) -> None:
        begin, line = self._place, self._line
        parts: list[str] = []
        while self._place < len(self._text) and self._text[self._place] not in _BLANKS + _OPERATORS:
            parts.append(self._part())
        raw = self._text[begin : self._place]
        text = "".join(parts)
        whole = len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"" and raw[1:-1] == text
        word = ShellWord(
            text, self._start + begin, self._start + self._place, line, self._start + begin + 1 if whole else None
        )
        if self._drops_next:
            self._drops_next = False
        elif _NAME.fullmatch(raw) and raw != text:
            pieces = text.split()
            self._command += [replace(word, text=piece, is_split=len(pieces) > 1) for piece in pieces]
        else:
            self._command.append(word)

    def _part(self) -> str:
        """Read the next part of a word: quoted text, an escape, a variable or a character."""
        character = self._text[self._place]
        if character == "'":
            return self._single_quoted()
        if character == '"':
            return self._double_quoted()
        if character == "\\":
            return self._escaped()
        if character in "$`":
            return self._expansion()
        self._place += 1
        return character

    def _single_quoted(self) -> str:
        ending = self._text.find("'", self._place + 1)
        ending = len(self._text) if ending < 0 else ending
        inside = self._text[self._place + 1 : ending]
        self._line += inside.count("\n")
        self._place = min(ending + 1, len(self._text))
        return inside

    def _double_quoted(self) -> str:
        parts: list[str] = []
        self._place += 1
        while self._place < len(self._text) and self._text[self._place] != '"':
            character = self._text[self._place]
            if character == "\\" and self._text[self._place + 1 : self._place + 2] not in tuple('$`"\\\n'):
                parts.append(character)
                self._place += 1
            elif character in "\\$`":
                parts.append(self._part())
            else:
                self._line += character == "\n"
                parts.append(character)
                self._place += 1
        self._place = min(self._place + 1, len(self._text))
        return "".join(parts)

    def _escaped(self) -> str:
        character = self._text[self._place + 1 : self._place + 2]
        self._place = min(self._place + 2, len(self._text))
        if character == "\n":
            self._line += 1
            return ""
        return character

    def _expansion(self) -> str:
        """Return the variable's value if it is known; otherwise the text as written."""
        named = _NAME.match(self._text, self._place)
        if named is not None:
            self._place = named.end()
            return self._variables.get(named["braced"] or named["plain"], named[0])
        begin = self._place
        self._place = self._end_of_expansion()
        raw = self._text[begin : self._place]
        self._substitution(raw, begin)
        self._line += raw.count("\n")
        return raw

    def _substitution(self, raw: str, begin: int) -> None:
        """Read the commands inside `$(…)` or backquotes."""
        opening = 2 if raw.startswith("$(") else 1
        if self._depth >= _MAX_DEPTH or not raw.startswith(("$(", "`")):
            return
        inside = raw[opening : -1 if raw[-1] in ")`" and len(raw) > opening else None]
        reader = _Reader(inside, self._variables, self._start + begin + opening, self._line, self._depth + 1)
        inner = reader.read()
        self._script.commands += inner.commands
        self._script.documents += inner.documents

    def _end_of_expansion(self) -> int:
        """Return the end of a `$(…)`, a `${…}` or a command in backquotes."""
        opening = self._text[self._place : self._place + 2]
        if opening.startswith("`"):
            ending = self._text.find("`", self._place + 1)
            return len(self._text) if ending < 0 else ending + 1
        pair = {"$(": "()", "${": "{}"}.get(opening)
        if pair is None:
            return min(self._place + (2 if opening[1:] and opening[1] in "@*#?$!0123456789" else 1), len(self._text))
        depth = 0
        for place in range(self._place + 1, len(self._text)):
            depth += (self._text[place] == pair[0]) - (self._text[place] == pair[1])
            if depth == 0:
                return place + 1
        return len(self._text)
