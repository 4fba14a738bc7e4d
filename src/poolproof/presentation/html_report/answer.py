"""The report's headline: the best layout, how certain that answer is, and what was excluded."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.cell_key import CellKey
from poolproof.errors import UsageError, as_word
from poolproof.metrics import metric_of
from poolproof.presentation.charts.metric_scale import result_text
from poolproof.presentation.html_report.run_notes import run_notes
from poolproof.presentation.terminal.compared import in_place_text, units_of
from poolproof.presentation.terminal.ranked import failures_text
from poolproof.presentation.terminal.words import marked, per_cent_whole, range_text, speed_text, with_mark
from poolproof.results.compare.measured import in_groups
from poolproof.results.compare.ranking import Entry, Excluded, Goal, NothingRanked, Ranking, find_goal, rank
from poolproof.results.compare.workload_rankings import together
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.results.runs.loading import LoadedRun
from poolproof.statistics.comparison import LEAST_EFFECT
from poolproof.units import format_list
from poolproof.verdicts import decides, worst

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
    return replace(found, rest=(*found.rest, *run_notes(run)))


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
    first = ranking.best[0].entry
    known = len(ranking.best) == 1 and not first.untested and not ranking.too_few and decides(first.verdict)
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
    verdict = worst(each.best[0].entry.verdict for each in valid.values()) if winner else "sound"
    sentence = f"No layout is clearly the best under all {len(found)} workloads."
    if len(winners - {None}) > 1:
        sentence = "No layout is best overall: the best layout depends on the workload."
    elif winner:
        sentence = f"{with_mark(winner, verdict)} is best under all {len(found)} workloads."
    elif len(valid) == 1:
        (name,) = valid
        others = (each for each in found.values() if isinstance(each, str))
        usable = "a valid result" if all(_NONE_VALID in each for each in others) else "a result that can be ranked"
        sentence = f"Only one of the {len(found)} workloads, {name}, has {usable}. {texts[name]}."
    rest = ("The campaign has no goal. Set `goal: WORKLOAD` to get one answer.", *_in_place(valid.values()))
    return Headline(sentence, rest, tuple(texts.items()), tone="known" if winner and decides(verdict) else "open")


def _in_place(rankings: Iterable[Ranking]) -> Iterator[str]:
    """Yield a note if a ranking includes layouts that were converted into one another in place."""
    names = dict.fromkeys(name for ranking in rankings for name in ranking.in_place)
    if names:
        yield in_place_text(format_list(list(names), _MOST_NAMED))


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
    ends = f"; not significantly different from {format_list(equal, _MOST_NAMED)}" if equal else ""
    ends += f"; {format_list(untested, _MOST_NAMED)} could not be tested" if untested else ""
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
    best = [each.entry for ranking in rankings if not isinstance(ranking, str) for each in ranking.best]
    wins = Counter(each.layout for each in best)
    verdicts = {name: worst(each.verdict for each in best if each.layout == name) for name in wins}
    counted = ", ".join(f"{with_mark(name, verdicts[name])} in {n}" for name, n in wins.most_common(_MOST_NAMED))
    rest = [f"Best or tied for best, by number of workloads (of {len(goal.weights)}): {counted}."] if wins else []
    rest += _left_out(run, goal, [Excluded(layout.name, "") for layout in run.campaign.layouts])
    sentence = f"No layout is best overall: none has a valid result for all {len(goal.weights)} workloads."
    return Headline(sentence, tuple(rest), tone="open" if wins else "nothing")


def _best(run: LoadedRun, ranking: Ranking) -> str:
    goal, first = _goal(ranking), ranking.ranked[0]
    name, only, result = first.entry.layout, ranking.goal.only, ""
    name = _named(first.entry) if only is None else name  # a single result has its own mark
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
            result = f"; {_named(second.entry)} is next: {speed_text(second.to_leader.interval)}"
        return f"For {goal}, {name} is best{_among(ranking)}{result}."
    if first.entry.untested:  # layouts that can be tested come first
        return f"For {goal}, the best layout is unknown: no layout can be tested. {name} has the best mean{result}."
    names = format_list([each.entry.layout for each in ranking.best], _MOST_NAMED)
    if any(each.entry.untested for each in ranking.best):
        return f"For {goal}, the best layout is one of {names}. {_partly_tested(ranking, result)}"
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
    """Format the cell's mean as the rest of the report does, followed by its verdict unless that is `sound`.

    The ranking uses the mean of the logarithms instead.
    """
    cell = run.cell(layout, workload)
    return result_text(cell, cell.metric) + marked(cell.result().verdict, ", {}")


def _named(entry: Entry) -> str:
    return with_mark(entry.layout, entry.verdict)


def _partly_tested(ranking: Ranking, result: str) -> str:
    """Return sentences about the layouts that may be the best, of which some can be tested and others cannot.

    The mean of a layout that cannot be tested may be better than that of the leader.
    """
    tested, untested = (
        [each.entry.layout for each in ranking.best if bool(each.entry.untested) is missing]
        for missing in (False, True)
    )
    if len(tested) > 1:
        ends = f"{format_list(tested, _MOST_NAMED)} are not significantly different; {tested[0]} leads{result}"
    elif sum(not each.entry.untested for each in ranking.ranked) > 1:
        ends = f"{tested[0]} is the best of the others{result}"
    else:
        ends = f"{tested[0]} is the only layout that can be tested{result}"
    return f"The results of {format_list(untested, _MOST_NAMED)} cannot be tested. {ends}."


def _why_no_interval(ranking: Ranking) -> str:
    """Return, in parentheses, the reason why the tied layouts cannot be tested, or an empty string if they can."""
    alone = any(each.entry.score.parts is None for each in ranking.best)
    return f" (a single {'build' if ranking.run.by_build else 'trial'} has no interval)" if alone else ""


def _runner_up(ranking: Ranking) -> Iterator[str]:
    """Yield a sentence about the next-best layout, unless the headline already mentions it."""
    if len(ranking.best) == 1 and ranking.goal.only is None:
        return
    others = [each for each in ranking.ranked[1:] if len(ranking.best) == 1 or each not in ranking.best]
    if others and others[0].to_leader is not None:
        speed = speed_text(others[0].to_leader.interval)
        yield f"Next is {_named(others[0].entry)}: {speed} compared with {ranking.ranked[0].entry.layout}."


def _repeat(ranking: Ranking) -> Iterator[str]:
    """Yield a sentence that predicts how much the two best layouts would differ if the run were repeated."""
    for each in ranking.ranked[1:2]:
        repeated = None if each.entry.untested else ranking.repeated(each)
        if repeated is not None:
            names = f"{each.entry.layout} vs {ranking.ranked[0].entry.layout}"
            shown, units = range_text(repeated), units_of(ranking.run)
            yield f"95% prediction interval for a repeat with the same number of {units}: {shown} ({names})."


def _safer(ranking: Ranking) -> Iterator[str]:
    """Yield a sentence about the best layout that survives more disk failures, and the speed that this costs."""
    for each in ranking.safer[:1]:
        if each.to_leader is not None:
            speed = speed_text(each.to_leader.interval)
            yield f"Cost of surviving {failures_text(each.safety)} ({_named(each.entry)}): {speed}."


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
