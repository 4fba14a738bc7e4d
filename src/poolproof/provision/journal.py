"""A run's journal: every change to a host, and how to undo it.

Each change is recorded on disk before it is made. The file is in JSON Lines format and is synced after each line. A
line describes a change (`number`, `title`, `argv`, `undo`, `host`), or states that the change with this `number` has
been undone. A crash can truncate only the last line. If that line describes a change, the change was never made,
because poolproof makes a change only after its line is complete.
"""

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from poolproof.devices.disk import UndoClaim
from poolproof.devices.loop import UndoLoop
from poolproof.errors import RunError, as_word, one_line
from poolproof.files.folder import Folder
from poolproof.files.reading import NOT_THE_JSON, whole_lines
from poolproof.files.writing import append_line
from poolproof.layers.layer_catalogue import all_layers
from poolproof.provision.old_undos import OldCommand
from poolproof.results.runs.trial_files import check_numbers
from poolproof.steps import Step
from poolproof.undos import SHARED_KINDS, Undo, check_kind

SCHEMA = 1
_LONGEST_TITLE = 1000  # two paths and a few words; a journal may come from a stranger


@dataclass(frozen=True)
class Change:
    """A change to a host, with its undo. It is recorded just before it is made.

    `host`: the name of the host, or "" for the main host.
    """

    number: int
    title: str
    argv: tuple[str, ...]
    undo: Undo | OldCommand
    host: str = ""


class ChangeLine(msgspec.Struct, frozen=True, tag="change", tag_field="line"):
    """A change in the form in which the journal stores it. Its undo is decoded separately."""

    number: int
    title: str
    argv: tuple[str, ...]
    undo: msgspec.Raw
    schema: int = SCHEMA
    host: str = ""


class Undone(msgspec.Struct, frozen=True, tag="undone", tag_field="line"):
    """A line that states that the change with this number has been undone."""

    number: int
    schema: int = SCHEMA


class JournalDamaged(RunError):
    """A complete line of a journal is damaged, so the journal does not show what the run left behind."""


_DECODER = msgspec.json.Decoder(ChangeLine | Undone)


def undo_kinds() -> tuple[type[Undo], ...]:
    """Return all types of undo: those in `undos.py`, those of devices, and those of each layer.

    A journal that contains a type other than these or `OldCommand` is rejected. Raises a TypeError if a type has a
    field without a check.
    """
    of_layers = (kind for layer in all_layers().values() for kind in layer.undos)
    kinds: tuple[type[Undo], ...] = tuple(dict.fromkeys((*SHARED_KINDS, UndoLoop, UndoClaim, *of_layers)))
    for kind in kinds:
        check_kind(kind)
    return kinds


class Journal:
    """An append-only file of changes. If the file exists, new changes are appended to it.

    `root`: the open directory that contains the file. Without it, the directory is opened each time by its path.

    Raises a RunError if a complete line is damaged or the file cannot be read. Symbolic links are not followed.
    """

    def __init__(self, path: Path, *, root: Folder | None = None) -> None:
        self.path = path
        self._root = root
        self._kinds = undo_kinds()
        self._outstanding: dict[int, Change] = {}
        self._next = 1
        for line in _lines(path, self._kinds, root):
            self._next = max(self._next, line.number + 1)
            if isinstance(line, Change):
                self._outstanding[line.number] = line
            else:
                self._outstanding.pop(line.number, None)

    def record(self, step: Step) -> None:
        """Append a step to the journal and sync the file.

        A step without an undo is skipped, because it leaves nothing behind. Raises a TypeError if the type of the undo
        is not in `undo_kinds`, because the journal would then be unreadable.
        """
        if step.undo is None:
            return
        if type(step.undo) not in self._kinds:
            raise TypeError(f"{type(step.undo).__name__} is not in the undos of a layer")
        change = Change(self._next, step.title, step.argv, step.undo, host=step.host)
        undo = msgspec.Raw(msgspec.json.encode(step.undo))
        self._append(ChangeLine(change.number, change.title, change.argv, undo, host=change.host))
        self._outstanding[change.number] = change
        self._next += 1

    def mark_undone(self, change: Change) -> None:
        self._outstanding.pop(change.number, None)
        self._append(Undone(change.number))

    def outstanding(self) -> tuple[Change, ...]:
        """Return the changes that have not been undone, newest first. They must be undone in this order."""
        return tuple(change for _number, change in sorted(self._outstanding.items(), reverse=True))

    def _append(self, line: ChangeLine | Undone) -> None:
        append_line(self.path, msgspec.json.encode(line), root=self._root)


def _lines(path: Path, kinds: Sequence[type[Undo]], root: Folder | None) -> list[Change | Undone]:
    undos = msgspec.json.Decoder(functools.reduce(operator.or_, kinds, OldCommand))
    lines: list[Change | Undone] = []
    for number, text in enumerate(_texts(path, root), start=1):
        try:
            check_numbers(text)
            line = _DECODER.decode(text)
            if isinstance(line, ChangeLine):
                title, host = one_line(line.title[:_LONGEST_TITLE]), one_line(line.host)
                lines.append(Change(line.number, title, line.argv, undos.decode(line.undo), host))
            else:
                lines.append(line)
        except NOT_THE_JSON as error:
            raise JournalDamaged(
                f"{path}, line {number}, is damaged: {error}",
                "look at the file: the devices and mount points that it lists may still be in use (check with losetup "
                "-a and mount)",
            ) from None
    return lines


def _texts(path: Path, root: Folder | None) -> list[bytes]:
    try:
        return list(whole_lines(path, root=root))
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}", f"ls -l {as_word(path)}") from None
