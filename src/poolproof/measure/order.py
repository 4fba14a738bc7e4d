"""In which order the trials of a layout run."""

import random
from collections.abc import Collection, Sequence

from poolproof.campaign.model import Workload


def order_of_trials(
    layout: str, workloads: Sequence[Workload], trials: int, seed: int, done: Collection[tuple[str, str, int]]
) -> tuple[tuple[Workload, int], ...]:
    """Rounds in which each workload runs once, shuffled: a drift of the machine strikes all workloads alike.

    The same seed gives the same order; what is done is left out of it, so a resumed run goes on where it was.
    """
    chance = random.Random(f"{seed}:{layout}")
    order: list[tuple[Workload, int]] = []
    for number in range(1, trials + 1):
        round_ = list(workloads)
        chance.shuffle(round_)
        order += [(workload, number) for workload in round_]
    return tuple((workload, number) for workload, number in order if (layout, workload.name, number) not in done)
