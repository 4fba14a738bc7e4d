"""The QEMU command line of a lab."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from poolproof.lab.cache import Image
from poolproof.lab.disks import LabDisk

Accelerator = Literal["kvm", "tcg"]

READY = "poolproof-lab: ready"
"""What the guest says on its console when sshd listens and its disks are there."""

# panic=-1 with -no-reboot: a guest that crashes ends QEMU, so that nobody waits for it.
_KERNEL = "console=ttyS0 quiet loglevel=4 panic=-1 net.ifnames=0 mitigations=off random.trust_cpu=on"
# A kernel that believes rep movsb to be fast (erms, fsrm) copies by it, which emulation does byte by byte: a dd through
# /dev/shm costs twice the processor time. A fifth level of page tables (la57) makes each miss of the TLB longer.
_ACCELERATION = {
    "kvm": ("-accel", "kvm", "-cpu", "host"),
    "tcg": ("-accel", "tcg,thread=multi", "-cpu", "max,erms=off,fsrm=off,la57=off"),
}


@dataclass(frozen=True)
class Virtual:
    """The machine as such. `port`: where its sshd is reached on 127.0.0.1."""

    name: str
    ram_bytes: int
    processors: int
    port: int


def qemu_command(
    machine: Virtual, accelerator: Accelerator, image: Image, folder: Path, key: str, disks: Sequence[LabDisk]
) -> tuple[str, ...]:
    """The argv. `folder` gets its pid file and console log; `key` is the public key that may log in.

    The root disk is the image's, and what is written to it is forgotten (snapshot=on). The guest has no network but the
    way in.
    """
    return (
        *("qemu-system-x86_64", "-name", f"poolproof-lab-{machine.name}", "-nodefaults", "-no-user-config"),
        *("-display", "none", "-no-reboot", "-daemonize", "-pidfile", f"{folder}/qemu.pid"),
        *("-machine", "pc", *_ACCELERATION[accelerator]),
        *("-smp", str(machine.processors), "-m", f"{machine.ram_bytes // 1024**2}M"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", f"{_KERNEL} poolproof.key={key}"),
        *("-serial", f"file:{folder}/console.log"),
        *("-drive", f"file={_comma(image.disk)},format=raw,if=none,id=root,snapshot=on,cache=unsafe"),
        *("-device", "virtio-blk-pci,drive=root,werror=report"),
        *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{machine.port}-:22"),
        *("-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-rng-pci"),
        *("-object", "iothread,id=disks", "-device", "virtio-scsi-pci,id=scsi0,iothread=disks"),
        *(word for number, disk in enumerate(disks) for word in disk.qemu(number)),
    )


def _comma(path: Path) -> str:
    return str(path).replace(",", ",,")
