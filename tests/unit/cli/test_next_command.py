"""The command in a hint works when it is typed."""

import re
import shlex
from pathlib import Path

import pytest

from tests.unit.command import Command
from tests.unit.results.compare.making import make_run


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(monkeypatch, capsys)


def _hinted(err: str) -> list[str]:
    found = re.search(r"poolproof (?!:)([^\n;,]+)$", err.strip(), re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


@pytest.mark.parametrize(
    ("words", "hinted"),
    [
        (("rank",), ["rank", "--help"]),
        (("lab", "start"), ["lab", "start", "--help"]),
        (("lab", "halt"), ["lab", "--help"]),
        (("rnu",), ["--help"]),
        (("explain", "foo"), ["rules"]),
    ],
)
def test_a_mistake_names_a_command_that_works(poolproof: Command, words: tuple[str, ...], hinted: list[str]) -> None:
    code, _, err = poolproof(*words)
    assert code == 2 and _hinted(err) == hinted
    assert poolproof(*hinted)[0] == 0


def test_a_group_without_a_command_prints_its_help(poolproof: Command) -> None:
    code, out, err = poolproof("lab")
    assert (code, err) == (0, "") and out.startswith("Usage: poolproof lab [OPTIONS] COMMAND")


def test_a_rejected_query_says_how_to_list_the_columns(poolproof: Command) -> None:
    make_run(Path("runs/one"), {("a", "reads"): (100, 101)})
    code, _, err = poolproof("query", "runs", "select nothing from trials")
    hinted = ["runs" if word == "DIR" else word for word in _hinted(err)]
    assert code == 2 and hinted == ["query", "runs", "describe trials"]
    assert poolproof(*hinted)[0] == 0


def test_without_a_folder_for_runs_the_hint_is_not_the_same_command(poolproof: Command) -> None:
    code, _, err = poolproof("runs")
    assert code == 7 and "runs does not exist" in err and "poolproof runs DIR" in err


def test_a_percentage_without_its_sign_gets_the_sign(poolproof: Command) -> None:
    code, _, err = poolproof("compare", "a", "b", "--fail-if-slower", "5")
    assert code == 2 and "--fail-if-slower 5%" in err
