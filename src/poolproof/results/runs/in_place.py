"""Comparisons of layouts that were converted into one another in place, for example by adding a log device.

Such layouts form a family. They share one pool and are measured one after the other, so the pool is older when the
second layout is measured. The variance between trials does not include this effect. To estimate it, we measured random
reads on a pool with and without a log device. Reads never use a log device, yet the two layouts differed by −13% to
+16%, with confidence intervals that excluded 0. Every difference within a family therefore gets a margin of 16%.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from poolproof.campaign.model import Campaign
from poolproof.errors import PoolproofError
from poolproof.layers.adapt import families
from poolproof.layers.resolve import resolve
from poolproof.statistics.comparison import Difference

MARGIN = 0.16
"""The largest relative difference measured between layouts of a family that should have been equally fast."""


def family_of(campaign: Campaign) -> Mapping[str, int]:
    """Return each layout's family, as a number shared by all layouts that were converted into one another in place.

    The result is empty if each layout was built several times, because every build then starts with empty disks. It is
    also empty if this version of poolproof can't parse one of the layout expressions.
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
    """True if one of the two layouts was converted into the other in place."""
    return one in family and family[one] == family.get(other)


def with_margin(apart: Difference) -> Difference:
    """Return the difference between two layouts of a family, widened by the margin in both directions."""
    margin = math.log1p(MARGIN)
    return replace(apart, below=apart.below + margin, above=apart.above + margin)
