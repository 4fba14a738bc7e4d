"""This user's labs and images (in the cache directory), the ssh key for all labs, and the programs that labs need.

Each lab is a folder with a record, a journal, a console log and an ssh configuration. An image is either complete or
absent.
"""

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from poolproof import process
from poolproof.errors import HostError, UsageError, as_word
from poolproof.facts.machine import mark_of
from poolproof.files.reading import NOT_THE_JSON
from poolproof.hosts.local import LocalHost
from poolproof.lab.home import lab_folder
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all
from poolproof.undos import Owned

SCHEMA = 1
_TAIL_CHARACTERS = 800
PREFIX = "lab:"
"""The prefix that marks the name of a host as a lab: `--on lab:NAME`."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_SOURCE = re.compile(r"\{(\w+): ([^,}]+)(?:, size: ([^}]+))?\}")
State = Literal["running", "stopped", "crashed", "orphan"]
_KEYGEN_S = 20.0
_POLL_S = 0.05
_PACKAGES = {
    "apt-get": "apt",
    "fakeroot": "fakeroot",
    "mke2fs": "e2fsprogs",
    "mmdebstrap": "mmdebstrap",
    "newuidmap": "uidmap",
    "nbdkit": "nbdkit nbdkit-plugin-python",
    "qemu-img": "qemu-utils",
    "qemu-system-x86_64": "qemu-system-x86",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "tar": "tar",
}
_FOR_USERS = ("newuidmap", "fakeroot")
BUILD = ("apt-get", "mmdebstrap", "mke2fs", "tar", *_FOR_USERS)
_QEMU = "qemu-system-x86_64"
START = (_QEMU, "ssh", "ssh-keygen")


class OwnerProcess(msgspec.Struct, frozen=True):
    """The process that owns a lab, identified by its pid and its start time (/proc/PID/stat, field 22).

    If this process has ended, the lab is an orphan.

    `where`: the machine and the PID namespace of the process, or "" if an older version wrote the record. Several
    machines or containers can share a home directory, and only the process's own can tell whether it has ended.
    """

    pid: int
    begun: str
    where: str = ""

    @property
    def is_alive(self) -> bool:
        """True if the process is running, or if this is unknown because it was on another machine or in a container."""
        if self.where not in ("", _where()):
            return True
        return self.begun != "" and _begun(self.pid) == self.begun


class LabRecord(msgspec.Struct, frozen=True):
    """The contents of lab.json.

    `disks`: the by-id names of the disks in the guest, keyed by device name.
    `sources`: the definitions of the devices, keyed by device name.
    `owner`: the process that owns the lab, or None if the lab runs until it is stopped.
    """

    name: str
    series: str
    image: str
    accelerator: str
    port: int
    ram_bytes: int
    processors: int
    disks: dict[str, str]
    sources: dict[str, str]
    owner: OwnerProcess | None
    schema: int = SCHEMA


@dataclass(frozen=True)
class Lab:
    """A lab on this machine."""

    folder: Path
    record: LabRecord

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def destination(self) -> str:
        """The ssh destination of the lab. Only the lab's own ssh configuration defines it."""
        return f"{PREFIX}{self.name}"

    @property
    def ssh_config(self) -> Path:
        return self.folder / "ssh_config"

    @property
    def start_command(self) -> str:
        """The command that starts the lab again with the same disks, which are then empty."""
        record = self.record
        sources = {name: _SOURCE.sub(r"\1:\2,\3", source).rstrip(",") for name, source in record.sources.items()}
        disks = [f"--disk {name}={source}" for name, source in sources.items()]
        size = f"--ram {record.ram_bytes >> 20}M --cpus {record.processors}"
        return " ".join(("poolproof lab start", record.name, *disks, f"--zfs {record.series}", size))

    @property
    def state(self) -> State:
        if not Journal(self.folder / "journal.jsonl").outstanding():
            return "stopped"
        if not is_running(self.folder):
            return "crashed"
        owner = self.record.owner
        return "running" if owner is None or owner.is_alive else "orphan"


