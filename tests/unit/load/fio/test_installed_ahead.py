"""The installed fio is queried in the background, before the answers are needed."""

from collections.abc import Sequence

import pytest

from poolproof.errors import FioError
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.installed import ask_ahead, known_options
from poolproof.process import Completed
from tests.unit.load.fio.needs_fio import needs_fio


class _Counting(LocalHost):
    """This machine, with a list of the commands that were run on it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        self.asked.append(" ".join(argv))
        return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)


@needs_fio
def test_a_query_that_was_asked_ahead_is_not_repeated() -> None:
    host = _Counting()
    ask_ahead(host, "libaio")
    assert "iodepth" in known_options(host, "libaio")
    assert sorted(host.asked) == ["fio --cmdhelp=all", "fio --enghelp=libaio", "fio --version"]


def test_an_error_of_a_query_asked_ahead_reaches_the_next_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    host = LocalHost()
    ask_ahead(host, "libaio")
    with pytest.raises(FioError, match="not installed"):
        known_options(host, "libaio")
