"""The report's headline: the best layout, how certain that answer is, and what was excluded."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.cell_key import CellKey
from poolproof.errors import UsageError, as_word
from poolproof.metrics import metric_of
from poolproof.presentation.charts.metric_scale import result_text
from poolproof.presentation.terminal.compared import in_place_text, run_variance_text, units_of
from poolproof.presentation.terminal.ranked import failures_text
from poolproof.presentation.terminal.sections import elimination_lines
from poolproof.presentation.terminal.words import builds_text, emulated_legend, per_cent_whole, range_text, speed_text
from poolproof.results.compare.earlier_runs import earlier_runs
from poolproof.results.compare.measured import in_groups
from poolproof.results.compare.ranking import Excluded, Goal, NothingRanked, Ranking, find_goal, rank
from poolproof.results.compare.workload_rankings import together
from poolproof.results.runs.elimination import elimination_of
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import Trial
from poolproof.results.runs.resumes import resumes_text
from poolproof.statistics.comparison import LEAST_EFFECT
from poolproof.units import format_duration, format_number_of

_MOST_NAMED = 4
_NONE_VALID = "no result is valid"


@dataclass(frozen=True)
class Headline:
    """The answer to the campaign's question.

    `sentence`: the answer itself.
    `rest`: further sentences, for example about the runner-up, the excluded layouts and the duration of the trials.
    `workloads`: pairs of a workload and its answer, for a campaign without a goal.
    `tone`: `known` if the question is answered, `open` if it is undecided, or `nothing` if no conclusion is possible.
    """

    sentence: str
    rest: tuple[str, ...] = ()
    workloads: tuple[tuple[str, str], ...] = ()
    tone: str = "known"


def answer(run: LoadedRun) -> Headline:
    """Answer the campaign's question as far as the finished trials allow."""
    if not run.cells:
        return _no_layout(run)
    found = _answer(run)
    rest = (
        *found.rest,
        *_emulated(run),
        *_eliminated(run),
        *_builds(run),
        *_missing(run),
        *_holds_for(run),
        *_cost(run),
    )
    return replace(found, rest=rest)


def _no_layout(run: LoadedRun) -> Headline:
    if run.unplaced:
        return Headline("No measured cell belongs to the campaign.", tone="nothing")
    if run.trials:
        are = "is done, on a single disk" if run.done == 1 else "are done, all on single disks"
        sentence = f"No layout has been measured yet: {run.done} of {run.wanted} trials {are}."
    elif run.left_out:
        none = (
            "The only recorded trial cannot" if run.left_out == 1 else f"None of the {run.left_out} recorded trials can"
        )
        sentence = f"{none} be read."
    else:
        sentence = f"Nothing has been measured yet: 0 of {run.wanted} trials are done."
    can_continue = not run.is_going and not run.left_out
    return Headline(sentence, (f"To continue: poolproof resume {as_word(run.path)}",) * can_continue, tone="nothing")


def _answer(run: LoadedRun) -> Headline:
    if not any(cell.counts and cell.values() for cell in run.cells):
        return _nothing_valid(run)
    try:
        goal = find_goal(run.campaign, None, None)
    except UsageError:
        return _by_workload(run)
    ranking = _ranked(run, goal)
    if isinstance(ranking, str):
        return _incomplete(run, goal, ranking)
    rest = (
        *_runner_up(ranking),
        *_safer(ranking),
        *_left_out(run, goal, ranking.excluded),
        *_repeat(ranking),
        *_in_place([ranking]),
    )
    known = len(ranking.best) == 1 and not ranking.best[0].entry.untested and not ranking.too_few
    return Headline(_best(run, ranking), rest, tone="known" if known else "open")


def _nothing_valid(run: LoadedRun) -> Headline:
    """Return the headline for a run without any valid result: the most frequent cause and how to fix it."""
    decisive = (next(iter(cell.reasons()), None) for cell in run.cells)
    findings = [each for each in decisive if each and each.effect in ("refutes", "fails")]
    counts = Counter(finding.rule for finding in findings)
    rest: tuple[str, ...] = ()
    if findings:
        most = max(findings, key=lambda finding: counts[finding.rule])
        rest = (f"Most frequent cause ({most.rule}): {most.message}.", f"Fix: {most.fix}")
    count = len(run.cells)
    cells = "The only result" if count == 1 else f"All {count} results"
    how = "failed or measured something other than the disks"
    if any(cell.counts for cell in run.cells):
        how = "has no value" if count == 1 else "failed, have no value or measured something other than the disks"
    sentence = f"Nothing can be concluded. {cells} {how}."
    return Headline(sentence, rest, tone="nothing")


