"""A host that has the given files, and answers the given commands."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from poolproof.hosts.base import FileMissing, Tick
from poolproof.process import Completed


class ToldHost:
    """A host that has only the given files, and on which only the given commands succeed.

    `files`: the contents of each file, keyed by path.
    `said`: the output of each command, keyed by its last argument.
    """

    name = "told"

    def __init__(self, files: Mapping[str, str], said: Mapping[str, str] | None = None) -> None:
        self._files, self._said = files, said or {}

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert timeout_s > 0 and stdin is None and not check
        return Completed(tuple(argv), 0 if argv[-1] in self._said else 1, self._said.get(argv[-1], ""), "", 0.0)

    def read(self, path: str) -> str:
        if path not in self._files:
            raise FileMissing(path)
        return self._files[path]

    def read_files(self, paths: Sequence[str]) -> Tick:
        raise AssertionError(paths)

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        raise AssertionError((paths, interval_s))
