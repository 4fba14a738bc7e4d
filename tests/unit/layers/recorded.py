"""A host that gives the answers that were recorded on real hosts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from poolproof.hosts.base import FileMissing, Tick
from poolproof.process import CommandFailed, Completed


@dataclass(frozen=True)
class RecordedHost:
    """A host that gives recorded answers. Anything that is not recorded causes an error.

    `said`: the output of each command, keyed by the complete argv.
    `files`: the contents of each file, keyed by path.
    """

    said: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    name: str = "recorded"

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert timeout_s > 0
        assert stdin is None
        known = tuple(argv) in self.said
        completed = Completed(tuple(argv), 0 if known else 1, self.said.get(tuple(argv), ""), "", 0.0)
        if check and not known:
            raise CommandFailed(completed)
        return completed

    def read(self, path: str) -> str:
        if path not in self.files:
            raise FileMissing(f"{path} cannot be read")
        return self.files[path]

    def read_files(self, paths: Sequence[str]) -> Tick:
        raise AssertionError(paths)

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        raise AssertionError((paths, interval_s))
