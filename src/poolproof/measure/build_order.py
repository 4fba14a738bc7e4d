"""The order in which layouts are built.

In each round, every layout is built once. If layouts are built several times, the order is balanced: each layout is
built early in a round as often as late, for example in the order ABBA. A steady drift in the machine's speed then
affects all layouts equally.
"""

import random
from collections.abc import Sequence


def build_rounds(layouts: Sequence[str], builds: int, seed: int) -> list[list[str]]:
    """Return the order of the layouts in each round.

    A single round has the campaign's order. Several rounds form pairs: the first is in random order, and the second is
    the reverse. The sum of a layout's two positions is therefore the same for all layouts. If the number of rounds is
    odd, the last three form a group, in which these sums differ by at most 1. The same seed always gives the same
    order.
    """
    if builds == 1:
        return [list(layouts)]
    chance = random.Random(f"{seed}:builds")
    rounds: list[list[str]] = []
    while len(rounds) < builds:
        order = list(layouts)
        chance.shuffle(order)
        if builds - len(rounds) == 3:
            even, odd = order[::2][::-1], order[1::2][::-1]
            rounds += [order, odd + even, even + odd]
        else:
            rounds += [order, order[::-1]]
    return rounds
