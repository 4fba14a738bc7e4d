"""Pools and volumes: the exact commands, and the values parsed from zpool's output."""

import pytest

from poolproof.errors import CampaignError, HostError
from poolproof.layers import tree
from poolproof.layers.base import LayerNode
from poolproof.layers.zfs import Zfs
from poolproof.layers.zfs_commands import UndoArcLimit, UndoPool
from poolproof.steps import Step
from poolproof.undos import UndoTree
from tests.golden import Message

from .ground import DEVICES, GIB, MIB, SITE, device, plan, resolve

MNT = "/run/poolproof/r1/mnt"
POOL = "poolproof-r1-mix-zfs"
CREATE = ("zpool", "create", "-f", "-R", MNT)


def step(steps: tuple[Step, ...], *argv: str) -> Step:
    (found,) = (step for step in steps if step.argv[: len(argv)] == argv)
    return found


@pytest.mark.parametrize(
    ("text", "vdevs"),
    [
        ("zfs a", "/dev/a"),
        ("zfs small big", "/dev/small /dev/big"),
        ("zfs mirror a b c", "mirror /dev/a /dev/b /dev/c"),
        ("zfs mirror a b mirror c d", "mirror /dev/a /dev/b mirror /dev/c /dev/d"),
        ("zfs raidz a b", "raidz1 /dev/a /dev/b"),
        ("zfs raidz3 a b c d e", "raidz3 /dev/a /dev/b /dev/c /dev/d /dev/e"),
        ("zfs draid2:2d:1s a b c d e", "draid2:2d:5c:1s /dev/a /dev/b /dev/c /dev/d /dev/e"),
        ("zfs -f mirror a b c", "mirror /dev/a /dev/b /dev/c"),
        (
            "zfs mirror a b special mirror c d dedup mirror e f",
            "mirror /dev/a /dev/b special mirror /dev/c /dev/d dedup mirror /dev/e /dev/f",
        ),
        (
            "zfs mirror a b log mirror c d e cache f nvme spare hdd1",
            "mirror /dev/a /dev/b log mirror /dev/c /dev/d /dev/e cache /dev/f /dev/nvme spare /dev/hdd1",
        ),
        ("zfs cache a mirror b c", "mirror /dev/b /dev/c cache /dev/a"),
        (
            "zfs log c mirror d e cache f mirror a b",
            "mirror /dev/a /dev/b log /dev/c mirror /dev/d /dev/e cache /dev/f",
        ),
        ("zfs mirror a (b | luks)", "mirror /dev/a /dev/mapper/poolproof-r1-mix-luks"),
    ],
)
def test_the_vdev_tree_in_the_words_of_zpool(text: str, vdevs: str) -> None:
    created = step(plan(text).make, "zpool", "create")
    assert created.argv == (*CREATE, POOL, *vdevs.split())
    assert created.again_if in "cannot create 'tank': one or more devices is currently unavailable"
    assert set(created.overwrites) == {word for word in vdevs.split() if word.startswith("/")}


def test_properties_go_to_the_pool_and_to_its_dataset() -> None:
    text = "zfs mirror a b ashift=12 compression=off recordsize=16k autotrim=on feature@lz4_compress=disabled my:own=1"
    assert step(plan(text).make, "zpool", "create").argv == (
        *CREATE,
        *("-o", "ashift=12", "-o", "autotrim=on", "-o", "feature@lz4_compress=disabled"),
        *("-O", "compression=off", "-O", "recordsize=16k", "-O", "my:own=1"),
        *(POOL, "mirror", "/dev/a", "/dev/b"),
    )


def test_a_pool_is_made_opened_closed_and_undone() -> None:
    built = plan("zfs a (b | luks)")
    mapping = "/dev/mapper/poolproof-r1-mix-luks"
    assert [entry.argv for entry in built.make[:-1] if entry.argv[0] in ("modprobe", "mkdir", "wipefs", "zpool")] == [
        ("wipefs", "-a", "-q", "/dev/b"),
        ("modprobe", "zfs"),
        ("mkdir", "-p", f"{MNT}/{POOL}"),
        ("wipefs", "-a", "-q", "/dev/a", mapping),
        (*CREATE, POOL, "/dev/a", mapping),
        ("zpool", "wait", "-t", "initialize,replace,remove,resilver,trim", POOL),
    ]
    devices = ("-d", "/dev/a", "-d", "/dev/a1", "-d", mapping, "-d", f"{mapping}1")
    opened = ("zpool", "import", "-l", "-R", MNT, *devices, POOL)
    assert built.open[-1].argv == opened
    assert built.open[-1].unless == f"/proc/spl/kstat/zfs/{POOL}"
    assert built.make[-1] == built.open[-1]
    assert built.close[0].argv == ("zpool", "export", POOL)
    assert built.flush == (step(built.flush, "zpool", "sync", POOL),)
    assert step(built.make, "zpool", "create").undo == UndoPool(POOL)
    assert built.volume.path == f"{MNT}/{POOL}"
    assert not built.volume.is_block


