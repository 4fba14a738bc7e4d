"""Facts in the name of a result, such as the row and the column of a table: its target, and the state of the cache."""

from dataclasses import replace

from poolproof.foreign.audit.surroundings.cache_words import names_cached, names_host_cache, names_uncached
from poolproof.foreign.audit.surroundings.quoted_conditions import names_only_memory
from poolproof.load.fio.pairing import FoundResult
from poolproof.rules.quoted import Quoted


def with_name(quoted: Quoted, found: FoundResult) -> Quoted:
    """Return the facts, combined with those in the name of a result on a single line.

    A name that says that the cache is cold or is not used takes precedence over the text around it.
    """
    names = {part.name for part in found.result.parts}
    name = names.pop() if len(names) == 1 and found.line == found.last_line else ""
    if names_only_memory(name):
        return replace(quoted, memory_heading=f"line {found.line} is about “{name}”")
    if names_host_cache(name):
        return replace(quoted, host_cached=f"line {found.line} is about “{name}”")
    if names_cached(name):
        return replace(quoted, cached_heading=f"line {found.line} is about “{name}”")
    return replace(quoted, cached_heading="", memory="") if names_uncached(name) else quoted
