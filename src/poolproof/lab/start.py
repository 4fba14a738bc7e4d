"""Start a lab: its disks, its machine, and the wait until it can be reached; every step in its journal first."""

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from poolproof.campaign.device_source import format_source
from poolproof.campaign.model import Device, Emulated, Qcow2
from poolproof.errors import BuildError, HostError, UsageError
from poolproof.hosts.local import LocalHost
from poolproof.lab import accelerate
from poolproof.lab.boot import Boot, boot
from poolproof.lab.cache import Image, lab_folder, locked, private_key
from poolproof.lab.disks import LabDirectories, LabDisk, in_ram, plan_disks
from poolproof.lab.programs import START, require
from poolproof.lab.qemu import Accelerator, Virtual
from poolproof.lab.standing import Lab, LabRecord, OwnerProcess, folder_of, is_running, remove, stop, this_process
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
    """The lab that is wanted. `port` None: any that is free. `owner` None: it stays until it is stopped."""

    name: str
    series: str
    image: Image
    devices: tuple[Device, ...]
    ram_bytes: int
    processors: int
    wish: accelerate.Wish = "auto"
    port: int | None = None
    owner: OwnerProcess | None = None


def parse_ram(text: str) -> int:
    """Bytes of RAM for a lab.

    Raises:
        UsageError: no size, or too little for a machine that holds ZFS.
    """
    try:
        size = parse_size(text)
    except (ValueError, OverflowError):
        size = 0
    if size < _LEAST_RAM_BYTES:
        raise UsageError(f"--ram {text}: a lab needs {format_size(_LEAST_RAM_BYTES)} or more", "--ram 2G")
    return size


def check_processors(count: int) -> int:
    """The number of processors, if a lab can have so many.

    Raises:
        UsageError: it can't.
    """
    if not 1 <= count <= _MOST_PROCESSORS:
        raise UsageError(f"--cpus {count}: a lab has 1 to {_MOST_PROCESSORS} processors", "--cpus 2")
    return count


def start(request: LabRequest, tell: Callable[[str], None]) -> Lab:
    """The lab, ready for ssh.

    Raises:
        HostError: it is there already; a program, RAM or room is missing; the port is taken; the guest crashed or never
            became ready. Nothing of it is left.
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
    """Raise a HostError unless this machine has what a lab with these devices is started with."""
    require((*START, *_disk_programs(devices)), f"the lab {name}")


def _start(request: LabRequest, folder: Path, tell: Callable[[str], None]) -> Lab:
    _check_ram(request)
    _check_disk(folder)
    places = _places(request, folder)
    disks = plan_disks(request.devices, places)
    journal, host = Journal(folder / "journal.jsonl"), LocalHost()
    if places.ram_folder is not None:
        make = Step(
            f"make {places.ram_folder}", ("mkdir", "-m", "0700", places.ram_folder), UndoTree(places.ram_folder)
        )
        apply([make], host, journal, may_overwrite=frozenset())
    apply((step for disk in disks for step in disk.steps), host, journal, may_overwrite=frozenset())
    machine = Virtual(request.name, request.ram_bytes, request.processors, request.port or 0)
    accelerator, port = boot(Boot(machine, request.image, folder, disks, journal), request.wish, tell)
    return _written(Lab(folder, _record(request, accelerator, port, disks)))


def _written(lab: Lab) -> Lab:
    """Its way in, then its record: a lab that has one can be reached."""
    record, folder = lab.record, lab.folder
    lab.ssh_config.write_text(_SSH_CONFIG.format(port=record.port, key=private_key(), folder=folder))
    beside = folder / "lab.json.part"
    beside.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
    beside.rename(folder / "lab.json")
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
    """A new folder for the lab, for its user alone; one of a lab that was stopped is used again.

    Raises:
        HostError: a lab of that name runs, or the disk is full.
    """
    folder = folder_of(name)
    with locked(lab_folder(), "machines", "starts a lab at this moment", _LOCK_S):
        if folder.exists():
            _clear(folder)
        try:
            folder.mkdir(mode=0o700, parents=True)
            (folder / "starter").write_bytes(msgspec.json.encode(this_process()))
            (folder / "journal.jsonl").touch()
        except OSError as error:
            raise HostError(f"{folder} cannot be made: {error.strerror}", "poolproof lab list") from None
    return folder


def _clear(folder: Path) -> None:
    if is_running(folder):
        raise HostError(f"there is a lab {folder.name} already", f"poolproof lab stop {folder.name}")
    with contextlib.suppress(OSError, msgspec.DecodeError):
        starter = msgspec.json.decode((folder / "starter").read_bytes(), type=OwnerProcess)
        if not (folder / "lab.json").exists() and starter.pid != os.getpid() and starter.is_alive:
            raise HostError(f"another poolproof starts the lab {folder.name}", "wait for it, or use another name")
    stop(folder)
    shutil.rmtree(folder)


def _places(request: LabRequest, folder: Path) -> LabDirectories:
    ram_folder = _RAM_FILES / f"poolproof-lab-{folder.name}-{os.getuid()}"
    room = _ram_room(request)
    return LabDirectories(str(folder), str(ram_folder) if in_ram(request.devices, room) else None)


def _ram_room(request: LabRequest) -> int:
    """Bytes that disks may take of RAM: half of what is free beside the guest's own."""
    try:
        return min((_available() - request.ram_bytes) // 2, shutil.disk_usage(_RAM_FILES).free)
    except OSError:
        return 0


def _check_ram(request: LabRequest) -> None:
    if request.ram_bytes > _available():
        raise HostError(
            f"the lab wants {format_size(request.ram_bytes)} of RAM; {format_size(_available())} are free",
            "poolproof lab start … --ram 1G",
        )


def _check_disk(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _LEAST_DISK_BYTES:
        raise HostError(
            f"{folder} has {format_size(free)} left, too little for a lab",
            "make room there, or set XDG_CACHE_HOME to a folder with more",
        )


def _available() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _disk_programs(devices: Sequence[Device]) -> tuple[str, ...]:
    emulated = ("nbdkit",) if any(isinstance(device.source, Emulated) for device in devices) else ()
    qcow2 = ("qemu-img",) if any(isinstance(device.source, Qcow2) for device in devices) else ()
    return (*emulated, *qcow2)
