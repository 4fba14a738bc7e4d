"""Variances of few samples: moderated by those of other groups."""

import random

import pytest

from poolproof.statistics.variances import VariancePrior, fit_prior, moderated


def test_the_variance_of_few_trials_is_moderated_unless_it_is_too_large() -> None:
    spread = VariancePrior(0.01, 20.0)
    assert moderated(0.0, 1, spread)[0] == pytest.approx(1e-4 * 20 / 21)
    assert moderated(4e-4, 1, spread)[1] == 21
    assert moderated(0.01, 1, spread) == (0.01, 1), "ten deviations"
    assert moderated(0.01, 1, None) == (0.01, 1)


def test_the_typical_deviation_is_recovered() -> None:
    rng = random.Random(1)
    spread = fit_prior([(rng.gauss(100, 1.5), rng.gauss(100, 1.5)) for _ in range(400)])
    assert spread is not None
    assert spread.deviation == pytest.approx(0.015, rel=0.1)
    assert spread.freedom > 15


def test_groups_with_very_different_variances_say_little_about_each_other() -> None:
    rng = random.Random(6)
    cells = []
    for _ in range(200):
        deviation = rng.lognormvariate(0, 1.5)
        cells.append([rng.gauss(100, deviation) for _ in range(4)])
    spread = fit_prior(cells)
    assert spread is not None and spread.freedom < 4


def test_fewer_than_eight_groups_give_no_prior() -> None:
    assert fit_prior([(99.0, 101.0)] * 7) is None
    assert fit_prior([(99.0,)] * 20) is None
