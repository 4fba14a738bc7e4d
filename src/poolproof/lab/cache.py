"""What the lab keeps in the user's cache directory: images, each complete or absent, and the user's key to labs."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from poolproof import process
from poolproof.errors import HostError

_KEYGEN_S = 20.0
_POLL_S = 0.05


def lab_folder() -> Path:
    """$XDG_CACHE_HOME/poolproof/lab, or ~/.cache/poolproof/lab; for its user alone.

    Raises:
        HostError: it can't be made.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = (Path(base) if base.startswith("/") else Path.home() / ".cache") / "poolproof" / "lab"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(
            f"{folder} cannot be made: {error.strerror}", "set XDG_CACHE_HOME to a folder of yours"
        ) from None
    return folder


@dataclass(frozen=True)
class Image:
    """The parts of one image on disk: all of them are there, or none."""

    folder: Path

    @property
    def kernel(self) -> Path:
        return self.folder / "kernel"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    @property
    def disk(self) -> Path:
        return self.folder / "disk.raw"

    @property
    def size_bytes(self) -> int:
        """What it takes on this disk: its files are sparse."""
        return sum(path.stat().st_blocks * 512 for path in self.folder.iterdir())

    @property
    def is_there(self) -> bool:
        return self.folder.is_dir()


def image_named(name: str) -> Image:
    """The image of that recipe's name, there or not."""
    return Image(lab_folder() / "images" / name)


def images() -> tuple[Image, ...]:
    """Those that are there."""
    return tuple(Image(path) for path in sorted((lab_folder() / "images").glob("zfs-*")) if path.is_dir())


@contextlib.contextmanager
def locked(folder: Path, name: str, what: str, wait_s: float = 0.0) -> Iterator[None]:
    """Keep every other poolproof of this user out.

    Raises:
        HostError: one is at it, and still is after `wait_s` seconds; `what` says at what.
    """
    deadline = time.monotonic() + wait_s
    with (folder / f".{name}.lock").open("w") as file:
        while not _try_lock(file.fileno()):
            if time.monotonic() >= deadline:
                raise HostError(f"another poolproof {what}", "wait for it, or stop it with Ctrl-C")
            time.sleep(_POLL_S)
        yield


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def private_key() -> Path:
    """The user's key to every lab; made when it is not there.

    Raises:
        HostError: no ssh-keygen here.
    """
    key = lab_folder() / "key"
    if not key.exists():
        beside = lab_folder() / f"key.{os.getpid()}"
        try:
            process.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "poolproof-lab", "-f", str(beside)],
                timeout_s=_KEYGEN_S,
            )
        except process.ProgramMissing:
            raise HostError(
                "ssh is not installed here", "Debian, Ubuntu: sudo apt-get install openssh-client"
            ) from None
        beside.with_name(f"{beside.name}.pub").rename(key.with_name("key.pub"))
        beside.rename(key)
    return key


def public_key() -> str:
    """The base64 part of the user's public key."""
    return private_key().with_name("key.pub").read_text(encoding="ascii").split()[1]