def test_the_key_of_an_encrypted_dataset_is_on_no_command_line() -> None:
    built = plan("zfs a encryption=aes-256-gcm")
    key = "/run/poolproof/r1/ram.mix-zfs.key"
    (made,) = (entry for entry in built.make if entry.argv[-1] == key)
    assert made.argv[3:] == (key,)
    assert made.undo == UndoTree(key)
    argv = step(built.make, "zpool", "create").argv
    assert argv[5:11] == (
        *("-O", "encryption=aes-256-gcm", "-O", "keyformat=raw"),
        *("-O", f"keylocation=file://{key}"),
    )
    assert "-l" in built.open[0].argv


def test_the_limit_of_the_arc_comes_with_its_undo() -> None:
    (limited,) = (entry for entry in plan("zfs a arc_max=1G").make if entry.title.startswith("limit"))
    note, parameter = "/run/poolproof/r1/state/mix-zfs.arc", "/sys/module/zfs/parameters/zfs_arc_max"
    assert limited.argv[3:] == (note, str(GIB), parameter, "/proc/spl/kstat/zfs/arcstats")
    assert limited.undo == UndoArcLimit(note)
    node = resolve("zfs a arc_max=1G compression=off")
    assert isinstance(node, LayerNode)
    assert isinstance(node.spec, Zfs)
    assert node.spec.arc_max_bytes == GIB
    assert node.spec.dataset == (("compression", "off"),)


@pytest.mark.parametrize(("text", "said"), [("arc_max=lots", "not a size"), ("arc_max=32M", "64M")])
def test_a_limit_that_the_arc_cannot_have(text: str, said: str) -> None:
    with pytest.raises(CampaignError, match=said):
        resolve(f"zfs a {text}")


def test_a_zvol_goes_with_its_pool() -> None:
    built = plan("zfs mirror a b | zvol 10G volblocksize=16k compression=off sparse | ext4")
    node = f"/dev/zvol/{POOL}/mix-zvol"
    assert step(built.make, "zfs", "create").argv == (
        *("zfs", "create", "-s", "-V", str(10 * GIB), "-o", "volblocksize=16k", "-o", "compression=off"),
        f"{POOL}/mix-zvol",
    )
    assert step(built.make, "mkfs.ext4").argv[-1] == node
    assert node in built.block_paths
    assert [entry.await_file for entry in built.open if entry.await_file] == [node]
    assert [leaf.name for leaf in built.leaves] == ["a", "b"]
    assert [entry.argv[:2] for entry in built.flush] == [("sync", "--file-system"), ("zpool", "sync")]


def test_a_bare_zvol_is_flushed_past_the_log() -> None:
    built = plan("zfs a | zvol 1G")
    node = f"/dev/zvol/{POOL}/mix-zvol"
    assert [entry.argv for entry in built.flush] == [("zpool", "sync", POOL), ("sync", node), ("zpool", "sync", POOL)]
    assert built.volume.is_block
    assert built.volume.size_bytes == GIB


def test_partitions_that_zpool_makes_are_looked_at_too() -> None:
    node = resolve("zfs a b c")
    paths = ("/dev/nvme0n1", "/dev/disk/by-id/ata-X", "/dev/sdb")
    volumes = {name: device(name).__class__(path, True, (), 20 * GIB) for name, path in zip("abc", paths, strict=True)}
    argv = tree.plan_tree(node, volumes, SITE, "mix").open[0].argv
    places = [argv[at + 1] for at, word in enumerate(argv) if word == "-d"]
    assert places == [
        *("/dev/nvme0n1", "/dev/nvme0n1p1"),
        *("/dev/disk/by-id/ata-X", "/dev/disk/by-id/ata-X-part1"),
        *("/dev/sdb", "/dev/sdb1"),
    ]


def sized(text: str, **sizes_bytes: int) -> tree.TreePlan:
    node = resolve(text)
    volumes = {name: device(name, sizes_bytes.get(name, 20 * GIB)) for name in DEVICES}
    return tree.plan_tree(node, volumes, SITE, "mix")


def test_a_log_may_be_a_mirror_of_unequal_devices() -> None:
    """zpool ignores log devices when it compares sizes, in OpenZFS 2.1 and 2.3."""
    assert sized("zfs a log mirror small big", small=GIB).volume.path


@pytest.mark.parametrize(
    ("text", "sizes", "facts"),
    [
        ("zfs mirror small big", {"small": GIB}, "2-way mirror.* 1 GiB, 20 GiB"),
        ("zfs raidz1 a b small", {"small": GIB}, "raidz1 of 3"),
        ("zfs a small", {"small": 64 * MIB}, " 64 MiB.* 74 MiB"),
        ("zfs a | zvol 25G", {}, "pool"),
        ("a | luks", {"a": 16 * MIB}, "luks .* 17 MiB"),
    ],
)
def test_devices_that_zpool_refuses(text: str, sizes: dict[str, int], facts: str, message: Message) -> None:
    with pytest.raises(HostError, match=facts) as raised:
        sized(text, **sizes)
    message(raised.value)
    assert raised.value.hint


def test_what_zpool_would_take_is_taken() -> None:
    for text in ("zfs -f mirror small big", "zfs small big", "zfs mirror a (b | luks)", "zfs a | zvol 25G sparse"):
        assert sized(text, small=GIB).make