def _ranked(run: LoadedRun, goal: Goal) -> Ranking | str:
    try:
        return rank(run, goal, metric=None, effect=LEAST_EFFECT)
    except NothingRanked as error:
        if error.few is not None:
            return f"{TOO_FEW} ({error.few.sentence})"
        why = error.message.partition(": ")[2]
        return why if _has_valid(run, goal) else f"{_NONE_VALID} ({why})"


def _has_valid(run: LoadedRun, goal: Goal, layouts: Collection[str] | None = None) -> bool:
    """True if a layout has a valid result for each of the goal's workloads. `layouts`: the layouts to consider."""
    valid = Counter(
        cell.layout for cell in run.cells if cell.workload in goal.weights and cell.counts and cell.values()
    )
    return any(count >= len(goal.weights) for name, count in valid.items() if layouts is None or name in layouts)


def _by_workload(run: LoadedRun) -> Headline:
    """Return the headline for a campaign without a goal, which answers the question for each workload separately."""
    found = together({each.name: _ranked(run, Goal({each.name: 1.0})) for each in run.campaign.workloads})
    texts = {name: each if isinstance(each, str) else _winner(run, each, name) for name, each in found.items()}
    valid = {name: each for name, each in found.items() if not isinstance(each, str)}
    winners = {
        each.best[0].entry.layout if len(each.best) == 1 and not each.too_few else None for each in valid.values()
    }
    winner = next(iter(winners)) if len(winners) == 1 and len(valid) == len(found) else None
    sentence = f"No layout is clearly the best under all {len(found)} workloads."
    if len(winners - {None}) > 1:
        sentence = "No layout is best overall: the best layout depends on the workload."
    elif winner:
        sentence = f"{winner} is best under all {len(found)} workloads."
    elif len(valid) == 1:
        (name,) = valid
        others = (each for each in found.values() if isinstance(each, str))
        usable = "a valid result" if all(_NONE_VALID in each for each in others) else "a result that can be ranked"
        sentence = f"Only one of the {len(found)} workloads, {name}, has {usable}. {texts[name]}."
    rest = ("The campaign has no goal. Set `goal: WORKLOAD` to get one answer.", *_in_place(valid.values()))
    return Headline(sentence, rest, tuple(texts.items()), tone="known" if winner else "open")


def _in_place(rankings: Iterable[Ranking]) -> Iterator[str]:
    """Yield a note if a ranking includes layouts that were converted into one another in place."""
    names = dict.fromkeys(name for ranking in rankings for name in ranking.in_place)
    if names:
        yield in_place_text(_listed(list(names)))


def _winner(run: LoadedRun, ranking: Ranking, workload: str) -> str:
    first, *others = [each.entry.layout for each in ranking.best]
    untested = [each.entry.layout for each in ranking.best[1:] if each.entry.untested]
    equal = [name for name in others if name not in untested]
    result = _result(run, first, workload)
    among = _among(ranking) or (" among the tested layouts" if untested else "")
    if not others:
        return f"{first}: {result}{f', the best{among}' * bool(among)}"
    if ranking.best[0].entry.untested:  # layouts that can be tested come first
        return f"the best layout is unknown, because no layout can be tested; {first} has the best mean: {result}"
    ends = f"; not significantly different from {_listed(equal)}" if equal else ""
    ends += f"; {_listed(untested)} could not be tested" if untested else ""
    return f"{first} leads{among} with {result}{ends}"


def _among(ranking: Ranking) -> str:
    """Return a phrase with the number of ranked layouts, if others were excluded for having too few events.

    Otherwise, return an empty string.
    """
    if not ranking.too_few:
        return ""
    every = len(ranking.ranked) + len(ranking.excluded)
    return f" among the {len(ranking.ranked)} of {every} layouts that can be ranked"


def _incomplete(run: LoadedRun, goal: Goal, why: str) -> Headline:
    """Return the headline for a run in which no layout has valid results for all workloads of the goal."""
    if goal.only is not None:
        return Headline(f"No layout can be ranked for {goal.only}: {why}.", tone="nothing")
    rankings = together({name: _ranked(run, Goal({name: 1.0})) for name in goal.weights}).values()
    wins = Counter(each.entry.layout for ranking in rankings if not isinstance(ranking, str) for each in ranking.best)
    counted = ", ".join(f"{name} in {count}" for name, count in wins.most_common(_MOST_NAMED))
    rest = [f"Best or tied for best, by number of workloads (of {len(goal.weights)}): {counted}."] if wins else []
    rest += _left_out(run, goal, [Excluded(layout.name, "") for layout in run.campaign.layouts])
    sentence = f"No layout is best overall: none has a valid result for all {len(goal.weights)} workloads."
    return Headline(sentence, tuple(rest), tone="open" if wins else "nothing")


