"""Generated series of rates with a known true mean, which imitate what disks do.

The mean is 100 unless a docstring says otherwise.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

INTERVAL_S = 0.1
LONGEST = 1800
"""The number of samples in 180 s."""


@dataclass(frozen=True)
class Kind:
    """A kind of series.

    `truth`: its long-run mean. None if it does not have one, so that no interval is valid.
    """

    name: str
    make: Callable[[random.Random], list[float]]
    truth: float | None = 100.0


def correlated(rng: random.Random, phi: float, deviation: float, mean: float = 100.0) -> list[float]:
    """Return an AR(1) series with this marginal standard deviation. With a `phi` of 0, it is white noise."""
    step = deviation * math.sqrt(1 - phi * phi)
    level, values = rng.gauss(0, deviation), []
    for _ in range(LONGEST):
        values.append(mean + level)
        level = phi * level + rng.gauss(0, step)
    return values


def _drift(rng: random.Random) -> list[float]:
    """Return a series that falls by 10% per minute."""
    return [value - 10 * at / 600 for at, value in enumerate(correlated(rng, 0.3, 3, 120))]


def _step(rng: random.Random) -> list[float]:
    """Return the rate of a disk whose cache is full after 20 s, so that the rate falls from 150 to 100."""
    return [value + (50 if at < 200 else 0) for at, value in enumerate(correlated(rng, 0.3, 8))]


def _warm_up(rng: random.Random) -> list[float]:
    """Return a series that starts at 40% of its rate and approaches it with a time constant of half a second."""
    return [value * (1 - 0.6 * math.exp(-at / 5)) for at, value in enumerate(correlated(rng, 0.3, 2))]


def _bursts(rng: random.Random) -> list[float]:
    """Return a series with stalls of 0.3 s, during which the rate is a tenth.

    There is a stall every 3 s on average. The overall mean is 100.
    """
    full = 100 / (1 - 0.9 * 0.3 / 3.3)
    values, stalled = correlated(rng, 0.0, 3, full), rng.random() < 0.3 / 3.3
    for at in range(LONGEST):
        if stalled:
            values[at] *= 0.1
        stalled = rng.random() >= 1 / 3 if stalled else rng.random() < 1 / 30
    return values


def _two_speeds(rng: random.Random) -> list[float]:
    """Return a series that alternates between 70 and 130, staying at each for 4 s on average."""
    level, values = rng.choice((-30, 30)), correlated(rng, 0.0, 3)
    for at in range(LONGEST):
        values[at] += level
        level = -level if rng.random() < 1 / 40 else level
    return values


def _sawtooth(rng: random.Random) -> list[float]:
    """Return a series like that of a disk with a transaction group every 2 s.

    During the last 0.4 s of each group, the rate is only a quarter. The phase is random.
    """
    phase, values = rng.randrange(20), correlated(rng, 0.0, 2, 100 / 0.85)
    return [value * (0.25 if (at + phase) % 20 >= 16 else 1) for at, value in enumerate(values)]


STATIONARY = (
    Kind("white 2%", lambda rng: correlated(rng, 0.0, 2)),
    Kind("white 6%", lambda rng: correlated(rng, 0.0, 6)),
    Kind("white 12%", lambda rng: correlated(rng, 0.0, 12)),
    Kind("AR(1) 0.3, 6%", lambda rng: correlated(rng, 0.3, 6)),
    Kind("AR(1) 0.3, 12%", lambda rng: correlated(rng, 0.3, 12)),
    Kind("AR(1) 0.6, 6%", lambda rng: correlated(rng, 0.6, 6)),
    Kind("AR(1) 0.6, 12%", lambda rng: correlated(rng, 0.6, 12)),
    Kind("AR(1) 0.9, 2%", lambda rng: correlated(rng, 0.9, 2)),
    Kind("AR(1) 0.9, 6%", lambda rng: correlated(rng, 0.9, 6)),
    Kind("AR(1) 0.95, 0.5%", lambda rng: correlated(rng, 0.95, 0.5)),
    Kind("AR(1) 0.95, 2%", lambda rng: correlated(rng, 0.95, 2)),
    Kind("AR(1) 0.95, 6%", lambda rng: correlated(rng, 0.95, 6)),
)
SHAPED = (
    Kind("warm-up of half a second", _warm_up),
    Kind("drift of 10% a minute", _drift, None),
    Kind("step after 20 s", _step),
    Kind("stalls, one in 3 s", _bursts),
    Kind("two speeds, 4 s each", _two_speeds),
    Kind("sawtooth of 2 s", _sawtooth),
)
