"""Persistent shells without ssh: their code in each of this machine's shells, and how its output is parsed."""

import secrets
import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.hosts import remote_shell
from poolproof.hosts import remote_stream as far_stream
from poolproof.hosts.remote_shell import CommandResult
from poolproof.hosts.shells import RemoteReader, ShellBroke, Shells, ticks

_MARK = "poolproof-0123"
_LIMIT_S = 20.0


@pytest.fixture
def shells(shell: None) -> Iterator[Shells]:  # noqa: ARG001
    """Persistent shells of the same kind as the remote host's shell."""
    made = Shells(lambda line: ["sh", "-c", line], _MARK)
    try:
        yield made
    finally:
        made.close()


def _ask(shells: Shells, *argv: str, stdin: str | None = None, limit_s: int = 10) -> CommandResult | None:
    request = remote_shell.run_request(argv, limit_s=limit_s, stdin=stdin)
    assert request is not None
    return shells.ask(request, time.monotonic() + _LIMIT_S)


def test_one_command_after_the_other(shells: Shells) -> None:
    script = 'echo "$1"; echo err >&2; exit 255'
    assert _ask(shells, "sh", "-c", script, "sh", "it's $x\n") == CommandResult(255, False, "it's $x\n\n", "err\n")
    assert _ask(shells, "printf", r"\000no end") == CommandResult(0, False, "\0no end", "")
    workers = [_ask(shells, "sh", "-c", "echo $PPID") for _ in range(3)]
    assert len(set(workers)) == 1


@pytest.mark.parametrize("text", ["", "x", "it's\n$HOME é\n\n", "y" * 9_000])
@pytest.mark.parametrize("limit_s", [10, 3600])
def test_all_input_arrives_and_ends(shells: Shells, text: str, limit_s: int) -> None:
    assert _ask(shells, "cat", stdin=text, limit_s=limit_s) == CommandResult(0, False, text, "")
    assert _ask(shells, "cat", limit_s=limit_s) == CommandResult(0, False, "", "")


def test_a_word_of_the_shell_s_own_is_no_program(shells: Shells) -> None:
    answer = _ask(shells, "exit", "7")
    assert answer is not None and answer.code == 127
    assert _ask(shells, "true") == CommandResult(0, False, "", "")


def test_the_shell_s_own_test_says_what_the_program_would(shells: Shells, tmp_path: Path) -> None:
    (tmp_path / "it's").write_text("x")
    asked: tuple[list[str], ...] = (
        ["-e", f"{tmp_path}/it's"],
        ["-s", "/no", "-o", "-b", "/no"],
        ["-d", str(tmp_path)],
        ["1", "-eq", "x"],
        [],
    )
    answers = [_ask(shells, "test", *words) for words in asked]
    assert [answer.code for answer in answers if answer] == [0, 1, 0, 2, 1]
    assert answers[3] is not None and answers[3].stderr


def test_a_program_that_is_not_there_is_told_from_one_that_says_127(shells: Shells) -> None:
    missing, own = _ask(shells, "poolproof-no-such-program"), _ask(shells, "sh", "-c", "exit 127")
    assert missing is not None and (missing.code, missing.absent) == (127, True)
    assert own == CommandResult(127, False, "", "")


def test_a_program_that_a_signal_ended_says_so_and_the_shell_nothing(shells: Shells) -> None:
    assert _ask(shells, "sh", "-c", "kill -KILL $$") == CommandResult(128 + 9, False, "", "")


def test_what_outlives_the_time_is_ended_and_the_next_has_another_shell(shells: Shells, tmp_path: Path) -> None:
    script = 'echo $$ >"$0"; trap "" TERM; while :; do sleep 0.1; done'
    request = remote_shell.run_request(["sh", "-c", script, str(tmp_path / "pid")], limit_s=9, stdin=None)
    assert request is not None
    with pytest.raises(TimeoutError):
        shells.ask(request, time.monotonic() + 1)
    assert _ask(shells, "true") == CommandResult(0, False, "", "")
    _await_end((tmp_path / "pid").read_text().strip())


def test_the_clock_ends_what_nobody_else_does(shells: Shells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_shell, "_WITHOUT_TIMER_S", 0)
    with pytest.raises(ShellBroke) as raised:
        _ask(shells, "sleep", "4802", limit_s=1)
    assert raised.value.begun


