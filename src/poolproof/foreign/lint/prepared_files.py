"""Files and devices that a script prepares with other commands before it runs fio.

`truncate` and `fallocate` give a file its size but no data. `blkdiscard` discards all data on a device. `dd
if=/dev/zero` fills a file with zeros. `chattr +C` sets nodatacow on btrfs. A cloud volume that is created from a
snapshot loads its blocks when they are first read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from posixpath import join, normpath
from typing import Literal

from poolproof.foreign.lint.shell_words import ShellWord, read_script

State = Literal["empty", "zeros", "removed", "nodatacow", "from a snapshot", "read"]
_DEVICES = "/dev"
"""A path that represents all devices, because scripts don't show the device name of a new cloud volume."""

_BEFORE = frozenset({"sudo", "do", "then", "else", "{", "time", "env", "command"})
_EMPTIES = {"truncate": ("-s", "--size", "-r", "--reference"), "fallocate": ("-l", "--length", "-o", "--offset")}
_NODATACOW = re.compile(r"[+=-][a-zA-Z]*C[a-zA-Z]*")
_SNAPSHOTS = {
    "aws": r"\bcreate-volume\b(?=.*--snapshot-id\b)(?!.*--volume-initialization-rate\b)",
    "gcloud": r"\bdisks create\b(?=.*--source-snapshot\b)",
    "az": r"\bdisk create\b(?=.*--source\b[ =]\S*(?i:snap))",
}
_DISCARDS = ("-o", "--offset", "-l", "--length", "-p", "--step")


@dataclass(frozen=True)
class PreparedFile:
    """The state of a file or device after a command.

    `command`: the program's name, or a description of the command that created a cloud volume from a snapshot.
    """

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
    elif name == "chattr":
        modes = [word for word in rest if _NODATACOW.fullmatch(word)]
        state: State = "removed" if modes and modes[-1].startswith("-") else "nodatacow"
        paths = (word for word in rest if not word.startswith(("+", "-", "=")))
        yield from (PreparedFile(normpath(path), state, name, line) for path in paths if modes)
    elif name in _SNAPSHOTS and (created := re.search(_SNAPSHOTS[name], " ".join(rest))):
        yield PreparedFile(_DEVICES, "from a snapshot", f"{name} {created[0]} from a snapshot", line)
    elif name == "dd":
        given = dict(word.partition("=")[::2] for word in rest)
        if (path := given.get("if", "")).startswith("/dev/") and "count" not in given:
            yield PreparedFile(path, "read", name, line)
        if path := given.get("of", ""):
            is_zero = given.get("if") == "/dev/zero"
            state = "empty" if given.get("count") == "0" else "zeros" if is_zero else "removed"
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
