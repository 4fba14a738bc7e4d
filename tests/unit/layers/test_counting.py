"""Write factors, capacities and shares: properties that hold for all values."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.errors import HostError
from poolproof.hosts.base import Tick
from poolproof.layers import open_layout, tree
from poolproof.layers.btrfs import parse_device_usage
from poolproof.process import Completed
from tests.golden import Message

from .ground import GIB, MIB, SITE, plan, resolve

# btrfs-progs 6.2, `btrfs device usage -b` of `btrfs single a b` with 90 MiB of data
USAGE = """\
/dev/loop1, ID: 1
   Device size:           209715200
   Device slack:                  0
   Data,single:           109051904
   Metadata,RAID1:         33554432
   System,RAID1:            8388608
   Unallocated:            58720256

/dev/loop2, ID: 2
   Device size:           209715200
   Device slack:                  0
   Data,single:           100663296
   Metadata,RAID1:         33554432
   System,RAID1:            8388608
   Unallocated:            67108864

"""


class RecordedHost:
    """A host that gives the answers that were recorded on real hosts."""

    name = "recorded"

    def __init__(self, said: dict[tuple[str, ...], str]) -> None:
        self._said = said

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert timeout_s > 0
        assert stdin is None
        assert check in (True, False)
        return Completed(tuple(argv), 0, self._said[tuple(argv)], "", 0.0)

    def read(self, path: str) -> str:
        raise AssertionError(path)

    def read_files(self, paths: Sequence[str]) -> Tick:
        raise AssertionError(paths)

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        raise AssertionError((paths, interval_s))


NO_PACKAGE = "install what is missing as described in its project's documentation, or use another host: --on user@host"


def find(path: str) -> tuple[str, ...]:
    return ("find", path, "-xdev", "-type", "f", "-printf", "%b\\n")


def test_device_usage() -> None:
    assert parse_device_usage(USAGE) == {"/dev/loop1": 109051904, "/dev/loop2": 100663296}


def test_what_a_stack_stores_on_each_leaf() -> None:
    built = plan("mergerfs (btrfs raid1 a b) (c | ext4)")
    pool, single = (entry.volume.path for entry in built.top.inputs)
    usage = USAGE.replace("loop1", "a").replace("loop2", "b").replace("100663296", "109051904")
    host = RecordedHost(
        {
            find(built.volume.path): "2048\n4096\n2048\n",
            find(pool): "2048\n2048\n",
            find(single): "4096\n",
            ("btrfs", "device", "usage", "-b", pool): usage,
        }
    )
    assert open_layout.stored_per_leaf(built, host) == {"a": 2 * MIB, "b": 2 * MIB, "c": 2 * MIB}


def test_a_running_balance_is_reported() -> None:
    built = plan("btrfs raid1 a b")
    path = built.volume.path
    host = RecordedHost(
        {
            ("btrfs", "balance", "status", path): f"Balance on '{path}' is running\n1 out of about 3 chunks balanced",
            ("btrfs", "scrub", "status", path): "",
        }
    )
    (busy,) = open_layout.busy_with(built, host)
    assert "balance" in busy
    assert busy.endswith(path)


def test_different_branches_use_the_smallest_factor_unless_the_landed_bytes_are_known() -> None:
    node = resolve("mergerfs (btrfs raid1 a b) (c | ext4)")
    assert tree.write_factor(node) == 1
    assert tree.write_factor(node, {"a": 100, "b": 100, "c": 0}) == 2
    assert tree.write_factor(node, {"a": 0, "b": 0, "c": 77}) == 1
    # 100 of data went to the mirror, 100 to the single disk: 300 on disks for 200
    assert tree.write_factor(node, {"a": 100, "b": 100, "c": 100}) == pytest.approx(1.5)
    assert tree.write_factor(node, {}) == 1


@given(mirrored=st.integers(0, 10**15), single=st.integers(0, 10**15))
def test_the_factor_by_landed_bytes_accounts_for_all_of_them(mirrored: int, single: int) -> None:
    node = resolve("mergerfs (btrfs raid1 a b) (c | ext4)")
    landed = {"a": mirrored, "b": mirrored, "c": single}
    found = tree.write_factor(node, landed)
    assert 1 <= found <= 2
    if mirrored + single:
        assert found * (mirrored + single) == pytest.approx(2 * mirrored + single)


sizes_bytes = st.integers(GIB, 100 * GIB)


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("zfs a copies=2 | zvol 1G", 2),
        ("zfs a copies=2 | zvol 1G copies=2", 2),
        ("zfs a copies=3 | zvol 1G copies=1", 1),
        ("zfs mirror a b | zvol 1G copies=3 | ext4", 6),
    ],
)
def test_a_volume_s_own_copies_take_the_place_of_its_pool_s(text: str, factor: int) -> None:
    node, sizes = resolve(text), {"a": 8 * GIB, "b": 8 * GIB}
    assert tree.write_factor(node) == factor
    as_its_pool = tree.capacity_bytes(resolve("zfs a | zvol 64G"), sizes)
    own = tree.capacity_bytes(resolve("zfs a copies=2 | zvol 64G copies=3"), sizes)
    assert own == pytest.approx(as_its_pool / 3, rel=1e-6)


@given(a=sizes_bytes, b=sizes_bytes, c=sizes_bytes)
def test_btrfs_raid1_holds_no_more_than_two_copies_allow(a: int, b: int, c: int) -> None:
    held = tree.capacity_bytes(resolve("btrfs raid1 a b c"), {"a": a, "b": b, "c": c})
    ideal = min((a + b + c) // 2, a + b + c - max(a, b, c))
    assert 0.75 * ideal < held <= ideal  # of 1 GiB, 16% go to metadata, and a chunk may stay unused


@given(a=sizes_bytes, b=sizes_bytes, c=sizes_bytes)
@pytest.mark.parametrize("profile", ["single", "dup", "raid0", "raid1", "raid10", "raid1c3", "raid5", "raid6"])
def test_no_btrfs_profile_holds_more_than_the_disks(profile: str, a: int, b: int, c: int) -> None:
    node = resolve(f"btrfs {profile} a b c")
    held = tree.capacity_bytes(node, {"a": a, "b": b, "c": c})
    assert 0 < held < a + b + c
    if profile in ("dup", "raid1", "raid10"):
        assert held <= (a + b + c) // 2


@given(st.integers(0, 4 * GIB))
@pytest.mark.parametrize("text", ["a | ext4", "a | xfs", "btrfs a", "zfs a", "a | luks", "lvm linear a"])
def test_a_capacity_is_never_negative_nor_more_than_the_device(text: str, size_bytes: int) -> None:
    assert 0 <= tree.capacity_bytes(resolve(text), {"a": size_bytes}) <= size_bytes


def test_needs_names_all_that_is_missing_and_how_to_get_it(message: Message) -> None:
    bare = replace(SITE, is_root=False, programs=frozenset(), file_systems=frozenset({"ext4"}))
    with pytest.raises(HostError) as raised:
        tree.needs(resolve("mergerfs (btrfs raid1 a b) (c | ext4)"), bare)
    message(raised.value)
    assert {"btrfs needs btrfs, mkfs.btrfs", "ext4 needs mkfs.ext4", "mergerfs needs mergerfs"} <= set(
        raised.value.message.partition(": ")[2].split("; ")
    )
    assert "btrfs file system" in raised.value.message
    assert "fuse file system" in raised.value.message
    assert "ext4 file system" not in raised.value.message
    assert "root" in raised.value.message
    assert raised.value.hint.endswith("sudo apt install btrfs-progs e2fsprogs mergerfs")


@pytest.mark.parametrize(
    ("text", "lacking", "installs"),
    [
        ("zfs mirror a b", {"zfs needs zfs, zpool", "kernel module zfs"}, "zfsutils-linux zfs-dkms"),
        ("md raid5 a b c", {"md needs mdadm", "kernel modules md_mod, raid456"}, "mdadm linux-image-amd64"),
        (
            "a | luks integrity=hmac-sha256",
            {"luks needs cryptsetup", "kernel modules dm_crypt, dm_integrity"},
            "cryptsetup-bin linux-image-amd64",
        ),
        (
            "lvm cache a cachevol b",
            {"lvm needs lvm", "kernel modules dm_cache, dm_cache_smq, dm_mod"},
            "lvm2 thin-provisioning-tools linux-image-amd64",
        ),
        ("autotier (dir /a) (dir /b)", {"autotier needs autotier, autotierfs"}, ""),
    ],
)
def test_needs_of_a_technology_that_is_not_there(text: str, lacking: set[str], installs: str) -> None:
    with pytest.raises(HostError) as raised:
        tree.needs(resolve(text), SITE)
    assert all(fact in raised.value.message for fact in lacking)
    if installs:
        assert raised.value.hint.endswith(f": apt install {installs}")
    else:
        assert raised.value.hint == NO_PACKAGE


def test_needs_of_a_kernel_that_has_the_module(message: Message) -> None:
    site = replace(SITE, programs=SITE.programs | {"mdadm"}, modules=frozenset({"md_mod", "raid1"}))
    tree.needs(resolve("md raid1 a b | ext4"), site)
    with pytest.raises(HostError, match="module raid10") as raised:
        tree.needs(resolve("md raid10 a b"), site)
    assert "raid1 " not in message(raised.value)


def test_a_directory_needs_nothing(message: Message) -> None:
    bare = replace(SITE, is_root=False, programs=frozenset(), file_systems=frozenset())
    tree.needs(resolve("dir /srv/data"), bare)
    with pytest.raises(HostError) as raised:
        tree.needs(resolve("mergerfs (dir /srv/data)"), replace(SITE, is_root=False))
    assert "root" in message(raised.value)
    assert "sudo" in raised.value.hint


def test_a_bare_device_needs_no_layer() -> None:
    node = resolve("a")
    tree.needs(node, SITE)
    assert tree.write_factor(node) == 1


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("a | ext4", False),
        ("mergerfs (a | ext4) (b | xfs)", False),
        ("btrfs a", True),
        ("btrfs a nodatacow", False),
        ("mergerfs (a | ext4) (btrfs b)", True),
        ("zfs a | zvol 1G | ext4", True),
    ],
)
def test_a_layout_with_any_copy_on_write_layer_copies_on_write(text: str, moves: bool) -> None:
    assert tree.copies_on_write(resolve(text)) is moves


@pytest.mark.parametrize(
    ("text", "written", "factor"),
    [
        # lvm linear on unequal parts: how the fill was spread does not show where a trial wrote
        ("lvm linear (md raid1 a b) c", {"a": 0, "b": 0, "c": 50}, 1.0),
        ("lvm linear (md raid1 a b) c", {"a": 50, "b": 50, "c": 0}, 2.0),
        # a block is still on the fast device, or has been moved to the slow ones
        ("lvm writecache (md raid1 a b) cachevol c", {"a": 90, "b": 90, "c": 1}, 1.0),
        # small blocks of data are stored on the special vdev
        ("zfs -f mirror a b special c special_small_blocks=128k", {"a": 0, "b": 0, "c": 50}, 1.0),
        ("zfs -f mirror a b special c special_small_blocks=128k", {"a": 50, "b": 50, "c": 0}, 2.0),
        # the log is not part of the pool's amplification
        ("zfs mirror a b log c", {"a": 50, "b": 50, "c": 50}, 2.0),
    ],
)
def test_the_factor_follows_the_bytes(text: str, written: dict[str, int], factor: float) -> None:
    assert tree.write_factor(resolve(text), written) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("zfs mirror a b log c", 1.0),
        ("zfs a log mirror b c", 2.0),
        ("zfs a log b | zvol 1G | ext4", 1.0),
        ("zfs mirror a b", None),
        ("zfs mirror a b copies=2", 2.0),  # copies does not apply to the log
        ("a | ext4", None),
    ],
)
def test_a_commit_is_durable_on_the_log(text: str, factor: float | None) -> None:
    assert tree.expected(resolve(text), {}).commit_factor == factor
