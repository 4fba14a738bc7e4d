"""fio's own examples: no false error, and only those warnings that were looked at one by one."""

from collections import defaultdict

import pytest

from poolproof.fio.parse_only import check_values
from poolproof.lint.check import lint, mend
from tests.unit.lint.fio_examples import fio_examples
from tests.unit.lint.making import source

_FEWEST = 60


def test_the_collection_is_there() -> None:
    assert len(fio_examples()) >= _FEWEST


def test_none_has_an_error() -> None:
    errors = [
        each for name, text in fio_examples().items() for each in lint(source(text, name)) if each.severity == "error"
    ]
    assert not errors
