"""Comparisons of layouts that were converted into each other in place (log and cache devices, attach and detach).

Such layouts form a family. They share one pool and are measured one after the other, so the pool is older under the
second layout than under the first. The variance between trials does not include this effect.

To estimate it, we measured random reads on a pool with and without a log device. Reads never use a log device, yet the
two layouts differed by −13% to +16%, with confidence intervals that excluded 0. Every difference within a family
therefore gets a margin of 16%.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from poolproof.campaign.model import Campaign
from poolproof.errors import PoolproofError
from poolproof.layers.families import families
from poolproof.layers.resolve import resolve
from poolproof.statistics.comparison import Difference

MARGIN = 0.16
"""The largest relative difference measured between layouts of a family that should be equally fast."""


def family_of(campaign: Campaign) -> Mapping[str, int]:
    """Return the family of each layout, as a number shared by all layouts that were converted into each other in place.

    The result is empty if each layout was built several times, because every build then starts from scratch. It is also
    empty if this version can't parse one of the layout expressions.
    """
    if campaign.measure.builds > 1:
        return {}
    names = {device.name for device in campaign.devices}
    try:
        nodes = {layout.name: resolve(layout.expression, names) for layout in campaign.layouts}
        found = families(nodes, list(nodes))
    except PoolproofError:
        return {}
    return {name: number for number, members in enumerate(found) for name in members}


def are_in_place(family: Mapping[str, int], one: str, other: str) -> bool:
    """True if the two layouts were converted into each other in place."""
    return one in family and family[one] == family.get(other)


def with_margin(apart: Difference) -> Difference:
    """Return the difference between two layouts of a family, with its confidence interval widened by the margin."""
    margin = math.log1p(MARGIN)
    return replace(apart, below=apart.below + margin, above=apart.above + margin)