def _best(run: LoadedRun, ranking: Ranking) -> str:
    goal, first = _goal(ranking), ranking.ranked[0]
    name, only, result = first.entry.layout, ranking.goal.only, ""
    if only is not None:
        metric = ranking.metrics[only]
        result = f": {'' if metric == 'iops' else f'{metric_of(metric).title} '}{_result(run, name, only)}"
    if len(ranking.ranked) == 1:
        has_others = _has_valid(run, ranking.goal, {each.layout for each in ranking.excluded})
        usable = "a result that can be ranked" if has_others else "valid results"
        return f"For {goal}, {name} is the only layout with {usable}{result}."
    if len(ranking.best) == 1:
        second = ranking.ranked[1]
        if only is None and second.to_leader is not None:  # a mix has no single result to show
            result = f"; {second.entry.layout} is next: {speed_text(second.to_leader.interval)}"
        return f"For {goal}, {name} is best{_among(ranking)}{result}."
    if first.entry.untested:  # layouts that can be tested come first
        return f"For {goal}, the best layout is unknown: no layout can be tested. {name} has the best mean{result}."
    names = _listed([each.entry.layout for each in ranking.best])
    tied = all(pair.difference.error is not None for pair in ranking.pairs)
    why = "" if first.to_leader or tied else _why_no_interval(ranking)
    return (
        f"For {goal}, the best layout is one of {names}: they are not significantly different{why}. {name} has the "
        f"best mean{result}."
    )


def _goal(ranking: Ranking) -> str:
    weights = ranking.goal.weights
    if ranking.goal.only is not None:
        return ranking.goal.only
    if len(weights) > _MOST_NAMED:
        return f"the mix of {len(weights)} workloads"
    return "the mix of " + " + ".join(f"{name} {per_cent_whole(weight)}" for name, weight in weights.items())


def _result(run: LoadedRun, layout: str, workload: str) -> str:
    """Format the cell's mean as the rest of the report does. The ranking uses the mean of the logarithms instead."""
    cell = run.cell(layout, workload)
    return result_text(cell, cell.metric)


def _why_no_interval(ranking: Ranking) -> str:
    """Return, in parentheses, the reason why the tied layouts cannot be tested, or an empty string if they can."""
    untested = [each.entry.layout for each in ranking.best if each.entry.untested]
    if untested:
        return f" (the results of {_listed(untested)} cannot be tested)"
    alone = any(each.entry.score.parts is None for each in ranking.best)
    return f" (a single {'build' if ranking.run.by_build else 'trial'} has no interval)" if alone else ""


def _runner_up(ranking: Ranking) -> Iterator[str]:
    """Yield a sentence about the next-best layout, unless the headline already mentions it."""
    if len(ranking.best) == 1 and ranking.goal.only is None:
        return
    others = [each for each in ranking.ranked[1:] if len(ranking.best) == 1 or each not in ranking.best]
    if others and others[0].to_leader is not None:
        speed = speed_text(others[0].to_leader.interval)
        yield f"Next is {others[0].entry.layout}: {speed} compared with {ranking.ranked[0].entry.layout}."


def _repeat(ranking: Ranking) -> Iterator[str]:
    """Yield a sentence that predicts how much the two best layouts would differ if the run were repeated."""
    for each in ranking.ranked[1:2]:
        repeated = None if each.entry.untested else ranking.repeated(each)
        if repeated is not None:
            names = f"{each.entry.layout} vs {ranking.ranked[0].entry.layout}"
            shown, units = range_text(repeated), units_of(ranking.run)
            yield f"95% prediction interval for a repeat with the same number of {units}: {shown} ({names})."


def _holds_for(run: LoadedRun) -> Iterator[str]:
    """Yield sentences about the scope of the answer: the machine, the builds and the days for which it holds."""
    if run.record.imported or not run.trials:
        return
    if text := resumes_text(run.record, run.trials):
        yield text
    host = run.record.shown_host
    days = sorted({trial.begun_at[:10] for trial in run.trials if trial.begun_at} or {run.record.begun_at[:10]})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    variance = earlier_runs(run, {}).variance(cell.metric for cell in run.cells)
    if variance.runs:
        included = run_variance_text("the intervals of differences between layouts", variance)
        yield f"This applies to {host}. {included}"
    elif run.by_build:
        yield f"This applies to {host} and {when}. How much results differ between days was not measured."
    else:
        yield (
            f"This applies to {host}, these builds of the layouts and {when}. How much results differ between builds "
            "and between days was not measured."
        )


