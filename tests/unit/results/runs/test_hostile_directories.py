"""Run directories from strangers: every command ends with an exit code in limited time, and follows no links."""

import json
import os
import re
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from poolproof.errors import RunError
from poolproof.presentation.live.follow import Follower
from poolproof.presentation.live.status import WatchedRun
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import TrialKey
from poolproof.results.runs.trial_files import check_numbers
from tests.golden import Message
from tests.unit.results.compare.making import make_run

from ...command import Command

_VALUES = {("one", "reads"): (1.0, 1.1, 1.2), ("pair", "reads"): (2.0, 2.1, 2.2)}
_DAMAGED = 7


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _linked(path: Path) -> None:
    secret = path.parent.parent / "secret"
    secret.write_text("root:secret\n")
    path.unlink()
    path.symlink_to(secret)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def _nested(path: Path) -> None:
    path.write_text('{"schema":1,"more":' + "[" * 100_000 + "]" * 100_000 + "}\n")


def _nested_campaign(path: Path) -> None:
    text = path.read_text()
    path.write_text(text.replace('"campaign": "', '"campaign": "' + "[" * 5000, 1))


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 64 + b"\n")


def _not_utf8(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"reads", b"r\xffads"))


_PREPARED: tuple[tuple[str, Callable[[Path], None]], ...] = (
    *(
        (name, prepare)
        for name in ("run.json", "trials.jsonl")
        for prepare in (_fifo, _linked, _huge, _nested, _binary, _not_utf8)
    ),
    ("run.json", _nested_campaign),
    ("campaign.yaml", _fifo),
    ("campaign.yaml", _huge),
)


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Command(monkeypatch, capsys)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(("name", "prepare"), _PREPARED)
def test_every_reading_command_ends_with_an_exit_code(
    tmp_path: Path, poolproof: Command, name: str, prepare: Callable[[Path], None]
) -> None:
    run = make_run(tmp_path / "runs" / "a", _VALUES)
    prepare(run / name)
    commands = (
        ("show", str(run)),
        ("show", str(run), "--json"),
        ("runs", str(run.parent)),
        ("query", str(run.parent), "select run, count(*) from trials group by run"),
        ("compare", str(run), str(run)),
        ("rank", str(run)),
        ("export", str(run), "--format", "csv", "--out", str(tmp_path / "out.csv")),
        ("clean", str(run)),
    )
    for words in commands:
        code, out, err = poolproof(*words)
        assert code in (0, 2, 3, 4, 5, 6, _DAMAGED), (words, err)
        assert "Traceback" not in err
        assert "bug in poolproof" not in err
        assert "root:secret" not in out + err
        if words[0] == "show" and name != "campaign.yaml":
            assert code == _DAMAGED, (words, err)


def test_a_link_to_itself_is_not_a_run(tmp_path: Path, poolproof: Command) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert poolproof("show", str(tmp_path / "loop"))[0] == _DAMAGED


@pytest.mark.parametrize(("prepare", "kind"), [(_fifo, "a FIFO"), (_linked, "a symbolic link")])
def test_a_run_json_that_is_not_a_regular_file_is_named(
    tmp_path: Path, poolproof: Command, prepare: Callable[[Path], None], kind: str
) -> None:
    run = make_run(tmp_path / "a", _VALUES)
    prepare(run / "run.json")
    assert f"run.json is {kind}, not a regular file; host, versions" in poolproof("show", str(run))[2]
    (run / "campaign.yaml").unlink()
    assert f"not a run directory: its run.json is {kind}, not a regular file" in poolproof("show", str(run))[2]


