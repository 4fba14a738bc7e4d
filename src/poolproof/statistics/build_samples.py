"""Samples of layouts that were built several times.

Trials of the same build are not independent, because they share everything that was decided when the layout was built.
Each build is therefore a single sample: the mean of its trials. The variance of these means includes the variance
within builds as well as between them, so intervals and tests need no separate model for the two.

The means of the builds may agree by chance. For this reason, the differences between trials of the same build set a
lower bound on the error.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Samples:
    """The independent samples of a cell: its trials, or the means of its builds.

    `error`: a lower bound on the relative standard error of their mean, given by the resolution of the measurement and
    by the differences between trials of the same build. 0 if unknown.
    `least_count`: the minimum number of samples, which is always taken. More samples were taken only if the mean was
    not yet precise enough (`until`).
    """

    values: tuple[float, ...]
    error: float = 0.0
    least_count: int | None = None


def build_samples(builds: Sequence[Sequence[float]]) -> Samples:
    """Return the means of the builds as samples, ignoring builds without values.

    `builds`: the values of each build's trials.

    The lower bound on the samples' error is estimated from the differences between trials of the same build. It is 0 if
    no build has two trials.
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
