"""Split a shell script into simple commands, and each command into words with their positions.

Only the parts of the shell language that lint needs are supported: quotes, escapes, continuation lines, comments,
operators, redirections and here-documents. A variable is replaced with its value if known, or with its default in
`${NAME:-default}`. Other variables stay as written, and so do placeholders (`{{ device }}`, `<device>`). Invalid
scripts are not rejected: an unclosed quote, for example, extends to the end of the text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import dropwhile

from poolproof.foreign.lint.documents.template_variables import with_values
from poolproof.foreign.lint.shell.variable_keys import key_without_default, value_at
from poolproof.foreign.lint.shell.working_folder import WorkingFolder
from poolproof.load.fio.commandline import WINDOWS_PATH
from poolproof.load.fio.job import is_windows_path

_OPERATORS = ";&|()<>\n"
_BLANKS = " \t\r"
_PLAIN = re.compile(r"(?:[^ \t\r;&|()<>\n'\"\\$`{\[]|\{(?!\{|[\w-]+\|)|\[(?![\w-]+\|))+")
_PLACEHOLDER = re.compile(  # in Jinja templates, and for people
    r"\{\{[^{}\n]*\}\}|<[A-Za-z][\w-]*>(?=[\s'\"]|$)|(?<=[=/\\])<[A-Za-z][\w-]*(?: [\w-]+){0,5}>"
    r"|(?<==)[{<\[][\w-]+(?:\|[\w-]+)+[}>\]]"
)
_NAME = re.compile(
    r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>[A-Za-z_]\w*|[1-9])|\((?P<made>[A-Za-z_]\w*)\))"
)  # $(X) of make
_OF_CMD = re.compile(r"%(?P<name>\w+)%")
_ALL_OF = re.compile(r"\"?\$(?:\{(?P<array>\w+\[[@*]\])\}|[@*])\"?")
_ELEMENT = re.compile(r"\$\{(?P<array>\w+)\[(?:(?P<number>\d{1,4})|\$(?P<name>[A-Za-z_]\w*)|\$\{(?P<braced>\w+)\})\]\}")
_ARRAY_NAME = re.compile(r"^(?P<name>[A-Za-z_]\w*)=$")
_DEFAULT = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*|\d):?[-=](?P<quote>\"?)(?P<value>[^${}`\"'()*?]*)(?P=quote)\}")
_HERE = re.compile(r"<<(?P<tabs>-?)[ \t]*(?P<quote>['\"\\]?)(?P<mark>[\w.-]+)['\"]?")
_CONTINUED = re.compile(r"\\[ \t]*\r?\n|(?<=[ \t])[\^`][ \t]*\r?\n")  # ^ of cmd.exe, ` of PowerShell
_ARITHMETIC = re.compile(r"\(\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)\)")  # (( n = 1 << 4 ))
_FOLDED = re.compile(
    r"^(?P<indent>[ ]*)(?:- (?:[\w.]+:[ ]+)?|[\w.]+:[ ]+)>[-+]?[ ]*\n(?P<lines>(?:(?P=indent)[ ]+\S.*(?:\n|\Z))+)",
    re.MULTILINE,
)
"""Matches a folded scalar in YAML (`command: >`), whose lines are one line of the value."""
_APOSTROPHE = re.compile(r"(?<=[a-z])'(?=[a-z]{1,2}\b)[^'\n]*$", re.MULTILINE)  # a drive's speed, don't
_OPTION_LINE = re.compile(  # options and their values, and nothing that explains them
    r"[ \t]{0,40}+(?:--?[a-z][\w-]{1,40}+(?:=[^\s;&|<>]{0,200}+|[ \t]{1,9}+[^\s;&|<>-][^\s;&|<>]{0,200}+)?"
    r"(?![^\s;&|<>])[ \t]{0,40}+)+"
    r"(?=[\n;&|<>\\]|2>|\Z)"
)
_FIO = re.compile(r"(?:^|/)fio(?:\.exe)?$")
_FIO_OPTION = re.compile(r"\bfio\s+-")
_SYMBOLS = re.compile(r"[\]},.][^\s\"']*")
_REDIRECTION = re.compile(r"[<>&|]+")
_OF_WINDOWS = re.compile(
    r"^[ \t]{0,40}+(?:@echo\b|param[ \t]{0,9}\(|\[CmdletBinding\b|(?:Write-(?:Host|Output|Error)|Set-Location)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_ESCAPED_IN_QUOTES = ("$", "`", '"', "\\", "\n")
_MAX_DEPTH = 12
_BEFORE = frozenset({"sudo", "do", "then", "else", "{"})


@dataclass(frozen=True)
class ShellWord:
    """A word without its quotes, from character `start` to character `end`.

    `verbatim`: if one pair of quotes encloses the entire word and it contains no escapes, the position after the
    opening quote.
    `is_split`: True if the word is one of several to which a variable expanded. All of these words have the variable's
    position.
    `folder`: the working directory of the command, or an empty string if the script does not set it.
    `is_piped`: True if the next command of the script reads what the command prints.
    """

    text: str
    start: int
    end: int
    line: int
    verbatim: int | None = None
    is_split: bool = False
    folder: str = ""
    is_piped: bool = False


@dataclass(frozen=True)
class HereDocument:
    """The text of a here-document, between `<<MARK` and the mark.

    `program`: the program that reads it. `runner`: the words of its command, and of the one at the end of its pipe.
    `goes_to`: the file to which the program writes it, `|` for another program, or an empty string for neither.
    `appends`: True if the program adds it to the end of the file.
    `is_verbatim`: True if the text is the same as in the script. `is_expanded`: True if the shell expands variables in
    it, because the mark is not quoted.
    """

    text: str
    start: int
    line: int
    folder: str = ""
    program: str = ""
    runner: tuple[ShellWord, ...] = ()
    goes_to: str = ""
    appends: bool = False
    is_verbatim: bool = True
    is_expanded: bool = True


@dataclass
class Script:
    """The simple commands and the here-documents of a script, each in order."""

    commands: list[list[ShellWord]] = field(default_factory=list)
    documents: list[HereDocument] = field(default_factory=list)


def read_script(text: str, variables: Mapping[str, str], *, start: int = 0, line: int = 1, folder: str = "") -> Script:
    """Parse a script that begins at character `start` and line `line` of a larger text, and runs in `folder`.

    Commands in `$(…)` or backquotes are listed before the command that contains them.
    """
    return _ShellParser(text, variables, start, line, 0, folder).read()


def _after_command(word: str) -> str:
    """Return the symbols of a program after a fio command in a string (`]`, `.split`), or an empty string."""
    end = word.find(word[0], 1) + 1 if word[:1] in ("'", '"') else 0
    is_command = bool(end) and _SYMBOLS.fullmatch(word, end) and _FIO_OPTION.search(word, 0, end)
    return word[end:] if is_command else ""


class _ShellParser:
    def __init__(self, text: str, variables: Mapping[str, str], start: int, line: int, depth: int, folder: str) -> None:
        self._depth = depth
        self._text = text
        self._variables = variables
        self._start = start
        self._line = line
        self._place = 0
        self._script = Script()
        self._command: list[ShellWord] = []
        self._waiting: list[tuple[re.Match[str], list[ShellWord]]] = []
        self._goes_to, self._appends = "", False
        self._folded = [found.span("lines") for found in _FOLDED.finditer(text)] if depth == 0 and ">" in text else []
        self._drops_next = False
        self._folder = WorkingFolder(folder)
        self._has_escapes = depth > 0 or text.startswith("#!") or not _OF_WINDOWS.search(text)

    def read(self) -> Script:
        while self._place < len(self._text):
            self._step()
        self._end_command()
        return self._script

    def _take(self, end: int) -> str:
        """Advance to the position `end`, and return the text that was skipped."""
        taken = self._text[self._place : end]
        self._line += taken.count("\n")
        self._place = min(end, len(self._text))
        return taken

    def _find(self, ending: str, start: int) -> int:
        found = self._text.find(ending, start)
        return len(self._text) if found < 0 else found

    def _step(self) -> None:
        """Read the next word, blank, comment or operator."""
        character = self._text[self._place]
        if character in _BLANKS:
            self._place += 1
        elif continued := _CONTINUED.match(self._text, self._place):
            self._take(continued.end())
        elif character == "#":
            self._place = self._find("\n", self._place)
        elif here := _HERE.match(self._text, self._place):
            self._waiting.append((here, self._command))
            self._place = here.end()
        elif character in "<{" and _PLACEHOLDER.match(self._text, self._place):
            self._word()
        elif character == "(" and (math := _ARITHMETIC.match(self._text, self._place)) and "fio" not in math[0]:
            self._take(math.end())
        elif character == "(" and (array_end := self._end_of_array()):
            self._take(array_end)
        elif character == "\n" and (self._is_folded() or self._is_wrapped()):
            self._take(self._place + 1)
        elif redirection := (_REDIRECTION.match(self._text, self._place) if character in "<>" else None):
            # The next word is a file, and a number directly before it is a file descriptor.
            before = self._command[-1] if self._command else None
            if before is not None and before.text.isdecimal() and before.end == self._start + self._place:
                self._command.pop()
            self._place = redirection.end()
            self._drops_next = True
            self._appends = self._appends or redirection[0].startswith(">>")
        elif character in _OPERATORS:
            is_piped = character == "|" and self._text[self._place + 1 : self._place + 2] != "|"
            self._take(self._place + 1)
            self._end_command(is_piped=is_piped)
            if character == "|" and self._waiting:
                self._goes_to = self._goes_to or "|"
            if character == "\n":
                self._documents()
            elif character == "(":
                self._folder.open_subshell()
            elif character == ")":
                self._folder.close_subshell()
        else:
            self._word()

    def _is_folded(self) -> bool:
        """True if YAML replaces the line break at this position with a space."""
        return any(start <= self._place < end - 1 for start, end in self._folded)

    def _is_wrapped(self) -> bool:
        """True if the next line continues a fio command that a mail program wrapped: it begins with an option."""
        is_option = _OPTION_LINE.match(self._text, self._place + 1) is not None
        return is_option and any(_FIO.search(word.text) for word in self._command)

    def _documents(self) -> None:
        """Read the here-documents that the previous line announced. Documentation may indent or quote `MARK`."""
        for here, command in self._waiting:
            tabs = "\t*" if here["tabs"] else ""
            mark = re.compile(rf"^{tabs}{re.escape(here['mark'])}\r*$", re.MULTILINE)
            indented = re.compile(rf"^[> \t]{{1,12}}{re.escape(here['mark'])}[ \t\r]*$", re.MULTILINE)
            found = mark.search(self._text, self._place) or indented.search(self._text, self._place)
            start, line = self._start + self._place, self._line
            text = self._take(found.start() if found else len(self._text))
            words = [*dropwhile(_BEFORE.__contains__, (word.text for word in command))] or [""]
            goes_to = words[-1] if words[0] == "tee" and len(words) > 1 else self._goes_to
            appends = self._appends or "-a" in words[1:2]
            last = self._script.commands[-1] if goes_to == "|" and self._script.commands else []
            inner = _ShellParser(text, self._variables, start, line, self._depth + 1, self._folder.path)
            is_expanded = not here["quote"]
            given = inner.expanded() if is_expanded and self._depth < _MAX_DEPTH else text
            self._script.documents.append(
                HereDocument(
                    given,
                    start,
                    line,
                    self._folder.path,
                    words[0],
                    (*command, *last),
                    goes_to,
                    appends,
                    is_verbatim=given == text,
                    is_expanded=is_expanded,
                )
            )
            self._take(found.end() + 1 if found else len(self._text))
        self._waiting.clear()
        self._goes_to, self._appends = "", False

    def expanded(self) -> str:
        """Return the text as the shell expands it in a here-document."""
        parts: list[str] = []
        while self._place < len(self._text):
            parts.append(self._character(in_quotes=True))
        return "".join(parts)

    def _end_command(self, *, is_piped: bool = False) -> None:
        self._drops_next = False
        if self._command:
            folder = self._folder.run([word.text for word in self._command])
            self._script.commands.append([replace(word, folder=folder, is_piped=is_piped) for word in self._command])
            self._command = []

    def _word(self) -> None:
        begin, line = self._place, self._line
        parts: list[str] = []
        while self._place < len(self._text) and (
            self._text[self._place] not in _BLANKS + _OPERATORS or _PLACEHOLDER.match(self._text, self._place)
        ):
            parts.append(self._part())
        raw, text = self._text[begin : self._place], "".join(parts)
        if rest := _after_command(raw):
            raw, text = raw.removesuffix(rest), text.removesuffix(rest)
        text = _OF_CMD.sub(lambda found: self._variables.get(found["name"], found[0]), text) if "%" in text else text
        text = with_values(text, self._variables)
        is_verbatim = len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"" and raw[1:-1] == text
        start = self._start + begin
        word = ShellWord(text, start, self._start + self._place, line, start + 1 if is_verbatim else None)
        array = _ALL_OF.fullmatch(raw)
        elements = self._variables.get((array["array"] or "@").replace("*", "@")) if array else None
        if self._drops_next:
            self._drops_next = False
            self._goes_to = self._goes_to or text
        elif elements is not None:
            pieces = map(self._filled, elements.split())
            self._command += [replace(word, text=piece, verbatim=None, is_split=True) for piece in pieces]
        elif raw != text and (_NAME.fullmatch(raw) or _PLACEHOLDER.fullmatch(raw)):
            words = [text] if is_windows_path(text) else list(map(self._filled, text.split()))
            self._command += [replace(word, text=piece, is_split=len(words) > 1) for piece in words]
        else:
            self._command.append(word)

    def _end_of_array(self) -> int:
        """Return the end of the array that begins here if its elements are known and used, otherwise 0.

        The elements then are not a command: they may be the start of one, as in `"${FIO[@]}" --name=a`.
        """
        found = _ARRAY_NAME.search(self._command[-1].text) if self._command else None
        if found is None or self._command[-1].end != self._start + self._place:
            return 0
        is_used = f"{found['name']}[@]" in self._variables and f"${{{found['name']}[" in self._text
        return self._find(")", self._place) + 1 if is_used else 0

    def _filled(self, text: str) -> str:
        """Replace the variables in the value of another variable, such as a loop variable in `ARGS="--bs=$bs"`."""
        if "$" not in text:
            return text
        names = ("braced", "plain", "made")
        return _NAME.sub(lambda found: self._variables.get(next(filter(None, found.group(*names))), found[0]), text)

    def _part(self) -> str:
        """Read the next part of a word: quoted text, an escape, an expansion or ordinary characters."""
        plain = _PLACEHOLDER.match(self._text, self._place) or _PLAIN.match(self._text, self._place)
        if plain is not None:
            return self._take(plain.end())
        if self._text[self._place] == "'":
            if _APOSTROPHE.match(self._text, self._place):
                return self._take(self._place + 1)
            return self._take(self._find("'", self._place + 1) + 1)[1:].removesuffix("'")
        if self._text[self._place] == '"':
            return self._double_quoted()
        return self._character(in_quotes=False)

    def _double_quoted(self) -> str:
        parts: list[str] = []
        self._place += 1
        while self._place < len(self._text) and self._text[self._place] != '"':
            parts.append(self._character(in_quotes=True))
        self._take(self._place + 1)
        return "".join(parts)

    def _character(self, *, in_quotes: bool) -> str:
        """Read the next expansion, escape or single character."""
        character, following = self._text[self._place], self._text[self._place + 1 : self._place + 2]
        if character in "$`":
            return self._expansion()
        windows = None if in_quotes else WINDOWS_PATH.match(self._text, self._place)
        if windows is not None:
            return self._take(windows.end())
        if self._has_escapes and character == "\\" and (not in_quotes or following in _ESCAPED_IN_QUOTES):
            self._take(self._place + 2)
            return following.removesuffix("\n")
        return self._take(self._place + 1)

    def _expansion(self) -> str:
        """Return the variable's value if known, its default if it is not set, or otherwise the expansion as written.

        Commands in `$(…)` or backquotes are added to the script.
        """
        named = _NAME.match(self._text, self._place)
        if named is not None and not (named["made"] and named["made"] not in self._variables):
            self._place = named.end()
            value = value_at(self._variables, named["braced"] or named["plain"] or named["made"], self._line)
            return named[0] if value is None else value
        default = _DEFAULT.match(self._text, self._place)
        if default is not None and (
            default["name"] in self._variables or key_without_default(default["name"]) not in self._variables
        ):
            self._place = default.end()
            return self._variables.get(default["name"]) or default["value"]
        element = _ELEMENT.match(self._text, self._place)
        if element is not None and (value := self._element(element)) is not None:
            self._place = element.end()
            return value
        begin, line = self._start + self._place, self._line
        raw = self._take(self._end_of_expansion())
        opening = "$(" if raw.startswith("$(") else "`"
        if raw.startswith(opening) and self._depth < _MAX_DEPTH:
            is_closed = raw[-1] in ")`" and len(raw) > len(opening)
            inside = raw[len(opening) : -1 if is_closed else None]
            begin += len(opening)
            folder = self._folder.path
            inner = _ShellParser(inside, self._variables, begin, line, self._depth + 1, folder).read()
            self._script.commands += inner.commands
            self._script.documents += inner.documents
        return raw

    def _element(self, found: re.Match[str]) -> str | None:
        """Return the element `${ARRAY[0]}` or `${ARRAY[$i]}` of an array, or None if it is unknown."""
        index = found["number"] or self._variables.get(found["name"] or found["braced"], "")
        elements = self._variables.get(f"{found['array']}[@]", "").split()
        return elements[int(index)] if index.isdecimal() and int(index) < len(elements) else None

    def _end_of_expansion(self) -> int:
        """Return the end of an expansion: `$(…)`, `${…}`, a command in backquotes or a special variable."""
        opening = self._text[self._place : self._place + 2]
        if opening.startswith("`"):
            return self._find("`", self._place + 1) + 1
        pair = {"$(": "()", "${": "{}"}.get(opening)
        if pair is None:
            return self._place + (2 if opening[1:] and opening[1] in "@*#?$!0123456789" else 1)
        depth = 0
        for place in range(self._place + 1, len(self._text)):
            depth += (self._text[place] == pair[0]) - (self._text[place] == pair[1])
            if depth == 0:
                return place + 1
        return len(self._text)
