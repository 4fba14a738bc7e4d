"""Files and devices that a script prepares with other commands before it runs fio.

`truncate`, `fallocate` and `qemu-img create` give a file its size but no data. `blkdiscard`, `nvme format` and the
security erase of `hdparm` discard all data on a device. A new thin volume and a new zvol contain no data. `dd
if=/dev/zero` fills a file with zeros. `chattr +C` sets nodatacow on btrfs. `mount -t tmpfs` makes a directory a file
system in RAM. A cloud volume that is created from a snapshot loads its blocks when they are first read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from posixpath import join, normpath
from typing import Literal

from poolproof.foreign.lint.documents.yaml_lists import YamlItem, lists_in, without_lists
from poolproof.foreign.lint.programs.code_lists import code_lists_in
from poolproof.foreign.lint.shell.script_values import is_definition
from poolproof.foreign.lint.shell.shell_words import ShellWord, read_script

State = Literal["empty", "zeros", "removed", "nodatacow", "from a snapshot", "read", "in RAM", "cached loop"]
_DEVICES = "/dev"
"""A path that represents all devices, because scripts don't show the device name of a new cloud volume."""

_PROGRAMS = r"(?:truncate|fallocate|blkdiscard|nvme|hdparm|qemu-img|lvcreate|zfs|mount|umount|chattr|dd)"
_QUOTED = re.compile(rf"(?:^|[;&|\n]|\bsudo)[ \t]*{_PROGRAMS}[ \t]")
_IN_LIST = re.compile(rf"[\"'\[ ](?:/\w+){{0,3}}/?{_PROGRAMS}[\"']?[ ]*[,)\]\n]")
_NAME = re.compile(r"\$\{(\w+)\}")
_PRINTS = frozenset({"echo", "printf", "logger"})
_BEFORE = frozenset({"sudo", "do", "then", "else", "{", "time", "env", "command"})
_EMPTIES = {"truncate": ("-s", "--size", "-r", "--reference"), "fallocate": ("-l", "--length", "-o", "--offset")}
_NODATACOW = re.compile(r"[+=-][a-zA-Z]*C[a-zA-Z]*")
_SNAPSHOTS = {
    "aws": r"\bcreate-volume\b(?=.*--snapshot-id\b)(?!.*--volume-initialization-rate\b)",
    "gcloud": r"\bdisks create\b(?=.*--source-snapshot\b)",
    "az": r"\bdisk create\b(?=.*--source\b[ =]\S*(?i:snap))",
}
_NVME_ERASES = ("format", "sanitize")
_CONTROLLER = re.compile(r"/dev/nvme\d+")
_SECURITY_ERASE = ("--security-erase", "--security-erase-enhanced")
_IN_RAM = ("tmpfs", "ramfs")
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_MOUNTED = re.compile(r"(?:^|,)(?:destination|dst|target)=(?P<path>/[^,]*)")
_LVCREATE = ("-n", "--name", "-V", "--virtualsize", "-L", "--size", "-l", "--extents", "-T", "--thinpool", "--type")
_ZFS_CREATE = ("-V", "-b", "-o")
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
    """Return the effects of a script's commands on files and devices, in order.

    These also include commands that are quoted for another program to run, and commands in lists of strings.
    """
    found = []
    for words in read_script(text, variables).commands:
        found += [replace(each, path=join(words[0].folder, each.path)) for each in _of_command(words)]
        for word in words if words[0].text not in _PRINTS and not is_definition(words) else ():
            quoted = read_script(word.text, variables, line=word.line) if _QUOTED.search(word.text) else None
            found += [each for inner in (quoted.commands if quoted else ()) for each in _of_command(inner)]
    for items in _lists_in(text) if _IN_LIST.search(text) else ():
        filled = (_NAME.sub(lambda name: variables.get(name[1], name[0]), item.text) for item in items)
        found += _of_command([ShellWord(word, 0, 0, item.line) for word, item in zip(filled, items, strict=True)])
    return tuple(sorted(found, key=lambda each: each.line))


def _lists_in(text: str) -> Iterator[tuple[YamlItem, ...]]:
    yield from lists_in(text)
    for each in code_lists_in(without_lists(text)):
        yield each.items


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
    elif (made := _made_empty(name, rest)) is not None:
        yield from (PreparedFile(path, "empty", made[0], line) for path in made[1])
    elif name in ("mount", "umount"):
        places = [path for path in _paths(rest, ("-t", "-o", "--types", "--options")) if not path.startswith("/dev/")]
        is_in_ram = _option(rest, ("-t", "--types")) in _IN_RAM
        yield from (PreparedFile(path, "in RAM" if is_in_ram else "removed", name, line) for path in places[-1:])
    elif name in _CONTAINERS:
        yield from (PreparedFile(path, "in RAM", "mount", line) for path in _in_ram(rest))
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


def _in_ram(words: Sequence[str]) -> Iterator[str]:
    """Yield the directories in RAM that `--tmpfs` and `--mount type=tmpfs` give a container."""
    for at, word in enumerate(words):
        name, has_value, value = word.partition("=")
        value = value if has_value else next(iter(words[at + 1 : at + 2]), "")
        if name == "--tmpfs" and value.startswith("/"):
            yield value.partition(":")[0]
        elif name == "--mount" and "type=tmpfs" in value and (found := _MOUNTED.search(value)):
            yield found["path"]


def _made_empty(name: str, rest: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return how a program that creates or erases a volume or an image is named, and the paths that it leaves empty.

    Returns None for all other programs.
    """
    if name == "nvme" and rest and rest[0] in _NVME_ERASES:
        paths = [path for path in rest[1:] if path.startswith(("/dev/", "$"))]
        return f"nvme {rest[0]}", [f"{path}n1" if _CONTROLLER.fullmatch(path) else path for path in paths]
    if name == "hdparm" and any(word in _SECURITY_ERASE for word in rest):
        return name, [path for path in rest if path.startswith(("/dev/", "$"))]
    if name == "qemu-img" and rest[:1] == ["create"]:
        is_raw = _option(rest, ("-f",)) in ("", "raw") and not any("preallocation=full" in word for word in rest)
        return "qemu-img create", [*_paths(rest[1:], ("-f", "-o"))][:1] if is_raw else []
    if name == "lvcreate" and (volume := _option(rest, ("-n", "--name"))):
        is_thin = any(word.startswith(("-V", "--virtualsize")) for word in rest)
        pool = _option(rest, ("-T", "--thinpool")) or next(_paths(rest, _LVCREATE), "")
        group = pool.removeprefix("/dev/").partition("/")[0]
        return name, [f"/dev/{group}/{volume}", f"/dev/mapper/{group}-{volume}"] if is_thin and group else []
    if name == "zfs" and rest[:1] == ["create"]:
        is_volume = any(word == "-V" or (word.startswith("-") and word.endswith("V")) for word in rest)
        return "zfs create", [f"/dev/zvol/{path}" for path in _paths(rest[1:], _ZFS_CREATE)] if is_volume else []
    return None


def _option(words: Sequence[str], names: Sequence[str]) -> str:
    """Return the value of the first of these options, or an empty string if none is given."""
    for at, word in enumerate(words):
        given, has_value, value = word.partition("=")
        if given in names:
            return value if has_value else next(iter(words[at + 1 : at + 2]), "")
    return ""


def _paths(words: Sequence[str], with_value: Sequence[str]) -> Iterator[str]:
    """Yield the arguments that are neither options nor their values.

    `with_value`: the options whose value is the next argument.
    """
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-"):
            yield word
        is_value = not is_value and word in with_value
