"""Undos: what a change left on a host, as typed and checked values, and how to undo each kind of change.

An undo does not contain a command. The class of each kind derives the command from the fields. A journal can come from
a stranger, so the type of each field includes a check: `OwnFile`, `OwnName`, `DevicePath` and so on. An undo is
performed only if all of its fields pass their checks (`provision/owned.py`).

An undo never assumes that its change was made, because a run can crash after the change was written to the journal but
before it was made. By the time of the undo, the name (a loop number, a mount point) may belong to something else. Each
undo therefore has a condition, and does nothing if the condition is false.

This module contains the kinds that many technologies use. A layer defines further kinds in its own file
(`Layer.undos`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

COMMAND_LIMIT_S = 30.0
"""The time, in seconds, for which a failing command is retried, unless its kind of undo sets another limit."""

ONCE_S = 20.0
"""The time limit, in seconds, for each attempt to run a command, unless its kind of undo sets another limit."""

MOUNTS = "mnt"
"""The directory in a run's state directory that contains the mount points of its layouts."""

UNMOUNT_LIMIT_S = 300.0
"""The time limit, in seconds, for an unmount or export, which first writes out all data."""

_NAME = re.compile(r"[\w.:+-]+", re.ASCII)
_PROGRAM = re.compile(r"[\w.+-]{1,15}", re.ASCII)  # the kernel truncates a longer `comm`
_DEVICE = re.compile(r"/dev/\S+")
_PATH_MAX = 4096  # limits.h


@dataclass(frozen=True)
class Owned:
    """What a run or lab owns: its label, and the directories that it created, as paths without symbolic links.

    `daemons`: programs that an `UndoDaemon` may end, in addition to those listed by devices and layers.
    `is_proven`: False if the host has no sign that a run with this label existed. Its name is then not enough to remove
    a directory outside `places`.
    """

    label: str
    places: tuple[str, ...]
    daemons: tuple[str, ...] = ()
    is_proven: bool = True


@dataclass(frozen=True)
class Check:
    """How the value of a field is checked.

    `faults`: a function that yields a message for each problem with the value.
    `is_file`: True if the value is a path that must not lead through a symbolic link, except above the run's own
    directories.
    """

    faults: Callable[[Any, Owned], Iterator[str]]
    is_file: bool = False


class Holds(msgspec.Struct, frozen=True):
    """The condition that the file at `path` exists and contains `text`.

    If `text` is empty, the condition is only that something exists at `path`. Nothing is read in that case, so `path`
    may be a device node.
    """

    path: str
    text: str

    def is_in(self, content: str) -> bool:
        """True if the file's content contains the text."""
        return self.text in content


class HoldsLine(Holds, frozen=True):
    """The condition that one line of the file at `path` is `text`. The kernel appends ` (deleted)` to deleted files."""

    def is_in(self, content: str) -> bool:
        """True if the file's content contains the line."""
        return not {self.text, f"{self.text} (deleted)"}.isdisjoint(content.split("\n"))


@dataclass(frozen=True)
class Removal:
    """A command that is run again and again until it succeeds or `timeout_s` has passed, as long as `only_if` is true.

    `last_resort`: a command that is run once if `argv` never succeeds, or empty.
    `once_s`: the time limit for each attempt.
    """

    argv: tuple[str, ...]
    only_if: Holds
    timeout_s: float
    last_resort: tuple[str, ...] = ()
    once_s: float = ONCE_S


def is_plain(path: str) -> bool:
    """True if the path is absolute, not too long, and contains no control characters, empty parts, `.` or `..`."""
    has_controls = any(ord(character) < 32 or ord(character) == 127 for character in path)
    first, *parts = path.split("/")
    is_clean = len(path) < _PATH_MAX and not has_controls
    return is_clean and not first and bool(parts) and not {"", ".", ".."}.intersection(parts)


def is_escaped(path: str) -> bool:
    """True if the kernel's mount table would show the path with escapes, because it contains whitespace or a backslash.

    A mount at such a path would not be found.
    """
    return any(character.isspace() or character == "\\" for character in path)


def not_own_path(path: str, owned: Owned, *, itself: bool = False) -> Iterator[str]:
    """Yield a message unless the path is inside one of the run's directories.

    With `itself`, the path may also be one of these directories.
    """
    if not is_plain(path):
        yield f"{path[:200]!r} is not an absolute path without `..`"
    elif not any(path.startswith(f"{place}/") or (itself and path == place) for place in owned.places):
        yield f"{path} is not in a directory of this run ({', '.join(owned.places)})"


def not_own_name(name: str, owned: Owned) -> Iterator[str]:
    """Yield a message unless the name begins with the run's label."""
    if not (_NAME.fullmatch(name) and name.startswith(f"poolproof-{owned.label}-")):
        yield f"{name!r} does not belong to this run, whose names begin with poolproof-{owned.label}-"


def _not_a_device(path: str, _owned: Owned) -> Iterator[str]:
    if not (_DEVICE.fullmatch(path) and is_plain(path)):
        yield f"{path!r} is not the path of a device"


def _not_own_prefix(path: str, owned: Owned) -> Iterator[str]:
    return not_own_path(path.removesuffix("/"), owned, itself=True)


def _not_a_program(name: str, _owned: Owned) -> Iterator[str]:
    if not _PROGRAM.fullmatch(name):
        yield f"{name!r} is not the name of a program"


def _not_own_tree(path: str, owned: Owned) -> Iterator[str]:
    is_own_name = path.rpartition("/")[2].startswith((f"poolproof-{owned.label}-", f"poolproof-{owned.label}."))
    if not (is_own_name and is_plain(path)):
        yield from not_own_path(path, owned, itself=True)
    elif not owned.is_proven and any(not_own_path(path, owned, itself=True)):
        yield (
            f"nothing shows that this run created {path}, because {owned.places[0]}/owner.json does not exist; if "
            f"{path} contains only test files, remove it yourself"
        )


