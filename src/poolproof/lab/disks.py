"""The disks of a lab: each device of the campaign becomes a disk of the guest that says truly what it is.

`emulate:` is served by nbdkit over a socket that QEMU opens itself; `file:` and `qcow2:` are images that QEMU opens
with O_DIRECT, so that this machine's page cache answers nothing. All appear at a virtio-scsi adapter, with the device's
name as serial.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from poolproof.campaign.model import Device, Disk, Emulated, LoopFile, Qcow2
from poolproof.devices import emulate
from poolproof.errors import CampaignError, HostError
from poolproof.steps import Step, UndoDaemon

PIPELINE_S = 500e-6
"""What a request costs from the guest's driver to the plugin and back, by emulation on two cores; docs/lab.md has the
measurement."""

VENDOR = "LAB"
_THREADS = 16  # QEMU sends at most 16 requests at once over one connection
_LONGEST_SOCKET = 107
_LONGEST_SERIAL = 36
_LONGEST_PRODUCT = 16
_NOT_ROTATING = 1  # in words of SBC-4, table "medium rotation rate"
_TURNS_A_MINUTE = 7200
_START_S = 30.0


@dataclass(frozen=True)
class LabDirectories:
    """Where a lab's files lie: on a disk, and for the bytes of emulated disks in RAM where there is room for all."""

    folder: str
    ram_folder: str | None


@dataclass(frozen=True)
class LabDisk:
    """A disk of the guest: how it is brought up here, and QEMU's words for it."""

    name: str
    size_bytes: int
    steps: tuple[Step, ...]
    backend: dict[str, Any]
    product: str
    rotation_rate: int
    physical_block_bytes: int

    @property
    def identity(self) -> str:
        """Its name in the guest's /dev/disk/by-id."""
        return f"scsi-0{VENDOR}_{self.product}_{self.name}"

    def qemu(self, number: int) -> tuple[str, ...]:
        """The options that give it to the guest as the disk of that number."""
        node = f"disk{number}"
        shape = {
            "driver": "scsi-hd",
            "bus": "scsi0.0",
            "scsi-id": number,
            "drive": node,
            "serial": self.name,
            "vendor": VENDOR,
            "product": self.product,
            "rotation_rate": self.rotation_rate,
            "logical_block_size": 512,
            "physical_block_size": self.physical_block_bytes,
            # where this machine's disk is full the guest shall hear of it; QEMU would stop the machine without a word
            "werror": "report",
        }
        return "-blockdev", _json({"node-name": node, **self.backend}), "-device", _json(shape)


def plan_disks(
    devices: Sequence[Device], places: LabDirectories, *, pipeline_s: float = PIPELINE_S
) -> tuple[LabDisk, ...]:
    """A disk for each device, in order.

    Raises:
        CampaignError: a real disk, an unknown model, a name that can't be a serial.
        HostError: the folder's path is too long for a socket.
    """
    _check_names(devices)
    return tuple(_plan(device, places, pipeline_s, seed) for seed, device in enumerate(devices, start=1))


def check_devices(devices: Sequence[Device]) -> None:
    """Raise a CampaignError unless each of them can be a disk of a lab."""
    plan_disks(devices, LabDirectories("", None))


def _plan(device: Device, places: LabDirectories, pipeline_s: float, seed: int) -> LabDisk:
    source = device.source
    match source:
        case Emulated():
            return _emulated(device.name, source, places, pipeline_s, seed)
        case LoopFile():
            return _file(device.name, source, places)
        case Qcow2():
            return _qcow2(device.name, source, places)
        case Disk():
            raise CampaignError(
                f"device {device.name} is a real disk, {source.identity}; a lab has none",
                "run it without --lab, or make it emulate:hdd-7200,SIZE",
            )


def _emulated(name: str, source: Emulated, places: LabDirectories, pipeline_s: float, seed: int) -> LabDisk:
    model = emulate.model_named(source.model)
    socket, pidfile = _socket(places, name), f"{places.folder}/{name}.nbd.pid"
    settings = (
        *(f"model={model.name}", f"size={source.size_bytes}"),
        *(f"store={places.ram_folder or places.folder}/{name}.store", f"seed={seed}", f"pipeline={pipeline_s:.6f}"),
    )
    serve = Step(
        title=f"serve {name} as {model.name}",
        argv=("nbdkit", "-U", socket, "-P", pidfile, "-t", str(_THREADS), "python", str(emulate.PLUGIN), *settings),
        undo=UndoDaemon(pidfile, socket),
        await_file=pidfile,
        timeout_s=_START_S,
    )
    backend = {"driver": "nbd", "server": {"type": "unix", "path": socket}, "discard": "unmap"}
    rate = _TURNS_A_MINUTE if model.rotational else _NOT_ROTATING
    return LabDisk(name, source.size_bytes, (serve,), backend, model.name[:_LONGEST_PRODUCT], rate, 4096)


def _file(name: str, source: LoopFile, places: LabDirectories) -> LabDisk:
    path = f"{places.folder}/{name}.raw"
    create = Step(f"create the file of {name}", ("truncate", "-s", str(source.size_bytes), path))
    return LabDisk(name, source.size_bytes, (create,), _image("raw", path), "file", _NOT_ROTATING, 512)


def _qcow2(name: str, source: Qcow2, places: LabDirectories) -> LabDisk:
    path = f"{places.folder}/{name}.qcow2"
    argv = ("qemu-img", "create", "-q", "-f", "qcow2", path, str(source.size_bytes))
    create = Step(f"create the image of {name}", argv)
    return LabDisk(name, source.size_bytes, (create,), _image("qcow2", path), "qcow2", _NOT_ROTATING, 512)


def _image(driver: str, path: str) -> dict[str, Any]:
    direct = {"cache": {"direct": True}, "discard": "unmap"}
    return {"driver": driver, **direct, "file": {"driver": "file", "filename": path, **direct}}


def _socket(places: LabDirectories, name: str) -> str:
    path = f"{places.folder}/{name}.sock"
    if len(path.encode()) > _LONGEST_SOCKET:
        raise HostError(
            f"{path} is too long for a socket", "set XDG_CACHE_HOME to a shorter path, or use a shorter name"
        )
    return path


def _check_names(devices: Sequence[Device]) -> None:
    seen: dict[str, str] = {}
    for device in devices:
        if len(device.name) > _LONGEST_SERIAL:
            raise CampaignError(
                f"device {device.name} would be a serial number of more than {_LONGEST_SERIAL} characters in the lab",
                "give it a shorter name",
            )
        other = seen.setdefault(device.name.lower(), device.name)
        if other != device.name:
            raise CampaignError(
                f"devices {other} and {device.name} are serial numbers in the lab, where case makes no difference",
                "give one of them another name",
            )


def in_ram(devices: Sequence[Device], room_bytes: int) -> bool:
    """Whether the bytes of all emulated disks fit there together."""
    return 0 < sum(_emulated_sizes(devices)) <= room_bytes


def _emulated_sizes(devices: Sequence[Device]) -> Iterator[int]:
    return (device.source.size_bytes for device in devices if isinstance(device.source, Emulated))


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
