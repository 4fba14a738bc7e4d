"""A plan as text: each command as it would be typed, the command that undoes it, and the fio jobs."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from poolproof.provision.layout import LayoutPlan
from poolproof.steps import Step, Undo, UndoCommand, UndoDaemon, UndoPrograms, UndoTree

_LONGEST_INPUT = 1000


@dataclass(frozen=True)
class PlannedJobs:
    """A workload's job file on every layout, and the job that lays out its test files; empty if there are none."""

    workload: str
    fill: str
    job: str


def plan_text(first: Iterable[Step], layouts: Iterable[LayoutPlan], jobs: Sequence[PlannedJobs]) -> str:
    """Return every step of the layouts, in order, then the fio jobs; for `--dry-run`."""
    lines = ["# once", *_steps(first)]
    for planned in layouts:
        lines += ["", f"# layout {planned.layout.name}", *_steps(planned.steps), "# to cool it between trials"]
        lines += _steps((*planned.tree.close, *planned.tree.open))
    for fill in dict.fromkeys(each.fill for each in jobs if each.fill):
        lines += ["", "# on each layout, once: fio lays test files out, in a `directory` there", fill.rstrip()]
    for each in jobs:
        lines += ["", f"# on each layout, for a trial of {each.workload}: fio, in that `directory`", each.job.rstrip()]
    return "\n".join(lines)


def plan_object(first: Iterable[Step], layouts: Iterable[LayoutPlan], jobs: Iterable[PlannedJobs]) -> dict[str, Any]:
    """Return the same as an object for `--dry-run --json`. A secret that a command reads is not shown."""
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
        "jobs": [asdict(each) for each in jobs],
    }


def _step_object(step: Step) -> dict[str, Any]:
    return {
        "title": step.title,
        "argv": list(step.argv),
        "unless": step.unless or None,
        "patience_s": step.patience_s,
        "await_file": step.await_file,
        "stdin": None if step.secret else step.stdin,
        "undo": _undo_text(step.undo).removeprefix("; undo: "),
    }


def _steps(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield f"# {step.title}{_conditions(step)}{_undo_text(step.undo)}"
        yield _command(step)


def _conditions(step: Step) -> str:
    unless = f"; not where {step.unless} stands already" if step.unless else ""
    again = f"; tried for {step.patience_s:g} s" if step.patience_s else ""
    awaited = f"; then wait for {step.await_file}" if step.await_file else ""
    return unless + again + awaited


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
