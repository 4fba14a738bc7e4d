"""Samples of layouts that were built several times.

Trials of the same build share everything that was decided when the layout was built, so they are not independent. Each
build is therefore one sample: the mean of its trials. The variance between these means includes both the variance
between builds and the variance within them, so intervals and tests need no separate model of the two. The trials within
the builds add a lower bound: if the means of the builds agree by chance, they are not more precise than their own
trials allow.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Samples:
    """The independent samples of a cell: its trials, or the means of its builds.

    `error` is a lower bound of the relative standard error of the samples' mean. It follows from the resolution of the
    measurement and from the trials within builds, and is 0 if it is unknown. `least_count` is the number of samples
    that were taken in any case. Further samples were taken because the mean was not precise enough (`until`).
    """

    values: tuple[float, ...]
    error: float = 0.0
    least_count: int | None = None


def build_samples(builds: Sequence[Sequence[float]]) -> Samples:
    """Return the means of the builds as samples. `builds` contains the values of each build's trials.

    Builds without values are left out. The lower bound of the error follows from the variance of the trials around the
    means of their builds. It is 0 if no build has two trials.
    """
    used = [build for build in builds if build]
    means = [math.fsum(build) / len(build) for build in used]
    freedom = sum(len(build) - 1 for build in used)
    mean = math.fsum(means) / len(means) if means else 0.0
    if not freedom or mean <= 0:
        return Samples(tuple(means))
    squares = math.fsum((value - own) ** 2 for build, own in zip(used, means, strict=True) for value in build)
    variance = squares / freedom * math.fsum(1 / len(build) for build in used) / len(used) ** 2
    return Samples(tuple(means), math.sqrt(variance) / mean)
