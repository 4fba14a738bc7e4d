"""A host that answers with too much or with anything at all causes an error message, and takes little memory."""

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.devices.model import Leaf
from poolproof.errors import CommandError, HostError
from poolproof.evidence.counters import Sampler, parse_counters
from poolproof.evidence.other_work import parse_others
from poolproof.evidence.test_files import inspect, resident_bytes
from poolproof.facts.block import loop_facts
from poolproof.hosts import remote_exec, remote_shell, remote_stream, shells
from poolproof.hosts.local import LocalHost
from poolproof.hosts.ssh import SshHost
from poolproof.layers.file_system import file_bytes
from poolproof.process import Completed, Dialogue, lines_kept_alive
from poolproof.provision import layout_plan
from poolproof.provision.swappable import swappable


@pytest.mark.parametrize("endless", ["yes", "yes >&2", "cat /dev/zero"])
def test_a_host_that_prints_without_end_is_given_up_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endless: str
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nexec {endless}\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(shells, "_GRACE_S", 0.1)
    begun = time.monotonic()
    with pytest.raises(CommandError, match="printed more than 1 MiB"):
        SshHost("far")
    assert time.monotonic() - begun < 30  # the first command may take 60 s


def test_a_program_may_print_no_more_than_the_limit() -> None:
    dialogue = Dialogue(["cat", "/dev/zero"])
    try:
        with pytest.raises(CommandError, match="`cat` printed more than 3 MiB"):
            dialogue.exchange(b"", lambda: False, time.monotonic() + 60, limit_bytes=3 << 20)
        assert len(dialogue.out) < 4 << 20
    finally:
        dialogue.end(0.1)
    assert len(dialogue.out) < 6 << 20


def test_a_line_without_end_ends_the_lines() -> None:
    argv = ["sh", "-c", "echo first; cat /dev/zero"]
    with lines_kept_alive(argv, stdin="", grace_s=0.1) as lines:
        assert list(lines) == ["first\n"]


@pytest.mark.parametrize("code", [b"x", b"", b"-1", b"\xff", b"9" * 5000])
def test_an_exit_code_that_is_not_a_number_is_an_error(code: bytes) -> None:
    out, err = bytearray(b"mark begin 1\nmark end 1 " + code + b"\n"), bytearray(b"mark begin 1\nmark end 1 0\n")
    with pytest.raises(CommandError, match="is not a number"):
        remote_shell.Reply(1, "mark", out, err).ended()


@pytest.mark.parametrize("code", ["x", "", "-1", "9" * 5000])
def test_a_lone_command_without_an_exit_code_has_none(code: str) -> None:
    assert remote_exec.parse_result("mark\n", f"mark\n\nmark {code}\n", "mark").code is None


@pytest.mark.parametrize("text", [" x\ne\n", "tnot a time\ne\n", "c1\ne\n", "c1 x y\ne\n", "+\ne\n"])
def test_a_reading_that_cannot_be_parsed_is_an_error(text: str) -> None:
    with pytest.raises(CommandError, match="invalid reading"):
        remote_stream.tick(text, 0.0)


@pytest.mark.parametrize("line", ["f\n", " x\n", f" {'x' * 10_000}\n", "c1 1 1\n"])
def test_a_reading_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr(remote_stream, "_LARGEST_READING", 1 << 20)
    lines = itertools.chain(["mark\n", "t1\n", "f\n"], itertools.repeat(line))
    with pytest.raises(CommandError, match="invalid reading: it is too large"):
        list(remote_stream.ticks(lines, "mark"))


def test_a_clock_that_cannot_be_parsed_is_unknown() -> None:
    assert remote_stream.clock("c\n") is None


