"""All values that a variable in a script may have, if it is assigned several times, in a loop or as an argument.

The other modules of lint use a value only if it is certain. To warn that a job may overwrite a device, one possible
value is enough.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from poolproof.campaign.layout import BraceMistake, expand_text
from poolproof.foreign.lint.shell.function_calls import functions_in
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job import split_filenames

_MOST = 256
_MOST_STEPS = 4  # from a variable to an argument, to a loop over an array, to a device
_MOST_CALLS = 64
_WORDS = r"\bfor\s+{name}\s+in\s+(?P<words>[^;\n]+)"
_READ = (
    r"(?:\becho\s+(?P<word>[^\s|;&-][^\s|;&]*)|\bprintf\s+[\"']%s\\n[\"']\s+(?P<words>[^\n|;&]+?))\s*"
    r"\|\s*while\s+(?:IFS=\S{{0,8}}\s+)?read\s+(?:-\w+\s+){{0,3}}{name}\b"
)
"""Matches words that a loop reads one by one: `echo /dev/sda | while read disk; do …`."""

_ASSIGNED = r"(?:^|[\s;]){name}(?:[ ]?[?:]?=[ ]?)(\"[^\"\n]*\"|'[^'\n]*'|[^\s;()\"']+)(?=[\s;]|$)"
_ASSIGNED_IF_UNSET = r"\$\{{{name}:?=([^{{}}\n]*)\}}"
_ARRAY = r"(?:^|[\s;]){name}\+?=\(([^()]*)\)"
_VARIABLE = re.compile(
    r"\$(?P<open>[{(])?(?P<name>\w+)"
    r"(?(open)(?:\[(?P<index>[^\]]{0,40})\])?(?::?[-=]\"?(?P<default>(?:[^{}\"]|\{[^{}]*\})*)\"?|:?\?[^{}]*)?[})])"
)  # also $(NAME) in make
_CALL = r"(?:^|[;&|]|\b(?:do|then|else)\b)[ \t]{{0,40}}{name}[ \t]+(?![=(])([^\n;|&]+)"
_ARGUMENT = re.compile(r"\$\{?(?P<number>[1-9])\}?")
_PRINTED = re.compile(r"(?:\$\(|`|;).*?\b(?:echo|printf|ls|readlink|realpath)\b", re.DOTALL)
_IN_COMMAND = re.compile(r"/dev/[^\s\"'`);|&]+|\$\{?\w[^\s\"'`);|&]*")
_LINKED = re.compile(r"\bln\s+-\w*s\w*\s+(\S{1,200})\s+([^\s;&|]{1,200})")
_TREATED = (
    r"(?:\b(?:blkdiscard|blockdev|wipefs|sgdisk|hdparm)\s[^\n;|&]{{0,80}}?|!\s+-b\s+[\"']?)\$\{{?{name}\b"
    r"|(?<=\s)-b\s+[\"']?\$\{{?{name}\}}?[\"']?\s*\]{{0,2}}"
    r"(?:\s*\|\||\s*;?\s*then\b(?:(?!\belse\b|\belif\b|\bfi\b)[\s\S]){{0,2000}}?\bfio\b)"
)
"""Matches what a script does only with a block device. A test that chooses between a device and a file is not part."""

_FOUND = (
    r"(?:(?<!\w){name}=[\"']?|\bfor\s+{name}\s+in\s+)(?:\$\(|`)\s*(?:sudo\s+)?"
    r"(?:findmnt\b[^\n]{{0,80}}\bSOURCE\b|lsblk\b[^\n|]{{0,40}}\s-\w{{0,8}}p|nvme\s+list\b|blkid\b"
    r"|df\b[^\n]{{0,40}}--output=source\b)"
)

_LISTS_DEVICES = (
    r"(?:(?<![\w/>])/dev/(?!null\b)\w|\blsblk\b[^\n|]{{0,40}}\s-\w{{0,8}}p|\bnvme\s+list\b|\bblkid\b)[^\n]{{0,200}}"
)
_PIPED = _LISTS_DEVICES + r"\|\s*while\s+(?:IFS=\S{{0,8}}\s+)?read\s+(?:-\w+\s+){{0,3}}(?:\w+\s+){{0,3}}{name}\b"
"""Matches a loop over the devices that a command prints: `lsblk -dpno NAME | while read disk; do …`."""

_IN_BRACES = re.compile(
    _LISTS_DEVICES.format() + r"\|\s*(?:sudo\s+)?(?:xargs|parallel)\b[^\n]{0,200}\bfio\b"
    r"|\bparallel\b[^\n]{0,400}\bfio\b[^\n]{0,400}:::\s+/dev/(?!null\b)\w"
)
"""Matches a call of fio for each of the devices that a command prints or names: `ls /dev/sd* | xargs -I{} fio …`."""


@dataclass(frozen=True)
class PossibleValues:
    """The values that the variables of a script may have. `arguments`: the arguments of one call of a function."""

    text: str
    arguments: tuple[str, ...] = ()

    def of(self, value: str) -> tuple[str, ...]:
        """Return the value once for each combination of values of its variables.

        Variables without any known value stay as they are.
        """
        return self._expanded(value, only_loops=False)

    def of_path(self, path: str) -> Iterator[str]:
        """Yield the paths to which a path with variables may refer.

        Assigned values count only if all of them are devices, because it is unknown which assignment applies.
        """
        paths = self.of(path)
        known = [each for each in paths if "/" in each and not each.startswith(("$", "`"))]
        if not known or not all(each.startswith("/dev/") for each in known):
            paths = self._expanded(path, only_loops=True)
        for each in paths:
            if not each.startswith("/dev/") and _PRINTED.search(each):
                inner = (self.of(word) for word in _IN_COMMAND.findall(each))
                yield from (word for words in inner for word in words if word.startswith("/dev/"))
            else:
                yield from (each,) if UNKNOWN.search(each) else itertools.chain(*map(_expanded, split_filenames(each)))

    def links(self, path: str) -> tuple[str, ...]:
        """Return the devices to which the script links the path (`ln -s /dev/sda disk`)."""
        return tuple(each for each in _linked(self).get(path, ()) if each.startswith("/dev/"))

    def is_device(self, path: str) -> bool:
        """True if the path is a variable that contains a block device.

        This is assumed if the script treats it as one (`[ -b "$DISK" ] || exit`, `wipefs $DISK`) or assigns one
        (`DISK=$(findmnt -no SOURCE /)`).
        """
        if path == "{}":
            return _IN_BRACES.search(self.text) is not None
        found = _VARIABLE.fullmatch(path)
        names = [found["name"], *self._given(found["name"])] if found else []
        forms = (form.format(name=name.strip("${}")) for name in names for form in (_TREATED, _FOUND, _PIPED))
        return any(re.search(form, self.text) for form in forms)

    def _expanded(self, value: str, *, only_loops: bool) -> tuple[str, ...]:
        choices = [value]
        for _ in range(_MOST_STEPS):
            choices = [each for one in choices for each in self._replaced(one, only_loops=only_loops)][:_MOST]
        return tuple(dict.fromkeys(choices))

    def _replaced(self, value: str, *, only_loops: bool) -> Iterator[str]:
        """Yield the value once for each value of the first variable for which the script shows any."""
        for found in _VARIABLE.finditer(value):
            name = found["name"]
            values = _words_in_loops(name, self.text)
            if not only_loops:
                values += self._given(name, found["index"]) + ((found["default"],) if found["default"] else ())
            if values:
                for each in itertools.islice(itertools.chain.from_iterable(map(_expanded, values)), _MOST):
                    yield value[: found.start()] + each + value[found.end() :]
                return
        yield value

    def _given(self, name: str, index: str | None = None) -> tuple[str, ...]:
        if name.isdecimal():
            return self.arguments[int(name) - 1 : int(name)] if int(name) else ()
        values = _assigned(name, self.text)
        return values[int(index) : int(index) + 1] if index and index.isdecimal() else values


def calls_around(text: str, line: int, depth: int = 0) -> Sequence[tuple[str, ...]]:
    """Return the arguments of each call of the function that contains the line. Empty outside of functions."""
    found: dict[tuple[str, ...], None] = {}
    for function in functions_in(text):
        if not function.line <= line <= function.last_line:
            continue
        called = re.finditer(_CALL.format(name=re.escape(function.name)), text, re.MULTILINE)
        for call in itertools.islice(called, _MOST_CALLS):
            given = tuple(word.strip("\"'") for word in call[1].split())
            is_passed_on = depth < _MOST_STEPS and any(map(_ARGUMENT.search, given))
            outer = calls_around(text, text.count("\n", 0, call.start(1)) + 1, depth + 1) if is_passed_on else ()
            found.update(dict.fromkeys(tuple(_with(each, word) for word in given) for each in outer or ((),)))
    return tuple(found)


def _with(arguments: tuple[str, ...], word: str) -> str:
    """Return an argument, with the calling function's own arguments in it replaced by their values."""

    def argument(found: re.Match[str]) -> str:
        number = int(found["number"])
        return arguments[number - 1] if number <= len(arguments) else found[0]

    return _ARGUMENT.sub(argument, word)


