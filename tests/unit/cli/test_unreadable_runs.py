"""A run that this user can't read is named, with the next step, and does not hide the other runs of a folder."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden import Message
from tests.unit.results.compare.making import make_run

from ..command import Command

_VALUES = {("one", "reads"): (1.0, 1.1)}
_NOBODY = 65534
# Every file is readable for root, and only root can start a program as somebody who may not read it.
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


@pytest.fixture
def runs() -> Iterator[Path]:
    """A folder with the runs `a` and `b`, which every user can read."""
    with tempfile.TemporaryDirectory(prefix="unreadable-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        for each in ("a", "b"):
            make_run(Path(name, each), _VALUES)
        yield Path(name)


def as_nobody(poolproof: Command, *words: str) -> tuple[int, str, str]:
    """Run a command as an unprivileged user. It has run as root before, so all modules are loaded."""
    os.setresuid(_NOBODY, _NOBODY, 0)
    try:
        return poolproof(*words)
    finally:
        os.setresuid(0, 0, 0)


@as_root
@pytest.mark.parametrize("command", ["show", "rank", "report", "clean", "compare", "runs"])
def test_a_run_of_another_user_is_named_with_the_next_step(runs: Path, poolproof: Command, command: str) -> None:
    words = [command, str(runs / "a"), *([str(runs / "b")] if command == "compare" else [])]
    poolproof(*words)
    (runs / "a").chmod(0o700)
    code, _, err = as_nobody(poolproof, *words)
    assert code == 7
    assert "Permission denied\n" in err
    assert err.splitlines()[1].startswith("  ")


@as_root
@pytest.mark.parametrize("words", [["runs"], ["query", "select distinct run from trials"]])
def test_trials_that_cannot_be_read_do_not_hide_other_runs(
    runs: Path, poolproof: Command, words: list[str], message: Message
) -> None:
    words.insert(1, str(runs))
    poolproof(*words)
    (runs / "a" / "trials.jsonl").chmod(0o600)
    code, out, err = as_nobody(poolproof, *words)
    assert (code, "\nb" in out) == (7, True)
    assert "a, trials.jsonl: " in message(err.replace(str(runs), "RUNS"))


def test_trials_that_are_too_large_do_not_hide_other_runs(runs: Path, poolproof: Command, message: Message) -> None:
    os.truncate(runs / "a" / "trials.jsonl", 300 << 20)
    code, out, err = poolproof("runs", str(runs))
    assert (code, "\nb" in out) == (7, True)
    assert "a, trials.jsonl: " in message(err.replace(str(runs), "RUNS"))
    assert "256 MiB" in err
