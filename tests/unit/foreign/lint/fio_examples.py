"""fio's own examples of job files, from the installed package or otherwise from Debian's package.

Debian's package is downloaded and then deleted.
"""

import functools
import gzip
import tempfile
from pathlib import Path

from poolproof import process

_PACKAGE = "fio-examples"
_FOLDER = "usr/share/doc/fio/examples"
_LIMIT_S = 120.0


@functools.cache
def fio_examples() -> dict[str, str]:
    """Return the example job files, keyed by name.

    Raises:
        CommandError: the examples are not installed, and apt can't download them.
    """
    installed = _read(Path("/") / _FOLDER)
    if installed:
        return installed
    with tempfile.TemporaryDirectory() as folder:
        argv = [
            "sh",
            "-c",
            f'cd "$1" && apt-get -q download {_PACKAGE} && dpkg-deb -x {_PACKAGE}_*.deb .',
            "sh",
            folder,
        ]
        fetched = process.run(argv, timeout_s=_LIMIT_S, check=False)
        if fetched.returncode != 0:
            process.run(["apt-get", "-q", "update"], timeout_s=_LIMIT_S)
            process.run(argv, timeout_s=_LIMIT_S)
        return _read(Path(folder) / _FOLDER)


def _read(folder: Path) -> dict[str, str]:
    """Return the job files in a folder, including those that the package manager has compressed."""
    plain = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.fio"))}
    packed = {path.stem: gzip.decompress(path.read_bytes()).decode() for path in sorted(folder.glob("*.fio.gz"))}
    return {**plain, **packed}