def test_the_hint_for_a_huge_run_json_does_not_suggest_to_look_at_the_file_system(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", _VALUES)
    _huge(run / "run.json")
    with pytest.raises(RunError, match="larger than 16 MiB") as refused:
        RunDirectory.open(run).record()
    assert refused.value.hint == "restore it from a backup, or run the campaign again"


def test_a_swapped_trials_file_is_not_appended_to(tmp_path: Path) -> None:
    path = make_run(tmp_path / "a", _VALUES)
    run = RunDirectory.open(path)
    trial = run.trials()[0]
    _linked(path / "trials.jsonl")
    with pytest.raises(OSError, match="symbolic link"):
        run.append(trial)
    assert (tmp_path / "secret").read_text() == "root:secret\n"
    (path / ".lock").symlink_to(tmp_path / "secret")
    with pytest.raises(RunError, match="symbolic link"), run.locked():
        raise AssertionError("locked")
    assert (tmp_path / "secret").read_text() == "root:secret\n"


def test_cells_that_are_a_link_are_not_written(tmp_path: Path) -> None:
    path, elsewhere = make_run(tmp_path / "a", _VALUES), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (path / "cells").symlink_to(elsewhere)
    run = RunDirectory.open(path)
    with pytest.raises(OSError, match="symbolic link"):
        run.trial_directory(TrialKey("one", "reads", 4))
    assert list(elsewhere.iterdir()) == []


_TEXTS = ('"\\u001b]0;x\\u0007\\u202eb"', '"\\ud800"', '"../../../x"', '"--help"', '"a\\nb"', '""', "null", "[]", "{}")
_NUMBERS = ("1e308", "-1e308", "1e400", "NaN", "Infinity", "-1", "5e-324", "9" * 400, str(2**63), "true")


@pytest.mark.parametrize("raw", [*_TEXTS, *_NUMBERS])
def test_a_hostile_value_in_any_key_is_refused_or_shown(tmp_path: Path, poolproof: Command, raw: str) -> None:
    """Each line of trials.jsonl has the value in a different key."""
    run = make_run(tmp_path / "runs" / "a", _VALUES)
    path = run / "trials.jsonl"
    line = json.loads(path.read_text().splitlines()[0])
    holes = [(line, key) for key in line] + [(line["figures"], key) for key in line["figures"]]
    for place, key in holes:
        kept, place[key] = place[key], "HOLE"
        damaged = json.dumps(line).replace('"HOLE"', raw)
        place[key] = kept
        path.write_text(f"{damaged}\n{json.dumps({**line, 'number': 2})}\n")
        code, out, err = poolproof("export", str(run), "--csv")
        assert code in (0, _DAMAGED), (key, raw, err)
        assert "bug in poolproof" not in err
        assert not any(ord(character) < 32 and character not in "\r\n\t" for character in out + err), (key, out, err)
    for words in (("show", str(run), "--json"), ("rank", str(run)), ("compare", str(run), str(run))):
        code, _, err = poolproof(*words)
        assert code in (0, 2, _DAMAGED), (words, raw, err)


def test_a_number_that_no_machine_measured_is_named(tmp_path: Path, message: Message) -> None:
    run = make_run(tmp_path / "a", _VALUES)
    path = run / "trials.jsonl"
    path.write_text(path.read_text().replace('"iops":1.1', '"iops":1e308'))
    with pytest.raises(RunError, match=r"trials.jsonl, line 2 .* 1e24") as damaged:
        RunDirectory.open(run).trials()
    message(damaged.value)


@pytest.mark.parametrize("number", ["1e25", "1E25", "1E+25", "-1e+025", "1" + "0" * 25, "9" * 26, "0.1e26"])
def test_every_notation_of_a_number_that_is_too_large_is_refused(number: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="larger than 1e24"):
        check_numbers(f'{{"value": {number}}}'.encode())


@pytest.mark.parametrize("number", [str(2**63), str(-(2**63)), "123456789012345678901"])
def test_an_integer_that_could_not_be_written_again_is_refused(number: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="larger than 2"):
        check_numbers(f'{{"value": {number}}}'.encode())


@pytest.mark.parametrize("number", ["1e24", "1E-25", "0.12345678901234567890123456", "9223372036854775807"])
def test_numbers_up_to_the_limit_are_accepted(number: str) -> None:
    check_numbers(f'{{"value": {number}}}'.encode())


@pytest.mark.parametrize("number", ["9223372036854775808", "123456789012345678901", "-9223372036854775809"])
def test_integers_above_64_bits_are_refused(number: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        check_numbers(f'{{"value": {number}}}'.encode())


def test_a_line_without_large_numbers_is_checked_about_as_fast_as_it_is_decoded(tmp_path: Path) -> None:
    lines = (make_run(tmp_path / "a", _VALUES) / "trials.jsonl").read_bytes().splitlines()
    checked, decoded = (
        min(timeit.repeat("for line in lines: call(line)", number=40, repeat=5, globals={"lines": lines, "call": call}))
        for call in (check_numbers, msgspec.json.decode)
    )
    assert checked < 4 * decoded


@pytest.mark.parametrize("ram", ["9" * 5000, "²", "-1", ""])
def test_a_recorded_fact_that_is_no_number_is_shown_as_it_is(tmp_path: Path, poolproof: Command, ram: str) -> None:
    run = make_run(tmp_path / "a", _VALUES)
    other = make_run(tmp_path / "b", _VALUES)
    path = run / "run.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "facts": {**record["facts"], "ram_bytes": ram}}))
    assert poolproof("report", str(run))[0] == 0
    assert poolproof("compare", str(run), str(other))[0] == 0


_TIMES = (
    "0001-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59", "9999-12-31T23:59:59-14:00", "2026-13-99",
)  # fmt: skip


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("text", _TIMES)
def test_a_time_that_no_clock_shows_ends_no_command(
    tmp_path: Path, poolproof: Command, monkeypatch: pytest.MonkeyPatch, text: str, zone: str
) -> None:
    run = make_run(tmp_path / "runs" / "a", _VALUES)
    for name in ("run.json", "trials.jsonl"):
        path = run / name
        path.write_text(re.sub(r'("begun_at": ?)"[^"]*"', rf'\g<1>"{text}"', path.read_text()))
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for words in (
            ("show", str(run)),
            ("watch", str(run)),
            ("runs", str(run.parent)),
            ("query", str(run.parent), "select begun_at from runs"),
            ("export", str(run), "--openmetrics"),
            ("export", str(run), "--influx"),
        ):
            code, _, err = poolproof(*words)
            assert code == 0, (words, err)
        with RunDirectory.open(run).locked():  # as if the run were in progress
            assert WatchedRun(Follower(run)).update()["running"]
    finally:
        monkeypatch.undo()
        time.tzset()
