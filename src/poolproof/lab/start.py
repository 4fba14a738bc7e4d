"""Starts a lab: prepares its disks, boots it, and waits until it is reachable. The lab's journal records every step."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from poolproof.campaign.model import Device, Emulated, Qcow2
from poolproof.campaign.write import format_source
from poolproof.errors import BuildError, HostError, UsageError
from poolproof.facts.machine import memory_bytes
from poolproof.hosts.local import LocalHost
from poolproof.lab import labs
from poolproof.lab.boot import Acceleration, Boot, boot
from poolproof.lab.disks import LabDirectories, in_ram, plan_disks
from poolproof.lab.home import lab_folder
from poolproof.lab.labs import Image, Lab, LabRecord, OwnerProcess
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.steps import Step
from poolproof.undos import UndoTree
from poolproof.units import format_size, parse_size

_RAM_FILES = Path("/dev/shm")
_LEAST_RAM_BYTES = 512 << 20
_MOST_PROCESSORS = 64
_LOCK_S = 20.0  # the lock is held only for a moment
_LEAST_DISK_BYTES = 512 << 20

_SSH_CONFIG = """\
Host *
    HostName 127.0.0.1
    Port {port}
    User root
    IdentityFile "{key}"
    IdentitiesOnly yes
    StrictHostKeyChecking accept-new
    UserKnownHostsFile "{folder}/known_hosts"
    LogLevel ERROR
"""


@dataclass(frozen=True)
class LabRequest:
    """A lab that is to be started.

    `port`: the port for the lab's sshd, or None for any free port.
    `owner`: the process that owns the lab, or None if the lab runs until it is stopped.
    """

    name: str
    series: str
    image: Image
    devices: tuple[Device, ...]
    ram_bytes: int
    processors: int
    acceleration: Acceleration = "auto"
    port: int | None = None
    owner: OwnerProcess | None = None


def parse_ram(text: str) -> int:
    """Parse the amount of RAM for a lab. Returns it in bytes.

    Raises a UsageError if `text` is not a size, or is less than 512 MiB.
    """
    try:
        size = parse_size(text)
    except (ValueError, OverflowError):
        size = 0
    if size < _LEAST_RAM_BYTES:
        raise UsageError(f"--ram {text}: a lab needs at least {format_size(_LEAST_RAM_BYTES)}", "--ram 2G")
    return size


def check_processors(count: int) -> int:
    """Return the number of processors unchanged, or raise a UsageError if a lab can't have that many."""
    if not 1 <= count <= _MOST_PROCESSORS:
        raise UsageError(f"--cpus {count}: a lab can have 1 to {_MOST_PROCESSORS} CPUs", "--cpus 2")
    return count


def check_programs(name: str, devices: Sequence[Device]) -> None:
    """Raise a HostError if this machine lacks a program that is needed to start a lab with these devices."""
    of_sources = {Emulated: "nbdkit", Qcow2: "qemu-img"}
    used = {type(device.source) for device in devices}
    labs.require((*labs.START, *(program for kind, program in of_sources.items() if kind in used)), f"the lab {name}")


def start(request: LabRequest, tell: Callable[[str], None]) -> Lab:
    """Start a lab and return it when it is reachable over ssh. If this fails, the lab is removed.

    Raises:
        HostError: the lab is already running; a program, RAM or disk space is missing; the port is in use; or the guest
            crashed or did not become ready.
        CampaignError: a device can't become a disk of a lab.
    """
    check_programs(request.name, request.devices)
    folder = _take_folder(request.name)
    try:
        return _start(request, folder, tell)
    except BuildError as error:
        labs.remove(folder)
        raise HostError(f"the lab {request.name}: {error.message}", error.hint) from None
    except BaseException:
        labs.remove(folder)
        raise


def _start(request: LabRequest, folder: Path, tell: Callable[[str], None]) -> Lab:
    _check_room(request, folder)
    ram_folder = labs.ram_folder(folder)
    # the disks may use half of the RAM that the guest leaves free
    free = shutil.disk_usage(_RAM_FILES).free if _RAM_FILES.is_dir() else 0
    ram_bytes = min((_available() - request.ram_bytes) // 2, free)
    directories = LabDirectories(str(folder), ram_folder if in_ram(request.devices, ram_bytes) else None)
    disks = plan_disks(request.devices, directories)
    steps = [step for disk in disks for step in disk.steps]
    if directories.ram_folder is not None:
        steps.insert(0, Step(f"create {ram_folder}", ("mkdir", "-m", "0700", ram_folder), UndoTree(ram_folder)))
    journal = Journal(folder / "journal.jsonl")
    apply(steps, LocalHost(), journal, may_overwrite=frozenset())
    machine = Boot(
        request.name, request.ram_bytes, request.processors, request.port or 0, request.image, folder, disks, journal
    )
    accelerator, port = boot(machine, request.acceleration, tell)
    record = LabRecord(
        name=request.name,
        series=request.series,
        image=request.image.folder.name,
        accelerator=accelerator,
        port=port,
        ram_bytes=request.ram_bytes,
        processors=request.processors,
        disks={disk.name: disk.identity for disk in disks},
        sources={device.name: format_source(device.source) for device in request.devices},
        owner=request.owner,
    )
    # the record is written last, so that a lab with a record can be reached
    lab = Lab(folder, record)
    lab.ssh_config.write_text(_SSH_CONFIG.format(port=port, key=labs.private_key(), folder=folder))
    part = folder / "lab.json.part"
    part.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
    part.rename(folder / "lab.json")
    return lab


def _take_folder(name: str) -> Path:
    """Create the lab's folder, which only this user can access. It replaces the folder of a stopped lab.

    Raises a HostError if a lab with this name is running or starting, or if the folder cannot be created.
    """
    folder = labs.folder_of(name)
    with labs.locked(lab_folder(), "machines", "is starting a lab", _LOCK_S):
        if folder.exists():
            _clear(folder)
        try:
            folder.mkdir(mode=0o700, parents=True)
            (folder / "starter").write_bytes(msgspec.json.encode(labs.this_process()))
            (folder / "journal.jsonl").touch()
        except OSError as error:
            hint = f"ls -ld {lab_folder()}; df -h {lab_folder()}"
            raise HostError(f"{folder} cannot be created: {error.strerror}", hint) from None
    return folder


def _clear(folder: Path) -> None:
    if labs.is_running(folder):
        raise HostError(f"the lab {folder.name} is already running", f"poolproof lab stop {folder.name}")
    starter = labs.starter_of(folder)
    if starter and not (folder / "lab.json").exists() and starter.pid != os.getpid() and starter.is_alive:
        raise HostError(
            f"another poolproof process is starting the lab {folder.name}",
            "wait until it is ready, or use another name",
        )
    labs.stop(folder)
    shutil.rmtree(folder)


def _check_room(request: LabRequest, folder: Path) -> None:
    available = _available()
    if request.ram_bytes > available:
        raise HostError(
            f"the lab needs {format_size(request.ram_bytes)} of RAM, but only {format_size(available)} is available",
            f"free some RAM, or give the lab less with --ram (at least {format_size(_LEAST_RAM_BYTES)})",
        )
    free = shutil.disk_usage(folder).free
    if free < _LEAST_DISK_BYTES:
        raise HostError(
            f"{folder} has only {format_size(free)} free, but a lab needs {format_size(_LEAST_DISK_BYTES)}",
            "free some space there, or set XDG_CACHE_HOME to a folder with more space",
        )


def _available() -> int:
    return memory_bytes(Path("/proc/meminfo").read_text(), "MemAvailable")
