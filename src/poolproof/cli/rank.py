"""`poolproof rank`: find the best layout for a goal, and compare redundancy, capacity and write amplification."""

from typing import Annotated

from typer import Option

from poolproof.cli.options import DEFAULT_EFFECT, Effect, Json, MetricName, Run, Text, parse_metric, parse_percent
from poolproof.cli.output import console, print_json


def command(
    run: Run,
    goal: Annotated[
        Text,
        Option(
            metavar="WORKLOAD", help="Rank by this workload. Default: the campaign's goal, or each workload separately."
        ),
    ] = None,
    weights: Annotated[
        Text, Option(metavar="WEIGHTS", help="Rank by a weighted mix of workloads, such as etcd=2,media=1.")
    ] = None,
    metric: MetricName = None,
    effect: Effect = DEFAULT_EFFECT,
    as_json: Json = False,
) -> None:
    """Rank the layouts of a run, with ties. Without a goal, each workload has its own ranking.

    The table also shows how many disks may fail, the capacity, and the write amplification.
    """
    from poolproof.api import load_run
    from poolproof.results.compare.comparison_object import ranking_object, rankings_object
    from poolproof.results.compare.ranking import find_goal, has_goal, rank
    from poolproof.results.compare.workload_rankings import rank_each

    smallest, chosen = parse_percent(effect, "--effect"), parse_metric(metric)
    loaded = load_run(run)
    if goal is None and weights is None and not has_goal(loaded.campaign):
        rankings = rank_each(loaded, metric=chosen, effect=smallest)
        if as_json:
            print_json(rankings_object(loaded, rankings))
            return
        from poolproof.presentation.terminal.ranked import print_rankings

        print_rankings(console(), rankings)
        return
    ranking = rank(loaded, find_goal(loaded.campaign, goal, weights), metric=chosen, effect=smallest)
    if as_json:
        print_json(ranking_object(ranking))
        return
    from poolproof.presentation.terminal.ranked import print_ranking

    print_ranking(console(), ranking)
