"""A remote machine, accessed with the OpenSSH client.

The user's configuration, agent and jump hosts work as usual. Nothing is installed or left behind on the remote machine.
All commands share one connection, which is re-established if it is lost.
"""

import contextlib
import math
import re
import secrets
import shlex
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from poolproof import process
from poolproof.errors import CommandError, HostError, UsageError
from poolproof.files.scratch import scratch_directory
from poolproof.hosts import remote_exec, remote_shell, remote_stream
from poolproof.hosts.base import FileMissing, HostUnreachable, Tick
from poolproof.hosts.remote_shell import CommandResult
from poolproof.hosts.shells import NoSetsid, RemoteReader, ShellBroke, Shells, ticks

_CONNECT_S = 15
_FIRST_COMMAND_S = 60.0
_GRACE_S = 5.0
_READ_S = 60.0
# The shell can read these files without `cat`: they are text and can be read byte by byte, unlike files in /proc/sys.
_SMALL_FILES = ("/sys/", "/proc/spl/", "/proc/self/mount", "/proc/meminfo", "/proc/mdstat", "/proc/filesystems")
_CLOSE_S = 10.0
_STREAM_S = 7 * 86400
_IDLE_CONNECTION_S = 60
_LONGEST_FOLDER = 70  # a socket's path has at most 107 bytes (unix(7)), and ssh adds 17 bytes while binding
_SSH_FAILED = 255
_TAIL_CHARACTERS = 600
_ABSURD = re.compile(r"\d{1000}")
"""A number with far more digits than any that a host reports. Python refuses to convert more than 4300 digits."""
# A run from a stranger can contain any host name, and ssh inserts it into the ProxyCommand of the user's settings.
# A name that begins with `-` would be an option there.
_DESTINATION = re.compile(r"(?!.*(?:^|[@/\[])-)[\w.,:@%+=/\[\]-]{1,255}")
_OPTIONS = (
    *("ControlMaster=auto", f"ControlPersist={_IDLE_CONNECTION_S}"),
    *("BatchMode=yes", f"ConnectTimeout={_CONNECT_S}", "LogLevel=ERROR"),
    # The connection counts as lost only after a minute of silence, because a busy machine may be silent for seconds.
    *("ServerAliveInterval=15", "ServerAliveCountMax=4"),
    # These options override settings in the user's configuration that make sense in a terminal but not here.
    *("RemoteCommand=none", "RequestTTY=no", "ClearAllForwardings=yes", "ForwardX11=no", "PermitLocalCommand=no"),
    # The host may be named by a run from a stranger.
    *("ForwardAgent=no", "GSSAPIDelegateCredentials=no"),
)


