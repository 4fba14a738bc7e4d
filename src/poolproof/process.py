"""The one gate through which programs start: argv lists, a time limit, the locale pinned, output kept."""

import contextlib
import os
import select
import selectors
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from poolproof.errors import CommandError

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC"}
_SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # losetup and mkfs live there; a user's PATH may not have them
_GRACE_S = 2.0
_TAIL_CHARACTERS = 1500
_READ_BYTES = 65536
_LONGEST_S = 2e6  # 23 days: poll(2) takes no more milliseconds than an int holds

Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Completed:
    """A program that ended: its exact argv, exit code (negative: ended by that signal), output and wall time."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    elapsed_s: float


class ProgramMissing(CommandError):
    """The program is not on the PATH."""


class CommandFailed(CommandError):
    """The program ended with an exit code that is not 0."""

    def __init__(self, completed: Completed) -> None:
        self.completed = completed
        said = (completed.stderr.strip() or completed.stdout.strip() or "nothing")[-_TAIL_CHARACTERS:]
        super().__init__(
            f"`{shlex.join(completed.argv)}` ended with {completed.returncode}; it said: {said}",
        )


class CommandTimedOut(CommandError):
    """The program did not end within its limit and was killed."""


def run(
    argv: Sequence[str],
    *,
    timeout_s: float,
    stdin: str | None = None,
    check: bool = True,
) -> Completed:
    """Run a program to its end, in a process group of its own.

    A program that outlives `timeout_s` (23 days at most), or is running when an exception (Ctrl-C) arrives, is ended
    with its whole group: SIGTERM, then SIGKILL after 2 s.

    Raises:
        ProgramMissing: no such program.
        CommandFailed: exit code not 0 and `check` is set.
        CommandTimedOut: still running after `timeout_s` seconds.
    """
    begun = time.monotonic()
    process = _start(argv, subprocess.DEVNULL if stdin is None else subprocess.PIPE)
    try:
        out, err = process.communicate(stdin, timeout=min(timeout_s, _LONGEST_S))
    except subprocess.TimeoutExpired:
        end_group(process)
        raise CommandTimedOut(
            f"`{shlex.join(argv)}` did not end within {timeout_s:g} s and was killed",
        ) from None
    except BaseException:
        end_group(process)
        raise
    completed = Completed(tuple(argv), process.returncode, out, err, time.monotonic() - begun)
    if check and completed.returncode != 0:
        raise CommandFailed(completed)
    return completed


def run_on_leash(argv: Sequence[str], *, timeout_s: float, stdin: str, grace_s: float) -> Completed:
    """Run a program whose standard input stays open after `stdin`, for as long as the program is wanted.

    At the limit, or when an exception (Ctrl-C) arrives, its input ends: the sign for it to end by itself, as a program
    at the far end of an ssh must. One that has not within `grace_s` seconds is ended as by `run`.

    Raises:
        ProgramMissing: no such program.
        CommandTimedOut: still running after `timeout_s` seconds.
    """
    begun = time.monotonic()
    with _keepalive_pipe() as leash:
        process = _start(argv, leash.end)
        leash.tie(stdin)
        try:
            out, err = process.communicate(timeout=min(timeout_s, _LONGEST_S))
        except BaseException as error:
            leash.drop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=grace_s)
            end_group(process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise CommandTimedOut(f"`{shlex.join(argv)}` did not end within {timeout_s:g} s and was killed") from None
    return Completed(tuple(argv), process.returncode, out, err, time.monotonic() - begun)


@contextlib.contextmanager
def lines_on_leash(argv: Sequence[str], *, stdin: str, grace_s: float) -> Iterator[Iterator[str]]:
    """The lines that a program prints, until it ends or the context is left; its leash is as in `run_on_leash`.

    Raises:
        ProgramMissing: no such program.
    """
    with _keepalive_pipe() as leash:
        process = _start(argv, leash.end, stderr=subprocess.DEVNULL)
        leash.tie(stdin)
        try:
            yield _lines(process)
        finally:
            leash.drop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(grace_s)
            end_group(process)


class _KeepalivePipe:
    """A pipe whose writing end is held here; `end` is the one for the program."""

    def __init__(self) -> None:
        self.end, self._held = os.pipe()

    def tie(self, text: str) -> None:
        """The program has its end: forget it here, and say the text, from a thread since a pipe can be full."""
        os.close(self.end)
        self.end = -1
        if text:
            threading.Thread(target=_say, args=(os.dup(self._held), text), name="leash", daemon=True).start()

    def drop(self) -> None:
        """End the program's input."""
        for number in {self.end, self._held} - {-1}:
            os.close(number)
        self.end = self._held = -1


def _say(pipe: int, text: str) -> None:
    with open(pipe, "wb", buffering=0) as file, contextlib.suppress(OSError):
        rest = memoryview(text.encode())
        while rest:
            rest = rest[file.write(rest) or 0 :]