def _safer(ranking: Ranking) -> Iterator[str]:
    """Yield a sentence about the best layout that survives more disk failures, and the speed that this costs."""
    for each in ranking.safer[:1]:
        if each.to_leader is not None:
            speed = speed_text(each.to_leader.interval)
            yield f"Cost of surviving {failures_text(each.safety)} ({each.entry.layout}): {speed}."


def _left_out(run: LoadedRun, goal: Goal, excluded: Sequence[Excluded]) -> Iterator[str]:
    """Yield a sentence listing the excluded layouts and the reasons.

    For a large mix, the unusable results are only counted.
    """
    is_large = goal.only is None and len(goal.weights) > _MOST_NAMED
    whys = [(each.layout, _lacking(run, goal, each.layout) if is_large else each.why) for each in excluded]
    if whys:
        yield f"Left out: {'; '.join(in_groups(whys))}."


def _lacking(run: LoadedRun, goal: Goal, layout: str) -> str:
    cells = [run.by_key.get(CellKey(layout, name)) for name in goal.weights]
    bad = Counter("not measured" if cell is None else cell.verdict for cell in cells if cell is None or not cell.counts)
    counts = ", ".join(f"{count} {word}" for word, count in bad.items())
    return f"{counts} (of {len(cells)} workloads)" if counts else f"no result for some of the {len(cells)} workloads"


def _emulated(run: LoadedRun) -> Iterator[str]:
    if note := emulated_legend(run.cells).removeprefix("* "):
        yield f"{note[0].upper()}{note[1:]}."


def _eliminated(run: LoadedRun) -> Iterator[str]:
    """Yield sentences about layouts that adaptive sampling eliminated, and the risk that the best one is among them."""
    found = elimination_of(run.trials, run.campaign)
    if found is not None and found.dropped:
        yield from (f"{line[0].upper()}{line[1:]}." for line in elimination_lines(found))


def _builds(run: LoadedRun) -> Iterator[str]:
    """Yield a sentence about the number of builds per result, and sentences about failed builds."""
    if run.by_build:
        yield (
            f"Each result is the mean of {builds_text(run.cells)} of its layout; the intervals account for the "
            "differences between its builds."
        )
    failed = [(str(cell.key), cell.failed_builds.message) for cell in run.cells if cell.failed_builds is not None]
    yield from (f"{line}." for line in in_groups(failed))


def _missing(run: LoadedRun) -> Iterator[str]:
    done = run.done
    if done < run.wanted and not run.record.imported:
        yield f"{done} of {run.wanted} trials {'is' if done == 1 else 'are'} done; {_why_not_all(run)}"
    elif run.is_going:
        more = ": cells whose trials disagree may get more trials" if run.campaign.measure.until is not None else ""
        yield f"The run is in progress{more}."
    measure = run.campaign.measure
    if measure.trials_max * measure.builds == 1 and run.trials:
        yield "Each cell has a single trial, so results have no interval and no difference between them is significant."


def _why_not_all(run: LoadedRun) -> str:
    if run.is_going:
        return "the run is in progress."
    if run.left_out:
        return f"{format_number_of(run.left_out, 'recorded trial')} cannot be read."
    budget_s = run.campaign.budget_s
    spent = "" if budget_s is None else f"the budget of {format_duration(budget_s)} is spent, or "
    return f"{spent}the run was stopped. To continue: poolproof resume {as_word(run.path)}"


def _cost(run: LoadedRun) -> Iterator[str]:
    """Yield a sentence about the total running time of the load.

    With `until`, compare it with that of a fixed schedule.
    """
    trials = [trial for cell in run.cells for trial in cell.all_trials]
    spent_s, alone_s = _fio_s(trials), _fio_s(trial for cell in run.bare for trial in cell.all_trials)
    if not spent_s:
        return
    count = format_number_of(len(trials), "trial")
    text = f"{run.campaign.generator_names} ran for {format_duration(spent_s)} in {count}"
    text += f", and for {format_duration(alone_s)} on single disks" if alone_s else ""
    measure = run.campaign.measure
    is_complete = not run.is_going and (run.done >= run.wanted or run.campaign.budget_s is not None)
    if measure.until is not None and is_complete:
        planned = measure.builds * measure.trials
        longest_s = planned * measure.longest_s
        fixed_s = sum(cell.settling.fixed_s if cell.settling else longest_s for cell in run.cells)
        fixed = f"{format_number_of(planned, 'trial')} of maximum length per cell"
        text += f"; a fixed schedule ({fixed}) would have taken {format_duration(fixed_s)}"
    yield f"{text}."


def _fio_s(trials: Iterable[Trial]) -> float:
    return sum(trial.seconds.get("fio", 0.0) for trial in trials)


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= _MOST_NAMED else [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
