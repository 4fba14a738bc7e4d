"""The version of a host's fio."""

import re
import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from poolproof.errors import FioError
from poolproof.hosts.base import Host
from poolproof.process import ProgramMissing

_VERSION = re.compile(r"fio[- ]v?(\d+)\.(\d+)(?:\.(\d+))?")
_TIMEOUT_S = 20.0
_INSTALL = "install it: `apt-get install fio` (Debian, Ubuntu), `dnf install fio` (Fedora, RHEL)"


@dataclass(frozen=True, order=True)
class FioVersion:
    """A release of fio; `text` is its own name for it."""

    major: int
    minor: int
    patch: int = 0
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"fio-{self.major}.{self.minor}"


_ASKED: WeakKeyDictionary[Host, FioVersion] = WeakKeyDictionary()
_ASKING = threading.Lock()

OLDEST_TO_RUN = FioVersion(3, 6)
"""The first release whose JSON has the latency of fsync (`sync`), which the etcd preset needs; json+ is older."""


def parse_version(text: str) -> FioVersion | None:
    """Return the version in `fio-3.33`, `fio-2.2.8`, `fio 3.16-64-gfd988` or `fio-3.19-dirty`; None without one."""
    match = _VERSION.search(text)
    return FioVersion(int(match[1]), int(match[2]), int(match[3] or 0), text.strip()) if match else None


def fio_version(host: Host) -> FioVersion:
    """Return the version of the host's fio.

    Raises:
        FioError: fio is missing or too old, or its answer has no version.
    """
    with _ASKING:
        if host not in _ASKED:
            _ASKED[host] = _asked(host)
        return _ASKED[host]


def _asked(host: Host) -> FioVersion:
    try:
        said = host.run(["fio", "--version"], timeout_s=_TIMEOUT_S).stdout
    except ProgramMissing:
        raise FioError(f"fio is not installed on {host.name}", _INSTALL) from None
    version = parse_version(said)
    if version is None:
        raise FioError(f"`fio --version` on {host.name} printed no version: {said.strip()[:200]!r}", _INSTALL)
    if (version.major, version.minor) < (OLDEST_TO_RUN.major, OLDEST_TO_RUN.minor):
        raise FioError(f"{version} on {host.name} is too old to run campaigns; {OLDEST_TO_RUN} is the oldest", _INSTALL)
    return version