@contextlib.contextmanager
def _keepalive_pipe() -> Iterator[_KeepalivePipe]:
    leash = _KeepalivePipe()
    try:
        yield leash
    finally:
        leash.drop()


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """The lines until the program ends; also when that is from another thread, which closes the pipe."""
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        yield from process.stdout


class _Program(subprocess.Popen[str]):
    """A program whose end is noticed at once; Popen's own wait with a limit looks for it every 1 to 50 ms."""

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None and self.returncode is None:
            self._await_end(timeout)
        return super().wait(timeout)

    def _await_end(self, timeout_s: float) -> None:
        try:
            end = os.pidfd_open(self.pid)
        except OSError:  # a kernel before 5.3, or somebody else waited for it meanwhile
            return
        try:
            ended = select.poll()
            ended.register(end, select.POLLIN)
            ended.poll(min(max(0.0, timeout_s), _LONGEST_S) * 1000)
        finally:
            os.close(end)


class Dialogue:
    """A program that is talked with over its pipes, by one thread at a time.

    `out` and `err` are the bytes that it said; to be cleared by whoever has taken them. When poolproof ends, so does
    the input of the program.

    Raises:
        ProgramMissing: no such program.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self.out, self.err = bytearray(), bytearray()
        self._process = _start(argv, subprocess.PIPE)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._input = self._process.stdin.fileno()
        self._heard = {self._process.stdout.fileno(): self.out, self._process.stderr.fileno(): self.err}
        for pipe in (self._input, *self._heard):
            os.set_blocking(pipe, False)

    def exchange(self, said: bytes, answered: Callable[[], bool], deadline: float) -> bool:
        """Say it and listen until `answered` is true; false when the program ended both its streams before that.

        Raises:
            TimeoutError: neither by `deadline`, of time.monotonic.
        """
        rest = memoryview(said)
        with selectors.DefaultSelector() as selector:
            for pipe in self._heard:
                selector.register(pipe, selectors.EVENT_READ)
            if rest:
                selector.register(self._input, selectors.EVENT_WRITE)
            while not answered():
                if not self._heard:
                    return False
                for pipe in _ready(selector, deadline):
                    if pipe == self._input:
                        rest = self._say(selector, rest)
                    else:
                        self._hear(selector, pipe)
        return True

    def end(self, grace_s: float) -> int:
        """End its input, the sign for it to end; one that has not within `grace_s` seconds is ended. Its exit code."""
        ended = self._process.poll()
        if ended is not None and not self._heard:
            return ended
        assert self._process.stdin is not None
        self._process.stdin.close()
        deadline = time.monotonic() + grace_s
        with contextlib.suppress(TimeoutError):
            self.exchange(b"", lambda: False, deadline)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        end_group(self._process)
        return self._process.returncode

    def _hear(self, selector: selectors.BaseSelector, pipe: int) -> None:
        text = os.read(pipe, _READ_BYTES)
        if text:
            self._heard[pipe] += text
        else:
            selector.unregister(pipe)
            del self._heard[pipe]

    def _say(self, selector: selectors.BaseSelector, rest: memoryview) -> memoryview:
        """What is still to be said; nothing any more to a program that does not listen."""
        try:
            rest = rest[os.write(self._input, rest) :]
        except BrokenPipeError:
            rest = rest[:0]
        if not rest:
            selector.unregister(self._input)
        return rest


def _ready(selector: selectors.BaseSelector, deadline: float) -> list[int]:
    """The pipes that can be read or written now.

    Raises:
        TimeoutError: none by `deadline`, or that is past.
    """
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return [key.fd for key, _ in selector.select(min(left_s, _LONGEST_S))]


def _start(argv: Sequence[str], stdin: int, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    try:
        return _Program(
            list(argv),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **_ENVIRONMENT, "PATH": f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_FOLDERS}"},
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except FileNotFoundError:
        raise ProgramMissing(f"`{argv[0]}` is not installed here") from None
    except PermissionError:
        raise CommandError(f"`{argv[0]}` may not be started by this user") from None
    except OSError as error:
        raise CommandError(f"`{argv[0]}` could not be started: {error.strerror}") from None


def become(argv: Sequence[str]) -> NoReturn:
    """Let the program take this process's place, with its terminal: for a shell that a person types into.

    Raises:
        ProgramMissing: no such program.
    """
    try:
        os.execvp(argv[0], list(argv))
    except FileNotFoundError:
        raise ProgramMissing(f"`{argv[0]}` is not installed here") from None


def share_out(work: Callable[[Item], Made], items: Sequence[Item], *, chunk: int) -> list[Made]:
    """The work on each item, in order, by copies of this process on all processors, `chunk` items at a time.

    `work`, items and results cross between processes, so they must be picklable.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        return list(pool.map(work, items, chunksize=chunk))


def end_group(process: subprocess.Popen[str]) -> None:
    """End a program and all that it started, within a few seconds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(_GRACE_S)
            break
        except subprocess.TimeoutExpired:
            continue
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
