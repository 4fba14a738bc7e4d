"""The first thing a page says: which layout is best, how surely, next to which, and what was left out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from poolproof.errors import RunError, UsageError
from poolproof.metrics import metric_of
from poolproof.presentation.charts.metrics import figure_words
from poolproof.presentation.terminal.sections import elimination_lines
from poolproof.presentation.terminal.words import factor_text, per_cent_whole
from poolproof.results.compare.measured import in_groups
from poolproof.results.compare.ranking import Entry, Excluded, Goal, Ranked, Ranking, find_goal, rank
from poolproof.results.runs.elimination import elimination_of
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import CellKey, Trial
from poolproof.results.runs.summary import Cell
from poolproof.rules.model import Finding
from poolproof.statistics.comparison import LEAST_EFFECT
from poolproof.units import format_duration, format_number_of

_MOST_NAMED = 4


@dataclass(frozen=True)
class Headline:
    """The answer in one `sentence`, and `rest`: the runner-up, what was left out, what the trials cost.

    Without a goal, `workloads` are (workload, its best layout). `tone` is known, open or nothing.
    """

    sentence: str
    rest: tuple[str, ...] = ()
    workloads: tuple[tuple[str, str], ...] = ()
    tone: str = "known"


def answer(seen: LoadedRun) -> Headline:
    """Return the answer to the campaign's question, as far as the trials give one."""
    if not seen.cells:
        return _no_layout(seen)
    if not any(cell.counts and cell.values() for cell in seen.cells):
        return _nothing_counts(seen)
    try:
        goal = find_goal(seen.campaign, None, None)
    except UsageError:
        return _by_workload(seen)
    return _by_goal(seen, goal)


def _no_layout(seen: LoadedRun) -> Headline:
    """Return the headline of a run that has not measured a layout yet."""
    if seen.unplaced:
        return Headline("No measured cell belongs to the campaign.", tone="nothing")
    go_on = () if seen.is_going or seen.left_out else (f"To continue: poolproof resume {seen.path}",)
    if not seen.trials:
        sentence = f"Nothing has been measured yet: 0 of {seen.wanted} trials are done."
        if seen.left_out:
            sentence = f"None of the {seen.left_out} recorded trials can be read."
        return Headline(sentence, go_on, tone="nothing")
    sentence = f"No layout has been measured yet: {seen.done} of {seen.wanted} trials are done, all on single disks."
    return Headline(sentence, go_on, tone="nothing")


def _by_goal(seen: LoadedRun, goal: Goal) -> Headline:
    try:
        ranking = rank(seen, goal, metric=None, effect=LEAST_EFFECT)
    except RunError:
        return _not_all(seen, goal)
    rest = (
        *_runner_up(ranking),
        *_safer(ranking),
        *_excluded(seen, goal, ranking.excluded),
        *_dropped(seen),
        *_missing(seen),
        *_cost(seen),
    )
    known = len(ranking.best) == 1 and not ranking.best[0].entry.unsteady
    return Headline(_best(seen, ranking), rest, tone="known" if known else "open")


def _not_all(seen: LoadedRun, goal: Goal) -> Headline:
    """Return the headline if no layout has a valid figure for each workload of the goal."""
    if goal.only is not None:
        sentence = f"There is no answer for {goal.only}: {_ranked(seen, goal.only)}."
        return Headline(sentence, (*_missing(seen), *_cost(seen)), tone="nothing")
    rankings = [_ranked(seen, name) for name in goal.weights]
    first = [each.layout for each in _firsts(rankings)]
    wins = sorted(((first.count(name), name) for name in dict.fromkeys(first)), key=lambda win: -win[0])
    said = [f"{name} in {count}" for count, name in wins[:_MOST_NAMED]]
    counted = f"Best or tied for best, by number of workloads (of {len(goal.weights)}): {', '.join(said)}."
    left = _excluded(seen, goal, [Excluded(layout.name, "") for layout in seen.campaign.layouts])
    rest = (*([counted] if said else []), *left, *_dropped(seen), *_missing(seen), *_cost(seen))
    sentence = f"No layout is best overall: none has a valid figure for all {len(goal.weights)} workloads."
    return Headline(sentence, rest, tone="open" if said else "nothing")


def _firsts(rankings: Sequence[Ranking | str]) -> Iterator[Entry]:
    for ranking in rankings:
        if not isinstance(ranking, str):
            yield from (each.entry for each in ranking.best)


