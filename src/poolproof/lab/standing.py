"""The labs of this user that are there: each a folder with what it is, its journal, its console's log, its way in."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from poolproof.errors import HostError, UsageError
from poolproof.hosts.local import LocalHost
from poolproof.lab.cache import images, lab_folder
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all

SCHEMA = 1
_TAIL_CHARACTERS = 800
PREFIX = "lab:"
"""Before a lab's name where a host is named: `--on lab:NAME`."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_SOURCE = re.compile(r"\{(\w+): ([^,}]+)(?:, size: ([^}]+))?\}")
State = Literal["running", "stopped", "crashed", "orphan"]


class OwnerProcess(msgspec.Struct, frozen=True):
    """The process whose end is the lab's: its number, and when it began (field 22 of /proc/PID/stat)."""

    pid: int
    begun: str

    @property
    def is_alive(self) -> bool:
        return self.begun != "" and _begun(self.pid) == self.begun


def _short(source: re.Match[str]) -> str:
    """A device of a campaign file as a word of the command line."""
    return f"{source[1]}:{source[2]}" + (f",{source[3]}" if source[3] else "")


class LabRecord(msgspec.Struct, frozen=True):
    """lab.json. `disks`: each device's name in the campaign and its by-id name in the guest;
    `sources`: what each was asked to be.

    `owner`: None where the lab stays until it is stopped.
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
    """One lab on disk."""

    folder: Path
    record: LabRecord

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def destination(self) -> str:
        """What ssh calls it, with the lab's own configuration."""
        return f"{PREFIX}{self.name}"

    @property
    def ssh_config(self) -> Path:
        return self.folder / "ssh_config"

    def last_words(self) -> str:
        """What its console said last."""
        return last_words(self.folder)

    @property
    def start_command(self) -> str:
        """The command that starts it again, with the disks that it has."""
        record = self.record
        disks = [f"--disk {name}={_SOURCE.sub(_short, source)}" for name, source in record.sources.items()]
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
    """The owner that this process is."""
    return OwnerProcess(os.getpid(), _begun(os.getpid()))


def check_name(name: str) -> str:
    """The name, if it can name a lab.

    Raises:
        UsageError: it can't.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a lab", "a name is 1 to 31 small letters, digits and `-`, such as: nas")
    return name


def folder_of(name: str) -> Path:
    """Where the lab of that name lies, there or not."""
    return lab_folder() / "machines" / check_name(name.removeprefix(PREFIX))


def labs() -> tuple[Lab, ...]:
    """Every lab of this user; a folder that a crash left without its record is not among them."""
    found = (_read(path.parent) for path in sorted((lab_folder() / "machines").glob("*/lab.json")))
    return tuple(lab for lab in found if lab is not None)


def find(name: str) -> Lab:
    """The lab of that name, with or without `lab:` before it.

    Raises:
        HostError: there is none.
    """
    folder = folder_of(name)
    lab = _read(folder)
    if lab is None:
        there = ", ".join(each.name for each in labs())
        raise HostError(
            f"there is no lab {folder.name}" + (f"; there are {there}" if there else ""),
            f"poolproof lab start {folder.name}",
        )
    return lab


def stop(folder: Path) -> None:
    """End the machine in that folder and its disks; what it wrote is gone, its console's log stays.

    Raises:
        HostError: something can't be ended.
    """
    leftovers = undo_all(Journal(folder / "journal.jsonl"), LocalHost())
    if leftovers:
        rows = "; ".join(f"{leftover.change.title}: {leftover.reason}" for leftover in leftovers)
        raise HostError(f"the lab {folder.name} can't be stopped whole: {rows}", f"poolproof lab stop {folder.name}")


def remove(folder: Path) -> None:
    """Stop it, and remove what is left of it."""
    stop(folder)
    shutil.rmtree(folder, ignore_errors=True)


def remove_named(name: str) -> None:
    """Remove the lab of that name with all that is left of it, or the image of that name.

    Raises:
        HostError: there is neither, or a lab runs from that image.
    """
    image = next((image for image in images() if image.folder.name == name), None)
    if image is None:
        remove(find(name).folder)
        return
    user = next((lab for lab in labs() if lab.record.image == name and is_running(lab.folder)), None)
    if user is not None:
        raise HostError(f"the lab {user.name} runs from the image {name}", f"poolproof lab stop {user.name}")
    shutil.rmtree(image.folder)


def orphans() -> tuple[Path, ...]:
    """The folders of labs whose process is dead, and of those that never came to have a record."""
    recorded = {lab.folder: lab for lab in labs()}
    folders = sorted(path.parent for path in (lab_folder() / "machines").glob("*/journal.jsonl"))
    return tuple(folder for folder in folders if _is_orphan(folder, recorded.get(folder)))


def last_words(folder: Path) -> str:
    """What the console of the machine in that folder said last."""
    try:
        text = (folder / "console.log").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        text = ""
    return f"its console said: {text[-_TAIL_CHARACTERS:] or 'nothing'}"


def is_running(folder: Path) -> bool:
    """Whether its QEMU is."""
    try:
        pid = (folder / "qemu.pid").read_text().strip()
        return str(folder) in Path(f"/proc/{pid}/cmdline").read_text()
    except (OSError, ValueError):
        return False


def _is_orphan(folder: Path, lab: Lab | None) -> bool:
    if lab is not None:
        return lab.record.owner is not None and not lab.record.owner.is_alive
    starter = folder / "starter"
    try:
        return not msgspec.json.decode(starter.read_bytes(), type=OwnerProcess).is_alive
    except (OSError, msgspec.DecodeError):
        return True


def _read(folder: Path) -> Lab | None:
    try:
        return Lab(folder, msgspec.json.decode((folder / "lab.json").read_bytes(), type=LabRecord))
    except (OSError, msgspec.DecodeError):
        return None


def _begun(pid: int) -> str:
    """When a process began, in ticks since the machine did; empty for one that is dead, also if nobody reaped it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return ""
