"""Cases that exist only over SSH: failed or broken connections, shells that print text, and users without root."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from poolproof.errors import HostError, UsageError
from poolproof.facts.machine import survey
from poolproof.hosts.base import FileMissing, Host, HostUnreachable
from poolproof.hosts.local import reach
from poolproof.hosts.ssh import SshHost
from poolproof.process import CommandFailed, CommandTimedOut
from tests.loop.hosts.processes import running, wait_until_true
from tests.loop.hosts.sshd import Sshd, sshd, user_without_root

pytestmark = pytest.mark.parallel

_LIMIT_S = 120.0


def test_a_command_leaves_only_a_shell_and_closing_leaves_nothing(
    server: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place, monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", place)
        mark = _use(server, Path(place))
        assert not list(Path(place).iterdir())
        wait_until_true(lambda: not running(place) and not running(mark))


def _use(server: Sshd, place: Path) -> str:
    """Use every method of a host. Return the mark in the command lines of the programs that it starts there."""
    with SshHost("far", server.config) as host:
        (folder,) = place.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        host.run(["true"], timeout_s=_LIMIT_S)
        shell = set(running(host.mark))
        host.run(["cat"], timeout_s=_LIMIT_S, stdin="x")
        host.run(["true"], timeout_s=3600, stdin="x" * 100_000)
        with host.stream(["/proc/uptime"], 0.1) as ticks:
            next(ticks)
        wait_until_true(lambda: set(running(host.mark)) <= shell)
        assert running(str(folder))
        return host.mark


def test_the_directory_of_a_killed_process_is_removed_by_the_next_connection(
    server: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"""
import sys, time
from pathlib import Path
from poolproof.hosts.ssh import SshHost
with SshHost("far", Path({str(server.config)!r})):
    print("connected", flush=True)
    time.sleep({_LIMIT_S})