class SshHost:
    """A remote machine. It is a context manager that closes the connection at the end.

    `destination`: `user@host`, an alias, or an ssh:// URL.
    `config`: a file to use in place of the user's ssh_config.
    `mark`: a string that appears on the command lines of poolproof's own processes on the host.

    Commands run as root if the user is root or can use sudo without a password. An exit code of 128 + n may also mean
    that signal n killed the program.

    Raises:
        UsageError: the destination is empty or too long, looks like an option, or contains characters with a meaning in
            a shell.
        HostUnreachable: the connection failed. `run`, `read` and `read_files` can raise this too.
        HostError: ssh is not installed on this machine, or setsid is not installed on the host.
    """

    def __init__(self, destination: str, config: Path | None = None) -> None:
        if not _DESTINATION.fullmatch(destination):
            raise UsageError(f"{destination[:200]!r} is not an ssh destination", "write: --on user@host")
        self.name = destination
        self.mark = f"poolproof-{secrets.token_hex(8)}"
        self._config = () if config is None else ("-F", str(config))
        self._through: tuple[str, ...] = ()
        self._reader = RemoteReader()
        self._scratch = contextlib.ExitStack()
        self._folder = self._scratch.enter_context(_private_folder())
        self._shells = Shells(self._command, self.mark)
        try:
            self._become_root()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "SshHost":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and remove its directory."""
        self._shells.close()
        if (self._folder / "link").exists():
            with contextlib.suppress(CommandError):
                process.run([*self._ssh(), "-O", "exit", "--", self.name], timeout_s=_CLOSE_S, check=False)
        self._scratch.close()

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        begun = time.monotonic()
        result = self._run_in_shell(argv, timeout_s, stdin) or self._run_alone(argv, timeout_s, stdin)
        if result.absent:
            if result.code == 127:
                raise process.ProgramMissing(f"`{argv[0]}` is not installed on {self.name}")
            raise CommandError(f"no permission to execute `{argv[0]}` on {self.name}")
        if _ABSURD.search(result.stdout):
            raise CommandError(f"`{process.shown(argv)}` on {self.name} printed a number with more than 1,000 digits")
        completed = process.Completed(tuple(argv), result.code, result.stdout, result.stderr, time.monotonic() - begun)
        if check and result.code != 0:
            raise process.CommandFailed(completed)
        return completed

    def read(self, path: str) -> str:
        if path.startswith(_SMALL_FILES) and (text := self.read_files([path]).texts[0]):
            return text
        completed = self.run(["cat", "--", path], timeout_s=_READ_S, check=False)
        if completed.returncode != 0:
            reason = completed.stderr.strip().rpartition(": ")[2]
            raise FileMissing(f"cannot read {path} on {self.name}: {reason}")
        return completed.stdout

    def read_files(self, paths: Sequence[str]) -> Tick:
        with self._explained(["cat", *paths], _READ_S):
            tick = self._reader.read_files(self._shells.ask, paths)
        if tick is None:
            with contextlib.closing(self._looped(paths, _READ_S, threading.Event())) as readings:
                tick = next(readings, None)
        if tick is None:
            problem = f"{self.name} did not return the contents of the requested files"
            raise HostUnreachable(problem, f"ssh -v {shlex.quote(self.name)} true")
        return _readable(tick)

    @contextlib.contextmanager
    def stream(self, paths: Sequence[str], interval_s: float) -> Iterator[Iterator[Tick]]:
        stop = threading.Event()
        readings = self._ticks(paths, interval_s, stop)
        try:
            yield readings
        finally:
            stop.set()
            with contextlib.suppress(ValueError):  # another thread is reading, and ends when it sees `stop`
                readings.close()

    def _ticks(self, paths: Sequence[str], interval_s: float, stop: threading.Event) -> Generator[Tick, None, None]:
        """Yield the files' contents until `stop` is set or the connection is lost.

        The files are read by a persistent shell or, if that is too slow, by a loop on the remote host.
        """
        with (
            contextlib.suppress(CommandError, TimeoutError),
            self._shells.reserved(time.monotonic() + _READ_S) as ask,
        ):
            yield from map(_readable, ticks(self._reader, ask, paths, interval_s, stop))
            if not stop.is_set():
                yield from self._looped(paths, interval_s, stop)

    def _looped(self, paths: Sequence[str], interval_s: float, stop: threading.Event) -> Generator[Tick, None, None]:
        command = self._ssh_command(remote_stream.loop(paths, interval_s), _STREAM_S)
        with process.lines_kept_alive(self._command(command.line), stdin=command.stdin, grace_s=_GRACE_S) as lines:
            for tick in remote_stream.ticks(lines, self.mark, self._reader.zero_s):
                yield _readable(tick)
                if stop.is_set():
                    return

    def _run_in_shell(self, argv: Sequence[str], timeout_s: float, stdin: str | None) -> CommandResult | None:
        """Run the program in a persistent shell, or return None if no shell is able to run it now."""
        request = remote_shell.run_request(argv, limit_s=_limit_s(timeout_s), stdin=stdin)
        if request is None:
            return None
        with self._explained(argv, timeout_s):
            return self._shells.ask(request, time.monotonic() + timeout_s)

    def _run_alone(self, argv: Sequence[str], timeout_s: float, stdin: str | None) -> CommandResult:
        """Run the program in a separate ssh session."""
        command = self._ssh_command(argv, _limit_s(timeout_s), stdin)
        with self._explained(argv, timeout_s):
            ended = process.run_kept_alive(
                self._command(command.line), timeout_s=timeout_s, stdin=command.stdin, grace_s=_GRACE_S
            )
        result = remote_exec.parse_result(ended.stdout, ended.stderr, self.mark)
        if result.code is None:
            raise self._unreachable(argv, result.begun, ended.returncode, result.stderr)
        return CommandResult(result.code, result.absent, result.stdout, result.stderr)

    @contextlib.contextmanager
    def _explained(self, argv: Sequence[str], timeout_s: float) -> Iterator[None]:
        """Convert errors of the local ssh program into errors of the remote command.

        Raises:
            CommandTimedOut: the command did not end in time.
            HostUnreachable: the connection was lost.
            HostError: ssh is not installed on this machine, or setsid is not installed on the host.
        """
        try:
            yield
        except (process.CommandTimedOut, TimeoutError):
            raise process.CommandTimedOut(argv, timeout_s, f" on {self.name}") from None
        except process.ProgramMissing:
            raise HostError(
                "ssh is not installed on this machine", "Debian, Ubuntu: sudo apt-get install openssh-client"
            ) from None
        except NoSetsid:
            hint = f"on {self.name}: apt-get install util-linux"
            raise HostError(f"setsid is not installed on {self.name}", hint) from None
        except ShellBroke as broke:
            raise self._unreachable(argv, broke.begun, broke.code, broke.message) from None

    def _ssh_command(self, argv: Sequence[str], limit_s: int, stdin: str | None = None) -> remote_exec.SshCommand:
        return remote_exec.ssh_command(argv, mark=self.mark, limit_s=limit_s, stdin=stdin, through=self._through)

    def _command(self, line: str) -> list[str]:
        return [*self._ssh(), "-T", "--", self.name, line]

    def _ssh(self) -> list[str]:
        options = (*_OPTIONS, f"ControlPath={str(self._folder).replace('%', '%%')}/link")
        return ["ssh", *self._config, *(word for option in options for word in ("-o", option))]

    def _become_root(self) -> None:
        """Run all later commands through sudo, if the user is not root and sudo requires no password."""
        script = "[ $(id -u) = 0 ] || { sudo -n true && echo sudo; }; true"
        answer = self.run(["sh", "-c", script], timeout_s=_FIRST_COMMAND_S, check=False)
        if answer.stdout.strip() == "sudo":
            self._shells.close()
            self._through = ("sudo", "-n", "--")
            self._shells = Shells(self._command, self.mark, self._through)

    def _unreachable(self, argv: Sequence[str], begun: bool, code: int, output: str) -> HostUnreachable:
        output = output.strip()[-_TAIL_CHARACTERS:]
        reason = f": {output}" if output else ""
        try_it = shlex.join(("ssh", *self._config, "-v", self.name, "true"))
        if begun:
            what = f"the connection to {self.name} was lost while `{process.shown(argv)}` was running"
            return HostUnreachable(f"{what}{reason}", try_it)
        if code == _SSH_FAILED:
            return HostUnreachable(f"cannot connect to {self.name}{reason}", try_it)
        return HostUnreachable(
            f"{self.name} could not start a POSIX shell to run `{process.shown(argv)}`{reason}", try_it
        )


def _limit_s(timeout_s: float) -> int:
    """Return the time limit of the remote timer in seconds. The timer kills a program if poolproof fails to do so."""
    return math.ceil(timeout_s) + 1


def _readable(tick: Tick) -> Tick:
    """Return the reading without the files that contain an absurdly long number, as if they could not be read."""
    return replace(tick, texts=tuple("" if _ABSURD.search(text) else text for text in tick.texts))


def _private_folder() -> contextlib.AbstractContextManager[Path]:
    """Create a directory that only this user can access. Its path is short enough for a socket."""
    short = len(tempfile.gettempdir().encode()) <= _LONGEST_FOLDER
    return scratch_directory("poolproof-ssh-", None if short else "/tmp")
