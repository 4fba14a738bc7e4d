"""A quick form of `make fuzz`: damaged copies of all formats cause no traceback and no hang."""

import time

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from tests.fuzz.mutated_texts import audit_all, mutated, seeds
from tests.unit.foreign.audit.test_formats import VALUES

_COUNT = 200
_LIMIT_S = 10.0


def test_damaged_texts_cause_no_traceback() -> None:
    formats = tuple(text for text, _ in VALUES.values())
    assert audit_all(mutated(seeds(formats * 3), _COUNT, seed=7)) == _COUNT


def test_a_long_line_of_one_character_takes_little_time() -> None:
    """A pattern that tries each length of a run of equal characters from each place would take minutes."""
    begun = time.process_time()
    for character in (" ", "\t", "{", "9", "|", "`"):
        audit_text("fuzz", character * 6000, Context())
    assert time.process_time() - begun < _LIMIT_S