class _Prints(LocalHost):
    """A host on which each command prints the same text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert timeout_s > 0 and stdin is None and check
        return Completed(tuple(argv), 0, self._text, "", 0.0)


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "0x10", "١", "9" * 5000])
def test_a_number_that_cannot_be_parsed_is_an_error(text: str) -> None:
    with pytest.raises(HostError, match="expected only numbers"):
        parse_counters(f"1 2 3 {text} 5 6 7 8 9 10 11\n")
    with pytest.raises(HostError, match="expected 3 numbers"):
        inspect(_Prints(f"4096 {text} 512\n"), ["/a"])
    with pytest.raises(HostError, match="expected only numbers"):
        resident_bytes(_Prints(f"{text}\n"), ["/a"])
    with pytest.raises(HostError, match="expected only numbers"):
        file_bytes("/a", _Prints(f"8\n{text}\n"))


@pytest.mark.parametrize("text", ["", "1 2\n", "1 2 3 4\n", "1 2 3\n1 2 3\n"])
def test_the_size_of_each_file_is_three_numbers(text: str) -> None:
    with pytest.raises(HostError, match=r"3 numbers|[02] lines"):
        inspect(_Prints(text), ["/a"])


def test_a_counter_that_is_not_a_number_ends_the_trial(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("no number\n")
    with (
        pytest.raises(HostError, match="expected only numbers"),
        Sampler(LocalHost(), [Leaf("a", "/dev/a", str(stat))], 0.01),
    ):
        while any(thread.name == "sampler" for thread in threading.enumerate()):
            time.sleep(0.01)


@pytest.mark.parametrize(
    "text", ["ticks 0\n", f"ticks {'9' * 5000}\nown {'9' * 5000}\n/proc/1/io:read_bytes: {'9' * 5000}\n"]
)
def test_the_work_of_other_programs_can_be_anything(text: str) -> None:
    assert parse_others(text).cpu_s == 0


@pytest.mark.parametrize("text", ["5", "[" * 20_000, '{"loopdevices":5}', '{"loopdevices":[{"name":{}}]}', "a b"])
def test_an_answer_of_losetup_that_is_not_a_list_is_an_error(text: str) -> None:
    with pytest.raises(HostError, match="losetup did not print a list"):
        loop_facts(_Prints(text))


class _NoSizes(LocalHost):
    """A host that prints `text` in place of the sizes of a file system."""

    def __init__(self, text: str) -> None:
        self._text = text

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        if tuple(argv[:2]) == ("stat", "--file-system"):
            return Completed(tuple(argv), 0, self._text, "", 0.0)
        return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)


@pytest.mark.parametrize("text", ["", "x y", "5", "-5 4096", f"{'9' * 5000} 4096"])
def test_the_free_space_of_a_directory_must_be_a_number(text: str, tmp_path: Path) -> None:
    campaign = parse_campaign(
        f"name: a\nlayouts: {{one: dir {tmp_path}}}\nworkloads: {{w: {{rw: read, bs: 4k, size: 4m}}}}\n", "a.yaml"
    )
    with pytest.raises(HostError, match="expected 2 numbers"):
        layout_plan._directory_of(campaign, _NoSizes(text), str(tmp_path), ())


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshHost]:
    """A host over a program that has the name of ssh and runs the command on this machine."""
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with SshHost("far") as host:
        yield host


def test_a_number_that_python_cannot_convert_is_an_error(far: SshHost) -> None:
    assert far.run(["printf", "%0999d", "7"], timeout_s=20).stdout.endswith("07")
    with pytest.raises(CommandError, match="on far printed a number with more than 1,000 digits"):
        far.run(["printf", "size=%05000d", "7"], timeout_s=20, check=False)


def test_a_file_with_such_a_number_counts_as_unreadable(far: SshHost, tmp_path: Path) -> None:
    absurd, usual = tmp_path / "absurd", tmp_path / "usual"
    absurd.write_text(f"1 {'9' * 5000} 3\n")
    usual.write_text("1 2 3\n")
    paths = [str(absurd), str(usual)]
    assert far.read_files(paths).texts == ("", "1 2 3\n")
    with far.stream(paths, 0.01) as readings:
        assert next(iter(readings)).texts == ("", "1 2 3\n")


@pytest.mark.parametrize("owner", ["x", "", "1.5", "0x0", "\0"])
def test_an_owner_of_a_directory_that_is_not_a_number_is_an_error(owner: str) -> None:
    with pytest.raises(HostError, match="as the owner and the mode of a directory"):
        swappable(_Prints(f"0\n {owner} 0 755 root root /srv\n 0 0 755 root root /\n"), "/srv")
