"""Adaptive sampling in words: which layout leads, which were eliminated after how many trials, and at what risk."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from poolproof.presentation.terminal.words import per_cent_whole
from poolproof.results.runs.elimination import EliminatedLayout, Elimination
from poolproof.units import format_number_of

_MOST_NAMED = 8


def elimination_block(found: Elimination) -> RenderableType:
    """Return the lines for the end of a table."""
    heading, *lines = elimination_lines(found)
    return Group(Text(f"\n{heading}", style="bold"), *(Padding(Text(line), (0, 0, 0, 2)) for line in lines))


def elimination_lines(found: Elimination) -> Iterator[str]:
    """Yield the heading, then one sentence per line."""
    goal = found.goal[0] if len(found.goal) == 1 else f"the {len(found.goal)} workloads of the goal"
    yield f"adaptive sampling for {goal}: {f'{found.leader} leads' if found.leader else _why_no_leader(found)}"
    yield from map(_eliminated_text, found.dropped[:_MOST_NAMED])
    if len(found.dropped) > _MOST_NAMED:
        yield f"{len(found.dropped) - _MOST_NAMED} more were eliminated, see --json"
    others = [name for name in found.left if name != found.leader]
    if found.leader and others:
        yield f"not significantly different from {found.leader}: {', '.join(others)}"
    if found.excluded:
        yield f"excluded, because a trial of the goal is failed or refuted: {', '.join(found.excluded)}"
    if found.dropped:
        risk = f"each tested at {100 * found.test_risk:.2g} %"
        tests = f"{found.pairs} pairs at up to {found.checkpoints} checkpoints, {risk}"
        yield f"the risk that the true best was eliminated is at most {per_cent_whole(found.risk)} in all: {tests}"


def _why_no_leader(found: Elimination) -> str:
    if not found.left:
        return "no layout has a result that counts"
    if not found.candidates:
        return "no result is steady"
    return "no layout has two trials of each workload yet"


def _eliminated_text(each: EliminatedLayout) -> str:
    trials = format_number_of(each.trials, "trial")
    return (
        f"eliminated after {trials} of each workload: {each.layout}; {each.leader} is {each.times:.3g} times as fast, "
        f"at least {each.least:.3g} times with the required confidence"
    )
