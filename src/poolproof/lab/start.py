"""Start a lab: its disks, its machine, and the wait until it can be reached; every step in its journal first."""

import contextlib
import os
import shutil
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from poolproof.campaign.device_source import format_source
from poolproof.campaign.model import Device, Emulated, Qcow2
from poolproof.errors import BuildError, HostError, UsageError
from poolproof.hosts.local import LocalHost
from poolproof.lab import accelerate
from poolproof.lab.cache import Image, lab_folder, locked, private_key, public_key
from poolproof.lab.disks import LabDisk, Places, in_ram, plan_disks
from poolproof.lab.programs import START, require
from poolproof.lab.qemu import READY, Accelerator, Virtual, qemu_command
from poolproof.lab.standing import Lab, LabRecord, Owner, folder_of, is_running, last_words, remove, stop, this_process
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.steps import Step, UndoDaemon, UndoTree
from poolproof.units import format_size, parse_size

_READY_S = 300.0
_POLL_S = 0.1
_START_QEMU_S = 30.0
_PORTS_TO_TRY = 3
_RAM_FILES = Path("/dev/shm")
_LEAST_RAM_BYTES = 512 << 20
_MOST_PROCESSORS = 64

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
    owner: Owner | None = None


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
    require((*START, *_disk_programs(request.devices)), f"the lab {request.name}")
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


def _start(request: LabRequest, folder: Path, tell: Callable[[str], None]) -> Lab:
    _check_ram(request)
    places = _places(request, folder)
    disks = plan_disks(request.devices, places)
    journal, host = Journal(folder / "journal.jsonl"), LocalHost()
    if places.ram_folder is not None:
        make = Step(
            f"make {places.ram_folder}", ("mkdir", "-m", "0700", places.ram_folder), UndoTree(places.ram_folder)
        )
        apply([make], host, journal, may_overwrite=frozenset())
    apply((step for disk in disks for step in disk.steps), host, journal, may_overwrite=frozenset())
    record = _boot(request, folder, disks, journal, tell)
    lab = Lab(folder, record)
    lab.ssh_config.write_text(_SSH_CONFIG.format(port=record.port, key=private_key(), folder=folder))
    beside = folder / "lab.json.part"
    beside.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
    beside.rename(folder / "lab.json")
    return lab


def _boot(
    request: LabRequest, folder: Path, disks: Sequence[LabDisk], journal: Journal, tell: Callable[[str], None]
) -> LabRecord:
    """The machine with the first acceleration that brings it to its ready line."""
    choices = accelerate.to_try(request.wish)
    for last, accelerator in enumerate(choices, start=1 - len(choices)):
        limit_s = accelerate.KVM_LIMIT_S if last < 0 else _READY_S
        begun = time.monotonic()
        port = _run_qemu(request, accelerator, folder, disks, journal, limit_s)
        why_not = _await_ready(folder, begun + limit_s)
        if accelerator == "kvm" and request.wish == "auto":
            accelerate.remember(not why_not, why_not)
        if not why_not:
            tell(f"the lab {request.name} is ready after {time.monotonic() - begun:.1f} s ({accelerator})")
            return _record(request, accelerator, port, disks)
        _end_qemu(journal, folder)
        if last < 0:
            tell(f"KVM is there but does not work ({why_not.splitlines()[0]}); emulating from now on")
    raise HostError(
        f"the lab {request.name} did not become ready: {why_not}",
        "poolproof lab start … --accel tcg" if request.wish == "kvm" else "poolproof lab build --anew",
    )


def _run_qemu(
    request: LabRequest,
    accelerator: Accelerator,
    folder: Path,
    disks: Sequence[LabDisk],
    journal: Journal,
    limit_s: float,
) -> int:
    """Start QEMU; returns the port. Another program may take a free port first: then another one is tried."""
    del limit_s
    tries = 1 if request.port is not None else _PORTS_TO_TRY
    for left in reversed(range(tries)):
        port = request.port if request.port is not None else _free_port()
        machine = Virtual(request.name, request.ram_bytes, request.processors, port)
        argv = qemu_command(machine, accelerator, request.image, folder, public_key(), disks)
        with contextlib.suppress(FileNotFoundError):
            (folder / "qemu.pid").unlink()
        (folder / "console.log").write_text("")
        pidfile = str(folder / "qemu.pid")
        step = Step(
            title=f"start the machine of {request.name}",
            argv=argv,
            undo=UndoDaemon(pidfile, pidfile),
            await_file=pidfile,
            timeout_s=_START_QEMU_S,
        )
        try:
            apply([step], LocalHost(), journal, may_overwrite=frozenset())
            return port
        except BuildError as error:
            if "host forwarding" not in error.message:
                raise HostError(f"QEMU does not start: {_last_line(error.message)}") from None
            if not left:
                raise HostError(f"port {port} of this machine is in use", "leave --port out, or name another") from None
    raise AssertionError("unreachable")


def _await_ready(folder: Path, deadline: float) -> str:
    """Empty when the guest said that it is ready; else why it is not."""
    console = folder / "console.log"
    while True:
        alive = is_running(folder)
        text = console.read_text(encoding="utf-8", errors="replace")
        if READY in text:
            return ""
        if not alive:
            return f"the guest crashed; {last_words(folder)}"
        if time.monotonic() > deadline:
            return f"the guest did not say in time that it is ready; {last_words(folder)}"
        time.sleep(_POLL_S)


def _end_qemu(journal: Journal, folder: Path) -> None:
    from poolproof.provision.undo import undo_all

    pidfile = str(folder / "qemu.pid")
    undo_all(
        journal,
        LocalHost(),
        keep=lambda change: not (isinstance(change.undo, UndoDaemon) and change.undo.pidfile == pidfile),
    )


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
    with locked(lab_folder(), "machines", "starts a lab at this moment"):
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
        starter = msgspec.json.decode((folder / "starter").read_bytes(), type=Owner)
        if not (folder / "lab.json").exists() and starter.pid != os.getpid() and starter.is_alive:
            raise HostError(f"another poolproof starts the lab {folder.name}", "wait for it, or use another name")
    stop(folder)
    shutil.rmtree(folder)


def _places(request: LabRequest, folder: Path) -> Places:
    ram_folder = _RAM_FILES / f"poolproof-lab-{folder.name}-{os.getuid()}"
    room = _ram_room(request)
    return Places(str(folder), str(ram_folder) if in_ram(request.devices, room) else None)


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


def _available() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _disk_programs(devices: Sequence[Device]) -> tuple[str, ...]:
    emulated = ("nbdkit",) if any(isinstance(device.source, Emulated) for device in devices) else ()
    qcow2 = ("qemu-img",) if any(isinstance(device.source, Qcow2) for device in devices) else ()
    return (*emulated, *qcow2)


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1]
