"""Log and cache devices are added to a built pool and removed again, without rebuilding the layers on the pool."""

import pytest

from poolproof.layers import tree
from poolproof.layers.adapt import core_of, plan_extension
from poolproof.layers.tree import TreePlan
from poolproof.layers.zfs_commands import UndoVdevs

from .ground import SITE, resolve, volumes

POOL = "poolproof-r1-first-zfs"
TOP = " | zvol 1G | ext4"


def extended(core_text: str, text: str) -> tuple[TreePlan, TreePlan]:
    core, whole = resolve(core_text), resolve(text)
    assert core_of(whole) == core
    standing = tree.plan_tree(core, volumes(core), SITE, "first")
    return standing, plan_extension(standing, whole, volumes(whole), SITE, "second")


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("zfs mirror a b log c cache d", "zfs mirror a b"),
        ("zfs mirror a b log mirror c d ashift=12 | zvol 1G | ext4", "zfs mirror a b ashift=12 | zvol 1G | ext4"),
        ("zfs cache c mirror a b special mirror d e", "zfs mirror a b special mirror d e"),
        ("zfs log (c | luks) cache (d | luks) raidz1 a b spare e", "zfs raidz1 a b spare e"),
        ("mergerfs (zfs mirror a b cache c) (d | ext4)", "mergerfs (zfs mirror a b) (d | ext4)"),
        ("btrfs raid1 a b", "btrfs raid1 a b"),
        ("a", "a"),
    ],
)
def test_the_core_of_a_layout(text: str, core: str) -> None:
    assert core_of(resolve(text)) == resolve(core)


def test_only_what_the_core_lacks_is_made() -> None:
    _, whole = extended(f"zfs mirror a b{TOP}", f"zfs mirror a b log (c | luks) cache d{TOP}")
    mapping = "/dev/mapper/poolproof-r1-second-added-0-luks"
    assert [step.argv[0] for step in whole.make] == ["sh", "wipefs", "cryptsetup", "cryptsetup", "wipefs", "sh"]
    wiped, added = whole.make[-2:]
    assert wiped.argv == ("wipefs", "-a", "-q", mapping, "/dev/d")
    assert added.argv[3:] == (
        *("/run/poolproof/r1/state/first-zfs.added", POOL),
        *(POOL, "log", mapping, "cache", "/dev/d"),
    )
    assert added.overwrites == (mapping, "/dev/d")
    note = "/run/poolproof/r1/state/first-zfs.added"
    assert added.undo == UndoVdevs(POOL, ((mapping,), ("/dev/d",)), note)


def test_built_layers_keep_their_names() -> None:
    core, whole = extended(f"zfs mirror a (b | luks){TOP}", f"zfs mirror a (b | luks) log (c | luks){TOP}")
    assert whole.volume.path == core.volume.path
    assert set(core.block_paths) < set(whole.block_paths)
    assert [leaf.name for leaf in core.leaves] == ["a", "b"]
    assert [leaf.name for leaf in whole.leaves] == ["a", "b", "c"]
    assert [step.argv[:2] for step in core.close] == [step.argv[:2] for step in whole.close][: len(core.close)]
    assert len(whole.close) == len(core.close) + 1
    (imported,) = (step for step in whole.open if "import" in step.argv)
    assert "/dev/mapper/poolproof-r1-second-added-0-luks" in imported.argv


def test_a_mirrored_log_is_taken_apart_before_it_is_removed() -> None:
    _, whole = extended("zfs a", "zfs a log mirror b c d e")
    undo = whole.make[-1].undo
    assert isinstance(undo, UndoVdevs)
    script = undo.removal().argv[2]
    detached, removed = script.index(f"zpool detach {POOL} /dev/c"), script.index(f"zpool remove {POOL}")
    assert detached < removed
    assert f"zpool remove {POOL} /dev/b" in script


def test_a_layout_that_is_its_own_core_lacks_nothing() -> None:
    core, whole = extended(f"zfs mirror a b{TOP}", f"zfs mirror a b{TOP}")
    assert whole.make == ()
    assert (whole.close, whole.open, whole.flush) == (core.close, core.open, core.flush)
