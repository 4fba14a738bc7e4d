"""The journal: every change to the machine with its undo, on disk before the change is made.

Lines of JSON, each synced. A line is a change (`number`, `title`, `argv`, `undo`) or the mark that a change was taken
back (`undone`: its number). A line cut off by a crash is the last one, and its change was never made: a change starts
only after its line is whole.
"""

import os
from pathlib import Path

import msgspec

from poolproof.errors import RunError
from poolproof.steps import Step, Undo

SCHEMA = 1


class Change(msgspec.Struct, frozen=True, tag="change", tag_field="line"):
    """A change that was about to be made, and how to take it back."""

    number: int
    title: str
    argv: tuple[str, ...]
    undo: Undo
    schema: int = SCHEMA


class Undone(msgspec.Struct, frozen=True, tag="undone", tag_field="line"):
    """The change of that number has been taken back."""

    number: int
    schema: int = SCHEMA


_DECODER = msgspec.json.Decoder(Change | Undone)


class Journal:
    """An append-only file of changes; opening it again goes on where it ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._standing = {change.number: change for change in outstanding(path)}
        self._next = 1 + max((line.number for line in _lines(path)), default=0)

    def record(self, step: Step) -> None:
        """Write down a change, on disk when this returns; a step without undo changes nothing that lasts."""
        if step.undo is None:
            return
        change = Change(self._next, step.title, step.argv, step.undo)
        self._append(change)
        self._standing[change.number] = change
        self._next += 1

    def mark_undone(self, change: Change) -> None:
        """Write down that a change has been taken back."""
        self._standing.pop(change.number, None)
        self._append(Undone(change.number))

    def standing(self) -> tuple[Change, ...]:
        """The changes that were not taken back, the newest first: the order in which to undo them."""
        return tuple(self._standing[number] for number in sorted(self._standing, reverse=True))

    def _append(self, line: Change | Undone) -> None:
        _mend_torn_end(self.path)
        with self.path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def outstanding(path: Path) -> tuple[Change, ...]:
    """The changes of a journal file that were not taken back, the newest first.

    Raises:
        RunError: a line in the middle of the file is damaged.
    """
    standing: dict[int, Change] = {}
    for line in _lines(path):
        if isinstance(line, Change):
            standing[line.number] = line
        else:
            standing.pop(line.number, None)
    return tuple(standing[number] for number in sorted(standing, reverse=True))


def _lines(path: Path) -> list[Change | Undone]:
    if not path.exists():
        return []
    whole, _, _torn = path.read_bytes().rpartition(b"\n")
    lines: list[Change | Undone] = []
    for number, text in enumerate(whole.split(b"\n") if whole else [], start=1):
        try:
            lines.append(_DECODER.decode(text))
        except msgspec.DecodeError as error:
            raise RunError(
                f"{path}, line {number}, is damaged: {error}",
                "look at the file; what it names may still be mounted or attached (losetup -a, mount)",
            ) from None
    return lines


def _mend_torn_end(path: Path) -> None:
    """Cut a half-written last line off, so that the next one starts on a line of its own."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        text = file.read()
        if text and not text.endswith(b"\n"):
            file.truncate(text.rfind(b"\n") + 1)
