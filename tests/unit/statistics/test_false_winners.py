"""Equal layouts get a false winner in at most 5 % of runs: the small form of `python -m benchmarks.false_winners`."""

import pytest
from benchmarks.false_winners import Setting, simulate


@pytest.mark.parametrize(
    ("setting", "runs"),
    [(Setting(24, 2, sigma=0.5), 70), (Setting(24, 1, sigma=0.5), 60), (Setting(24, None, sigma=0.5), 16)],
    ids=["2 trials", "1 trial", "until"],
)
def test_equal_layouts_get_a_false_winner_in_at_most_5_per_cent_of_runs(setting: Setting, runs: int) -> None:
    found = simulate(setting, runs)
    assert found.false <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5, "two standard errors of the simulation"
    assert 0.93 <= found.coverage <= 0.99
    assert found.power[1] > (0.1 if setting.trials == 1 else 0.4), "a planted difference of 20 %"
