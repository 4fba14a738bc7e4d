"""Undos: what a change to a host left there, as typed and checked values, and how each kind is undone.

A kind of undo has no stored command. Its class derives the command from the fields. A journal can come from a stranger,
so the type of each field includes its check: `OwnFile`, `OwnName`, `DevicePath` and the like. An undo is performed only
if each of its fields passes its check (`provision/owned.py`).

An undo never assumes that its change was made. A run can die after the change was written to the journal but before it
was made. By the time the undo runs, the name (a loop number, a mount point) may belong to something else. So each undo
has a condition and does nothing if that condition is false.

This module has the kinds that many technologies use. A layer defines any other kinds in its own file (`Layer.undos`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

COMMAND_LIMIT_S = 30.0
"""How many seconds a command is repeated until it succeeds, unless its kind of undo sets another limit."""

ONCE_S = 20.0
"""How many seconds a command may run each time, unless its kind of undo sets another limit."""

UNMOUNT_LIMIT_S = 300.0
"""How many seconds an unmount or export may run. Such a command writes out all data first."""

_NAME = re.compile(r"[\w.:+-]+", re.ASCII)
_PROGRAM = re.compile(r"[\w.+-]{1,15}", re.ASCII)  # the kernel truncates a longer `comm`
_DEVICE = re.compile(r"/dev/\S+")


@dataclass(frozen=True)
class Owned:
    """The label of a run or lab, and the directories that it created, without symbolic links in their paths.

    `daemons` are programs that an `UndoDaemon` may end in addition to those that devices and layers name.
    """

    label: str
    places: tuple[str, ...]
    daemons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """How the value of a field is checked. `faults` yields a reason for each problem with the value.

    If `is_file` is true, no directory of the path below the run's directories may be a symbolic link.
    """

    faults: Callable[[Any, Owned], Iterator[str]]
    is_file: bool = False


class Holds(msgspec.Struct, frozen=True):
    """The condition that the file at `path` exists and contains `text`.

    If `text` is empty, the condition is only that something exists at `path`. Nothing is read then, so `path` may be a
    device node.
    """

    path: str
    text: str


@dataclass(frozen=True)
class Removal:
    """Run `argv` repeatedly until it succeeds or `timeout_s` has passed, as long as `only_if` holds.

    If `argv` never succeeds, `last_resort` is run once, if there is one. `once_s` is the time limit of each run.
    """

    argv: tuple[str, ...]
    only_if: Holds
    timeout_s: float
    last_resort: tuple[str, ...] = ()
    once_s: float = ONCE_S


def is_plain(path: str) -> bool:
    """True for an absolute path without control characters, empty parts, `.` or `..`."""
    has_controls = any(ord(character) < 32 or ord(character) == 127 for character in path)
    first, *parts = path.split("/")
    return not has_controls and not first and bool(parts) and not {"", ".", ".."}.intersection(parts)


def not_own_path(path: str, owned: Owned, *, itself: bool = False) -> Iterator[str]:
    """Yield a reason unless the path is inside one of the run's directories.

    With `itself`, the path may also be one of these directories.
    """
    if not is_plain(path):
        yield f"{path[:200]!r} is not an absolute path without `..`"
    elif not any(path.startswith(f"{place}/") or (itself and path == place) for place in owned.places):
        yield f"{path} is not in a directory of this run ({', '.join(owned.places)})"


def not_own_name(name: str, owned: Owned) -> Iterator[str]:
    """Yield a reason unless the name begins with the run's label."""
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


OwnPath = Annotated[str, Check(not_own_path)]
"""A path inside the run's directories, such as a mount point."""

OwnFile = Annotated[str, Check(not_own_path, is_file=True)]
"""A file inside the run's directories that the undo reads or removes. It is not reached through a link."""

OwnName = Annotated[str, Check(not_own_name)]
"""The name of a kernel object, such as a pool or a mapping. `layers.shared_steps.kernel_name` makes these names.

Each name begins with the run's label.
"""

DevicePath = Annotated[str, Check(_not_a_device)]
"""The path of a device node. The disk behind it may not belong to the run."""

