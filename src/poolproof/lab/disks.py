"""The disks of a lab. Each device of the campaign becomes a disk of the guest.

nbdkit serves `emulate:` devices to QEMU over a socket. `file:` and `qcow2:` devices are images, which QEMU opens with
O_DIRECT to bypass this machine's page cache. All disks are attached to a virtio-scsi adapter. Their serial number is
the name of the device.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poolproof.campaign.emulation import LAB_PREFIX
from poolproof.campaign.model import Device, Disk, Emulated, LoopFile, Qcow2
from poolproof.devices import emulate
from poolproof.errors import CampaignError, HostError
from poolproof.steps import Step
from poolproof.undos import UndoDaemon

PIPELINE_S = 500e-6
"""The round-trip time in seconds between the guest's driver and the plugin, with emulation on two cores.

See docs/lab.md for the measurements.
"""

_THREADS = 16  # QEMU sends at most 16 requests at once over one connection
_LONGEST_SOCKET = 107
_LONGEST_SERIAL = 36
_LONGEST_PRODUCT = 16
_NOT_ROTATING = 1  # SBC-4, table "medium rotation rate"
_REVOLUTIONS_PER_MINUTE = 7200
_START_S = 30.0


@dataclass(frozen=True)
class LabDirectories:
    """The folder for the files of a lab, and the folder in RAM for its emulated disks.

    `ram_folder`: None if there are no emulated disks, or if their data does not fit into RAM.
    """

    folder: str
    ram_folder: str | None


@dataclass(frozen=True)
class LabDisk:
    """A disk of the guest: its QEMU options, and the steps that prepare it on this machine."""

    name: str
    size_bytes: int
    steps: tuple[Step, ...]
    backend: dict[str, Any]
    product: str
    rotation_rate: int
    physical_block_bytes: int

    @property
    def identity(self) -> str:
        """The name of the disk in the guest's /dev/disk/by-id."""
        return f"{LAB_PREFIX}{self.product}_{self.name}"

    def qemu(self, number: int) -> tuple[str, ...]:
        """Return the QEMU options that attach the disk to the guest. `number`: the disk's number in the guest."""
        node = f"disk{number}"
        shape = {
            "driver": "scsi-hd",
            "bus": "scsi0.0",
            "scsi-id": number,
            "drive": node,
            "serial": self.name,
            "vendor": LAB_PREFIX.removeprefix("scsi-0").removesuffix("_"),
            "product": self.product,
            "rotation_rate": self.rotation_rate,
            "logical_block_size": 512,
            "physical_block_size": self.physical_block_bytes,
            # If this machine's disk is full, report it to the guest: by default QEMU silently stops the machine.
            "werror": "report",
        }
        return "-blockdev", _json({"node-name": node, **self.backend}), "-device", _json(shape)


def plan_disks(
    devices: Sequence[Device], directories: LabDirectories, *, pipeline_s: float = PIPELINE_S
) -> tuple[LabDisk, ...]:
    """Return a disk for each device, in the same order.

    Raises:
        CampaignError: a device is a real disk, its model is unknown, or its name can't be used as a serial number.
        HostError: the path of an emulated disk's socket is too long.
    """
    _check_names(devices)
    return tuple(_plan(device, directories, pipeline_s, seed) for seed, device in enumerate(devices, start=1))


def check_devices(devices: Sequence[Device]) -> None:
    """Raise a CampaignError if one of these devices can't become a disk of a lab."""
    plan_disks(devices, LabDirectories("", None))


def _plan(device: Device, directories: LabDirectories, pipeline_s: float, seed: int) -> LabDisk:
    match source := device.source:
        case Emulated():
            return _emulated(device.name, source, directories, pipeline_s, seed)
        case LoopFile():
            path = f"{directories.folder}/{device.name}.raw"
            return _image(device.name, "file", source, path, ("truncate", "-s", str(source.size_bytes), path))
        case Qcow2():
            path = f"{directories.folder}/{device.name}.qcow2"
            argv = ("qemu-img", "create", "-q", "-f", "qcow2", path, str(source.size_bytes))
            return _image(device.name, "qcow2", source, path, argv)
        case Disk():
            raise CampaignError(
                f"device {device.name} is a real disk ({source.identity}), which a lab can't use",
                "run without --lab, or use emulate:hdd-7200,SIZE instead",
            )


def _emulated(name: str, source: Emulated, directories: LabDirectories, pipeline_s: float, seed: int) -> LabDisk:
    model = emulate.model_named(source.model)
    socket, pidfile = f"{directories.folder}/{name}.sock", f"{directories.folder}/{name}.nbd.pid"
    if len(socket.encode()) > _LONGEST_SOCKET:
        hint = "set XDG_CACHE_HOME to a shorter path, or use a shorter name"
        raise HostError(f"the path {socket} is too long for a Unix socket", hint)
    settings = (
        *(f"model={model.name}", f"size={source.size_bytes}"),
        f"store={directories.ram_folder or directories.folder}/{name}.store",
        *(f"seed={seed}", f"pipeline={pipeline_s:.6f}"),
    )
    serve = Step(
        title=f"serve {name} as {model.name}",
        argv=("nbdkit", "-U", socket, "-P", pidfile, "-t", str(_THREADS), "python", str(emulate.PLUGIN), *settings),
        undo=UndoDaemon(pidfile, socket),
        await_file=pidfile,
        timeout_s=_START_S,
    )
    backend = {"driver": "nbd", "server": {"type": "unix", "path": socket}, "discard": "unmap"}
    rate = _REVOLUTIONS_PER_MINUTE if model.rotational else _NOT_ROTATING
    return LabDisk(name, source.size_bytes, (serve,), backend, model.name[:_LONGEST_PRODUCT], rate, 4096)


def _image(name: str, product: str, source: LoopFile | Qcow2, path: str, argv: tuple[str, ...]) -> LabDisk:
    direct = {"cache": {"direct": True}, "discard": "unmap"}
    driver = "raw" if isinstance(source, LoopFile) else "qcow2"
    backend = {"driver": driver, **direct, "file": {"driver": "file", "filename": path, **direct}}
    create = Step(f"create the image of {name}", argv)
    return LabDisk(name, source.size_bytes, (create,), backend, product, _NOT_ROTATING, 512)


def _check_names(devices: Sequence[Device]) -> None:
    seen: dict[str, str] = {}
    for device in devices:
        if len(device.name) > _LONGEST_SERIAL:
            raise CampaignError(
                f"device {device.name}: in a lab, a device name can have at most {_LONGEST_SERIAL} characters",
                "choose a shorter name",
            )
        other = seen.setdefault(device.name.lower(), device.name)
        if other != device.name:
            raise CampaignError(
                f"devices {other} and {device.name} differ only in case, and a lab uses the names as serial numbers",
                "rename one of them",
            )


def in_ram(devices: Sequence[Device], room_bytes: int) -> bool:
    """True if there are emulated disks and all of their data fits into `room_bytes` of RAM."""
    sizes = (device.source.size_bytes for device in devices if isinstance(device.source, Emulated))
    return 0 < sum(sizes) <= room_bytes


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
