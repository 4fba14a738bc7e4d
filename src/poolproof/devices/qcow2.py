"""`qcow2: 16G`: a qcow2 image, attached by the kernel's nbd driver or, without it, by nbdfuse and a loop device."""

from poolproof.campaign.model import Device, Qcow2
from poolproof.devices.loop import attach_export, block_volume, fuse_files, is_attached
from poolproof.devices.model import DevicePlan, Site
from poolproof.devices.site import clear, require, socket_path
from poolproof.facts.block import Below
from poolproof.steps import Step
from poolproof.undos import UndoDaemon

# Opens the image with O_DIRECT, so that its blocks are not cached twice. Flushes still reach the disk.
_CACHE = "--cache=none"

_WITH_KERNEL_NBD = ("qemu-img", "qemu-nbd")
DAEMONS = ("qemu-nbd",)
PROGRAMS = (*_WITH_KERNEL_NBD, "nbdfuse", "losetup", "touch")


def plan(
    device: Device, source: Qcow2, site: Site, loop: int, below: Below | None, nbd: int | None = None
) -> DevicePlan:
    """Plan a qcow2 image on /dev/nbd`nbd` or, if `nbd` is None, on loop device `loop`.

    Raises a HostError if commands do not run as root, a program is missing, or the path of the socket is too long.
    """
    name, size = device.name, source.size_bytes
    require(site, f"{name} (a qcow2 image)", *(PROGRAMS if nbd is None else _WITH_KERNEL_NBD))
    image, pidfile = f"{site.state_dir}/{name}.qcow2", f"{site.state_dir}/{name}.nbd.pid"
    create = Step(f"create the image of {name}", ("qemu-img", "create", "-q", "-f", "qcow2", image, str(size)))
    if nbd is not None:
        on_nbd = ("qemu-nbd", f"--connect=/dev/nbd{nbd}", _CACHE, "--pid-file", pidfile, "-f", "qcow2", image)
        undo = UndoDaemon(pidfile, image)
        connect = Step(f"connect {name} to /dev/nbd{nbd}", on_nbd, undo, await_file=pidfile)
        return DevicePlan((clear(name, image, pidfile), create, connect), block_volume(f"nbd{nbd}", name, size, below))
    socket, (file, *leftovers) = socket_path(site, name), fuse_files(site, name)
    argv = (
        *("qemu-nbd", "--socket", socket, "--fork", "--persistent", "--shared=0"),
        *("--pid-file", pidfile, _CACHE, "--discard=unmap", "-f", "qcow2", image),
    )
    steps = (
        clear(name, image, socket, pidfile, *leftovers),
        create,
        Step(f"serve the image of {name}", argv, UndoDaemon(pidfile, socket), await_file=pidfile),
        *attach_export(loop, socket, name, site),
    )
    return DevicePlan(steps, block_volume(f"loop{loop}", name, size, below), is_attached(loop, file))
