"""Allow only one run at a time on this machine, because concurrent runs would distort each other's results.

Each run holds a shared lock on the file `host`, and an exclusive lock on one file for each real disk and each existing
directory that it uses. A run can start if no other run holds `host`. With --share-host, it can start if no other run
uses its disks and directories. Each run also holds an exclusive lock for its label, no matter which hosts it measures,
so that a directory that names the same label cannot be cleaned up or resumed meanwhile. The kernel releases the locks
when the process ends, even after SIGKILL.

The lock files are in /run/lock (or in /tmp if /run/lock does not exist), where every user can create files. For tests,
POOLPROOF_LOCKS selects another directory. Hosts over SSH and labs are not locked.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from poolproof.campaign.model import Campaign, Disk
from poolproof.devices.guard import bare_identity
from poolproof.errors import HostError, as_word
from poolproof.facts.block import BlockFacts
from poolproof.files.folder import FileRefused, Folder
from poolproof.files.writing import share_lock

_PLACES = ("/run/lock", "/tmp")
_EVERYONE = 0o666
_NAME_DIGITS = 16
_DIRECTORY = "the directory "


def real_disks(campaign: Campaign) -> tuple[str, ...]:
    """Return the identities of the real disks that the campaign names: by-id names, serial numbers or WWNs."""
    return tuple(each.source.identity for each in campaign.devices if isinstance(each.source, Disk))


def uses_of(campaign: Campaign, directories: Iterable[str], disks: Sequence[BlockFacts]) -> frozenset[str]:
    """Return what two runs must not use at the same time: the campaign's real disks, and the given directories.

    `disks`: this machine's disks. They show that a by-id name and a serial number belong to the same disk.

    Links in the directories' paths are resolved, so that a link to a directory counts as the directory itself.
    """
    names = (_name_of(bare_identity(identity), disks) for identity in real_disks(campaign))
    paths = map(os.path.realpath, directories)
    return frozenset({f"the disk {name}" for name in names} | {f"{_DIRECTORY}{path}" for path in paths})


def _name_of(identity: str, disks: Sequence[BlockFacts]) -> str:
    found = (disk.identity for disk in disks if identity in {each.lower() for each in disk.identities})
    return next(found, identity).lower()


@contextlib.contextmanager
def host_locked(uses: Iterable[str], *, share: bool) -> Iterator[None]:
    """Hold a run's locks on this machine while the context is active.

    Raises a HostError if another run is in progress (unless `share` is set), if another run uses one of `uses`, if
    another program holds the lock of the machine, or if a lock file can't be opened.
    """
    with contextlib.ExitStack() as held:
        host = held.enter_context(_opened("host"))
        if not share and not _take(host, fcntl.LOCK_EX):
            raise HostError(
                f"another poolproof run is in progress on this machine{_holder(host)} and would distort the results",
                "wait for it to end; if both runs may share the machine, add --share-host",
            )
        if not share_lock(host):
            place = _place() / "poolproof-host"
            raise HostError(f"another program holds the lock {place}", f"to find this program: lsof {as_word(place)}")
        _sign(host)
        for key, use in sorted({_key(use): use for use in uses}.items()):
            lock = held.enter_context(_opened(hashlib.sha256(key.encode()).hexdigest()[:_NAME_DIGITS]))
            if not _take(lock, fcntl.LOCK_EX):
                raise HostError(f"another poolproof run uses {use}{_holder(lock)}", "wait for it to end")
            _sign(lock)
        yield


@contextlib.contextmanager
def label_locked(label: str) -> Iterator[bool]:
    """Hold the lock of a run's label while the context is active. Yields False if another process holds it.

    The lock file is removed at the end. If the lock file can't be opened, root gets a HostError. Other users, who may
    not be allowed to create files in /run/lock, then continue without the lock.
    """
    name = hashlib.sha256(f"the label {label}".encode()).hexdigest()[:_NAME_DIGITS]
    with contextlib.ExitStack() as held:
        is_ours = is_open = _may_open(name)
        while is_open:
            lock = held.enter_context(_opened(name))
            is_ours = _take(lock, fcntl.LOCK_EX)
            if not is_ours or _is_there(name, lock):  # otherwise, its last holder has just removed it
                break
        if is_ours and is_open:
            _sign(lock)
            held.callback(_remove, name)  # called before the file is closed, and thus still locked
        yield is_ours or not is_open


def _may_open(name: str) -> bool:
    try:
        _opened(name).close()
    except HostError:
        if os.geteuid() == 0:
            raise
        return False
    return True


def _remove(name: str) -> None:
    with contextlib.suppress(OSError):
        (_place() / f"poolproof-{name}").unlink()


def _is_there(name: str, lock: IO[bytes]) -> bool:
    try:
        return os.path.samestat((_place() / f"poolproof-{name}").lstat(), os.fstat(lock.fileno()))
    except OSError:
        return False


def _place() -> Path:
    return Path(os.environ.get("POOLPROOF_LOCKS", "") or next(each for each in _PLACES if Path(each).is_dir()))


def _key(use: str) -> str:
    """Return a string that is the same for all paths of a directory, which can be mounted in several places."""
    try:
        found = Path(use.removeprefix(_DIRECTORY)).stat() if use.startswith(_DIRECTORY) else None
    except OSError:
        found = None
    return f"{_DIRECTORY}{found.st_dev}:{found.st_ino}" if found is not None else use


def _opened(name: str) -> IO[bytes]:
    place = _place()
    file = f"poolproof-{name}"
    try:
        place.mkdir(exist_ok=True)
        folder = Folder.open(place)
        # Without O_CREAT if it exists: the kernel refuses to create files of other users in a sticky directory.
        create = os.O_CREAT if folder.kind(file) is None else 0
        handle = folder.open_file(file, os.O_RDWR | create, _EVERYONE)
    except OSError as error:
        verb = ":" if isinstance(error, FileRefused) else " cannot be opened:"
        hint = f"ls -l {as_word(place / file)}; remove it if no run is in progress"
        raise HostError(f"the lock {place / file}{verb} {error.strerror}", hint) from None
    if create:
        os.fchmod(handle, _EVERYONE)  # so that other users can lock it later
    return os.fdopen(handle, "r+b")


def _take(file: IO[bytes], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(file: IO[bytes]) -> None:
    """Write this process's ID to the lock file, so that the error message of another run can include it."""
    with contextlib.suppress(OSError):
        os.pwrite(file.fileno(), f"{os.getpid()}\n".encode(), 0)
        os.ftruncate(file.fileno(), len(f"{os.getpid()}\n"))


def _holder(file: IO[bytes]) -> str:
    text = os.pread(file.fileno(), 20, 0).decode("ascii", errors="replace").strip()
    return f" (process {text})" if text.isdecimal() else ""
