"""Facts from the text around a result, for rules about other people's results."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Quoted:
    """Facts from the text around a result. Unknown fields are None, False or empty.

    `laid_out_bytes`: the size of the test files, from fio's message that it is laying them out.
    `assumed`: the options of the job that are missing in the source and were assumed by the audit.
    `memory`: a quotation that names RAM as the target or the cache, with its line number.
    `has_fast_media`: True if the text mentions media that respond within 10 µs, such as Optane or persistent memory.
    `has_persistent_memory`: True if the text mentions persistent memory, which responds within 1 µs.
    `unfilled`: a clause about the earlier job in the text that created the file but wrote only part of it.
    `just_written`: a clause about the earlier job or command in the text that wrote the file through the page cache.
    `is_macos`: True if the text mentions macOS, where fio's direct=1 sets F_NOCACHE. Reads can then still be served
    from pages that are already cached.
    `measures_memory`: the reason that the value is, by definition, the speed of memory.
    `stopped_by`: the event that ended a run early, such as a signal; empty if none is known.
    `depths`: the queue depths that the author claims near the result, each mapped to a quotation with its line number.
    `hard_disks`: a quotation of the line that names hard disks as the target.
    `hard_disk_count`: the number of these hard disks, or 0 if unknown.
    """

    laid_out_bytes: int | None = None
    assumed: frozenset[str] = frozenset()
    memory: str = ""
    has_fast_media: bool = False
    has_persistent_memory: bool = False
    unfilled: str = ""
    just_written: str = ""
    is_macos: bool = False
    measures_memory: str = ""
    stopped_by: str = ""
    hard_disks: str = ""
    hard_disk_count: int = 0
    depths: Mapping[int, str] = field(default_factory=dict)


UNQUOTED = Quoted()
"""The facts about a result without surrounding text, or with text that contains no facts."""