@lru_cache(maxsize=4)
def _linked(values: PossibleValues) -> Mapping[str, Sequence[str]]:
    """Return the targets of the symbolic links that the script makes, keyed by the name of the link."""
    targets: dict[str, list[str]] = {}
    for target, link in _LINKED.findall(values.text):
        for name in values.of(link.strip("\"'")):
            targets.setdefault(name, []).extend(values.of(target.strip("\"'")))
    return targets


@lru_cache(maxsize=256)
def _assigned(name: str, text: str) -> tuple[str, ...]:
    """Return all values that the script assigns to a variable or array."""
    values = re.findall(_ASSIGNED.format(name=name), text, re.MULTILINE)
    values += re.findall(_ASSIGNED_IF_UNSET.format(name=name), text)
    values += [word for words in re.findall(_ARRAY.format(name=name), text, re.MULTILINE) for word in words.split()]
    return _unquoted(values)


@lru_cache(maxsize=256)
def _words_in_loops(name: str, text: str) -> tuple[str, ...]:
    """Return all words that `for` loops, and loops that read a pipe, assign to a variable."""
    lists = [each["words"] for each in re.finditer(_WORDS.format(name=name), text)]
    lists += [each["word"] or each["words"] for each in re.finditer(_READ.format(name=name), text)]
    return _unquoted([word for words in lists for word in words.split()])


def _unquoted(values: Sequence[str]) -> tuple[str, ...]:
    """Return the values without quotes, and without the backslashes that precede variables in a here-document."""
    return tuple(dict.fromkeys(value.strip("\"'").replace("\\$", "$") for value in values))


def _expanded(word: str) -> tuple[str, ...]:
    if UNKNOWN.search(word):
        return (word,)
    try:
        return tuple(itertools.islice(expand_text(word), _MOST))
    except BraceMistake:
        return (word,)
