"""The lab's files in the user's cache directory: images, each complete or absent, and the ssh key for all labs."""

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
    """Return $XDG_CACHE_HOME/poolproof/lab or ~/.cache/poolproof/lab, readable only by its user.

    Raises a HostError if it can't be created.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = (Path(base) if base.startswith("/") else Path.home() / ".cache") / "poolproof" / "lab"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(
            f"{folder} cannot be created: {error.strerror}", "set XDG_CACHE_HOME to a folder that you can write to"
        ) from None
    return folder


@dataclass(frozen=True)
class Image:
    """The files of one image: all exist, or none."""

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
        """Return the space that it takes on disk; its files are sparse."""
        return sum(path.stat().st_blocks * 512 for path in self.folder.iterdir())

    @property
    def exists(self) -> bool:
        return self.folder.is_dir()


def image_named(name: str) -> Image:
    """Return the image with that recipe's name; it may not exist."""
    return Image(lab_folder() / "images" / name)


def images() -> tuple[Image, ...]:
    """Return all images that have been built."""
    return tuple(Image(path) for path in sorted((lab_folder() / "images").glob("zfs-*")) if path.is_dir())


@contextlib.contextmanager
def locked(folder: Path, name: str, activity: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold a lock against other poolproof processes of this user.

    Raises a HostError if one of them holds it for more than `wait_s` seconds. `activity` describes it in the message.
    """
    deadline = time.monotonic() + wait_s
    with (folder / f".{name}.lock").open("w") as file:
        while not _try_lock(file.fileno()):
            if time.monotonic() >= deadline:
                raise HostError(f"another poolproof process {activity}", "wait for it, or stop it with Ctrl-C")
            time.sleep(_POLL_S)
        yield


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def private_key() -> Path:
    """Return the path of the user's ssh key for all labs; create it if it does not exist.

    Raises a HostError if ssh-keygen is not installed here.
    """
    key = lab_folder() / "key"
    if not key.exists():
        part = lab_folder() / f"key.{os.getpid()}"
        try:
            process.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "poolproof-lab", "-f", str(part)],
                timeout_s=_KEYGEN_S,
            )
        except process.ProgramMissing:
            raise HostError(
                "ssh is not installed here", "Debian, Ubuntu: sudo apt-get install openssh-client"
            ) from None
        part.with_name(f"{part.name}.pub").rename(key.with_name("key.pub"))
        part.rename(key)
    return key


def public_key() -> str:
    """Return the base64 part of the user's public key."""
    return private_key().with_name("key.pub").read_text(encoding="ascii").split()[1]
