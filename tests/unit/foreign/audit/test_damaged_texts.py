"""A quick form of `make fuzz`: damaged copies of all formats cause no traceback and no hang."""

from tests.fuzz.mutated_texts import audit_all, mutated, seeds
from tests.unit.foreign.audit.test_formats import VALUES

_COUNT = 200


def test_damaged_texts_cause_no_traceback() -> None:
    formats = tuple(text for text, _ in VALUES.values())
    assert audit_all(mutated(seeds(formats * 3), _COUNT, seed=7)) == _COUNT
