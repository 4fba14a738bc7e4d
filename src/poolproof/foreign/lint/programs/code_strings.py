"""Fio commands in the strings of a program: `f"fio --filename={path} …"`, or several strings that the program joins.

Values that the program computes become unknown values (`${path}`).
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from poolproof.foreign.lint.documents.yaml_lists import YamlItem

STRING = re.compile(
    r"(?P<prefix>\b[fFrRbBuU]{1,2})?"
    r"(?:\"(?P<double>(?:[^\"\\\n]|\\(?:.|\n))*)\"|'(?P<single>(?:[^'\\\n]|\\(?:.|\n))*)'|`(?P<back>[^`\n]*)`)"
)
VALUE = r"[\w.$@&*]{1,60}+(?:\([^()]{0,80}\)|\[[^\[\]\n]{0,80}\])?"
"""Matches a value between strings: a variable, an attribute, or a call or subscript without nested brackets."""

BLANKS = r"\s{0,99}+"
"""Matches the white space between two symbols. The limit keeps the time linear in the length of the text."""

WINDOW = 8000
"""The number of characters before and after a string in which the program may change it."""

_PREFIX = re.compile(r"(?<![\w\"'])[fFrRbBuU]{1,2}(?=\"\"\"|''')")
_PLACEHOLDER = re.compile(r"\{(?P<name>\w{1,60}(?:\.\w{1,60}){0,4})[^{}]*\}|%[-\d.]*[sdvi](?!\w+%)")
_COMMAND = re.compile(
    rf"{BLANKS}(?:[\w./=-]{{1,40}}+\s{{1,99}}+){{0,6}}?(?:(?:[^\s/]{{0,80}}+/){{0,12}}+fio(?:\.exe)?"
    r"|\$\{(?:self_)?fio(?:_(?:exe|bin|binary|cmd|command|path))?\})\s+-"
)
_PROGRAM = re.compile(r"\s{0,9}(?:sudo\s{1,9})?(?:/[\w/.-]{1,80}/)?fio\s{1,9}")  # "fio " + options
_ADDED = rf"{BLANKS}(?:\+{BLANKS}|(?<=\s)\.\s{{1,99}}+)"  # the dot is Perl's
_NEXT_LINE = rf"[ \t]{{0,99}}+\\?\n{BLANKS}(?=[fFrRbBuU]?[\"'])"
_JOINED = re.compile(rf"(?P<values>(?:{_ADDED}{VALUE}){{0,8}}){_ADDED}(?=[\"'`fFrRbBuU])|{_NEXT_LINE}")
_ARGUMENTS = re.compile(
    rf"{BLANKS}\\?{BLANKS}\)?{BLANKS}(?:(?P<percent>%){BLANKS}|\.format(?=\())"
    r"(?:\((?P<several>(?:[^()]|\([^()\n]{0,80}\)){1,400})\)|(?P<one>\w{1,60}))"
)
_COMMA = re.compile(r",(?=(?:[^\"']*[\"'][^\"']*[\"'])*[^\"']*$)")  # not one in quotes
_LITERAL = re.compile(r"[fFrRbBuU]?(?P<quote>[\"'])(?P<text>[^\"'{}]*)(?P=quote)|(?P<number>\d{1,20})")
_UNNAMED = re.compile(r"\$\{value\}")
_BRACES = re.compile(r"\{\}")
_VALUES = re.compile(rf"{_ADDED}({VALUE})")
_ADDS = re.compile(rf"{BLANKS}\+(?!\+)")
_ASSIGNED = re.compile(r"(?<![\w.])(?:(?:self|this)\.)?(?P<name>[A-Za-z_]\w{0,40})[ \t]+=\s+(?:str)?\(?\s*$")
_EXTENDED = (
    r"(?<!\w){name}\s*(?:[+.]=|=\s*(?:str\()?(?:[fF]?[\"']\{{)?{name}\b"
    r"|=[ \t]*(?:str\()?[\"'](?:%s|\{{\}})[ \t][^\n]{{0,200}}\b{name}\b)"
)
_BEGUN = re.compile(r"\$\{(?P<name>\w{1,60})\}")
_BEGUN_BEFORE = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_]\w{0,60})\s{0,9}\+\s{0,9}$")
_NAME_OPTION = re.compile(r"(?<!\S)--?na(?:me?)?\b")
_LOOKBACK = 80
_SET = re.compile(r"(?<![\w.])([A-Za-z_]\w{0,40})[ \t]{0,9}[+:.]?=(?!=)")
_LONGEST_OPTIONS = 1000
_MOST_REPLACED = 20
_MOST_USES = 16
_ENDS_STATEMENT = re.compile(r"[ \t]{0,9}+(?:%[ \t]{0,9}+[\w.]{1,60}+[ \t]{0,9}+)?[;)]?[ \t]{0,9}+(?:#[^\n]*)?(?:\n|$)")


def text_of(found: re.Match[str]) -> str:
    """Return the text of a string, with `${name}` for each value that the program puts into it."""
    text = next(each for each in found.group("double", "single", "back") if each is not None)
    text = re.sub(r"\\([\"'\\])", r"\1", text.replace("\\\n", ""))
    is_formatted = "f" in (found["prefix"] or "").lower() or "%" in text
    return _PLACEHOLDER.sub(lambda each: unknown(each["name"] or "value"), text) if is_formatted else text


def unknown(name: str) -> str:
    """Return the notation for a value that the program computes. `name`: the expression in the program."""
    words = re.sub(r"[^0-9A-Za-z_]+", "_", name.lstrip("$@&*."))
    return f"${{{words.rstrip('_') if name.endswith(')') else words}}}"


def added_to(name: str) -> str:
    """Return a name for what the program adds to a variable. It differs from the name of the variable."""
    return f"added_to_{name}"


def commands_in(text: str) -> Iterator[YamlItem]:
    """Yield the fio commands that a program formats, joins from several strings, or extends later."""
    line, counted = 1, 0
    for each in _commands(text):
        line, counted = line + text.count("\n", counted, each.start), each.start
        yield YamlItem(each.command, line)


def without_prefixes(text: str) -> str:
    """Replace the prefix of each string in three quotes (`f'''fio …'''`) with spaces."""
    return _PREFIX.sub(lambda found: " " * len(found[0]), text)


def without_commands(text: str) -> str:
    """Replace each of these commands with spaces. The positions of the rest do not change."""
    parts, end = [], 0
    for each in _commands(text):
        parts += [text[end : each.start], re.sub(r"[^\n]", " ", text[each.start : each.end])]
        end = each.end
    return "".join([*parts, text[end:]])


@dataclass(frozen=True)
class _CommandText:
    """A command, and the position in the program of the strings that form it."""

    start: int
    end: int
    command: str


def _commands(text: str) -> Iterator[_CommandText]:
    end = 0
    begun: dict[str, str] = {}
    options = _options_in(text)
    while (found := STRING.search(text, end)) is not None:
        start, end = found.start(), found.end()
        before = text[max(0, start - _LOOKBACK) : start]
        command = _completed(text_of(found), before, begun)
        is_continued = command != text_of(found)
        is_program = _PROGRAM.fullmatch(command) is not None
        if not _COMMAND.match(command) and not is_program:
            continue
        while (joined := _JOINED.match(text, end)) and (more := STRING.match(text, joined.end())):
            if _COMMAND.match(text_of(more)):
                break
            command += "".join(map(unknown, _VALUES.findall(joined["values"] or ""))) + text_of(more)
            end = more.end()
        command, end = _formatted(command, text, end)
        if rest := _VALUES.match(text, end):
            command, end = f"{command}{unknown(rest[1])}", rest.end()
        elif adds := _ADDS.match(text, end):  # an expression that may add any options
            command, end = f"{command} {unknown('added')}", adds.end()
        if name := _extended(text, start, end):
            command += f" {unknown(added_to(name))}"
        if is_program and not _COMMAND.match(command):
            continue
        command = _BEGUN.sub(lambda each: options.get(each["name"], each[0]), command, count=_MOST_REPLACED)
        assigned = _ASSIGNED.search(before)
        later = list(_formatted_later(command, assigned["name"], text, end)) if assigned is not None else []
        if later:
            yield from (_CommandText(start, end, each) for each in later)
            continue
        if assigned is not None and not _NAME_OPTION.search(command):  # base = "fio --direct=1"
            begun[assigned["name"]] = command
        elif found["prefix"] or end > found.end() or name or is_continued:
            yield _CommandText(start, end, command)


def _options_in(text: str) -> Mapping[str, str]:
    """Return the strings of options that a program assigns to variables, each once (`opts = "--rw=…"`)."""
    found: dict[str, str] = {}
    times = Counter(_SET.findall(text))
    for each in STRING.finditer(text):
        value = text_of(each)
        name = _ASSIGNED.search(text[max(0, each.start() - _LOOKBACK) : each.start()])
        is_whole = _ENDS_STATEMENT.match(text, each.end()) is not None
        if name is not None and value.startswith("-") and len(value) <= _LONGEST_OPTIONS and is_whole:
            found[name["name"]] = value
    return {name: value for name, value in found.items() if times[name] == 1}


def _formatted_later(command: str, name: str, text: str, end: int) -> Iterator[str]:
    """Yield the command with each list of arguments that the program puts into it later (`cmd % (path, size)`)."""
    if not (_UNNAMED.search(command) or _BRACES.search(command)):
        return
    uses = re.finditer(rf"(?<![\w.]){name}(?=\s?%|\.format\()", text[end : end + WINDOW])
    for use in itertools.islice(uses, _MOST_USES):
        filled, _ = _formatted(command, text, end + use.end())
        if filled != command:
            yield filled


def _formatted(command: str, text: str, end: int) -> tuple[str, int]:
    """Put the arguments of `"fio …" % (…)` and `.format(…)`, whose string ends at `end`, into the command.

    Return the command, and the end of the arguments. Arguments that are not literal become unknown values.
    """
    found = _ARGUMENTS.match(text, end)
    if found is None:
        return command, end
    given = [each.strip() for each in _COMMA.split(found["several"] or found["one"] or "") if each.strip()]
    values = iter([_value(each) for each in given])
    form = _UNNAMED if found["several"] is None or found["percent"] else _BRACES
    if len(form.findall(command)) != len(given):
        return command, end
    return form.sub(lambda _: next(values), command), found.end()


def _value(argument: str) -> str:
    """Return a literal argument without its quotes, and any other as an unknown value."""
    literal = _LITERAL.fullmatch(argument)
    return (literal["text"] or literal["number"] or "") if literal else unknown(argument)


def _completed(command: str, before: str, begun: Mapping[str, str]) -> str:
    """Return the command with the beginning that a variable contains: `f"{base} --name=a"`, `base + " --name=a"`.

    `before`: the text before the string. `begun`: the beginnings of commands, keyed by variable.
    """
    if (named := _BEGUN.match(command)) and named["name"] in begun:
        return begun[named["name"]] + command[named.end() :]
    added = _BEGUN_BEFORE.search(before)
    return f"{begun[added['name']]}{command}" if added is not None and added["name"] in begun else command


def _extended(text: str, start: int, end: int) -> str:
    """Return the variable that contains the string if the program appends to it later. Empty if it does not."""
    name = _ASSIGNED.search(text[max(0, start - _LOOKBACK) : start])
    is_extended = name and re.search(_EXTENDED.format(name=name["name"]), text[end : end + WINDOW])
    return name["name"] if name and is_extended else ""
