"""From the facts and a layout follow the exact commands."""

from dataclasses import replace

import pytest

from poolproof.devices.model import Volume
from poolproof.errors import HostError
from poolproof.layers.tree import branches, plan_tree
from poolproof.steps import Step
from poolproof.undos import UndoMount, UndoPrograms, UndoTree

from .ground import GIB, MIB, SITE, plan, resolve, volumes

MNT = "/run/poolproof/r1/mnt"
UMOUNT = ("umount",)
LAZY_OFF = "lazy_itable_init=0,lazy_journal_init=0"


def argvs(steps: tuple[Step, ...]) -> list[tuple[str, ...]]:
    return [step.argv for step in steps]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            "a | ext4",
            [
                ("wipefs", "-a", "-q", "/dev/a"),
                ("mkfs.ext4", "-q", "-F", "-L", "r1", "-E", LAZY_OFF, "/dev/a"),
                ("mkdir", "-p", f"{MNT}/mix-ext4"),
                ("mount", "-t", "ext4", "/dev/a", f"{MNT}/mix-ext4"),
            ],
        ),
        (
            "a | ext4 noatime data=writeback inode_ratio=65536 stride=16 features=^has_journal,bigalloc",
            [
                ("wipefs", "-a", "-q", "/dev/a"),
                (
                    *("mkfs.ext4", "-q", "-F", "-L", "r1", "-O", "^has_journal,bigalloc", "-i", "65536"),
                    *("-E", f"{LAZY_OFF},stride=16", "/dev/a"),
                ),
                ("mkdir", "-p", f"{MNT}/mix-ext4"),
                ("mount", "-t", "ext4", "-o", "noatime,data=writeback", "/dev/a", f"{MNT}/mix-ext4"),
            ],
        ),
        (
            "a | xfs data.su=64k data.sw=2 metadata.reflink=0 logbsize=256k lazytime",
            [
                ("mkfs.xfs", "-q", "-f", "-L", "r1", "-d", "su=64k,sw=2", "-m", "reflink=0", "/dev/a"),
                ("mkdir", "-p", f"{MNT}/mix-xfs"),
                ("mount", "-t", "xfs", "-o", "logbsize=256k,lazytime", "/dev/a", f"{MNT}/mix-xfs"),
            ],
        ),
        (
            "btrfs raid10 a b c d metadata=raid1 nodesize=32k compress=zstd:3 nodatacow",
            [
                (
                    *("mkfs.btrfs", "-q", "-f", "--label", "r1", "--data", "raid10", "--metadata", "raid1"),
                    *("--nodesize", "32k"),
                    *("/dev/a", "/dev/b", "/dev/c", "/dev/d"),
                ),
                ("mkdir", "-p", f"{MNT}/mix-btrfs"),
                (
                    *("mount", "-t", "btrfs", "-o"),
                    "device=/dev/b,device=/dev/c,device=/dev/d,compress=zstd:3,nodatacow",
                    *("/dev/a", f"{MNT}/mix-btrfs"),
                ),
            ],
        ),
        (
            "dir /srv/data",
            [("mkdir", "-m", "0700", "/srv/data/poolproof-r1-mix-dir")],
        ),
        ("a", []),
    ],
)
def test_what_is_run(text: str, made: list[tuple[str, ...]]) -> None:
    assert argvs(plan(text).make) == made


def test_a_stack_is_built_from_the_bottom_and_closed_from_the_top() -> None:
    built = plan("mergerfs (a | ext4) (b | ext4) category.create=mfs cache.files=off")
    one, two, top = f"{MNT}/mix-ext4-1", f"{MNT}/mix-ext4-2", f"{MNT}/mix-mergerfs"
    mounts = [
        ("mount", "-t", "ext4", "/dev/a", one),
        ("mount", "-t", "ext4", "/dev/b", two),
        ("mergerfs", "-o", "category.create=mfs,cache.files=off", f"{one}:{two}", top),
    ]
    assert [argv for argv in argvs(built.make) if argv[0] in ("mount", "mergerfs")] == mounts
    assert built.top.plan is not None
    check = built.top.plan.health_check
    assert check is not None and check.ask == ("stat", "--file-system", top)
    assert check.end in [step.undo for step in built.make], "a mergerfs that hangs is also ended when it is removed"
    assert argvs(built.close) == [(*UMOUNT, point) for point in (top, two, one)]
    assert argvs(built.open) == mounts
    assert built.volume.path == top
    assert [leaf.name for leaf in built.leaves] == ["a", "b"]


