"""`qcow2: 16G`: a qcow2 image, on the kernel's nbd if it has one, otherwise on nbdfuse and a loop device."""

from poolproof.campaign.model import Device, Qcow2
from poolproof.devices.loop import FuseFile, attach, loop_volume
from poolproof.devices.model import DevicePlan, Leaf, Site, Volume
from poolproof.devices.site import clear, require, socket_path
from poolproof.facts.block import Below
from poolproof.steps import Step, UndoDaemon

# O_DIRECT on the image, so that its blocks are not cached twice; flushes still reach the disk.
_CACHE = "--cache=none"

_WITH_KERNEL_NBD = ("qemu-img", "qemu-nbd")
PROGRAMS = (*_WITH_KERNEL_NBD, "nbdfuse", "losetup", "touch")


def plan(
    device: Device, source: Qcow2, site: Site, loop: int, below: Below | None, nbd: int | None = None
) -> DevicePlan:
    """Return the plan of the device on /dev/nbd`nbd`, or on loop device `loop` if `nbd` is None.

    Raises:
        HostError: no root, or a program is missing.
    """
    image = f"{site.state_dir}/{device.name}.qcow2"
    create = Step(
        title=f"create the image of {device.name}",
        argv=("qemu-img", "create", "-q", "-f", "qcow2", image, str(source.size_bytes)),
    )
    if nbd is not None:
        return _on_kernel_nbd(device, source, site, image, create, below, nbd)
    return _on_loop(device, source, site, image, create, below, loop)


def _on_kernel_nbd(
    device: Device, source: Qcow2, site: Site, image: str, create: Step, below: Below | None, nbd: int
) -> DevicePlan:
    require(site, f"{device.name} (a qcow2 image)", *_WITH_KERNEL_NBD)
    path, pidfile = f"/dev/nbd{nbd}", f"{site.state_dir}/{device.name}.nbd.pid"
    connect = Step(
        title=f"connect {device.name} to {path}",
        argv=("qemu-nbd", f"--connect={path}", _CACHE, "--pid-file", pidfile, "-f", "qcow2", image),
        undo=UndoDaemon(pidfile, image),
        await_file=pidfile,
    )
    leaf = Leaf(device.name, path, f"/sys/class/block/nbd{nbd}/stat", below)
    return DevicePlan(
        (clear(device.name, image, pidfile), create, connect), Volume(path, True, (leaf,), source.size_bytes)
    )


def _on_loop(
    device: Device, source: Qcow2, site: Site, image: str, create: Step, below: Below | None, loop: int
) -> DevicePlan:
    require(site, f"{device.name} (a qcow2 image)", *PROGRAMS)
    socket, pidfile = socket_path(site, device.name), f"{site.state_dir}/{device.name}.nbd.pid"
    serve = Step(
        title=f"serve the image of {device.name}",
        argv=(
            *("qemu-nbd", "--socket", socket, "--fork", "--persistent", "--shared=0"),
            *("--pid-file", pidfile, _CACHE, "--discard=unmap", "-f", "qcow2", image),
        ),
        undo=UndoDaemon(pidfile, socket),
        await_file=pidfile,
    )
    fuse = FuseFile.of(site, device.name)
    steps = (
        clear(device.name, image, socket, pidfile, *fuse.leftovers),
        create,
        serve,
        *fuse.mount(device.name, socket),
        attach(loop, fuse.path, device.name),
    )
    return DevicePlan(steps, loop_volume(loop, device.name, source.size_bytes, below))
