"""The race for a budget in words: who leads, who was dropped after how many trials, and at what risk."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from poolproof.presentation.terminal.words import per_cent_whole
from poolproof.results.runs.elimination import EliminatedLayout, Elimination
from poolproof.units import format_number_of

_MOST_NAMED = 8


def race_block(race: Elimination) -> RenderableType:
    """For the end of a table."""
    heading, *lines = race_lines(race)
    return Group(Text(f"\n{heading}", style="bold"), *(Padding(Text(line), (0, 0, 0, 2)) for line in lines))


def race_lines(race: Elimination) -> Iterator[str]:
    """The heading, then a sentence each."""
    goal = race.goal[0] if len(race.goal) == 1 else f"the {len(race.goal)} workloads of the goal"
    state = f"{race.leader} leads" if race.leader else _why_nobody(race)
    yield f"the race for {goal}: {state}"
    for each in race.dropped[:_MOST_NAMED]:
        yield dropped_text(each)
    if len(race.dropped) > _MOST_NAMED:
        yield f"and {len(race.dropped) - _MOST_NAMED} more were dropped, see --json"
    level = [name for name in race.left if name != race.leader]
    if race.leader and level:
        yield f"not told apart from it: {', '.join(level)}"
    if race.excluded:
        yield f"without a figure that counts, so not in the race: {', '.join(race.excluded)}"
    if race.dropped:
        yield (
            f"the chance that the true best was dropped is {per_cent_whole(race.risk)} at most, all tests together: "
            f"{race.pairs} pairs at up to {race.checkpoints} looks, each tested at {100 * race.test_risk:.2g} %"
        )


def _why_nobody(race: Elimination) -> str:
    """Why nobody leads."""
    if not race.left:
        return "no layout has a figure that counts"
    if not race.candidates:
        return "no figure settled"
    return "nobody has two trials of each workload yet"


def dropped_text(each: EliminatedLayout) -> str:
    """Who was dropped, and why."""
    trials = format_number_of(each.trials, "trial")
    return (
        f"dropped after {trials} of each workload: {each.layout}; {each.leader} is {each.times:.3g} times as fast, "
        f"{each.least:.3g} times or more with the confidence asked for"
    )
