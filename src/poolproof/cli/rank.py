"""`poolproof rank`: which layout is best for a goal, with its redundancy, capacity and write amplification."""

import json
from typing import Annotated

import typer

from poolproof.cli.options import DEFAULT_EFFECT, Effect, Json, MetricName, Run


def command(
    run: Run,
    goal: Annotated[
        str | None,
        typer.Option("--goal", metavar="WORKLOAD", help="Rank by this workload. Default: the goal."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", help="Rank by a weighted mix of workloads, such as etcd=2,media=1.")
    ] = None,
    metric: MetricName = None,
    effect: Effect = DEFAULT_EFFECT,
    as_json: Json = False,
) -> None:
    """Rank the layouts of a run, with ties; show how many disks may fail, capacity and write amplification."""
    from poolproof.cli.options import parse_metric, parse_percent
    from poolproof.results.compare.contract import ranking_object
    from poolproof.results.compare.ranking import find_goal, rank
    from poolproof.results.runs.loading import load_run

    matters, chosen = parse_percent(effect, "--effect"), parse_metric(metric)
    finished = load_run(run)
    ranking = rank(finished, find_goal(finished.campaign, goal, weights), metric=chosen, effect=matters)
    if as_json:
        typer.echo(json.dumps(ranking_object(ranking)))
        return
    from rich.console import Console

    from poolproof.presentation.terminal.ranked import print_ranking

    print_ranking(Console(highlight=False), ranking)
