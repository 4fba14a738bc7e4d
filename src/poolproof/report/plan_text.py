"""A plan as text: each command as it would be typed, and what would undo it."""

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from poolproof.provision.layout import LayoutPlan
from poolproof.steps import Step, Undo, UndoCommand, UndoDaemon, UndoPrograms, UndoTree

_LONGEST_INPUT = 1000


def plan_text(first: Iterable[Step], layouts: Iterable[LayoutPlan]) -> str:
    """Every step of the layouts, in order; for `--dry-run`."""
    lines = ["# once", *_steps(first)]
    for planned in layouts:
        lines += ["", f"# layout {planned.layout.name}", *_steps(planned.steps), "# to cool it between trials"]
        lines += [_command(step) for step in (*planned.tree.close, *planned.tree.open)]
    return "\n".join(lines)


def plan_object(first: Iterable[Step], layouts: Iterable[LayoutPlan]) -> dict[str, Any]:
    """The same for machines: `--dry-run --json`. A secret that a command reads is not shown."""
    return {
        "once": [_step_object(step) for step in first],
        "layouts": [
            {
                "layout": planned.layout.name,
                "steps": [_step_object(step) for step in planned.steps],
                "cool": [_step_object(step) for step in (*planned.tree.close, *planned.tree.open)],
            }
            for planned in layouts
        ],
    }


def _step_object(step: Step) -> dict[str, Any]:
    return {
        "title": step.title,
        "argv": list(step.argv),
        "stdin": None if step.secret else step.stdin,
        "undo": _undo_text(step.undo).removeprefix("; undo: "),
    }


def _steps(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield f"# {step.title}{_undo_text(step.undo)}"
        yield _command(step)


def _command(step: Step) -> str:
    text = shlex.join(step.argv)
    if not step.stdin or step.secret:
        return text
    if len(step.stdin) > _LONGEST_INPUT:
        return f"{text}  # it reads {len(step.stdin)} characters"
    return f"{text} <<< {shlex.quote(step.stdin)}"


def _undo_text(undo: Undo | None) -> str:
    match undo:
        case UndoCommand():
            return f"; undo: {shlex.join(undo.argv)}"
        case UndoDaemon():
            return f"; undo: end the process in {undo.pidfile}"
        case UndoPrograms():
            return f"; undo: end every {undo.programs[0]} with {undo.marker} in its command line"
        case UndoTree():
            return f"; undo: remove {undo.path}"
        case None:
            return ""
