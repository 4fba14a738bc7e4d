"""Remote execution without ssh: its shell code in each of this machine's shells, and how its output is parsed."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.hosts import remote_exec
from poolproof.hosts import remote_stream as far_stream
from poolproof.process import run_kept_alive

_MARK = "poolproof-0123"
_LIMIT_S = 20.0


def _ask(*argv: str, stdin: str | None = None, limit_s: int = 10) -> remote_exec.SshResult:
    """Pass the command to a shell as sshd would, and keep the shell's standard input open until it ends."""
    command = remote_exec.ssh_command(argv, mark=_MARK, limit_s=limit_s, stdin=stdin)
    ended = run_kept_alive(["sh", "-c", command.line], timeout_s=_LIMIT_S, stdin=command.stdin, grace_s=5)
    return remote_exec.parse_result(ended.stdout, ended.stderr, _MARK)


@pytest.mark.usefixtures("shell")
def test_every_shell_keeps_the_same_house() -> None:
    said = _ask("sh", "-c", 'cat; echo "$1"; echo err >&2; exit 255', "sh", "it's $x\n", stdin="fed\n")
    assert said == remote_exec.SshResult(True, 255, False, "fed\nit's $x\n\n", "err\n")
    assert _ask("true").code == 0
    assert _ask("printf", "%s", "y" * 110_000, stdin="").stdout == "y" * 110_000


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize("stdin", [None, "x", "x" * 50_000])
def test_the_clock_ends_what_outlives_its_limit(stdin: str | None) -> None:
    assert _ask("sleep", "4801", stdin=stdin, limit_s=1).code == 128 + 15


@pytest.mark.usefixtures("shell")
def test_a_program_that_is_not_there_is_told_from_one_that_says_127() -> None:
    missing, own = _ask("poolproof-no-such-program"), _ask("sh", "-c", "exit 127")
    assert (missing.code, missing.absent) == (127, True)
    assert (own.code, own.absent) == (127, False)


def test_words_before_the_mark_are_not_the_program_s() -> None:
    found = remote_exec.parse_result(f"Welcome\n{_MARK}\nout", f"mind the gap\n{_MARK}\nerr\n{_MARK} 7\n", _MARK)
    assert found == remote_exec.SshResult(True, 7, False, "out", "err")


def test_no_report_is_no_exit_code() -> None:
    assert remote_exec.parse_result(f"{_MARK}\nhalf", f"{_MARK}\nclosed by remote host", _MARK).code is None
    assert not remote_exec.parse_result("", "Permission denied", _MARK).begun


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
def test_an_order_holds_the_arguments_to_the_letter(words: list[str]) -> None:
    command = remote_exec.ssh_command(words, mark=_MARK, limit_s=9, stdin=None, through=("sudo", "-n", "--"))
    assert shlex.split(command.line)[:5] == ["exec", "sudo", "-n", "--", "sh"]
    assert shlex.split(command.line)[-len(words) :] == words


def _ticks(text: str) -> list[tuple[float, tuple[str, ...]]]:
    return [(tick.at_s, tick.texts) for tick in far_stream.ticks(iter(text.splitlines(keepends=True)), _MARK)]


def test_a_tick_is_on_the_host_s_own_clock() -> None:
    text = f"Welcome\n{_MARK}\nc1000.25 49.96 50.04\nt50.00\nf\n a\n b\nf\n+torn\nf\ne\nt50.20\nf\n a\nf\nf\ne\n"
    first, second = _ticks(text)
    assert first == (1000.25, ("a\nb\n", "torn", ""))
    assert second[0] == pytest.approx(1000.45)
    assert second[1] == ("a\n", "", "")


@pytest.mark.parametrize("date", ["1000.%N", "1000."])
def test_a_date_without_fractions_is_good_to_a_second(date: str) -> None:
    ((at_s, texts),) = _ticks(f"{_MARK}\nc{date} 50.00 50.00\nt50.10\nf\ne\n")
    assert at_s == pytest.approx(1000.1)
    assert texts == ("",)


def test_a_tick_that_was_cut_off_is_left_out() -> None:
    assert _ticks(f"{_MARK}\nc1000.0 50.0 50.0\nt50.0\nf\n a\ne\nt50.1\nf\n a") == [(1000.0, ("a\n",))]
    assert _ticks("no mark at all\n") == []
