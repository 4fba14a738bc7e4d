"""The simulated trials in benchmarks/proof.py: controls stay sound, and docs/verdicts.md contains their table."""

from pathlib import Path

import pytest
from benchmarks.proof import Trial, markdown, trials, wrong

_ALL = trials()
_PAGE = Path(__file__).parents[3] / "docs" / "verdicts.md"


@pytest.mark.parametrize("trial", _ALL, ids=[f"{trial.layout}, {trial.workload}" for trial in _ALL])
def test_each_metric_has_its_verdict(trial: Trial) -> None:
    assert list(wrong(trial)) == []


def test_controls_are_sound_and_the_others_are_not() -> None:
    for trial in _ALL:
        assert (set(trial.expected.values()) == {"sound"}) is trial.control, trial.layout


def test_the_page_has_the_table() -> None:
    table = "\n".join(markdown(_ALL))
    assert table in _PAGE.read_text(encoding="utf-8"), "run: python -m benchmarks.proof --markdown"
