"""Which command or job file of a text made which of its results.

People show a command above its result. Some tell all commands first and then all results, which go together in order;
some show the result first. Where several commands fit, or one stands below, the choice is marked as assumed.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.load.fio.fitting import fits
from poolproof.load.fio.makers import SourceCommand
from poolproof.load.outcome import Outcome

_MOST_BELOW = 40  # lines between a result and a command that stands below it


@dataclass(frozen=True)
class Printed:
    """A result, its first and last line, and what it prints of its own jobs."""

    result: Outcome
    line: int
    last_line: int
    own: SourceCommand | None


@dataclass(frozen=True)
class Choice:
    """What made a result; None where nothing in the text fits."""

    made: SourceCommand | None = None
    is_assumed: bool = False


def pair(results: Sequence[Printed], makers: Sequence[SourceCommand]) -> list[Choice]:
    """A choice for each result; both are in order of lines."""
    if not makers:
        return [Choice()] * len(results)
    if _stand_first(results, makers):
        return [_below(result, results, makers) for result in results]
    return [_above(place, results, makers) or _below(results[place], results, makers) for place in range(len(results))]


def _stand_first(results: Sequence[Printed], makers: Sequence[SourceCommand]) -> bool:
    """Each result is followed by what made it."""
    if not results or makers[0].line <= results[0].last_line:
        return False
    ends = [*(result.line for result in results[1:]), float("inf")]
    return all(
        any(result.last_line < made.line < end and _fits(result, made) for made in makers)
        for result, end in zip(results, ends, strict=True)
    )


def _above(place: int, results: Sequence[Printed], makers: Sequence[SourceCommand]) -> Choice | None:
    """The nearest maker above that fits; of several that stand together, the one in the result's own place."""
    result = results[place]
    last = bisect_right([made.line for made in makers], result.line) - 1
    nearest = next((index for index in range(last, -1, -1) if _fits(result, makers[index])), None)
    if nearest is None:
        return None
    block = _block(nearest, results, makers)
    fitting = [made for made in block if _fits(result, made)]
    if all(_tell_the_same(made, makers[nearest]) for made in fitting):
        return Choice(makers[nearest])
    return Choice(_in_order(result, results, makers, block) or makers[nearest], is_assumed=True)


def _tell_the_same(made: SourceCommand, other: SourceCommand) -> bool:
    """A command that is quoted twice."""
    mine, others = ([(job.name, job.options) for job in each.jobs.jobs] for each in (made, other))
    return mine == others


def _block(place: int, results: Sequence[Printed], makers: Sequence[SourceCommand]) -> list[SourceCommand]:
    """The makers around that one with no result between them."""
    before = max((result.line for result in results if result.line < makers[place].line), default=0)
    after = min((result.line for result in results if result.line >= makers[place].line), default=0)
    return [made for made in makers if before < made.line <= after]


def _in_order(
    result: Printed, results: Sequence[Printed], makers: Sequence[SourceCommand], block: Sequence[SourceCommand]
) -> SourceCommand | None:
    """The maker in the same place among those that stand together as the result has among those below them; None where
    their numbers differ or a pair does not fit.
    """
    end = min((made.line for made in makers if made.line > block[-1].line), default=float("inf"))
    below = [each for each in results if block[-1].line <= each.line < end]
    if len(below) != len(block) or not all(map(_fits, below, block)):
        return None
    return next((made for each, made in zip(below, block, strict=True) if each is result), None)


def _below(result: Printed, results: Sequence[Printed], makers: Sequence[SourceCommand]) -> Choice:
    """The next maker, before any other result, of a result that does not tell its job itself."""
    if result.own is not None and result.own.origin == "printed options":
        return Choice()
    end = min((other.line for other in results if other.line > result.line), default=float("inf"))
    last = min(end, result.last_line + _MOST_BELOW)
    made = next((made for made in makers if result.last_line < made.line <= last and _fits(result, made)), None)
    if made is None or (end != float("inf") and not _stand_first(results, makers)):
        return Choice()
    return Choice(made, is_assumed=True)


def _fits(result: Printed, made: SourceCommand) -> bool:
    return fits(result.result, made.jobs, result.own)