def test_a_clock_is_gone_with_its_command(shells: Shells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_shell, "_WITHOUT_TIMER_S", 0)
    limit_s = 100_000 + secrets.randbelow(900_000)
    for _ in range(20):
        assert _ask(shells, "true", limit_s=limit_s) == CommandResult(0, False, "", "")
    deadline = time.monotonic() + _LIMIT_S
    while _running(f"sleep\0{limit_s}"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_look_in_a_shell_that_never_told_the_clock(shells: Shells) -> None:
    request = remote_shell.read_request(["/proc/uptime", "/no"], clock=False)
    assert request is not None
    answer = shells.ask(request, time.monotonic() + _LIMIT_S)
    assert answer is not None and far_stream.clock(answer.stdout) is None
    tick = far_stream.tick(answer.stdout, 1000.0)
    assert tick is not None
    assert tick.at_s > 1000
    assert (tick.texts[0].count("\n"), tick.texts[1]) == (1, "")


def test_a_look_at_files(shells: Shells, tmp_path: Path) -> None:
    counter, torn = tmp_path / "it's a counter", tmp_path / "torn"
    counter.write_text("one 1\n\n  two\\n\n")
    torn.write_text("no line end")
    request = remote_shell.read_request([str(counter), "/no/such/file", str(torn)], clock=True)
    assert request is not None
    answer = shells.ask(request, time.monotonic() + _LIMIT_S)
    assert answer is not None
    tick = far_stream.tick(answer.stdout, 0.0)
    assert tick is not None
    assert tick.texts == ("one 1\n\n  two\\n\n", "", "no line end")
    assert far_stream.clock(answer.stdout) is not None
    assert abs(tick.at_s - time.time()) < _LIMIT_S
    assert _ask(shells, "true") == CommandResult(0, False, "", "")


def test_what_a_shell_does_not_take() -> None:
    assert remote_shell.run_request(["cat"], limit_s=9, stdin="a\0b") is None
    assert remote_shell.run_request(["echo", "x" * 100_000], limit_s=9, stdin=None) is None


def test_a_shell_that_never_stood_says_what_was_said_in_its_place() -> None:
    refusing = Shells(lambda _line: ["sh", "-c", "echo Permission denied >&2; exit 255"], _MARK)
    with pytest.raises(ShellBroke, match="Permission denied") as raised:
        _ask(refusing, "true")
    assert (raised.value.begun, raised.value.code) == (False, 255)


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1), st.text())
def test_a_request_holds_the_arguments_to_the_letter(words: list[str], fed: str) -> None:
    request = remote_shell.run_request(words, limit_s=9, stdin=None)
    assert request is not None
    assert shlex.split(request.line(7).decode()) == ["pp_run", "7", "", "", *words]
    with_input = remote_shell.run_request(words, limit_s=99, stdin=fed.replace("\0", ""))
    assert with_input is not None
    assert shlex.split(with_input.line(8).decode()) == ["pp_run", "8", "99", "fed", fed.replace("\0", ""), *words]


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(1, 50))
def test_a_reply_is_the_bytes_between_its_marks_however_they_come(before: bytes, said: bytes, piece: int) -> None:
    whole = before + f"{_MARK} begin 3\n".encode() + said + f"{_MARK} end 3 126\n".encode()
    out, err = bytearray(), bytearray()
    reply = remote_shell.Reply(3, _MARK, out, err)
    for first in range(0, len(whole), piece):
        assert not reply.ended()
        out += whole[first : first + piece]
        err += whole[first : first + piece]
    assert reply.ended()
    text = said.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    assert reply.result() == CommandResult(126, False, text, text)


def _await_end(pid: str) -> None:
    deadline = time.monotonic() + _LIMIT_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _running(text: str) -> bool:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text in (folder / "cmdline").read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


def test_the_clock_of_the_host_is_read_once(shells: Shells) -> None:
    """All later times, including those of a stream, are based on the host's uptime.

    Setting the host's clock therefore changes no interval.
    """
    reader = RemoteReader()
    assert reader.read_files(shells.ask, ["/proc/uptime"]) is not None and reader.zero_s is not None
    reader.zero_s -= 3600.0  # as if the clock had stepped since
    tick = reader.read_files(shells.ask, ["/proc/uptime"])
    first = next(ticks(reader, shells.ask, ["/proc/uptime"], 0.01, threading.Event()))
    assert tick is not None
    assert abs(first.at_s - tick.at_s) < 60
    assert abs(tick.at_s - (time.time() - 3600)) < 60
    lines = ["M\n", "c9 1 1\n", "t20\n", "f\n", "e\n"]
    assert next(far_stream.ticks(iter(lines), "M", 100.0)).at_s == 120.0