"""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        monkeypatch.setenv("TMPDIR", place)
        monkeypatch.setattr(tempfile, "tempdir", place)
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as killed:
            assert killed.stdout is not None and killed.stdout.readline() == "connected\n"
            (left,) = Path(place).iterdir()
            os.utime(left, (0, 0))
            with SshHost("far", server.config):
                assert left.is_dir()  # its process is still running
            killed.kill()
        with SshHost("far", server.config):
            assert not left.exists()


def test_no_connection_is_one_clear_error(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host nowhere\n  HostName 127.0.0.1\n  Port 1\n")
    with pytest.raises(HostUnreachable, match=r"cannot connect to nowhere: .*refused") as raised:
        SshHost("nowhere", config)
    assert raised.value.hint == f"ssh -F {config} -v nowhere true"
    assert not running(str(config))


def test_a_wrong_key_is_one_clear_error(server: Sshd, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(server.config.read_text().replace("user_key", "no_such_key"))
    with pytest.raises(HostUnreachable, match="Permission denied"):
        SshHost("far", config)


def test_a_destination_is_not_read_as_an_option() -> None:
    with pytest.raises(UsageError, match="ProxyCommand"):
        SshHost("-oProxyCommand=touch /tmp/owned")


def test_local_is_this_machine() -> None:
    with reach("local") as host:
        assert host.name == "local"


def test_output_of_a_login_shell_is_ignored() -> None:
    chatter = 'ForceCommand echo Welcome; echo "mind the gap" >&2; eval "$SSH_ORIGINAL_COMMAND"'
    with sshd(set_up=chatter) as own, SshHost("far", own.config) as host:
        completed = host.run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=_LIMIT_S, check=False)
        assert (completed.stdout, completed.stderr, completed.returncode) == ("out\n", "err\n", 3)
        with host.stream(["/proc/uptime"], 0.1) as ticks:
            assert next(ticks).texts[0]


def test_a_host_without_a_shell_is_an_error() -> None:
    refuses = 'ForceCommand echo "This account is not available."; exit 1'
    with sshd(set_up=refuses) as own, pytest.raises(HostUnreachable, match="POSIX shell"):
        SshHost("far", own.config)


def test_a_broken_connection_ends_the_program_and_the_command() -> None:
    with sshd() as own, SshHost("far", own.config) as host:
        breaker = threading.Timer(1.0, own.break_links)
        breaker.start()
        begun = time.monotonic()
        with pytest.raises(HostUnreachable, match="to far was lost while `sleep 4720`"):
            host.run(["sleep", "4720"], timeout_s=_LIMIT_S)
        assert time.monotonic() - begun < 15
        wait_until_true(lambda: not running("sleep 4720"))


def test_exit_code_255_of_a_program_is_not_a_broken_connection(server: Sshd) -> None:
    with SshHost("far", server.config) as host, pytest.raises(CommandFailed, match="exit code 255"):
        host.run(["sh", "-c", "exit 255"], timeout_s=_LIMIT_S)


def test_a_stream_ends_when_the_connection_breaks_and_the_next_command_reconnects() -> None:
    with sshd() as own, SshHost("far", own.config) as host:
        with host.stream(["/proc/uptime"], 0.1) as ticks:
            next(ticks)
            assert own.break_links() == 1
            begun = time.monotonic()
            assert len(list(ticks)) < 20
            assert time.monotonic() - begun < 10
        wait_until_true(lambda: not running(host.mark))
        assert host.run(["echo", "again"], timeout_s=_LIMIT_S).stdout == "again\n"


def _worker(host: SshHost) -> int:
    """Return the process ID of the shell that runs the commands."""
    return int(host.run(["sh", "-c", "echo $PPID"], timeout_s=_LIMIT_S).stdout)


def test_commands_share_one_shell(server: Sshd) -> None:
    with SshHost("far", server.config) as host:
        workers = [_worker(host) for _ in range(5)]
        host.run(["cat"], timeout_s=3600, stdin="x" * 10_000)
        assert {*workers, _worker(host)} == {workers[0]}
        with pytest.raises(CommandTimedOut):
            host.run(["sleep", "4721"], timeout_s=0.3)
        assert _worker(host) != workers[0]


def test_a_shell_that_died_between_two_commands_is_replaced(server: Sshd) -> None:
    with SshHost("far", server.config) as host:
        for _ in range(3):
            os.kill(_worker(host), signal.SIGKILL)
            time.sleep(0.05)
            assert host.run(["echo", "again"], timeout_s=_LIMIT_S).stdout == "again\n"


def test_a_command_whose_shell_died_is_not_run_again(server: Sshd, tmp_path: Path) -> None:
    script = 'echo once >>"$0"; kill -KILL "$PPID"; sleep 4723'
    with SshHost("far", server.config) as host:
        with pytest.raises(HostUnreachable, match="was lost while"):
            host.run(["sh", "-c", script, str(tmp_path / "ran")], timeout_s=_LIMIT_S)
        assert host.run(["echo", "again"], timeout_s=_LIMIT_S).stdout == "again\n"
        wait_until_true(lambda: not running("sleep 4723"))
    assert (tmp_path / "ran").read_text() == "once\n"


def test_a_connection_that_breaks_during_output_returns_none_of_it() -> None:
    script = "head -c 3000000 /dev/zero; exec sleep 4722"
    with sshd() as own, SshHost("far", own.config) as host:
        breaker = threading.Timer(1.0, own.break_links)
        breaker.start()
        with pytest.raises(HostUnreachable, match="to far was lost while"):
            host.run(["sh", "-c", script], timeout_s=_LIMIT_S)
        wait_until_true(lambda: not running("sleep 4722"))
        assert host.run(["echo", "again"], timeout_s=_LIMIT_S).stdout == "again\n"


def test_a_background_process_does_not_disturb_the_next_command(server: Sshd, tmp_path: Path) -> None:
    said = tmp_path / "said"
    with SshHost("far", server.config) as host:
        script = '{ sleep 0.3; echo late; echo late >&2; : >"$0"; } &'
        host.run(["sh", "-c", script, str(said)], timeout_s=_LIMIT_S)
        wait_until_true(said.exists)
        completed = host.run(["echo", "mine"], timeout_s=_LIMIT_S)
        assert (completed.stdout, completed.stderr) == ("mine\n", "")


def test_more_parallel_commands_than_shells_in_one_connection(server: Sshd) -> None:
    said: dict[int, str] = {}
    with SshHost("far", server.config) as host:

        def ask(number: int) -> None:
            script = 'sleep 0.5; echo "$0"'
            said[number] = host.run(["sh", "-c", script, str(number)], timeout_s=_LIMIT_S).stdout

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_LIMIT_S)
    assert said == {number: f"{number}\n" for number in range(7)}


def test_a_file_on_an_unreachable_host_is_not_called_missing() -> None:
    """Otherwise, something that is still mounted on the host would be considered removed."""
    with sshd() as own, SshHost("far", own.config) as host:
        own.stop_all()
        with pytest.raises(HostUnreachable) as raised:
            host.read("/proc/self/mounts")
    assert not isinstance(raised.value, FileMissing)


def test_a_user_without_root_measures_as_that_user() -> None:
    with user_without_root(sudo=False) as user, sshd(user) as own, SshHost("far", own.config) as host:
        assert host.run(["id", "-un"], timeout_s=_LIMIT_S).stdout.strip() == user
        assert not survey(host, ["fio"]).is_root
        with pytest.raises(FileMissing, match="Permission denied"):
            host.read("/etc/shadow")


def test_a_user_with_sudo_is_root_there() -> None:
    with user_without_root(sudo=True) as user, sshd(user) as own, SshHost("far", own.config) as host:
        assert survey(host, ["fio"]).is_root
        assert "root:" in host.read("/etc/shadow")


def test_a_secret_on_the_input_is_not_on_a_command_line(server: Sshd) -> None:
    secret = "correct horse battery staple"
    seen: list[list[str]] = []
    with SshHost("far", server.config) as host:
        watcher = threading.Timer(0.7, lambda: seen.append(running(secret)))
        watcher.start()
        host.run(["sh", "-c", "cat >/dev/null; sleep 1.2"], timeout_s=_LIMIT_S, stdin=secret)
        watcher.join()
    assert seen == [[]]


def test_a_host_without_setsid_says_what_to_install(tmp_path: Path) -> None:
    """On the PATH of the shell are only the programs that the remote shell itself needs."""
    for program in ("sh", "id", "sleep", "head", "dd", "cat", "true"):
        (tmp_path / program).symlink_to(Path("/usr/bin") / program)
    given = 'echo "$SSH_ORIGINAL_COMMAND" | /bin/sed s,:/usr/sbin:/sbin,,'
    only = f'ForceCommand PATH={tmp_path}; export PATH; eval "$({given})"'
    with sshd(set_up=only) as own, pytest.raises(HostError, match="setsid is not installed") as raised:
        SshHost("far", own.config)
    assert "util-linux" in raised.value.hint


def test_all_methods_share_one_connection(host: Host) -> None:
    """Twenty commands take much less time than setting up twenty connections would."""
    begun = time.monotonic()
    for _ in range(20):
        host.run(["true"], timeout_s=_LIMIT_S)
    assert time.monotonic() - begun < 10
