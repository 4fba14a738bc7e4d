"""Run a real InfluxDB for one test, in its own folder and with its own socket. It is stopped by its process ID."""

import contextlib
import http.client
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

_READY_WITHIN_S = 60.0
_ANSWER_WITHIN_S = 30.0
_CONFIG = """\
reporting-disabled = true
bind-address = "127.0.0.1:0"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:0"
  unix-socket-enabled = true
  bind-socket = "{folder}/s"
  log-enabled = false
"""


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_ANSWER_WITHIN_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_ANSWER_WITHIN_S)
        self.sock.connect(str(self._path))


class Influx:
    """A running InfluxDB server. The methods raise an OSError if it does not respond."""

    def __init__(self, path: Path) -> None:
        self._socket = path

    def ask(self, method: str, path: str, body: str = "") -> tuple[int, str]:
        connection = _OverSocket(self._socket)
        with contextlib.closing(connection):
            connection.request(method, path, body.encode())
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def write(self, database: str, lines: str) -> tuple[int, str]:
        self.ask("POST", f"/query?q={quote(f'CREATE DATABASE {database}')}")
        return self.ask("POST", f"/write?db={database}", lines)

    def rows(self, database: str, query: str) -> list[dict[str, object]]:
        """Return the rows, keyed by column. The columns of tags have names of the form `tag.name`."""
        status, text = self.ask("GET", f"/query?db={database}&epoch=ns&q={quote(query)}")
        assert status == 200, text
        series = json.loads(text)["results"][0].get("series", [])
        return [dict(zip(each["columns"], values, strict=True)) for each in series for values in each["values"]]


@contextlib.contextmanager
def influxd(folder: Path) -> Iterator[Influx]:
    """Start the server, wait until it responds, and stop it at the end."""
    program = shutil.which("influxd")
    assert program, "influxd is missing; it comes with: scripts/setup test"
    config = folder / "influxdb.conf"
    config.write_text(_CONFIG.format(folder=folder), encoding="utf-8")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([program, "-config", str(config)], stdout=log, stderr=log)
    try:
        server = Influx(folder / "s")
        _wait_for(server, process, folder / "log")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=_ANSWER_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=_ANSWER_WITHIN_S)


def _wait_for(server: Influx, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(encoding="utf-8")[-2000:]
        with contextlib.suppress(OSError):
            if server.ask("GET", "/ping")[0] == 204:
                return
        time.sleep(0.05)
    raise AssertionError(f"influxd did not answer: {log.read_text(encoding='utf-8')[-2000:]}")
