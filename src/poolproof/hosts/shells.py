"""A pool of reusable persistent shells on a remote host. Each shell runs one command at a time.

To avoid disturbing the measurement, the shells can also read small files without starting a process. Samples are
timestamped by the host's uptime. `date` runs only once, to convert the uptime to a date.
"""

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from poolproof.errors import CommandError
from poolproof.hosts import remote_shell, remote_stream
from poolproof.hosts.base import Tick
from poolproof.process import Dialogue

_MOST = 4  # sshd allows ten sessions per connection by default
_GRACE_S = 5.0
_FRESH_S = 0.02
_DOUBT_S = 5.0
_READ_S = 60.0
_LATE_IN_A_ROW = 20
_MOST_BEFORE_BYTES = 1024**2
"""The most that the host may print before the shell responds, for example as a banner."""

Ask = Callable[[remote_shell.ShellRequest, float], remote_shell.CommandResult | None]
"""A function that runs a request in a shell, or returns None if no shell can run it.

Its second argument is the deadline, as a value of time.monotonic().
"""


class ShellBroke(CommandError):
    """A shell exited unexpectedly.

    `begun`: True if a command was already running.
    `code`: ssh's exit code.
    """

    def __init__(self, *, begun: bool, code: int, output: str) -> None:
        super().__init__(output)
        self.begun, self.code = begun, code


class NoSetsid(CommandError):
    """The remote host lacks setsid, which persistent shells need."""


class Shells:
    """A thread-safe pool of persistent shells on a remote host.

    `ssh`: takes a command line for the remote login shell, and returns the ssh command that runs it.
    `mark`: a string that appears on the command line of every shell.
    `through`: a sudo prefix for the shells.
    """

    def __init__(self, ssh: Callable[[str], list[str]], mark: str, through: Sequence[str] = ()) -> None:
        self._ssh, self._mark, self._through = ssh, mark, through
        self._lock = threading.Lock()
        self._idle: list[_Shell] = []
        self._all: set[_Shell] = set()
        self._broke_at = -math.inf

    def ask(self, request: remote_shell.ShellRequest, deadline: float) -> remote_shell.CommandResult | None:
        """Run a request. Return None if no shell can run it, or if all shells are in use and no more are allowed.

        A shell that turns out to be broken before it receives the request is replaced, but no request is ever sent
        twice. All shells share one connection, so for 5 s after one of them breaks, every other shell is checked before
        use.

        Raises:
            ShellBroke: the connection was lost or could not be established.
            NoSetsid: setsid is not installed on the remote host.
            ProgramMissing: ssh is not installed on this machine.
            TimeoutError: the request did not finish by `deadline` (time.monotonic), so its program was killed.
        """
        with self.reserved(deadline) as ask:
            return ask(request, deadline)

    @contextlib.contextmanager
    def reserved(self, deadline: float) -> Iterator[Ask]:
        """Reserve a shell until the context ends. Yield a function like `ask` that always uses this shell.

        Raises the same errors as `ask`.
        """
        shell = self._take(deadline)
        if shell is None:
            yield lambda _request, _deadline: None
            return
        try:
            yield shell.ask
        except GeneratorExit:
            self._release(shell)
            raise
        except BaseException:
            self._forget(shell)
            raise
        self._release(shell)

    def close(self) -> None:
        with self._lock:
            busy, idle = self._all.difference(self._idle), self._idle
            self._all, self._idle = set(), []
        for shell in idle:
            shell.close()
        for shell in busy:
            shell.drop()

    def _take(self, deadline: float) -> "_Shell | None":
        while True:
            shell = self._idle_or_new()
            if shell is None:
                return None
            try:
                if shell.is_alive(deadline, doubt=time.monotonic() - self._broke_at < _DOUBT_S):
                    return shell
            except BaseException:
                self._forget(shell)
                raise
            self._forget(shell)

    def _idle_or_new(self) -> "_Shell | None":
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if len(self._all) >= _MOST:
                return None
            shell = _Shell(self._ssh(remote_shell.start(self._mark, self._through)), self._mark)
            self._all.add(shell)
            return shell

    def _release(self, shell: "_Shell") -> None:
        with self._lock:
            if shell in self._all:
                self._idle.append(shell)

    def _forget(self, shell: "_Shell") -> None:
        with self._lock:
            self._all.discard(shell)
            self._broke_at = time.monotonic()
        shell.drop()


