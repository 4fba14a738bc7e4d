"""This machine as a host, and a function that connects to any host by name."""

import contextlib
import errno
import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from poolproof import process
from poolproof.hosts.base import LOCAL, FileMissing, Host, Tick, text_of

_READ_BYTES = 65536
_LARGEST_BYTES = 256 * 1024**2
_NOT_REGULAR = "it is not a regular file"

_BOOT_S = time.time() - time.monotonic()


def now_s() -> float:
    """Return the time in seconds since 1970, ignoring changes to the clock while this process runs."""
    return _BOOT_S + time.monotonic()


class LocalHost:
    """The machine on which poolproof itself runs."""

    name = LOCAL

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        return process.run(argv, timeout_s=timeout_s, stdin=stdin, check=check)

    def read(self, path: str) -> str:
        try:
            return _content(path)
        except OSError as error:
            raise FileMissing(f"cannot read {path}: {error.strerror}") from None

    def read_files(self, paths: Sequence[str]) -> Tick:
        return Tick(now_s(), tuple(text_of(self, path) for path in paths))

    @contextlib.contextmanager
    def stream(self, paths: Sequence[str], interval_s: float) -> Iterator[Iterator[Tick]]:
        stop = threading.Event()
        try:
            yield _ticks(paths, interval_s, stop)
        finally:
            stop.set()


def _ticks(paths: Sequence[str], interval_s: float, stop: threading.Event) -> Iterator[Tick]:
    """Yield the files' contents at fixed intervals. The files are kept open.

    A late read does not delay the reads after it.
    """
    files = [_open(path) for path in paths]
    try:
        due = time.monotonic()
        while not stop.is_set():
            yield Tick(now_s(), tuple(_reread(file) for file in files))
            due += interval_s
            if stop.wait(max(0.0, due - time.monotonic())):
                return
    finally:
        for file in files:
            if file is not None:
                os.close(file)


def _content(path: str) -> str:
    """Return the contents of a regular file as a string.

    Raises an OSError if the file is too large, cannot be read, or is not a regular file. Other types of file are
    rejected because opening or reading a FIFO, for example, could block forever, and opening a device can have effects.
    """
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise OSError(errno.EINVAL, _NOT_REGULAR)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, _NOT_REGULAR)  # it was replaced in the meantime
        content = file.read(_LARGEST_BYTES + 1)
    if len(content) > _LARGEST_BYTES:
        raise OSError(errno.EFBIG, "it is too large")
    return process.decoded(content)


def _open(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _reread(file: int | None) -> str:
    try:
        return "" if file is None else os.pread(file, _READ_BYTES, 0).decode("utf-8", errors="replace")
    except OSError:
        return ""


HERE = LocalHost()
"""The only instance of `LocalHost`. Facts are cached per instance, so they are read only once."""


@contextlib.contextmanager
def reach(name: str) -> Iterator[Host]:
    """Connect to `local` or to an ssh destination. The connection is closed when the context ends.

    Raises:
        UsageError: the name is not an ssh destination.
        HostError: the host cannot be reached.
    """
    if name == LocalHost.name:
        yield HERE
        return
    from poolproof.hosts.ssh import SshHost

    with SshHost(name) as host:
        yield host
