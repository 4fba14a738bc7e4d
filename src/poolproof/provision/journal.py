"""The journal: every change to a host and its undo, on disk before the change is made.

Each line is JSON and is synced. A line is a change (`number`, `title`, `argv`, `undo`, `host`) or marks a change as
undone (`undone`, with its number). A crash can cut off only the last line, and its change was then never made: a change
starts only after its line is complete.
"""

import os
from pathlib import Path

import msgspec

from poolproof.errors import RunError
from poolproof.steps import Step, Undo

SCHEMA = 1


class Change(msgspec.Struct, frozen=True, tag="change", tag_field="line"):
    """A change that was about to be made, and its undo. `host`: where; empty or absent: the run's main host."""

    number: int
    title: str
    argv: tuple[str, ...]
    undo: Undo
    schema: int = SCHEMA
    host: str = ""


class Undone(msgspec.Struct, frozen=True, tag="undone", tag_field="line"):
    """The change with that number has been undone."""

    number: int
    schema: int = SCHEMA


_DECODER = msgspec.json.Decoder(Change | Undone)


class Journal:
    """An append-only file of changes. Opening an existing file continues it.

    Raises a RunError if a line in the middle of the file is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._outstanding: dict[int, Change] = {}
        self._next = 1
        for line in _lines(path):
            self._next = max(self._next, line.number + 1)
            if isinstance(line, Change):
                self._outstanding[line.number] = line
            else:
                self._outstanding.pop(line.number, None)

    def record(self, step: Step) -> None:
        """Write a change; it is on disk when this returns. A step without an undo changes nothing lasting."""
        if step.undo is None:
            return
        change = Change(self._next, step.title, step.argv, step.undo, host=step.host)
        self._append(change)
        self._outstanding[change.number] = change
        self._next += 1

    def mark_undone(self, change: Change) -> None:
        """Write that a change has been undone."""
        self._outstanding.pop(change.number, None)
        self._append(Undone(change.number))

    def outstanding(self) -> tuple[Change, ...]:
        """Return the changes that were not undone, the newest first: the order in which to undo them."""
        return tuple(self._outstanding[number] for number in sorted(self._outstanding, reverse=True))

    def _append(self, line: Change | Undone) -> None:
        _cut_torn_end(self.path)
        with self.path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())


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
                "read the file; what it names may still be mounted or attached (losetup -a, mount)",
            ) from None
    return lines


def _cut_torn_end(path: Path) -> None:
    """Remove an incomplete last line, so that the next line starts on its own."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        text = file.read()
        if text and not text.endswith(b"\n"):
            file.truncate(text.rfind(b"\n") + 1)