def _by_workload(seen: LoadedRun) -> Headline:
    """Return the headline without a goal: each workload has its own answer."""
    found = {workload.name: _ranked(seen, workload.name) for workload in seen.campaign.workloads}
    texts = tuple((name, each if isinstance(each, str) else _winner(seen, each, name)) for name, each in found.items())
    winners = {_only_best(each) for each in found.values()}
    winner = winners.pop() if len(winners) == 1 else None
    head = "No layout is best overall: each workload has its own answer."
    counted = [name for name, each in found.items() if not isinstance(each, str)]
    if winner:
        head = f"{winner} is best under all {len(found)} workloads."
    elif len(counted) == 1 and len(found) > 1:
        head = f"Only {counted[0]}, one of {len(found)} workloads, has a valid figure. {dict(texts)[counted[0]]}."
    rest = "The campaign has no goal. Set `goal: WORKLOAD` to get one answer."
    return Headline(head, (rest, *_missing(seen), *_cost(seen)), texts, tone="known" if winner else "open")


def _ranked(seen: LoadedRun, workload: str) -> Ranking | str:
    """Return the ranking of one workload, or why there is none."""
    try:
        return rank(seen, Goal({workload: 1.0}), metric=None, effect=LEAST_EFFECT)
    except RunError as error:
        return f"no figure is valid ({error.message.partition(': ')[2]})"


def _only_best(ranking: Ranking | str) -> str | None:
    if isinstance(ranking, str) or len(ranking.best) > 1:
        return None
    return ranking.best[0].entry.layout


def _winner(seen: LoadedRun, ranking: Ranking, workload: str) -> str:
    first = ranking.ranked[0]
    figure = _figure_text(seen, first, workload)
    if len(ranking.best) == 1:
        return f"{first.entry.layout}: {figure}"
    others = _listed([each.entry.layout for each in ranking.best if each is not first])
    return f"{first.entry.layout} leads with {figure}; not significantly different from {others}"


def _figure_text(seen: LoadedRun, each: Ranked, workload: str) -> str:
    """Return the cell's figure as elsewhere on the page; the ranking's own is a mean of logarithms."""
    cell = seen.cell(each.entry.layout, workload)
    return figure_words(cell, cell.metric)


def _best(seen: LoadedRun, ranking: Ranking) -> str:
    first = ranking.ranked[0]
    if len(ranking.ranked) == 1:
        only = "is the only layout with valid figures"
        return f"For {_goal(ranking)}, {first.entry.layout} {only}{_figure(seen, first, ranking)}."
    if len(ranking.best) == 1:
        return f"For {_goal(ranking)}, {first.entry.layout} is best{_figure(seen, first, ranking)}{_lead(ranking)}."
    names = _listed([each.entry.layout for each in ranking.best])
    why = "" if first.to_leader or _has_interval(ranking) else _why_no_interval(ranking)
    return (
        f"For {_goal(ranking)}, the best is one of {names}: they are not significantly different{why}. "
        f"{first.entry.layout} has the best mean{_figure(seen, first, ranking)}."
    )


def _why_no_interval(ranking: Ranking) -> str:
    """Return why tied layouts have no interval: unsettled figures, or a single trial."""
    unsettled = [each.entry.layout for each in ranking.best if each.entry.unsteady]
    if unsettled:
        return f" (the figures of {_listed(unsettled)} are unsettled)"
    alone = any(each.entry.score.parts is None for each in ranking.best)
    return " (a single trial has no interval)" if alone else ""


def _lead(ranking: Ranking) -> str:
    """Return how far ahead the best is; only for a mix, which has no figure of its own."""
    following = ranking.ranked[1]
    if ranking.goal.only is not None or following.to_leader is None:
        return ""
    return f"; {following.entry.layout} is next: speed {factor_text(following.to_leader.interval)}"


def _has_interval(ranking: Ranking) -> bool:
    return all(pair.difference.error is not None for pair in ranking.pairs)


def _goal(ranking: Ranking) -> str:
    only = ranking.goal.only
    if only is not None:
        return only
    names = list(ranking.goal.weights)
    if len(names) > _MOST_NAMED:
        return f"the mix of {len(names)} workloads"
    return "the mix of " + " + ".join(f"{name} {per_cent_whole(ranking.goal.weights[name])}" for name in names)


def _figure(seen: LoadedRun, each: Ranked, ranking: Ranking) -> str:
    """Return the leader's figure; empty for a mix, which has none."""
    only = ranking.goal.only
    if only is None:
        return ""
    metric = ranking.metrics[only]
    name = "" if metric == "iops" else f"{metric_of(metric).title} "
    return f": {name}{_figure_text(seen, each, only)}"


def _runner_up(ranking: Ranking) -> Iterator[str]:
    others = (
        [each for each in ranking.ranked if each not in ranking.best] if len(ranking.best) > 1 else ranking.ranked[1:]
    )
    told = len(ranking.best) == 1 and ranking.goal.only is None
    if others and others[0].to_leader is not None and not told:
        speed = factor_text(others[0].to_leader.interval)
        yield f"Next is {others[0].entry.layout}: speed {speed} vs {ranking.ranked[0].entry.layout}."


