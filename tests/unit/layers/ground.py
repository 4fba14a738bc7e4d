"""Common setup for the layer tests: devices by name, a site, and layouts parsed from text."""

from collections.abc import Mapping

from poolproof.campaign.expression import parse_expression
from poolproof.devices.model import Leaf, Site, Volume
from poolproof.hosts.base import Host
from poolproof.layers import resolve as resolving
from poolproof.layers import tree
from poolproof.layers.base import Node
from poolproof.layers.layer_catalogue import leaves_under

GIB = 1024**3
MIB = 1024**2

DEVICES = ("rust", "ssd", "ssd1", "small", "big", "hdd1", "hdd2", "hdd3", "nvme", "nvme1", "nvme2", *"abcdef")

SITE = Site(
    label="r1",
    state_dir="/run/poolproof/r1/state",
    ram_dir="/run/poolproof/r1/ram",
    mount_dir="/run/poolproof/r1/mnt",
    is_root=True,
    programs=frozenset({"mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "btrfs", "mergerfs"}),
    file_systems=frozenset({"ext4", "xfs", "btrfs", "fuse"}),
    ram_bytes=16 * GIB,
    ram_free_bytes=8 * GIB,
)


def device(name: str, size_bytes: int | None = 20 * GIB) -> Volume:
    path = f"/dev/{name}"
    return Volume(path, True, (Leaf(name, path, f"/sys/class/block/{name}/stat"),), size_bytes)


def resolve(text: str) -> Node:
    return resolving.resolve(parse_expression(text), DEVICES)


def volumes(node: Node, size_bytes: int | None = 20 * GIB, host: Host | None = None) -> Mapping[str, Volume]:
    """Return the volumes of a layout. Its directories are on /dev/vda, or on the disks that the host reports."""

    def directory(path: str) -> Volume:
        names = [below.device for below in leaves_under(host, path)] if host else ["vda"]
        return Volume(path, False, tuple(Leaf(n, f"/dev/{n}", f"/sys/class/block/{n}/stat") for n in names), size_bytes)

    directories = {path: directory(path) for path in tree.directories(node)}
    return {name: device(name, size_bytes) for name in tree.devices(node)} | directories


def plan(text: str, *, site: Site = SITE, size_bytes: int | None = 20 * GIB, host: Host | None = None) -> tree.TreePlan:
    node = resolve(text)
    return tree.plan_tree(node, volumes(node, size_bytes, host), site, "mix")


def factor(text: str) -> float:
    return tree.write_factor(resolve(text))


def capacity(text: str, **sizes: int) -> int:
    return tree.capacity_bytes(resolve(text), sizes)
