"""The shells that stay at the far end, one for each command that runs there at the same time, each used again."""

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from poolproof.errors import CommandError
from poolproof.hosts import remote_shell as far_shell
from poolproof.process import Dialogue

_MOST = 4  # sshd lets one connection have ten sessions
_GRACE_S = 5.0
_FRESH_S = 0.02
_DOUBT_S = 5.0

Ask = Callable[[far_shell.ShellRequest, float], far_shell.CommandResult | None]
"""Has a request done by a moment of time.monotonic; None for what no shell can do."""


class ShellBroke(CommandError):
    """The shell ended: `begun`, while a command ran in it; else before it took one. `code`: the exit code of ssh."""

    def __init__(self, *, begun: bool, code: int, said: str) -> None:
        super().__init__(said)
        self.begun, self.code = begun, code


class NoSetsid(CommandError):
    """The far end has no setsid, without which no shell stays."""


class Shells:
    """Runs commands in shells at the far end. Any thread may use it.

    `ssh` makes the argv that has a line run by the login shell there; `mark` is in the command lines of all that stay.
    """

    def __init__(self, ssh: Callable[[str], list[str]], mark: str, through: Sequence[str] = ()) -> None:
        self._ssh, self._mark, self._through = ssh, mark, through
        self._lock = threading.Lock()
        self._idle: list[_Shell] = []
        self._all: set[_Shell] = set()
        self._broke_at = -math.inf

    def ask(self, request: far_shell.ShellRequest, deadline: float) -> far_shell.CommandResult | None:
        """Have it done; None for what no shell there can do, or when so many are at work already.

        A shell that is found broken before it takes the request is replaced; nothing is ever done twice. Where one
        broke, all that share its link may have: for a while none is trusted for what it said a moment ago.

        Raises:
            ShellBroke: the link broke, or was never made.
            NoSetsid: the far end lacks it.
            TimeoutError: not done by `deadline`, of time.monotonic; the program was ended.
        """
        with self.held(deadline) as ask:
            return ask(request, deadline)

    @contextlib.contextmanager
    def held(self, deadline: float) -> Iterator[Ask]:
        """One shell for the length of the context: what asks it, as `ask` does, but for a shell that is found broken.

        Raises:
            As `ask`.
        """
        shell = self._take(deadline)
        if shell is None:
            yield lambda _request, _deadline: None
            return
        try:
            yield shell.ask
        except GeneratorExit:
            self._give_back(shell)
            raise
        except BaseException:
            self._forget(shell)
            raise
        self._give_back(shell)

    def close(self) -> None:
        """End them all, in order."""
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
                if shell.stands(deadline, doubt=time.monotonic() - self._broke_at < _DOUBT_S):
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
            shell = _Shell(self._ssh(far_shell.start(self._mark, self._through)), self._mark)
            self._all.add(shell)
            return shell

    def _give_back(self, shell: "_Shell") -> None:
        with self._lock:
            if shell in self._all:
                self._idle.append(shell)

    def _forget(self, shell: "_Shell") -> None:
        with self._lock:
            self._all.discard(shell)
            self._broke_at = time.monotonic()
        shell.drop()


class _Shell:
    """One of them."""

    def __init__(self, ssh: list[str], mark: str) -> None:
        self._mark = mark
        self._talk = Dialogue(ssh)
        self._numbers = itertools.count(1)
        self._heard_at: float | None = None
        self.feeds = False

    def stands(self, deadline: float, *, doubt: bool) -> bool:
        """Whether it answers; without `doubt`, one that did a moment ago does. One that never did is waited for.

        Raises:
            ShellBroke: it never stood.
        """
        if self._heard_at is None:
            self._greet(deadline)
            return True
        fresh = not doubt and time.monotonic() - self._heard_at < _FRESH_S
        return fresh or self._answers(b"", deadline)

    def ask(self, request: far_shell.ShellRequest, deadline: float) -> far_shell.CommandResult | None:
        """Have it done, to its end; None for what it can't do."""
        if request.feeds and not self.feeds:
            return None
        number = next(self._numbers)
        reply = self._reply(number)
        if not self._talk.exchange(request.line(number), reply.ended, deadline):
            raise self._broke(begun=True, said=reply.said())
        self._heard_at = time.monotonic()
        answer = reply.answer()
        self._clear()
        return answer

    def close(self) -> None:
        """Tell it to end, and wait until it has: what a command left running there is not struck."""
        with contextlib.suppress(TimeoutError):
            self._talk.exchange(far_shell.FAREWELL, lambda: False, time.monotonic() + _GRACE_S)
        self.drop()

    def drop(self) -> int:
        """Let go of it: whatever runs there is ended. Returns the exit code of ssh."""
        return self._talk.end(_GRACE_S)

    def _greet(self, deadline: float) -> None:
        heard = self._hello(deadline)
        if not heard.group:
            raise NoSetsid("there is no setsid")
        self.feeds = heard.feeds
        if not self._answers(far_shell.greeting(heard), deadline):
            raise self._broke(begun=False)

    def _hello(self, deadline: float) -> far_shell.Hello:
        found: list[far_shell.Hello] = []

        def is_said() -> bool:
            hello = far_shell.hello(self._talk.out, self._mark)
            found.extend([hello] if hello else [])
            return hello is not None

        if not self._talk.exchange(b"", is_said, deadline):
            raise self._broke(begun=False)
        return found[0]

    def _answers(self, said: bytes, deadline: float) -> bool:
        number = next(self._numbers)
        answers = self._talk.exchange(said + far_shell.ping(number), self._reply(number).begun, deadline)
        self._heard_at = time.monotonic()
        self._clear()
        return answers

    def _reply(self, number: int) -> far_shell.Reply:
        return far_shell.Reply(number, self._mark, self._talk.out, self._talk.err)

    def _clear(self) -> None:
        self._talk.out.clear()
        self._talk.err.clear()

    def _broke(self, *, begun: bool, said: str | None = None) -> ShellBroke:
        code = self.drop()
        words = self._talk.err.decode(errors="replace") if said is None else said
        return ShellBroke(begun=begun, code=code, said=words)
