"""Start a lab: prepare its disks, boot its machine, and wait until it can be reached. Every step is in its journal."""

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from poolproof.campaign.model import Device, Emulated, Qcow2
from poolproof.campaign.write import format_source
from poolproof.errors import BuildError, HostError, UsageError
from poolproof.hosts.local import LocalHost
from poolproof.lab.boot import Acceleration, Accelerator, Boot, Virtual, boot
from poolproof.lab.cache import Image, lab_folder, locked, private_key
from poolproof.lab.disks import LabDirectories, LabDisk, in_ram, plan_disks
from poolproof.lab.labs import Lab, LabRecord, OwnerProcess, folder_of, is_running, remove, stop, this_process
from poolproof.lab.programs import START, require
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.steps import Step, UndoTree
from poolproof.units import format_size, parse_size

_RAM_FILES = Path("/dev/shm")
_LEAST_RAM_BYTES = 512 << 20
_MOST_PROCESSORS = 64
_LOCK_S = 20.0  # taken for a moment only
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
    """The lab to start. `port` None: any free port. `owner` None: the lab runs until it is stopped."""

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
    """Return the bytes of RAM for a lab.

    Raises a UsageError if it is not a size or too little for a machine with ZFS.
    """
    try:
        size = parse_size(text)
    except (ValueError, OverflowError):
        size = 0
    if size < _LEAST_RAM_BYTES:
        raise UsageError(f"--ram {text}: a lab needs at least {format_size(_LEAST_RAM_BYTES)}", "--ram 2G")
    return size


def check_processors(count: int) -> int:
    """Return the number of processors. Raises a UsageError if a lab can't have that many."""
    if not 1 <= count <= _MOST_PROCESSORS:
        raise UsageError(f"--cpus {count}: a lab can have 1 to {_MOST_PROCESSORS} processors", "--cpus 2")
    return count


def start(request: LabRequest, tell: Callable[[str], None]) -> Lab:
    """Start a lab and return it when it can be reached over ssh.

    Raises:
        HostError: it is already running; a program, RAM or disk space is missing; the port is taken; the guest crashed
            or never became ready. Nothing of it is left.
        CampaignError: a device can't be a disk of a lab.
    """
    check_programs(request.name, request.devices)
    folder = _take_folder(request.name)
    try:
        lab = _start(request, folder, tell)
    except BuildError as error:
        remove(folder)
        raise HostError(f"the lab {request.name}: {error.message}", error.hint) from None
    except BaseException:
        remove(folder)
        raise
    return lab


def check_programs(name: str, devices: Sequence[Device]) -> None:
    """Raise a HostError unless this machine has the programs that start a lab with these devices."""
    require((*START, *_disk_programs(devices)), f"the lab {name}")


def _start(request: LabRequest, folder: Path, tell: Callable[[str], None]) -> Lab:
    _check_ram(request)
    _check_disk(folder)
    directories = _directories(request, folder)
    disks = plan_disks(request.devices, directories)
    journal, host = Journal(folder / "journal.jsonl"), LocalHost()
    if directories.ram_folder is not None:
        make = Step(
            f"make {directories.ram_folder}",
            ("mkdir", "-m", "0700", directories.ram_folder),
            UndoTree(directories.ram_folder),
        )
        apply([make], host, journal, may_overwrite=frozenset())
    apply((step for disk in disks for step in disk.steps), host, journal, may_overwrite=frozenset())
    machine = Virtual(request.name, request.ram_bytes, request.processors, request.port or 0)
    accelerator, port = boot(Boot(machine, request.image, folder, disks, journal), request.acceleration, tell)
    return _write_lab(Lab(folder, _record(request, accelerator, port, disks)))


def _write_lab(lab: Lab) -> Lab:
    """Write the ssh configuration, then the record: a lab that has a record can be reached."""
    record, folder = lab.record, lab.folder
    lab.ssh_config.write_text(_SSH_CONFIG.format(port=record.port, key=private_key(), folder=folder))
    part = folder / "lab.json.part"
    part.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
    part.rename(folder / "lab.json")
    return lab


def _record(request: LabRequest, accelerator: Accelerator, port: int, disks: Sequence[LabDisk]) -> LabRecord:
    return LabRecord(
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


def _take_folder(name: str) -> Path:
    """Create the lab's folder, for its user only; the folder of a stopped lab is replaced.

    Raises a HostError if a lab of that name is running, or the disk is full.
    """
    folder = folder_of(name)
    with locked(lab_folder(), "machines", "is starting a lab", _LOCK_S):
        if folder.exists():
            _clear(folder)
        try:
            folder.mkdir(mode=0o700, parents=True)
            (folder / "starter").write_bytes(msgspec.json.encode(this_process()))
            (folder / "journal.jsonl").touch()
        except OSError as error:
            raise HostError(f"{folder} cannot be created: {error.strerror}", "poolproof lab list") from None
    return folder


def _clear(folder: Path) -> None:
    if is_running(folder):
        raise HostError(f"the lab {folder.name} is already running", f"poolproof lab stop {folder.name}")
    with contextlib.suppress(OSError, msgspec.DecodeError):
        starter = msgspec.json.decode((folder / "starter").read_bytes(), type=OwnerProcess)
        if not (folder / "lab.json").exists() and starter.pid != os.getpid() and starter.is_alive:
            raise HostError(f"another poolproof process is starting the lab {folder.name}", "wait, or use another name")
    stop(folder)
    shutil.rmtree(folder)


def _directories(request: LabRequest, folder: Path) -> LabDirectories:
    ram_folder = _RAM_FILES / f"poolproof-lab-{folder.name}-{os.getuid()}"
    room = _ram_room(request)
    return LabDirectories(str(folder), str(ram_folder) if in_ram(request.devices, room) else None)


def _ram_room(request: LabRequest) -> int:
    """Bytes that disks may take of RAM: half of what the guest leaves free."""
    try:
        return min((_available() - request.ram_bytes) // 2, shutil.disk_usage(_RAM_FILES).free)
    except OSError:
        return 0


def _check_ram(request: LabRequest) -> None:
    if request.ram_bytes > _available():
        raise HostError(
            f"the lab needs {format_size(request.ram_bytes)} of RAM, but only {format_size(_available())} is available",
            "poolproof lab start … --ram 1G",
        )


def _check_disk(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _LEAST_DISK_BYTES:
        raise HostError(
            f"{folder} has {format_size(free)} free; a lab needs {format_size(_LEAST_DISK_BYTES)}",
            "free some space there, or set XDG_CACHE_HOME to a folder with more",
        )


def _available() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _disk_programs(devices: Sequence[Device]) -> tuple[str, ...]:
    emulated = ("nbdkit",) if any(isinstance(device.source, Emulated) for device in devices) else ()
    qcow2 = ("qemu-img",) if any(isinstance(device.source, Qcow2) for device in devices) else ()
    return (*emulated, *qcow2)
