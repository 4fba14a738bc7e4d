"""Start programs with argv lists, time limits, a fixed locale and captured output.

Programs are started only by this module.
"""

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
from pathlib import PurePath
from typing import NoReturn, TypeVar

from poolproof.errors import CommandError

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC"}
_SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # for losetup and mkfs; a user's PATH may lack these directories
_GRACE_S = 2.0
_LONGEST_SCRIPT = 60
_TAIL_CHARACTERS = 1500
_READ_BYTES = 65536
_MIB = 1024**2
LARGEST_OUTPUT_BYTES = 256 * _MIB
"""The most that a program may print in one exchange of a Dialogue. No report of fio is that large."""

_LONGEST_LINE = _MIB
_FIND_OUTPUT = "find out what prints so much, for example a start-up file of the shell on the host"
_LONGEST_S = 2e6  # 23 days: poll(2) takes milliseconds as an int
ENDING_SIGNALS = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU),
    *(signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGPWR),
)
"""Signals that stop a run, which then cleans up. By default, each of them would end the process at once.

Schedulers send the signals in the second line, and timers the first three in the third line.
"""


Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Completed:
    """A program that has ended, with its argv, exit code, output and wall time.

    If a signal ended it, the exit code is the signal's number, negated.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    elapsed_s: float


def shown(argv: Sequence[str]) -> str:
    """Return a command line for messages, quoted for the shell. The texts of long scripts are omitted."""
    if tuple(argv[:2]) != ("sh", "-c"):
        return shlex.join(argv)
    return " ".join("…" if len(word) > _LONGEST_SCRIPT and " " in word else shlex.quote(word) for word in argv)


class ProgramMissing(CommandError):
    """Raised if the program is not on the PATH."""


class CommandFailed(CommandError):
    """Raised if the program ended with a non-zero exit code."""

    def __init__(self, completed: Completed) -> None:
        self.completed = completed
        output = (completed.stderr.strip() or completed.stdout.strip() or "no output")[-_TAIL_CHARACTERS:]
        super().__init__(f"`{shown(completed.argv)}` failed with exit code {completed.returncode}: {output}")


class CommandTimedOut(CommandError):
    """Raised if the program exceeded its time limit and was killed. `where`: names the host, for example ` on nas1`."""

    def __init__(self, argv: Sequence[str], timeout_s: float, where: str = "") -> None:
        super().__init__(f"`{shown(argv)}`{where} did not end within {round(timeout_s, 1):g} s and was killed")


def run(
    argv: Sequence[str],
    *,
    timeout_s: float,
    stdin: str | None = None,
    check: bool = True,
) -> Completed:
    """Run a program in its own process group, and wait until it ends.

    The whole group gets SIGTERM and, after 2 s, SIGKILL if the program exceeds `timeout_s` (at most 23 days), or if
    Ctrl-C or another exception interrupts the wait.

    Raises:
        ProgramMissing: the program is not installed.
        CommandFailed: the exit code is not 0, and `check` is set.
        CommandTimedOut: the program was still running after `timeout_s` seconds.
        CommandError: the program could not be started, for example because it is not executable.
    """
    begun, process = time.monotonic(), None
    try:
        with _signals_delayed():
            process = _start(argv, subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        out, err = process.communicate(stdin, timeout=min(timeout_s, _LONGEST_S))
    except BaseException as error:
        if process is not None:
            end_group(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise CommandTimedOut(argv, timeout_s) from None
        raise
    completed = Completed(tuple(argv), process.returncode, out, err, time.monotonic() - begun)
    if check and completed.returncode != 0:
        raise CommandFailed(completed)
    return completed


@contextlib.contextmanager
def _signals_delayed() -> Iterator[None]:
    """Delay the handlers of `ENDING_SIGNALS` until the context ends.

    Otherwise, a KeyboardInterrupt raised while a program is being started would lose the program, so it could not be
    ended.
    """
    handlers = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    if threading.current_thread() is not threading.main_thread() or None in handlers.values():
        yield  # handlers run in the main thread only; None is a handler that Python can't restore
        return
    arrived: list[int] = []
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, lambda number, _frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
        for late in arrived:
            signal.raise_signal(late)


def run_kept_alive(argv: Sequence[str], *, timeout_s: float, stdin: str, grace_s: float) -> Completed:
    """Run a program and send it `stdin`, but keep its standard input open until the program ends.

    At the time limit, or if Ctrl-C or another exception interrupts the wait, the input is closed, which tells the
    program to exit. (If it runs behind ssh, it can't be killed from here.) If it is still running `grace_s` seconds
    later, it is killed as in `run`.

    Raises:
        ProgramMissing: the program is not installed.
        CommandTimedOut: the program was still running after `timeout_s` seconds.
        CommandError: the program could not be started, for example because it is not executable.
    """
    begun = time.monotonic()
    dialogue = Dialogue(argv)
    try:
        dialogue.exchange(stdin.encode(), lambda: False, begun + timeout_s)
    except TimeoutError:
        raise CommandTimedOut(argv, timeout_s) from None
    finally:
        code = dialogue.end(grace_s)
    return Completed(tuple(argv), code, decoded(dialogue.out), decoded(dialogue.err), time.monotonic() - begun)


@contextlib.contextmanager
def lines_kept_alive(argv: Sequence[str], *, stdin: str, grace_s: float) -> Iterator[Iterator[str]]:
    """Yield the lines that a program prints, until the program or the context ends.

    The program's input works as in `run_kept_alive`.

    Raises:
        ProgramMissing: the program is not installed.
        CommandError: the program could not be started, for example because it is not executable.
    """
    process = _start(argv, subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    if stdin:  # in a thread, because a write to a full pipe can block forever
        args = (os.dup(process.stdin.fileno()), stdin.encode())
        threading.Thread(target=_write_all, args=args, name="stdin", daemon=True).start()
    try:
        yield _lines(process)
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
        end_group(process)


def _write_all(pipe: int, content: bytes) -> None:
    with contextlib.suppress(OSError), open(pipe, "wb", buffering=0) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """Yield lines until the program ends or prints a line that is too long.

    Meanwhile, another thread may end the program and close the pipe.
    """
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        while line := process.stdout.readline(_LONGEST_LINE):
            if len(line) == _LONGEST_LINE:
                return
            yield line


def decoded(output: bytes | bytearray) -> str:
    """Decode a program's output. Bytes that are not UTF-8 are replaced, and all line ends become newline characters."""
    return output.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")


class _Program(subprocess.Popen[str]):
    """A Popen that notices immediately when its program ends.

    With a timeout, Popen's own `wait` checks only every 1 to 50 ms.
    """

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None and self.returncode is None:
            self._await_end(timeout)
        return super().wait(timeout)

    def _await_end(self, timeout_s: float) -> None:
        try:
            end = os.pidfd_open(self.pid)
        except OSError:  # a kernel before 5.3, or the program was already waited for
            return
        ended = select.poll()
        ended.register(end, select.POLLIN)
        try:
            ended.poll(min(max(0.0, timeout_s), _LONGEST_S) * 1000)
        finally:
            os.close(end)


class Dialogue:
    """A program with which poolproof exchanges text over pipes.

    An object may be used by only one thread at a time. `out` and `err` contain the program's output so far, and the
    caller clears them. If poolproof ends, the program's input is closed.

    Raises:
        ProgramMissing: the program is not installed.
        CommandError: the program could not be started, for example because it is not executable.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self.out, self.err = bytearray(), bytearray()
        self._process, self._program = _start(argv, subprocess.PIPE), PurePath(argv[0]).name
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._input = self._process.stdin.fileno()
        self._outputs = {self._process.stdout.fileno(): self.out, self._process.stderr.fileno(): self.err}
        for pipe in (self._input, *self._outputs):
            os.set_blocking(pipe, False)

    def exchange(
        self,
        text: bytes,
        is_complete: Callable[[], bool],
        deadline: float,
        *,
        limit_bytes: int = LARGEST_OUTPUT_BYTES,
    ) -> bool:
        """Send the text, and read the program's output until `is_complete` returns True.

        Return False if both output streams end first. Raises a TimeoutError if neither happens before `deadline`, which
        is a time as returned by time.monotonic(). Raises a CommandError if the program prints more than `limit_bytes`.
        """
        rest = memoryview(text)
        with selectors.DefaultSelector() as selector:
            for pipe in self._outputs:
                selector.register(pipe, selectors.EVENT_READ)
            if rest:
                selector.register(self._input, selectors.EVENT_WRITE)
            while not is_complete():
                if not self._outputs:
                    return False
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError
                for key, _events in selector.select(min(left_s, _LONGEST_S)):
                    if key.fd == self._input:
                        rest = self._send(selector, rest)
                    elif text := os.read(key.fd, _READ_BYTES):
                        self._outputs[key.fd] += text
                        if len(self.out) + len(self.err) > limit_bytes:
                            raise CommandError(
                                f"`{self._program}` printed more than {limit_bytes // _MIB} MiB", _FIND_OUTPUT
                            )
                    else:
                        selector.unregister(key.fd)
                        del self._outputs[key.fd]
        return True

    def end(self, grace_s: float) -> int:
        """Close the program's input, which tells the program to exit, and return its exit code.

        If it is still running after `grace_s` seconds, it is killed.
        """
        ended = self._process.poll()
        if ended is not None and not self._outputs:
            return ended
        assert self._process.stdin is not None
        self._process.stdin.close()
        deadline = time.monotonic() + grace_s
        with contextlib.suppress(TimeoutError, CommandError):
            most_bytes = len(self.out) + len(self.err) + _MIB
            self.exchange(b"", lambda: False, deadline, limit_bytes=most_bytes)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        end_group(self._process)
        return self._process.returncode

    def _send(self, selector: selectors.BaseSelector, rest: memoryview) -> memoryview:
        """Send part of the text, and return the rest. If the program has closed its input, the rest is empty."""
        try:
            rest = rest[os.write(self._input, rest) :]
        except BrokenPipeError:
            rest = rest[:0]
        if not rest:
            selector.unregister(self._input)
        return rest


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
        raise ProgramMissing(f"`{argv[0]}` is not installed on this machine") from None
    except PermissionError:
        raise CommandError(f"no permission to execute `{argv[0]}`") from None
    except OSError as error:
        raise CommandError(f"`{argv[0]}` could not be started: {error.strerror}") from None
    except ValueError:
        raise CommandError(f"`{argv[0]}` could not be started: an argument contains a null character") from None


def become(argv: Sequence[str]) -> NoReturn:
    """Replace this process with a program that takes over the terminal, such as an interactive shell.

    Raises a ProgramMissing if the program is not installed.
    """
    try:
        os.execvp(argv[0], list(argv))
    except FileNotFoundError:
        raise ProgramMissing(f"`{argv[0]}` is not installed on this machine") from None


def share_out(work: Callable[[Item], Result], items: Sequence[Item], *, chunk: int) -> list[Result]:
    """Apply `work` to all items in parallel, and return the results in the order of the items.

    There is one forked process per processor, and each gets `chunk` items at a time. `work`, the items and the results
    must be picklable. The processes ignore Ctrl-C, so that only this process reports it.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    ignore = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(mp_context=get_context("fork"), initializer=signal.signal, initargs=ignore) as pool:
        with _signals_delayed():  # the processes are forked now
            results = pool.map(work, items, chunksize=chunk)
        return list(results)


def end_group(process: subprocess.Popen[str]) -> None:
    """End a program and its process group with SIGTERM, followed by SIGKILL if it is still running 2 s later."""
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