class _Shell:
    def __init__(self, ssh: list[str], mark: str) -> None:
        self._mark = mark
        self._dialogue = Dialogue(ssh)
        self._numbers = itertools.count(1)
        self._last_reply: float | None = None
        self.feeds = False

    def is_alive(self, deadline: float, *, doubt: bool) -> bool:
        """True if the shell responds. A shell that has not been used before is started first.

        `doubt`: if True, the shell is checked even if it replied within the last 20 ms.

        Raises:
            ShellBroke: the shell could not be started.
            NoSetsid: setsid is not installed on the remote host.
            TimeoutError: the shell did not respond by `deadline` (time.monotonic).
        """
        if self._last_reply is None:
            self._start(deadline)
            return True
        fresh = not doubt and time.monotonic() - self._last_reply < _FRESH_S
        return fresh or self._responds(b"", deadline)

    def ask(self, request: remote_shell.ShellRequest, deadline: float) -> remote_shell.CommandResult | None:
        """Run a request and wait until it finishes. Return None if this shell cannot pass input to a program.

        Raises:
            ShellBroke: the shell exited before the request finished.
            TimeoutError: the request did not finish by `deadline` (time.monotonic).
        """
        if request.feeds and not self.feeds:
            return None
        number = next(self._numbers)
        reply = self._reply(number)
        if not self._dialogue.exchange(request.line(number), reply.ended, deadline):
            raise self._broke(begun=True, output=reply.errors())
        self._last_reply = time.monotonic()
        result = reply.result()
        self._clear()
        return result

    def close(self) -> None:
        with contextlib.suppress(TimeoutError):
            self._dialogue.exchange(remote_shell.FAREWELL, lambda: False, time.monotonic() + _GRACE_S)
        self.drop()

    def drop(self) -> int:
        """Kill the shell and everything that it runs. Return ssh's exit code."""
        return self._dialogue.end(_GRACE_S)

    def _start(self, deadline: float) -> None:
        hello = self._hello(deadline)
        if not hello.group:
            raise NoSetsid("setsid is not installed")
        self.feeds = hello.feeds
        if not self._responds(remote_shell.greeting(hello), deadline):
            raise self._broke(begun=False)

    def _hello(self, deadline: float) -> remote_shell.Hello:
        found: list[remote_shell.Hello] = []

        def is_complete() -> bool:
            hello = remote_shell.hello(self._dialogue.out, self._mark)
            found.extend([hello] if hello else [])
            return hello is not None

        if not self._dialogue.exchange(b"", is_complete, deadline, limit_bytes=_MOST_BEFORE_BYTES):
            raise self._broke(begun=False)
        return found[0]

    def _responds(self, text: bytes, deadline: float) -> bool:
        number = next(self._numbers)
        responds = self._dialogue.exchange(
            text + remote_shell.ping(number), self._reply(number).begun, deadline, limit_bytes=_MOST_BEFORE_BYTES
        )
        self._last_reply = time.monotonic()
        self._clear()
        return responds

    def _reply(self, number: int) -> remote_shell.Reply:
        return remote_shell.Reply(number, self._mark, self._dialogue.out, self._dialogue.err)

    def _clear(self) -> None:
        self._dialogue.out.clear()
        self._dialogue.err.clear()

    def _broke(self, *, begun: bool, output: str | None = None) -> ShellBroke:
        code = self.drop()
        if output is None:
            output = self._dialogue.err.decode(errors="replace")
        return ShellBroke(begun=begun, code=code, output=output)


class RemoteReader:
    """Reads files on the remote host, with times that are not affected by changes to the host's clock.

    The host's clock is read only once, and later times are computed from its uptime. Intervals therefore remain correct
    if the clock is changed, for example by NTP.

    `zero_s`: the host's boot time in seconds since 1970, or None before the first read.
    """

    def __init__(self) -> None:
        self.zero_s: float | None = None

    def read_files(self, ask: Ask, paths: Sequence[str]) -> Tick | None:
        """Return the files' contents, or None if no shell can read them. Raises the same errors as `Shells.ask`."""
        started = time.monotonic()
        request = remote_shell.read_request(paths, clock=self.zero_s is None)
        answer = ask(request, started + _READ_S) if request else None
        if answer is None:
            return None
        if self.zero_s is None:
            self.zero_s = remote_stream.clock(answer.stdout)
        return remote_stream.tick(answer.stdout, self.zero_s or 0.0)


def ticks(
    reader: RemoteReader, ask: Ask, paths: Sequence[str], interval_s: float, stop: threading.Event
) -> Iterator[Tick]:
    """Yield the files' contents every `interval_s` seconds until `stop` is set.

    Ends early if no shell can read the files, or if 20 consecutive reads took longer than the interval. Raises the same
    errors as `Shells.ask`.
    """
    late = 0
    while not stop.is_set() and late < _LATE_IN_A_ROW:
        started = time.monotonic()
        tick = reader.read_files(ask, paths)
        if tick is None:
            return
        left_s = started + interval_s - time.monotonic()
        late = 0 if left_s > 0 else late + 1
        yield tick
        stop.wait(max(0.0, left_s))
