"""All readers of other programs' formats, and the search for their results in a text."""

import functools
import importlib
import pkgutil
from collections.abc import Sequence

from poolproof.foreign.audit import formats
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader
from poolproof.load.fio.plain_lines import plain_lines


@functools.cache
def all_readers() -> tuple[FormatReader, ...]:
    """Return the readers, sorted by the names of their modules."""
    names = sorted(found.name for found in pkgutil.iter_modules(formats.__path__))
    modules = (importlib.import_module(f"{formats.__name__}.{name}") for name in names)
    return tuple(module.READER for module in modules if hasattr(module, "READER"))


def find_foreign(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[ForeignResult, ...]:
    """Return the results of all other programs in line order. Lines in the `taken` ranges (inclusive) are ignored."""
    inside = {number for first, last in taken for number in range(first, last + 1)}
    numbered = [line for line in plain_lines(text) if line[0] not in inside]
    lower = "\n".join(line for _, line in numbered).lower()
    readers = [reader for reader in all_readers() if not reader.marks or any(mark in lower for mark in reader.marks)]
    found = [result for reader in readers for result in reader.find(numbered)]
    return tuple(sorted(found, key=lambda result: (result.line, result.last_line)))
