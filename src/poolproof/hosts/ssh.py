"""A machine over SSH, by OpenSSH's own client: the user's configuration, agent and jump hosts work as they always do.

Nothing is installed there and nothing stays. All commands share one connection, which is made again when it broke.
"""

import contextlib
import math
import secrets
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from poolproof import process
from poolproof.errors import CommandError, HostError, UsageError
from poolproof.hosts import remote_exec as far_end
from poolproof.hosts import remote_reader as looks
from poolproof.hosts import remote_shell as far_shell
from poolproof.hosts import remote_stream as far_stream
from poolproof.hosts.base import FileMissing, HostUnreachable, Tick
from poolproof.hosts.remote_reader import RemoteReader
from poolproof.hosts.shells import NoSetsid, ShellBroke, Shells

_CONNECT_S = 15
_FIRST_ANSWER_S = 60.0
_GRACE_S = 5.0
_READ_S = 60.0
# What the shell itself reads to the letter: text, and handed out byte by byte as well as whole (/proc/sys is not).
_SMALL_FILES = ("/sys/", "/proc/spl/", "/proc/self/mount", "/proc/meminfo", "/proc/mdstat", "/proc/filesystems")
_CLOSE_S = 10.0
_STREAM_S = 7 * 86400
_IDLE_CONNECTION_S = 60
_LONGEST_FOLDER = 70  # a socket's path has 107 bytes (unix(7)), of which ssh wants 17 more than the name while it binds
_SSH_FAILED = 255
_TAIL_CHARACTERS = 600
_OPTIONS = (
    *("ControlMaster=auto", f"ControlPersist={_IDLE_CONNECTION_S}"),
    *("BatchMode=yes", f"ConnectTimeout={_CONNECT_S}", "LogLevel=ERROR"),
    # A link that is dead for a minute is broken; a busy machine may well be silent for some seconds.
    *("ServerAliveInterval=15", "ServerAliveCountMax=4"),
    # What the user's configuration may ask for at a terminal, and would disturb here.
    *("RemoteCommand=none", "RequestTTY=no", "ClearAllForwardings=yes", "ForwardX11=no", "PermitLocalCommand=no"),
)


