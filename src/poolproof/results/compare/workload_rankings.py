"""Rank a run's layouts under each workload separately, if neither the campaign nor the user sets a goal."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from poolproof.errors import RunError, UsageError, as_word
from poolproof.metrics import MetricId
from poolproof.results.compare.cell_comparison import check_metric
from poolproof.results.compare.ranking import Goal, Ranking, check_pairs, places, rank
from poolproof.results.runs.loading import LoadedRun
from poolproof.statistics.comparison import decide


def rank_each(run: LoadedRun, *, metric: MetricId | None, effect: float) -> Mapping[str, Ranking | str]:
    """Return a ranking for each workload, or the reason why the layouts can't be ranked for it.

    The confidence level of 95% applies to the places in all rankings together.

    Raises:
        RunError: the layouts can't be ranked for any workload, or there are too many pairs of layouts.
        CampaignError: this version of poolproof can't parse a layout's expression.
        UsageError: no trial measured `metric`.
    """
    check_metric(metric, run.cells)
    layouts = Counter(cell.workload for cell in run.cells)
    check_pairs(sum(math.comb(count, 2) for count in layouts.values()), f"the layouts under {len(layouts)} workloads")
    found: dict[str, Ranking | str] = {}
    for workload in run.campaign.workloads:
        try:
            found[workload.name] = rank(run, Goal({workload.name: 1.0}), metric=metric, effect=effect)
        except (RunError, UsageError) as error:
            found[workload.name] = error.message
    if all(isinstance(each, str) for each in found.values()):
        raise RunError(
            f"no layout can be ranked under any of the {len(found)} workloads", f"poolproof show {as_word(run.path)}"
        )
    return together(found)


def together(found: Mapping[str, Ranking | str]) -> Mapping[str, Ranking | str]:
    """Apply Holm's correction to the pairs of all rankings together, and return the corrected rankings."""
    rankings = {name: each for name, each in found.items() if isinstance(each, Ranking)}
    differences = [pair.difference for each in rankings.values() for pair in each.pairs]
    decisions = iter(decide(differences, max((each.effect for each in rankings.values()), default=0.0)))
    placed: dict[str, Ranking | str] = dict(found)
    for name, each in rankings.items():
        pairs = [replace(pair, decision=next(decisions)) for pair in each.pairs]
        ranges = places([ranked.entry.layout for ranked in each.ranked], pairs)
        found_places = ((ranked, *ranges[ranked.entry.layout]) for ranked in each.ranked)
        ranked = tuple(replace(ranked, first=first, last=last) for ranked, first, last in found_places)
        placed[name] = replace(each, ranked=ranked, pairs=tuple(pairs), rankings=len(rankings))
    return placed
