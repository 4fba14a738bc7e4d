"""Start `poolproof watch RUN --web` as a user does, and send it requests."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from poolproof.results.runs.directory import RunDirectory

LIMIT_S = 60.0
_POLL_S = 0.02
POOLPROOF = str(Path(sys.executable).with_name("poolproof"))


class Serving:
    """A running server.

    `url`: the address that it has printed.
    `cookie`: what the server exchanges the token for. Every request has it, unless it has another one.
    """

    def __init__(self, folder: Path, run: Path, *arguments: str) -> None:
        self._out, self._err = folder / "watch.out", folder / "watch.err"
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                [POOLPROOF, "watch", str(run), "--web", *arguments],
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        self.await_that(lambda: self._out.read_text().endswith("\n"), "no address was printed")
        self.url = self._out.read_text().strip()
        self.cookie = ""
        if "?" in self.url:
            with self.asked(f"/?{urlsplit(self.url).query}") as answer:
                self.cookie = answer.getheader("set-cookie", "").partition(";")[0]

    @property
    def said(self) -> str:
        """Return everything that it has printed to standard error."""
        return self._err.read_text()

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def await_that(self, condition: Callable[[], bool], complaint: str) -> None:
        until = time.monotonic() + LIMIT_S
        while not condition():
            assert self.process.poll() is None, f"{complaint}: it ended and said {self._err.read_text()}"
            assert time.monotonic() < until, complaint
            time.sleep(_POLL_S)

    @contextlib.contextmanager
    def asked(
        self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request on a new connection, and yield the response.

        `headers`: additional headers, which may include a different Host.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        with contextlib.closing(connection):
            connection.request(method, path, headers={"Cookie": self.cookie, **(headers or {})})
            yield connection.getresponse()

    def status(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> int:
        with self.asked(path, headers, method) as answer:
            answer.read()
            return answer.status

    def text(self, path: str) -> str:
        with self.asked(path) as answer:
            assert answer.status == 200
            return answer.read().decode()

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal, by default that of Ctrl-C, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(LIMIT_S)


def events(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """Yield the server-sent events as they arrive."""
    while line := answer.readline():
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))


@contextlib.contextmanager
def serving(folder: Path, run: Path, *arguments: str) -> Iterator[Serving]:
    """Start a server that is stopped when the context ends."""
    made = Serving(folder, run, *arguments)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait(LIMIT_S)


@contextlib.contextmanager
def going(run: Path) -> Iterator[RunDirectory]:
    """Yield the run with its lock held, as if a process were measuring it."""
    directory = RunDirectory.open(run)
    with directory.locked():
        yield directory
