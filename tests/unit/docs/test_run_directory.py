"""docs/run-directory.md lists exactly the keys that can occur in a run's files."""

import functools
import json
import operator
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from poolproof.evidence.counters import Counters
from poolproof.load.generator import Status
from poolproof.measure.series import LatencyInterval, series_text
from poolproof.provision.directories import SCHEMA as OWNER_SCHEMA
from poolproof.provision.directories import StateOwner
from poolproof.provision.journal import SCHEMA as JOURNAL_SCHEMA
from poolproof.provision.journal import ChangeLine, Undone, undo_kinds
from poolproof.provision.old_undos import OldCommand
from poolproof.results.runs.model import SCHEMA, RunRecord, Trial, TrialEvidence

from .pages import DOCS, documented, keys_of_type, optional_parents

_UNDO = functools.reduce(operator.or_, undo_kinds(), OldCommand)
_LINE = msgspec.defstruct(
    "_LINE", [("undo", _UNDO, None)], bases=(ChangeLine,), frozen=True, tag="change", tag_field="line"
)
FILES: dict[str, tuple[Any, ...]] = {
    "run.json": (RunRecord,),
    "trials.jsonl": (Trial,),
    "evidence.json": (TrialEvidence,),
    "journal.jsonl": (_LINE, Undone),
    "owner.json": (StateOwner,),
}


@pytest.mark.parametrize("file", FILES)
def test_every_key_has_its_row(file: str) -> None:
    written = {key for kind in FILES[file] for key in keys_of_type(kind)}
    rows = documented("run-directory.md", f"`{file}`")
    assert written <= rows
    assert rows <= written | optional_parents(written)


def test_the_samples_hold_the_counters() -> None:
    counters = {f"leaves.*.{key}" for key in keys_of_type(Counters)}
    assert documented("run-directory.md", "`samples.jsonl`") == counters | {"at_s"}


def test_the_series_holds_what_is_written() -> None:
    (line,) = series_text([Status(at_s=1.0, ran_s=1.0)]).splitlines()
    assert documented("run-directory.md", "`series.jsonl`") == set(json.loads(line))


def test_a_stretch_holds_what_is_written() -> None:
    assert documented("run-directory.md", "`latency.jsonl`") == keys_of_type(LatencyInterval)


def test_the_page_names_the_schema_that_is_written() -> None:
    assert SCHEMA == JOURNAL_SCHEMA == OWNER_SCHEMA
    assert f"schema {SCHEMA}." in (DOCS / "run-directory.md").read_text(encoding="utf-8")


def test_paths_of_a_type() -> None:
    @dataclass(frozen=True)
    class Inner:
        low: float | None

    @dataclass(frozen=True)
    class Outer:
        names: tuple[str, ...]
        inner: tuple[Inner, ...]
        free: dict[str, int]

    assert keys_of_type(Outer) == {"names[]", "inner[].low", "free.*"}
