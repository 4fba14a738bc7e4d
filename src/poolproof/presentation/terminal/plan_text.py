"""Format a plan: the loads, and each command in shell syntax with the command that undoes it."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from poolproof.provision.layout_plan import LayoutPlan
from poolproof.steps import Step
from poolproof.undos import CommandUndo, Undo, UndoDaemon, UndoPrograms, UndoTree

_LONGEST_INPUT = 1000
_MOST_LINES = 10  # of a script


@dataclass(frozen=True)
class PlannedJobs:
    """The load that a workload runs, and the program that generates it.

    `fill`: the load that writes the test files, or an empty string if it is not needed.
    `job`: the measured load.
    """

    workload: str
    fill: str
    job: str
    generator: str


def plan_text(
    first: Iterable[Step],
    layouts: Iterable[LayoutPlan],
    jobs: Sequence[PlannedJobs],
    rounds: Sequence[Sequence[str]] = (),
) -> str:
    """Format a run's plan for `--dry-run`: the initial steps `first`, the steps for each layout, and the jobs.

    `rounds`: the names of the layouts in each round, in the order of building. They are shown if there are several
    rounds.
    """
    lines = ["# once", *_steps(first)]
    if len(rounds) > 1:
        lines += ["", f"# each layout is built {len(rounds)} times, in this order:"]
        lines += [f"# build {number}: {', '.join(names)}" for number, names in enumerate(rounds, start=1)]
    for planned in layouts:
        lines += ["", f"# layout {planned.layout.name}", *_steps(planned.steps), "# to drop caches before a trial"]
        lines += _steps((*planned.tree.close, *planned.tree.open))
    for generator, fill in dict.fromkeys((each.generator, each.fill) for each in jobs if each.fill):
        lines += ["", f"# once on each layout: {generator} writes test files to `directory`", fill.rstrip()]
    for each in jobs:
        lines += ["", f"# each trial of {each.workload} runs {each.generator} in that `directory`", each.job.rstrip()]
    return "\n".join(lines)


def plan_object(
    first: Iterable[Step],
    layouts: Iterable[LayoutPlan],
    jobs: Iterable[PlannedJobs],
    rounds: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return the same plan as `plan_text`, as an object for `--dry-run --json`."""
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
        "rounds": [list(names) for names in rounds],
    }


def _step_object(step: Step) -> dict[str, Any]:
    return {
        "title": step.title,
        "host": step.host,
        "argv": list(step.argv),
        "unless": step.unless or None,
        "patience_s": step.patience_s,
        "await_file": step.await_file,
        "stdin": step.stdin,
        "undo": _undo_text(step.undo),
    }


def _steps(steps: Iterable[Step]) -> Iterator[str]:
    """Yield each step's command, with a comment on the line above it."""
    for step in steps:
        unless = f"; skipped if {step.unless} exists" if step.unless else ""
        patience = f"; retried for up to {step.patience_s:g} s" if step.patience_s else ""
        awaited = f"; then wait for {step.await_file}" if step.await_file else ""
        undo = f"; undo: {_undo_text(step.undo)}" if step.undo else ""
        place = f"on {step.host}: " if step.host else ""
        yield f"# {place}{step.title}{unless}{patience}{awaited}{undo}"
        command = _command(step.argv)
        if not step.stdin:
            yield command
        elif len(step.stdin) > _LONGEST_INPUT:
            yield f"{command}  # reads {len(step.stdin)} characters from standard input"
        else:
            yield f"{command} <<< {shlex.quote(step.stdin)}"


def _command(argv: Sequence[str]) -> str:
    """Return a command in shell syntax. The text of a long script is omitted, because it hides the other commands."""
    if len(argv) > 2 and argv[2].count("\n") > _MOST_LINES:
        return f"{shlex.join(argv[:2])} … {shlex.join(argv[3:])}  # a script of {argv[2].count(chr(10))} lines"
    return shlex.join(argv)


def _undo_text(undo: Undo | None) -> str:
    match undo:
        case UndoDaemon():
            return f"end the process whose ID is in {undo.pidfile}"
        case UndoPrograms():
            return f"end every {' or '.join(undo.programs)} with {undo.marker} in its command line"
        case UndoTree():
            return f"remove {undo.path}"
        case CommandUndo():
            return undo.summary or _command(undo.removal().argv)
        case _:
            return ""