def test_each_mount_and_mount_point_has_its_undo() -> None:
    for text in ("a | ext4", "a | xfs", "btrfs raid1 a b", "mergerfs (a | ext4)"):
        for step in plan(text).make:
            match step.argv[0]:
                case "mkdir":
                    assert step.undo == UndoTree(step.argv[-1])
                case "mount":
                    assert step.undo == UndoMount(step.argv[-1])
                case "mergerfs":
                    assert step.undo == UndoMount(step.argv[-1], lazy=True)
                case "true":
                    assert step.undo == UndoPrograms(("mergerfs",), f"{MNT}/mix-mergerfs")
                case _:
                    assert step.undo is None
                    assert step.overwrites


def test_only_devices_are_overwritten_and_each_by_name() -> None:
    overwritten = [path for step in plan("mergerfs (btrfs raid1 a b) (c | ext4)").make for path in step.overwrites]
    assert overwritten == ["/dev/a", "/dev/b", "/dev/c", "/dev/c"]


def test_every_step_has_a_time_limit() -> None:
    built = plan("mergerfs (btrfs raid1 a b) (c | ext4) (dir /srv)")
    assert all(0 < step.timeout_s <= 600 for step in (*built.make, *built.close, *built.open))


def test_a_directory_drops_its_pages_file_by_file() -> None:
    own = "/srv/data/poolproof-r1-mix-dir"
    built = plan("dir /srv/data")
    assert built.make[0].undo == UndoTree(own)
    dd = ("dd", "of={}", "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none")
    assert argvs(built.close) == [("find", own, "-xdev", "-type", "f", "-exec", *dd, ";")]
    assert built.open == ()
    assert [leaf.name for leaf in built.leaves] == ["vda"]


def test_a_bare_device_drops_its_pages() -> None:
    built = plan("a")
    assert argvs(built.close) == [("blockdev", "--flushbufs", "/dev/a")]
    assert built.volume.is_block


def test_small_branches_get_a_small_minfreespace() -> None:
    assert "minfreespace" not in " ".join(plan("mergerfs (a | ext4)", size_bytes=100 * GIB).make[-1].argv)
    assert plan("mergerfs (a | ext4) minfreespace=1M", size_bytes=GIB).make[-1].argv[2] == "minfreespace=1M"
    chosen = plan("mergerfs (a | ext4)", size_bytes=GIB).make[-1].argv[2]
    assert chosen.startswith("minfreespace=")
    assert 10 * 1024 < int(chosen.removeprefix("minfreespace=").removesuffix("K")) < 20 * 1024


def test_sizes_that_only_the_host_knows_stay_unknown() -> None:
    assert plan("mergerfs (a | ext4) (b | xfs)", size_bytes=None).volume.size_bytes is None


@pytest.mark.parametrize(
    ("text", "size_bytes", "least"), [("a | xfs", 299 * MIB, "300M"), ("btrfs a b", 100 * MIB, "114M")]
)
def test_a_device_below_the_minimum(text: str, size_bytes: int, least: str) -> None:
    with pytest.raises(HostError, match="MiB") as raised:
        plan(text, size_bytes=size_bytes)
    assert least in raised.value.hint.split()


def test_branches_that_mergerfs_would_misread() -> None:
    with pytest.raises(HostError, match="/srv/a:b"):
        plan("mergerfs (dir /srv/a:b)")


def test_awkward_names_of_layouts_become_plain() -> None:
    node = resolve("a | ext4")
    built = plan_tree(node, volumes(node), SITE, "mirror[commit=5,bs=4k]")
    assert built.volume.path == f"{MNT}/mirror-commit-5-bs-4k-ext4"


def test_the_volume_of_a_file_system_is_its_mount() -> None:
    built = plan("a | ext4", site=replace(SITE, mount_dir="/mnt/poolproof"))
    assert isinstance(built.volume, Volume)
    assert built.volume.path == "/mnt/poolproof/mix-ext4"
    assert not built.volume.is_block


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | ext4", [f"{MNT}/mix-ext4"]),
        ("dir /srv", ["/srv/poolproof-r1-mix-dir"]),
        ("mergerfs (a | ext4) (btrfs raid1 b c)", [f"{MNT}/mix-ext4", f"{MNT}/mix-btrfs"]),
        ("mergerfs (mergerfs (a | ext4)) (dir /srv)", [f"{MNT}/mix-ext4", "/srv/poolproof-r1-mix-dir"]),
        ("a", []),
    ],
)
def test_the_branches_of_a_layout(text: str, expected: list[str]) -> None:
    assert list(branches(plan(text))) == expected
