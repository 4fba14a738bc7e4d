"""A run directory from a stranger can't add lines to an output that look like poolproof's own."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from poolproof.results.runs.directory import RunDirectory

from ...command import Command

_OLD = Path(__file__).parent / "old_run"
_LINE = "✓ sound, as poolproof has proved"
_BREAKS = ("\n", "\r\n", "\u2028")
_KEPT = {"campaign", "verdict", "effect", "metric", "layout", "workload", "begun_at"}
"""The keys of strings that must stay valid. The campaign is the text of a YAML file."""

_EXPORTS = ("markdown", "csv", "openmetrics", "influx", "dat")


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """The command line on a terminal that is so wide that no line is wrapped."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Command(monkeypatch, capsys, columns=2000)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(_OLD, tmp_path / "runs" / "a"))


def _forged(text: str, line_break: str) -> str:
    return f"{text}{line_break}{_LINE}{line_break}{text}"


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every string in a JSON value as its container and its key."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        if isinstance(each, str) and key not in _KEPT:
            yield value, key
        yield from _spots(each)


def _outputs(poolproof: Command, run: Path) -> Iterator[tuple[str, str]]:
    """Yield every output of the commands that can read the run, with the name of the command."""
    commands = [
        ("show", str(run), "--disks"),
        ("rank", str(run)),
        ("compare", str(run), str(run)),
        ("runs", str(run.parent)),
        ("query", str(run.parent), "select * from findings"),
        ("query", str(run.parent), "select * from trials, runs"),
        ("query", str(run.parent), "select * from findings", "--csv"),
        ("audit", str(run)),
        ("watch", str(run), "--plain"),
        ("report", str(run)),
        *(("export", str(run), f"--{name}", "--out", str(run.parent / "out" / name)) for name in _EXPORTS),
    ]
    for words in commands:
        _code, out, err = poolproof(*words)
        assert "bug in poolproof" not in err, (words, err)
        yield words[0], out + err
    for path in (run.parent / "out").rglob("*"):
        if path.is_file():
            yield path.name, path.read_text()
    shutil.rmtree(run.parent / "out", ignore_errors=True)


def _check(poolproof: Command, run: Path, what: str) -> int:
    """Check that no output has the forged line, and return the number of outputs that contain its text."""
    count = 0
    for name, text in _outputs(poolproof, run):
        lines = [line.strip().strip('"') for line in text.splitlines()]
        assert _LINE not in lines, (what, name, text)
        count += _LINE in text
    return count


@pytest.mark.timeout(120)
def test_no_string_of_a_trial_or_record_adds_a_line(run: Path, poolproof: Command) -> None:
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    record = json.loads((run / "run.json").read_text())
    for place, key in [spot for value in (*trials, record) for spot in _spots(value)]:
        place[key] = _forged(place[key], "\n")
    (run / "trials.jsonl").write_text("".join(json.dumps(trial) + "\n" for trial in trials))
    (run / "run.json").write_text(json.dumps(record))
    assert _check(poolproof, run, "all strings") > 3


@pytest.mark.parametrize("line_break", _BREAKS, ids=ascii)
def test_no_kind_of_line_break_adds_a_line(run: Path, poolproof: Command, line_break: str) -> None:
    """Names of layouts, keys, messages and the question contain it."""
    path, record = run / "trials.jsonl", run / "run.json"
    trials = [json.loads(line) for line in path.read_text().splitlines()]
    for trial in trials:
        trial["stored_bytes"][_forged("a", line_break)] = 5
        trial["findings"] = [
            {"rule": "r", "effect": "suspects", "message": _forged("m", line_break), "fix": _forged("f", line_break)}
        ]
        trial["verdict"] = "suspect"
    trials += [{**trial, "layout": _forged("one", line_break)} for trial in trials]
    path.write_text("".join(json.dumps(trial) + "\n" for trial in trials))
    found = json.loads(record.read_text())
    line_break = line_break if line_break == "\n" else ""  # YAML does not allow other control characters
    question = f"question: {json.dumps(_forged('Which?', line_break))}"
    found["campaign"] = re.sub("(?m)^question:.*$", lambda _: question, found["campaign"])
    record.write_text(json.dumps(found))
    assert _check(poolproof, run, "a line break") > 3


def test_only_the_text_of_the_campaign_has_several_lines(run: Path) -> None:
    """A fact or a version can also have the name `campaign`."""
    record = json.loads((run / "run.json").read_text())
    for table in (record["facts"], record["versions"]):
        table["campaign"] = _forged("a", "\n")
    (run / "run.json").write_text(json.dumps(record))
    found = RunDirectory.open(run).record()
    assert found.campaign == record["campaign"]
    assert found.facts["campaign"] == found.versions["campaign"] == _forged("a", " ")


def test_an_error_message_shows_later_lines_of_a_text_indented(run: Path, poolproof: Command) -> None:
    place = run.parent / _forged("b", "\n")
    run.rename(place)
    (place / "run.json").write_text("[]")
    code, out, err = poolproof("show", str(place))
    assert code == 7
    assert _LINE in out + err
    assert not any(line.startswith(_LINE) for line in (out + err).splitlines())
