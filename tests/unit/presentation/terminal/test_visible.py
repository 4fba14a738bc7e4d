"""Control characters in names and messages never reach the terminal, but poolproof's own colours do."""

import io
import sys
from pathlib import Path

import pytest

from poolproof.presentation.terminal.visible import filtered_output, unfiltered, visible, visible_console, visible_line
from tests.unit.results.compare.making import make_run

from ...command import Command

_ATTACKS = "\x1b[2J\x1b]0;title\x07 \x9b31m \u202eabc\u2066 \x00\x08\r\x7f\u200f\ud800\u2028"
_DANGEROUS = set("\x1b\x07\x9b\x00\x08\r\x7f\u202e\u2066\u200f\ud800\u2028")


def test_each_control_character_becomes_an_escape() -> None:
    assert visible("a\x1b[31mb\x9bc\u202ed\x7f") == r"a\x1b[31mb\x9bc\u202ed\x7f"
    assert not _DANGEROUS.intersection(visible(_ATTACKS))
    assert visible("Größe 漢字 ✓\tµs\n") == "Größe 漢字 ✓\tµs\n"
    assert visible_line("a\nb") == r"a\nb"


def test_all_output_passes_the_filter_and_no_buffer_leads_past_it(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = sys.stdout, sys.stderr
    with filtered_output():
        print(_ATTACKS)
        print(_ATTACKS, file=sys.stderr)
        sys.stdout.writelines([_ATTACKS])
        assert not hasattr(sys.stdout, "buffer")
    assert (sys.stdout, sys.stderr) == (out, err)
    assert not _DANGEROUS.intersection("".join(capsys.readouterr()))


def test_a_console_colours_but_text_cannot() -> None:
    stream = io.StringIO()
    console = visible_console(stream)
    console._force_terminal = True
    assert unfiltered(stream) is stream
    console.print("mine", style="red", end="")
    console.print(_ATTACKS, markup=False, end="")
    assert not (_DANGEROUS - {"\x1b"}).intersection(stream.getvalue())
    assert r"\x1b[2J\x1b]0;title" in stream.getvalue()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run whose names and messages contain control characters."""
    run = make_run(
        tmp_path / "runs" / "a",
        {("one", "reads"): (1.0,), ("pair", "reads"): (2.0,)},
        bad={("pair", "reads"): "suspect"},
    )
    escaped = (
        _ATTACKS.encode("unicode_escape")
        .decode()
        .replace("\\x", "\\u00")
        .replace("\\ud800", "")
        .replace("\\r", "\\u000d")
    )
    path = run / "trials.jsonl"
    path.write_text(path.read_text().replace('"message":"', f'"message":"{escaped}'))
    path = run / "run.json"
    path.write_text(path.read_text().replace('"host": "', f'"host": "{escaped}'))
    return run


def test_no_command_prints_control_characters(
    hostile: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    poolproof = Command(monkeypatch, capsys)
    run, name = str(hostile), f"/x{_ATTACKS.replace(chr(0), '').replace(chr(0xD800), '')}"
    for words in (
        ("show", run),
        ("compare", run, run),
        ("rank", run, "--goal", "reads"),
        ("audit", run),
        ("runs", str(hostile.parent)),
        ("query", str(hostile.parent), "select host from runs", "--csv"),
        ("query", str(hostile.parent), "select host from runs"),
        ("query", str(hostile.parent), f"select '{name}' as x"),
        ("show", name),
        (name,),
        ("run", name),
        ("lint", name),
    ):
        _code, out, err = poolproof(*words)
        assert out + err
        assert not _DANGEROUS.intersection((out + err).replace("\r\n", "\n")), words


def test_a_name_with_a_line_end_stays_on_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path / "a", {("one", "reads"): (1.0, 1.0), ("pair", "reads"): (2.0, 2.0)})
    path = run / "trials.jsonl"
    path.write_text(path.read_text().replace('"layout":"pair"', r'"layout":"pair\nforged"'))
    _code, out, _err = Command(monkeypatch, capsys)("show", str(run))
    assert "pair forged" in out


def test_a_report_without_some_trials_is_written_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path / "a", {("one", "reads"): (1.0, 1.0), ("pair", "reads"): (2.0, 2.0)})
    with (run / "trials.jsonl").open("a") as file:
        file.write("rubbish\n")
    code, _out, err = Command(monkeypatch, capsys)("report", str(run))
    assert code == 7
    assert "1 trial " in err
    assert (run / "report.html").stat().st_size
