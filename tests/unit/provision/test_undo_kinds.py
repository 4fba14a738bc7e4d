"""A kind of undo is defined only in the file of its layer.

Unknown kinds, and kinds with unchecked fields, are refused.
"""

import importlib
import json
from pathlib import Path
from typing import Annotated, get_type_hints

import pytest

from poolproof.errors import RunError
from poolproof.hosts.local import LocalHost
from poolproof.layers.layer_catalogue import all_layers
from poolproof.provision.journal import Journal, undo_kinds
from poolproof.provision.owned import refusal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step
from poolproof.undos import Check, CommandUndo, Compared, Holds, Owned, OwnFile, Removal, Undo, check_kind
from tests.golden import Message

from ..layers.toys import toy_layers

LABEL = "0badcafe"


def _toy_undo(note: Path, text: str) -> CommandUndo:
    undo: CommandUndo = importlib.import_module("poolproof.layers.ext2").UndoMark(str(note), text)
    return undo


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / f"poolproof-{LABEL}"
    path.mkdir()
    return path


def test_a_layer_brings_its_own_kind_of_undo(place: Path) -> None:
    note, foreign, path = place / "mark", place.parent / "mark", place / "journal.jsonl"
    for file in (note, foreign):
        file.write_text("ours")
    owned = Owned(LABEL, (str(place),))
    with toy_layers():
        journal = Journal(path)
        for file in (foreign, note):
            journal.record(Step("mark it", ("touch", str(file)), _toy_undo(file, "ours")))
        assert json.loads(path.read_bytes().splitlines()[1])["undo"] == {
            "kind": "ext2-mark",
            "note": str(note),
            "text": "ours",
        }
        (left,) = undo_all(Journal(path), LocalHost(), owned)
        assert not left.can_repeat
        (place / "link").symlink_to(place.parent)
        journal.record(Step("mark it", ("touch", "x"), _toy_undo(place / "link" / "mark", "ours")))
        linked, _foreign = undo_all(Journal(path), LocalHost(), owned)
        assert "symbolic link" in linked.reason
    assert not note.exists()
    assert foreign.exists()


def test_without_the_layer_its_kind_is_refused(place: Path) -> None:
    path = place / "journal.jsonl"
    with toy_layers():
        undo = _toy_undo(place / "mark", "ours")
        Journal(path).record(Step("mark it", ("true",), undo))
    with pytest.raises(RunError, match="line 1, is damaged"):
        Journal(path)
    with pytest.raises(TypeError, match="UndoMark"):
        Journal(place / "other.jsonl").record(Step("mark it", ("true",), undo))


class _Kind(CommandUndo, frozen=True):
    def removal(self) -> Removal:
        return Removal(("true",), Holds("/", ""), timeout_s=1)


class _Unchecked(_Kind, frozen=True, tag="unchecked"):
    note: OwnFile
    name: str


class _UncheckedItem(_Kind, frozen=True, tag="unchecked-item"):
    names: tuple[str, ...] = ()


class _NotTyped(_Kind, frozen=True, tag="not-typed"):
    fields: dict[str, str]


class _NoCheck(_Kind, frozen=True, tag="no-check"):
    name: Annotated[str, "a name"]


@pytest.mark.parametrize("kind", [_Unchecked, _UncheckedItem, _NotTyped, _NoCheck])
def test_a_kind_with_an_unchecked_field_is_refused(kind: type[Undo], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(all_layers()["xfs"]), "undos", (kind,))
    with pytest.raises(TypeError, match="has no check"):
        undo_kinds()


class _NoCommand(CommandUndo, frozen=True, tag="no-command"):
    note: OwnFile


class _NoCommandUndo(Undo, frozen=True, tag="no-command-undo"):
    note: OwnFile


@pytest.mark.parametrize("kind", [_NoCommand, _NoCommandUndo])
def test_a_kind_of_a_layer_without_a_command_is_refused(kind: type[Undo], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(all_layers()["xfs"]), "undos", (kind,))
    with pytest.raises(TypeError, match="command"):
        undo_kinds()


def test_two_kinds_with_one_tag_are_refused(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    class Pool(_Kind, frozen=True, tag="pool"):
        note: OwnFile

    monkeypatch.setattr(type(all_layers()["xfs"]), "undos", (Pool,))
    with pytest.raises(TypeError, match="pool"):
        Journal(place / "journal.jsonl")


def test_only_the_marks_of_a_disk_may_be_any_text() -> None:
    """These marks are only compared with the disk.

    Another field with arbitrary text requires a similar justification.
    """
    free = {
        f"{kind.__name__}.{name}"
        for kind in undo_kinds()
        for name, annotation in get_type_hints(kind, include_extras=True).items()
        if annotation == Compared
    }
    assert free == {"UndoClaim.identity", "UndoClaim.serial", "UndoClaim.wwn"}


def test_every_refusal_names_the_reason(message: Message) -> None:
    with toy_layers():
        undo = _toy_undo(Path("/etc/passwd"), "ours")
        reason = message(refusal(undo, Owned(LABEL, ("/var/tmp/x",))))
        assert "/etc/passwd" in reason and "/var/tmp/x" in reason


def test_the_check_of_a_tuple_is_that_of_each_item() -> None:
    class Marks(_Kind, frozen=True, tag="marks"):
        notes: Annotated[tuple[OwnFile, ...], Check(lambda notes, _owned: iter(() if notes else ("no note",)))]

    owned = Owned(LABEL, ("/var/tmp/x",))
    check_kind(Marks)
    assert refusal(Marks(("/var/tmp/x/a", "/var/tmp/x/b")), owned) is None
    assert refusal(Marks(("/var/tmp/x/a", "/etc/b")), owned)
    assert refusal(Marks(()), owned) == "no note"