def _safer(ranking: Ranking) -> Iterator[str]:
    for each in ranking.safer[:1]:
        if each.to_leader is not None:
            disks = "one disk failure" if each.safety.redundancy == 1 else f"{each.safety.redundancy} disk failures"
            yield f"Cost of surviving {disks} ({each.entry.layout}): speed {factor_text(each.to_leader.interval)}."


def _excluded(seen: LoadedRun, goal: Goal, excluded: Sequence[Excluded]) -> Iterator[str]:
    """Yield the layouts without a place, and why; for a large mix, how many of its figures are missing and why."""
    if goal.only is not None or len(goal.weights) <= _MOST_NAMED:
        whys = [(each.layout, each.why) for each in excluded]
    else:
        whys = [(each.layout, _lacking(seen, goal, each.layout)) for each in excluded]
    if whys:
        yield f"Left out: {'; '.join(in_groups(whys))}."


def _lacking(seen: LoadedRun, goal: Goal, layout: str) -> str:
    cells = [seen.by_key.get(CellKey(layout, name)) for name in goal.weights]
    bad = ["not measured" if cell is None else cell.verdict for cell in cells if cell is None or not cell.counts]
    counts = ", ".join(f"{bad.count(word)} {word}" for word in dict.fromkeys(bad))
    return f"{counts or 'some without a figure'} of {len(cells)}"


def _nothing_counts(seen: LoadedRun) -> Headline:
    """Return the headline if all cells are refuted or failed, with the fix for most of them."""
    findings = [finding for cell in seen.cells for finding in _decisive(cell)]
    rest = []
    if findings:
        most = max(findings, key=lambda finding: sum(other.rule == finding.rule for other in findings))
        rest = [f"Most frequent cause: {most.rule}: {most.message}.", f"Fix: {most.fix}"]
    count = len(seen.cells)
    cells = "The only figure" if count == 1 else f"All {count} figures"
    return Headline(
        f"Nothing can be concluded. {cells} failed or measured something other than the disks.",
        (*rest, *_missing(seen), *_cost(seen)),
        tone="nothing",
    )


def _decisive(cell: Cell) -> list[Finding]:
    return [finding for finding in cell.findings if finding.effect in ("refutes", "fails")][:1]


def _missing(seen: LoadedRun) -> Iterator[str]:
    done = seen.done
    if done < seen.wanted and not seen.record.imported:
        yield f"{done} of {seen.wanted} trials {'is' if done == 1 else 'are'} done; {_why_not_all(seen)}"
    elif seen.is_going:
        yield "The run is in progress: cells whose trials do not agree yet get more of them."
    if seen.campaign.measure.trials_max == 1 and seen.trials:
        yield "Each cell has one trial: its figures have no interval, so no difference between them is significant."


def _why_not_all(seen: LoadedRun) -> str:
    if seen.is_going:
        return "the run is in progress."
    if seen.left_out:
        return f"{seen.left_out} cannot be read."
    budget_s = seen.campaign.budget_s
    spent = "" if budget_s is None else f"the budget of {format_duration(budget_s)} is spent, or "
    return f"{spent}the run was stopped. To continue: poolproof resume {seen.path}"


def _dropped(seen: LoadedRun) -> Iterator[str]:
    """Yield the layouts that adaptive sampling dropped, and the risk that one of them was the best."""
    race = elimination_of(seen.trials, seen.campaign)
    if race is not None and race.dropped:
        yield from (f"{line[0].upper()}{line[1:]}." for line in elimination_lines(race))


def _cost(seen: LoadedRun) -> Iterator[str]:
    """Yield the time spent; with `until`, also the time of a fixed schedule."""
    trials = [trial for cell in seen.cells for trial in cell.trials]
    spent_s, alone_s = _fio_s(trials), _fio_s(trial for cell in seen.bare for trial in cell.trials)
    if not spent_s:
        return
    text = f"{len(trials)} trial{'s' * (len(trials) != 1)}, {format_duration(spent_s)} of fio"
    text += f"; trials on single disks, {format_duration(alone_s)} of fio" if alone_s else ""
    whole = not seen.is_going and (seen.done >= seen.wanted or seen.campaign.budget_s is not None)
    if seen.campaign.measure.until is not None and whole:
        fixed = f"{format_number_of(seen.campaign.measure.trials, 'trial')} per cell at the longest time"
        text += f"; a fixed schedule ({fixed}) would have taken {format_duration(_fixed_s(seen))}"
    yield f"{text}."


def _fixed_s(seen: LoadedRun) -> float:
    """Return the same value as the table and --json."""
    measure = seen.campaign.measure
    cells = seen.cells
    return sum(cell.settling.fixed_s if cell.settling else measure.trials * measure.longest_s for cell in cells)


def _fio_s(trials: Iterable[Trial]) -> float:
    return sum(trial.seconds.get("fio", 0.0) for trial in trials)


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= _MOST_NAMED else [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