def this_process() -> OwnerProcess:
    return OwnerProcess(os.getpid(), _begun(os.getpid()), _where())


def check_name(name: str) -> str:
    """Return the name unchanged, or raise a UsageError if it is not a valid lab name."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a valid lab name", "use 1 to 31 characters of a-z, 0-9 and -, for example: nas"
        )
    return name


def folder_of(name: str) -> Path:
    """Return the folder for the lab with this name. The lab need not exist."""
    return lab_folder() / "machines" / check_name(name.removeprefix(PREFIX))


def labs() -> tuple[Lab, ...]:
    """Return all labs of this user. A folder without a record is skipped: its lab is starting, or its start crashed."""
    found = (_read(path.parent) for path in sorted((lab_folder() / "machines").glob("*/lab.json")))
    return tuple(lab for lab in found if lab is not None)


def find(name: str) -> Lab:
    """Return the lab with this name, which may have the prefix `lab:`. Raises a HostError if it does not exist."""
    folder = folder_of(name)
    lab = _read(folder)
    if lab is None:
        others = ", ".join(each.name for each in labs())
        raise HostError(
            f"there is no lab {folder.name}" + (f"; existing labs: {others}" if others else ""),
            f"to list all labs: poolproof lab list; to start one: poolproof lab start {folder.name}",
        )
    return lab


def stop(folder: Path) -> None:
    """Stop the lab in this folder and discard its disks. The console log is kept.

    Raises a HostError if a process can't be ended, a directory can't be removed, or the lab was started on another
    machine that shares this user's home directory.
    """
    if _is_elsewhere(folder):
        raise HostError(
            f"the lab {folder.name} was started on another machine or in another container, where it may be running",
            f"there: poolproof lab rm {folder.name}; if that machine or container no longer exists: "
            f"rm -r {as_word(folder)}",
        )
    failed = undo_all(Journal(folder / "journal.jsonl"), LocalHost(), owned_by_lab(folder))
    if failed:
        rows = "; ".join(f"{each.change.title}: {each.reason}" for each in failed)
        raise HostError(f"the lab {folder.name} could not be stopped: {rows}", f"poolproof lab stop {folder.name}")


def ram_folder(folder: Path) -> str:
    """Return the path of the directory in RAM for a lab's disks. It includes the lab's name and the user's ID."""
    return f"/dev/shm/poolproof-lab-{folder.name}-{os.getuid()}"


def owned_by_lab(folder: Path) -> Owned:
    """Return what belongs to the lab in this folder: the files in its two folders, and the processes that use them."""
    return Owned(f"lab-{folder.name}", (str(folder), ram_folder(folder)), (_QEMU,))


def remove(folder: Path) -> None:
    stop(folder)
    shutil.rmtree(folder, ignore_errors=True)


def remove_named(name: str) -> None:
    """Stop and delete the lab with this name, or delete the image with this name.

    Raises a HostError if neither exists, or if a running lab uses the image.
    """
    image = next((image for image in images() if image.folder.name == name), None)
    if image is None:
        remove(find(name).folder)
        return
    user = next((lab for lab in labs() if lab.record.image == name and is_running(lab.folder)), None)
    if user is not None:
        raise HostError(f"the lab {user.name} uses the image {name}", f"poolproof lab stop {user.name}")
    shutil.rmtree(image.folder)


def orphans() -> tuple[Path, ...]:
    """Return the folders of all labs whose owner has ended, or whose start was never completed."""
    recorded = {lab.folder: lab for lab in labs()}
    folders = sorted(path.parent for path in (lab_folder() / "machines").glob("*/journal.jsonl"))
    return tuple(folder for folder in folders if _is_orphan(folder, recorded.get(folder)))