Compared = Annotated[str, Check(lambda _value, _owned: iter(()))]
"""Any text. The undo only compares it with what it finds on the host.

The text never becomes a path or a part of a script.
"""


class Undo(msgspec.Struct, frozen=True, tag_field="kind"):
    """What a change left on a host. Each subclass is one kind of undo, and its `tag` is the kind's name in the journal.

    The type of each field that is not a bool includes a `Check`.
    """


class CommandUndo(Undo, frozen=True):
    """An undo that runs a command under a condition. A layer's own kinds derive from this class.

    Each kind defines `removal`; `check_kind` refuses one that does not. (A Struct cannot be an abstract base class.)
    """

    def removal(self) -> Removal:
        """Return the command that undoes the change, and the condition under which it runs."""
        raise NotImplementedError


class UndoMount(CommandUndo, frozen=True, tag="mount"):
    """Unmount `mount_point`. With `lazy`, the last attempt is a lazy unmount, in case a FUSE mount hangs."""

    mount_point: OwnPath
    lazy: bool = False

    def removal(self) -> Removal:
        """Return the umount command, on the condition that the mount point is mounted."""
        point = self.mount_point
        mounted = Holds("/proc/self/mounts", f" {point} ")
        if self.lazy:
            return Removal(("umount", point), mounted, COMMAND_LIMIT_S, ("umount", "-l", point), ONCE_S)
        return Removal(("umount", point), mounted, COMMAND_LIMIT_S, once_s=UNMOUNT_LIMIT_S)


class UndoDaemon(Undo, frozen=True, tag="daemon"):
    """End the process whose PID is in `pidfile`, with its process group, if its command line contains `marker`.

    `marker` is a path that only this daemon of this run has in its command line. If the pid file has no PID, the
    process is found by `marker`. Only programs that a device, a layer or `Owned` lists in its `daemons` are searched.
    """

    pidfile: OwnFile
    marker: OwnPath


class UndoPrograms(Undo, frozen=True, tag="programs"):
    """End every process of these programs (`comm` names) whose command line contains `marker`.

    This also finds a program if the poolproof process that started it was killed before the program wrote its pid file.
    """

    programs: tuple[Annotated[str, Check(_not_a_program)], ...]
    marker: Annotated[str, Check(_not_own_prefix)]


class UndoTree(Undo, frozen=True, tag="tree"):
    """Remove the directory or file `path`, which contains only poolproof's files.

    Mount points in the directory are never crossed.
    """

    path: Annotated[str, Check(_not_own_tree, is_file=True)]


SHARED_KINDS: tuple[type[Undo], ...] = (UndoMount, UndoDaemon, UndoPrograms, UndoTree)


def checked_values(undo: Undo) -> Iterator[tuple[Check, Any]]:
    """Yield every value in the undo's fields together with its check.

    Raises a TypeError if the type of a field has no check, which is a mistake in the code of that kind.
    """
    for name, annotation in get_type_hints(type(undo), include_extras=True).items():
        yield from _checked(annotation, (getattr(undo, name),), f"{type(undo).__name__}.{name}")


def check_kind(kind: type[Undo]) -> None:
    """Check that the class can be a kind of undo.

    Raises a TypeError if it has no tag or no command, or if one of its fields has no check. A journal can be hostile
    input, so a field without a check is refused even before a journal is read.
    """
    if not issubclass(kind, Undo) or not isinstance(kind.__struct_config__.tag, str):
        raise TypeError(f"{kind.__name__} is not an Undo with a tag")
    has_command = issubclass(kind, CommandUndo) and kind.removal is not CommandUndo.removal
    if kind not in SHARED_KINDS and not has_command:
        raise TypeError(f"{kind.__name__} does not derive its command in `removal`")
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        list(_checked(annotation, (), f"{kind.__name__}.{name}"))


def _checked(annotation: Any, values: tuple[Any, ...], field: str) -> Iterator[tuple[Check, Any]]:
    """Yield the values with their checks, down to the items of tuples.

    If there are no values, only the types are examined.
    """
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
