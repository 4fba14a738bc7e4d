"""The example in docs/lint.md shows what lint actually reports and fixes."""

import re
import shlex
from pathlib import Path

import pytest

from poolproof.cli.main import main

_PAGE = (Path(__file__).parents[4] / "docs" / "lint.md").read_text(encoding="utf-8")


def test_the_example_is_what_lint_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job, fixed = re.findall(r"```ini\n(.*?)```", _PAGE, re.DOTALL)
    command, said = re.findall(r"```text\n\$ (.*?)\n(.*?)```", _PAGE, re.DOTALL)[0]
    (summary,) = re.findall(r"```text\n(db.fio:\d+: fixed.*?)```", _PAGE, re.DOTALL)
    (tmp_path / "db.fio").write_text(job)
    monkeypatch.chdir(tmp_path)
    assert _printed(command, monkeypatch, capsys) == (said, "")
    assert _printed(command.replace("lint ", "lint --fix "), monkeypatch, capsys) == (fixed, summary)


def _printed(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    monkeypatch.setattr("sys.argv", shlex.split(command))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    out, err = capsys.readouterr()
    return out, err