def last_words(folder: Path) -> str:
    """Return a clause that quotes the end of the lab's console log."""
    try:
        text = (folder / "console.log").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        text = ""
    return f"its console ends with: {text[-_TAIL_CHARACTERS:]}" if text else "its console is empty"


def is_running(folder: Path) -> bool:
    """True if a QEMU process is running for the lab in this folder."""
    try:
        pid = (folder / "qemu.pid").read_text().strip()
        return f"{folder}/" in Path(f"/proc/{pid}/cmdline").read_text()
    except (OSError, ValueError):
        return False


def _is_orphan(folder: Path, lab: Lab | None) -> bool:
    if lab is not None:
        return lab.record.owner is not None and not lab.record.owner.is_alive
    starter = starter_of(folder)
    return starter is None or not starter.is_alive


def starter_of(folder: Path) -> OwnerProcess | None:
    """Return the process that started the lab in this folder, or None if it is unknown."""
    try:
        return msgspec.json.decode((folder / "starter").read_bytes(), type=OwnerProcess)
    except (OSError, *NOT_THE_JSON):
        return None


def _is_elsewhere(folder: Path) -> bool:
    starter = starter_of(folder)
    return starter is not None and starter.where not in ("", _where())


def _read(folder: Path) -> Lab | None:
    try:
        return Lab(folder, msgspec.json.decode((folder / "lab.json").read_bytes(), type=LabRecord))
    except (OSError, *NOT_THE_JSON):
        return None


def _where() -> str:
    return f"{mark_of(LocalHost())} {Path('/proc/self/ns/pid').readlink()}"


def _begun(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot, or "" if it has ended or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return ""


@dataclass(frozen=True)
class Image:
    """The files of an image. Either all of them exist or none."""

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
        """The disk space that the files of the image use. They are sparse, so this is less than their size."""
        return sum(path.stat().st_blocks * 512 for path in self.folder.iterdir())

    @property
    def exists(self) -> bool:
        return self.folder.is_dir()


def image_named(name: str) -> Image:
    """Return the image with this name. It need not exist."""
    return Image(lab_folder() / "images" / name)


def images() -> tuple[Image, ...]:
    return tuple(Image(path) for path in sorted((lab_folder() / "images").glob("zfs-*")) if path.is_dir())


@contextlib.contextmanager
def locked(folder: Path, name: str, activity: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold a lock until the context ends, so that other poolproof processes of this user must wait.

    `activity`: what a process with this lock is doing, for the error message: `is starting a lab`.

    Raises a HostError if another process still holds the lock after `wait_s` seconds.
    """
    deadline = time.monotonic() + wait_s
    with (folder / f".{name}.lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    hint = "wait until it ends, or stop it with Ctrl-C"
                    raise HostError(f"another poolproof process {activity}", hint) from None
            time.sleep(_POLL_S)
        yield


def private_key() -> Path:
    """Return the path of the user's private ssh key for all labs. If the key does not exist, it is created.

    Raises a HostError if ssh-keygen is not installed.
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
            hint = "Debian, Ubuntu: sudo apt-get install openssh-client"
            raise HostError("ssh-keygen is not installed on this machine", hint) from None
        part.with_name(f"{part.name}.pub").rename(key.with_name("key.pub"))
        part.rename(key)
    return key


def public_key() -> str:
    """Return the user's public ssh key for all labs: only its base64 part."""
    return private_key().with_name("key.pub").read_text(encoding="ascii").split()[1]


def require(programs: Sequence[str], purpose: str) -> None:
    """Raise a HostError if one of the programs is missing on this machine. `purpose`: how the message begins."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    needed = [program for program in programs if os.geteuid() != 0 or program not in _FOR_USERS]
    missing = [program for program in needed if shutil.which(program, path=path) is None]
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
        verb = "is" if len(missing) == 1 else "are"
        message = f"{purpose} needs {' and '.join(missing)}, which {verb} not installed"
        raise HostError(message, f"Debian, Ubuntu: sudo apt-get install {packages}")
