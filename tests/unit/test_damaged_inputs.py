"""Damaged inputs of every kind cause neither a traceback nor a hang. `make test-all` tests 100,000 of them."""

from pathlib import Path

import pytest

from poolproof.errors import PoolproofError
from tests.fuzz.damaged_inputs import COUNT, KINDS, Kind, kinds, read_all

_QUICK = 2000
_SEED = 7


@pytest.fixture
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return kinds(tmp_path)[request.param]


def test_the_shares_of_all_kinds_add_up(tmp_path: Path) -> None:
    known = kinds(tmp_path)
    assert set(known) == set(KINDS)
    assert sum(round(COUNT * each.share) for each in known.values()) == COUNT


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_undamaged_inputs_are_accepted(kind: Kind) -> None:
    rejected = []
    for text in kind.texts:
        try:
            kind.read(text)
        except PoolproofError as error:
            rejected.append((text, error.message))
    assert rejected == []


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_damaged_inputs_cause_no_traceback(kind: Kind) -> None:
    count = round(_QUICK * kind.share)
    assert 0 <= read_all(kind, count, _SEED) < count


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_a_hundred_thousand_damaged_inputs_cause_no_traceback(kind: Kind) -> None:
    count = round(COUNT * kind.share)
    assert 0 <= read_all(kind, count, _SEED) < count
