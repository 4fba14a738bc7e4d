"""Files and devices that a script prepares with other commands before it runs fio.

`truncate` and `fallocate` give a file its size but no data. `blkdiscard` discards all data on a device. `dd
if=/dev/zero` fills a file with zeros.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from posixpath import join
from typing import Literal

from poolproof.foreign.lint.shell_words import ShellWord, read_script

State = Literal["empty", "zeros", "removed"]

_BEFORE = frozenset({"sudo", "do", "then", "else", "{", "time", "env", "command"})
_EMPTIES = {"truncate": ("-s", "--size", "-r", "--reference"), "fallocate": ("-l", "--length", "-o", "--offset")}
_DISCARDS = ("-o", "--offset", "-l", "--length", "-p", "--step")


@dataclass(frozen=True)
class PreparedFile:
    """The state of a file or device after a command. `command`: the program's name."""

    path: str
    state: State
    command: str
    line: int


def prepared_files(text: str, variables: Mapping[str, str]) -> tuple[PreparedFile, ...]:
    """Return the effects of a script's commands on files and devices, in order."""
    found = []
    for words in read_script(text, variables).commands:
        found += [replace(each, path=join(words[0].folder, each.path)) for each in _of_command(words)]
    return tuple(found)


def _of_command(command: Sequence[ShellWord]) -> Iterator[PreparedFile]:
    words = list(dropwhile(lambda word: word.text in _BEFORE, command))
    if not words:
        return
    name, line = words[0].text.rpartition("/")[2], words[0].line
    rest = [word.text for word in words[1:]]
    if name in _EMPTIES and not {"-d", "--dig-holes"} & set(rest):
        yield from (PreparedFile(path, "empty", name, line) for path in _paths(rest, _EMPTIES[name]))
    elif name == "blkdiscard":
        yield from (PreparedFile(path, "empty", name, line) for path in _paths(rest, _DISCARDS))
    elif name == "rm":
        yield from (PreparedFile(path, "removed", name, line) for path in _paths(rest, ()))
    elif name == "dd":
        given = dict(word.partition("=")[::2] for word in rest)
        if path := given.get("of"):
            is_zero = given.get("if") == "/dev/zero"
            state: State = "empty" if given.get("count") == "0" else "zeros" if is_zero else "removed"
            yield PreparedFile(path, state, name, line)


def _paths(words: Sequence[str], with_value: Sequence[str]) -> Iterator[str]:
    """Yield the arguments that are neither options nor their values.

    `with_value`: the options whose value is the next argument.
    """
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-"):
            yield word
        is_value = not is_value and word in with_value