class SshHost:
    """Commands and files of the machine at `destination`, whatever ssh takes: `user@host`, an alias, an ssh:// URL.

    Commands run as root where that is possible: as the user if that is root, else through sudo if it asks nothing.
    An exit code of 128 + n may also mean that signal n ended the program. To be used as a context; leaving it ends the
    connection. `mark` is a word in the command lines of all that keeps watch there. `config` is a file to read in place
    of the user's own ssh_config.

    Raises:
        UsageError: the destination is an option.
        HostUnreachable: no connection; so may every method.
        HostError: no ssh here, or not the programs there that every command needs.
    """

    def __init__(self, destination: str, config: Path | None = None) -> None:
        if not destination or destination.startswith("-"):
            raise UsageError(f"{destination!r} is no destination for ssh", "write: --on user@host")
        self.name = destination
        self.mark = f"poolproof-{secrets.token_hex(8)}"
        self._config = () if config is None else ("-F", str(config))
        self._through: tuple[str, ...] = ()
        self._looks = RemoteReader()
        self._folder = _private_folder()
        self._shells = Shells(self._command, self.mark)
        try:
            self._become_root()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "SshHost":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection and remove its socket."""
        self._shells.close()
        if (self._folder / "link").exists():
            with contextlib.suppress(CommandError):
                process.run([*self._ssh(), "-O", "exit", "--", self.name], timeout_s=_CLOSE_S, check=False)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        begun = time.monotonic()
        far = self._in_shell(argv, timeout_s, stdin) or self._on_its_own(argv, timeout_s, stdin)
        if far.absent:
            if far.code == 127:
                raise process.ProgramMissing(f"`{argv[0]}` is not installed on {self.name}")
            raise CommandError(f"`{argv[0]}` may not be started by this user on {self.name}")
        completed = process.Completed(tuple(argv), far.code, far.stdout, far.stderr, time.monotonic() - begun)
        if check and far.code != 0:
            raise process.CommandFailed(completed)
        return completed

    def read(self, path: str) -> str:
        if path.startswith(_SMALL_FILES) and (text := self.read_files([path]).texts[0]):
            return text
        completed = self.run(["cat", "--", path], timeout_s=_READ_S, check=False)
        if completed.returncode != 0:
            said = completed.stderr.strip().rpartition(": ")[2]
            raise FileMissing(f"{path} cannot be read on {self.name}: {said}")
        return completed.stdout

    def read_files(self, paths: Sequence[str]) -> Tick:
        with self._told(["cat", *paths], _READ_S):
            tick = self._looks.read_files(self._shells.ask, paths)
        if tick is None:
            with contextlib.closing(self._looped(paths, _READ_S, threading.Event())) as ticks:
                tick = next(ticks, None)
        if tick is None:
            raise HostUnreachable(f"{self.name} did not tell its files", f"ssh -v {shlex.quote(self.name)} true")
        return tick

    @contextlib.contextmanager
    def stream(self, paths: Sequence[str], interval_s: float) -> Iterator[Iterator[Tick]]:
        stop = threading.Event()
        ticks = self._ticks(paths, interval_s, stop)
        try:
            yield ticks
        finally:
            stop.set()
            with contextlib.suppress(ValueError):  # another thread is in it, and will see that it is over
                ticks.close()

    def _ticks(self, paths: Sequence[str], interval_s: float, stop: threading.Event) -> Generator[Tick, None, None]:
        """Look after look; where the link is too slow for that, those of a loop over there. A broken link ends it."""
        with (
            contextlib.suppress(CommandError, TimeoutError),
            self._shells.held(time.monotonic() + _READ_S) as ask,
        ):
            yield from looks.ticks(ask, paths, interval_s, stop)
            if not stop.is_set():
                yield from self._looped(paths, interval_s, stop)

    def _looped(self, paths: Sequence[str], interval_s: float, stop: threading.Event) -> Generator[Tick, None, None]:
        order = self._order(far_stream.loop(paths, interval_s), _STREAM_S)
        with process.lines_on_leash(self._command(order.line), stdin=order.stdin, grace_s=_GRACE_S) as lines:
            for tick in far_stream.ticks(lines, self.mark):
                yield tick
                if stop.is_set():
                    return

    def _in_shell(self, argv: Sequence[str], timeout_s: float, stdin: str | None) -> far_shell.CommandResult | None:
        """Run it in a shell that stays; None for what such a shell does not take."""
        request = far_shell.to_run(argv, limit_s=_limit_s(timeout_s), stdin=stdin)
        if request is None:
            return None
        with self._told(argv, timeout_s):
            return self._shells.ask(request, time.monotonic() + timeout_s)

    def _on_its_own(self, argv: Sequence[str], timeout_s: float, stdin: str | None) -> far_shell.CommandResult:
        """Run it by an ssh of its own."""
        order = self._order(argv, _limit_s(timeout_s), stdin)
        with self._told(argv, timeout_s):
            ended = process.run_on_leash(
                self._command(order.line), timeout_s=timeout_s, stdin=order.stdin, grace_s=_GRACE_S
            )
        far = far_end.outcome(ended.stdout, ended.stderr, self.mark)
        if far.code is None:
            raise self._unreachable(argv, far.begun, ended.returncode, far.stderr)
        return far_shell.CommandResult(far.code, far.absent, far.stdout, far.stderr)

    @contextlib.contextmanager
    def _told(self, argv: Sequence[str], timeout_s: float) -> Iterator[None]:
        """Errors in words of the command over there, not of the ssh."""
        try:
            yield
        except (process.CommandTimedOut, TimeoutError):
            raise process.CommandTimedOut(
                f"`{shlex.join(argv)}` did not end within {timeout_s:g} s on {self.name} and was killed"
            ) from None
        except process.ProgramMissing:
            raise HostError(
                "ssh is not installed here", "Debian, Ubuntu: sudo apt-get install openssh-client"
            ) from None
        except NoSetsid:
            raise HostError(f"{self.name} has no setsid", "Debian, Ubuntu: apt-get install util-linux there") from None
        except ShellBroke as broke:
            raise self._unreachable(argv, broke.begun, broke.code, broke.message) from None

    def _order(self, argv: Sequence[str], limit_s: int, stdin: str | None = None) -> far_end.SshCommand:
        return far_end.order(argv, mark=self.mark, limit_s=limit_s, stdin=stdin, through=self._through)

    def _command(self, line: str) -> list[str]:
        return [*self._ssh(), "-T", "--", self.name, line]

    def _ssh(self) -> list[str]:
        options = (*_OPTIONS, f"ControlPath={str(self._folder).replace('%', '%%')}/link")
        return ["ssh", *self._config, *(word for option in options for word in ("-o", option))]

    def _become_root(self) -> None:
        """Find what to start commands with, so that they run as root: nothing, or sudo."""
        script = "[ $(id -u) = 0 ] || { sudo -n true && echo sudo; }; true"
        asked = self.run(["sh", "-c", script], timeout_s=_FIRST_ANSWER_S, check=False)
        if asked.stdout.strip() == "sudo":
            self._shells.close()
            self._through = ("sudo", "-n", "--")
            self._shells = Shells(self._command, self.mark, self._through)

    def _unreachable(self, argv: Sequence[str], begun: bool, code: int, said: str) -> HostUnreachable:
        said = said.strip()[-_TAIL_CHARACTERS:]
        reason = f": {said}" if said else ""
        try_it = shlex.join(("ssh", *self._config, "-v", self.name, "true"))
        if begun:
            return HostUnreachable(f"the link to {self.name} broke while `{shlex.join(argv)}` ran{reason}", try_it)
        if code == _SSH_FAILED:
            return HostUnreachable(f"no connection to {self.name}{reason}", try_it)
        return HostUnreachable(f"{self.name} gave no POSIX shell to `{shlex.join(argv)}`{reason}", try_it)


def _limit_s(timeout_s: float) -> int:
    """When the clock over there ends what nobody here ended at its limit."""
    return math.ceil(timeout_s) + 1


def _private_folder() -> Path:
    """A new directory for this user alone, at a path short enough for a socket."""
    short = len(tempfile.gettempdir().encode()) <= _LONGEST_FOLDER
    return Path(tempfile.mkdtemp(prefix="poolproof-ssh-", dir=None if short else "/tmp"))
