"""The order in which layouts are built. Every layout is built once in each round.

With several builds per layout, the order is balanced: each layout is built as often early in a round as late. A steady
drift of the machine's speed then affects all layouts equally. Two layouts A and B are built in the order ABBA.
"""

import random
from collections.abc import Sequence


def build_rounds(layouts: Sequence[str], builds: int, seed: int) -> list[list[str]]:
    """Return the order of the layouts in each round. A single round has the campaign's order.

    Several rounds come in pairs: a random order, then the same order backwards. That way, every layout's positions in
    the two rounds add up to the same sum. If the number of rounds is odd, the last three belong together, and the sums
    differ by at most 1. The same seed gives the same order.
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
