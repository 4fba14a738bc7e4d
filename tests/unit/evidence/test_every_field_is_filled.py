"""Every field of the evidence and of the target is set by the code, so no rule uses a value that is never measured."""

import ast
import functools
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import poolproof
from poolproof.evidence import backing_files, model, target_facts

_SOURCE = Path(poolproof.__file__).parent
_LIVE = ("evidence", "measure", "layers", "facts", "devices")
_KINDS = sorted(
    {
        kind
        for module in (model, target_facts, backing_files)
        for kind in vars(module).values()
        if isinstance(kind, type) and is_dataclass(kind)
    },
    key=lambda kind: kind.__name__,
)


@functools.cache
def _calls() -> tuple[tuple[str, ast.Call], ...]:
    paths = [path for package in _LIVE for path in sorted((_SOURCE / package).rglob("*.py"))]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    named = [(call.func.id, call) for call in calls if isinstance(call.func, ast.Name)]
    return (*named, *((call.func.attr, call) for call in calls if isinstance(call.func, ast.Attribute)))


def _filled(kind: Any) -> set[str]:
    """Return the fields that the code passes to the class or to `replace`, by position or by name."""
    names = [field.name for field in fields(kind)]
    found: set[str] = set()
    for function, call in _calls():
        keywords = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
        if function == kind.__name__:
            unpacks = any(keyword.arg is None for keyword in call.keywords)
            unpacks |= any(isinstance(arg, ast.Starred) for arg in call.args)
            found |= keywords | set(names if unpacks else names[: len(call.args)])
        elif function == "replace":
            found |= keywords
    return found


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.__name__)
def test_live_code_fills_every_field(kind: Any) -> None:
    unfilled = {field.name for field in fields(kind)} - _filled(kind)
    assert not unfilled, f"rules that read these fields of {kind.__name__} never fire: {sorted(unfilled)}"