OwnPath = Annotated[str, Check(not_own_path)]
"""A path inside the run's directories, such as a mount point."""

OwnFile = Annotated[str, Check(not_own_path, is_file=True)]
"""A file inside the run's directories that the undo reads or removes.

The file must not be reached through a symbolic link.
"""

OwnName = Annotated[str, Check(not_own_name)]
"""The name of a kernel object, such as a pool or a mapping, which begins with the run's label.

`layers.shared_steps.kernel_name` creates these names.
"""

DevicePath = Annotated[str, Check(_not_a_device)]
"""The path of a device node. The disk that it refers to need not belong to the run."""

Compared = Annotated[str, Check(lambda _value, _owned: iter(()))]
"""Any string. The undo only compares it with what it finds on the host.

The string never becomes a path or part of a script.
"""


class Undo(msgspec.Struct, frozen=True, tag_field="kind"):
    """What a change left on a host.

    Each subclass is one kind of undo. Its `tag` is the name of the kind in the journal. The type of each field that is
    not a bool includes a `Check`.
    """

    def unmounts(self, owned: Owned) -> str:
        """Return the mount point that the undo unmounts, or "" if it unmounts nothing."""
        del owned
        return ""


class CommandUndo(Undo, frozen=True):
    """An undo that runs a command if a condition is true. The kinds that layers define are subclasses of this class.

    Each kind must define `removal`, which `check_kind` verifies, because a Struct can't be an abstract base class.
    """

    def removal(self) -> Removal:
        """Return the command that undoes the change, and the condition for running it."""
        raise NotImplementedError

    @property
    def summary(self) -> str:
        """A description for people, if the command is a long script. Otherwise empty."""
        return ""


class UndoMount(CommandUndo, frozen=True, tag="mount"):
    """Unmount `mount_point`. With `lazy`, the last attempt is a lazy unmount, in case a FUSE file system hangs."""

    mount_point: OwnPath
    lazy: bool = False

    def unmounts(self, owned: Owned) -> str:
        del owned
        return self.mount_point

    def removal(self) -> Removal:
        """Return the umount command. It is run only if the mount point is mounted."""
        point = self.mount_point
        mounted = Holds("/proc/self/mounts", f" {point} ")
        if self.lazy:
            return Removal(("umount", point), mounted, COMMAND_LIMIT_S, ("umount", "-l", point), ONCE_S)
        return Removal(("umount", point), mounted, COMMAND_LIMIT_S, once_s=UNMOUNT_LIMIT_S)


class UndoDaemon(Undo, frozen=True, tag="daemon"):
    """End the process whose PID is in `pidfile`, and its process group, if its command line contains `marker`.

    `marker` is a path that occurs in the command line of this run's daemon and of no other. If the pid file contains no
    PID, the process is found by `marker`. Only programs listed in the `daemons` of a device, a layer or `Owned` are
    considered.
    """

    pidfile: OwnFile
    marker: OwnPath


class UndoPrograms(Undo, frozen=True, tag="programs"):
    """End every process of these programs (`comm` names) whose command line contains `marker`.

    This also works if the poolproof process that started the program was killed before the program wrote its pid file.
    """

    programs: tuple[Annotated[str, Check(_not_a_program)], ...]
    marker: Annotated[str, Check(_not_own_prefix)]


class UndoTree(Undo, frozen=True, tag="tree"):
    """Remove the directory or file `path`, which contains only poolproof's files.

    Nothing is removed from file systems that are mounted inside the directory.
    """

    path: Annotated[str, Check(_not_own_tree, is_file=True)]


SHARED_KINDS: tuple[type[Undo], ...] = (UndoMount, UndoDaemon, UndoPrograms, UndoTree)


def checked_values(undo: Undo) -> Iterator[tuple[Check, Any]]:
    """Yield every value in the undo's fields together with its check.

    Raises a TypeError if the type of a field has no check, which is a mistake in the definition of the kind.
    """
    for name, annotation in get_type_hints(type(undo), include_extras=True).items():
        yield from _checked(annotation, (getattr(undo, name),), f"{type(undo).__name__}.{name}")


def check_kind(kind: type[Undo]) -> None:
    """Check that the class can be a kind of undo.

    Raises a TypeError if it has no tag or no command, or if a field has no check. Because a journal can be hostile
    input, a field without a check is refused even before a journal is read.
    """
    if not issubclass(kind, Undo) or not isinstance(kind.__struct_config__.tag, str):
        raise TypeError(f"{kind.__name__} is not an Undo with a tag")
    has_command = issubclass(kind, CommandUndo) and kind.removal is not CommandUndo.removal
    if kind not in SHARED_KINDS and not has_command:
        raise TypeError(f"{kind.__name__} does not override `removal`, which returns its command")
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        list(_checked(annotation, (), f"{kind.__name__}.{name}"))


def _checked(annotation: Any, values: tuple[Any, ...], field: str) -> Iterator[tuple[Check, Any]]:
    """Yield the values with their checks, including the items of tuples. Without values, only the types are checked."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *extras = get_args(annotation)
        checks = [extra for extra in extras if isinstance(extra, Check)]
        yield from ((check, value) for check in checks for value in values)
        if not (checks and inner in {str, int}):
            yield from _checked(inner, values, field)
    elif origin is tuple and len(args := get_args(annotation)) == 2 and args[1] is Ellipsis:
        yield from _checked(args[0], tuple(item for value in values for item in value), field)
    elif annotation is not bool:
        raise TypeError(f"{field} of an undo has no check: {annotation}")
