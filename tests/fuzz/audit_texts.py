"""Coverage-guided fuzzing of the parsers. No input may cause a traceback.

`make test` does not include it. `make fuzz` runs it for one minute, and `make fuzz SECONDS=600` for ten. It starts with
the captured outputs that the tests use.
"""

import json
import sys

import atheris

with atheris.instrument_imports(include=["poolproof.load.fio", "poolproof.foreign.audit"]):
    from poolproof.foreign.audit.context import Context
    from poolproof.foreign.audit.model import audited_object
    from poolproof.foreign.audit.sources import as_text
    from poolproof.foreign.audit.texts import audit_text
    from poolproof.presentation.terminal.audited import audited_lines

_MOST_BYTES = 20_000


def one_input(content: bytes) -> None:
    """Audit one input, and print the result."""
    results = audit_text("fuzz", as_text(content[:_MOST_BYTES]), Context())
    json.dumps([audited_object(audited) for audited in results])
    for audited in results:
        list(audited_lines(audited, 100))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
