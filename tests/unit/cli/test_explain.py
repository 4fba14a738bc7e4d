"""The JSON keys of `poolproof explain`, which other programs read."""

import json

import pytest

from poolproof.cli.main import main
from poolproof.foreign.lint.own_findings import OWN_FINDINGS
from poolproof.rules.rule_catalogue import rule


def test_json_has_the_public_keys(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["poolproof", "explain", "smr", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["id", "title", "wrong", "shows", "error", "mend", "sources", "reproduce"]
    assert (found["id"], found["mend"]) == ("smr", rule("smr").fix)


@pytest.mark.parametrize("name", [*OWN_FINDINGS, "smr"])
def test_everything_that_lint_reports_is_explained(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["poolproof", "explain", name, "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["id"] == name and found["wrong"] and found["mend"]


def test_a_misspelt_id_of_lint(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["poolproof", "explain", "misread-by-foi"])
    with pytest.raises(SystemExit):
        main()
    assert "`misread-by-fio`" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "is_explained"), [("shared-file-numjobs", True), ("smr", False)])
def test_the_word_clone_is_explained_where_it_is_used(
    name: str, is_explained: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["poolproof", "explain", name])
    with pytest.raises(SystemExit):
        main()
    assert ("A clone is" in capsys.readouterr().out) is is_explained
