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

_IS_CONNECTED = """
own=$(cat "$1" 2>/dev/null) found=$(cat "/sys/block/${0#/dev/}/pid" 2>/dev/null)
[ -n "$found" ] && [ "$found" = "$own" ] || {
  echo "$0 is served by ${found:+thread }${found:-no thread} instead of thread $own, so nothing is written to it" >&2
  exit 1
}
"""
"""A shell script that fails unless the device $0 is still served by the thread whose ID is in the file $1."""

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
        thread, server = f"{site.state_dir}/{name}.nbd.thread", f"/sys/block/nbd{nbd}/pid"
        steps: tuple[Step, ...] = (
            clear(name, image, pidfile, thread),
            create,
            Step(f"connect {name} to /dev/nbd{nbd}", on_nbd, undo, await_file=pidfile),
            Step(f"wait until /dev/nbd{nbd} is connected", ("true",), await_file=server, timeout_s=30.0),
            Step(f"record the thread that serves {name}", ("cp", server, thread)),
        )
        return DevicePlan(
            steps,
            block_volume(f"nbd{nbd}", name, size, below),
            ("sh", "-c", _IS_CONNECTED, f"/dev/nbd{nbd}", thread),
        )
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
