"""Facts from the text around a result, for rules about other people's results."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Quoted:
    """Facts from the text around a result. An unknown field is None, False or empty.

    `laid_out_bytes`: the size of the test files, from fio's message that it lays them out. `assumed`: the options of
    the job that the source does not show and the audit assumed. `memory`: a sentence that names RAM as the target or
    the cache, with its line. `has_fast_media`: True if the text names media that answer in 10 µs or less, such as
    Optane or persistent memory. `has_persistent_memory`: True if it names persistent memory, which answers in less
    than 1 µs. `unfilled`: the earlier job in the text that created the file and wrote only a part of
    it. `just_written`: the earlier job in the text that wrote the file through the page cache. `is_macos`: True if the
    text names macOS, where fio's direct=1 sets F_NOCACHE. Reads can then still come from pages that are already in the
    cache. `measures_memory`: the reason why the value is, by definition, the speed of memory. `stopped_by`: what ended
    a run early, such as a signal; empty if nothing is known to have ended it. `depths`: the queue depths that the
    author claims near the result, each with the sentence and its line. `hard_disks`: the line that names hard disks as
    the target; `hard_disk_count`: the number of disks, 0 if unknown.
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
"""The facts about a result without any text around it, or with a text that contains no facts."""
