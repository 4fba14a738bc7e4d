"""Changing a built pool by attaching and detaching mirror disks: which layouts can be converted, and how."""

import os
import subprocess
from pathlib import Path

import pytest

from poolproof.layers import tree
from poolproof.layers.adapt import can_become, plan_change
from poolproof.layers.luks import UndoMapping
from poolproof.layers.tree import TreePlan
from poolproof.layers.zfs_commands import UndoPool
from poolproof.steps import Step
from poolproof.undos import UndoMount, UndoTree

from .ground import SITE, resolve, volumes

POOL = "poolproof-r1-first-zfs"
TOP = " | zvol 1G | ext4"


def changed(before: str, after: str) -> tuple[TreePlan, TreePlan]:
    old, new = resolve(before), resolve(after)
    assert can_become(old, new)
    standing = tree.plan_tree(old, volumes(old), SITE, "first")
    return standing, plan_change(standing, new, volumes(new), SITE, "second")


def zpool_words(steps: tuple[Step, ...]) -> list[tuple[str, ...]]:
    return [step.argv[1:] for step in steps if step.argv[0] == "zpool"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("zfs a", "zfs mirror a b"),
        ("zfs mirror a b", "zfs b"),
        ("zfs mirror a b c ashift=12", "zfs mirror c d ashift=12"),
        ("zfs mirror a b mirror c d", "zfs mirror a b mirror d e"),
        ("zfs raidz1 a b c special mirror d e", "zfs raidz1 a b c special mirror d e"),
        (f"zfs a{TOP}", f"zfs mirror a (b | luks){TOP}"),
        ("mergerfs (zfs a) (c | ext4)", "mergerfs (zfs mirror a b) (c | ext4)"),
    ],
)
def test_what_attaching_and_detaching_can_do(before: str, after: str) -> None:
    assert can_become(resolve(before), resolve(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("zfs a", "zfs b"),
        ("zfs a", "zfs (a | luks)"),
        ("zfs a", "zfs mirror a b ashift=12"),
        ("zfs a", "zfs a b"),
        ("zfs raidz1 a b", "zfs mirror a b"),
        ("zfs raidz1 a b", "zfs raidz1 a b c"),
        ("zfs mirror a b special c -f", "zfs mirror a b special d -f"),
        ("zfs mirror a b mirror c d", "zfs mirror c d mirror a b"),
        ("zfs mirror a b arc_max=1G", "zfs a arc_max=2G"),
        (f"zfs a{TOP}", "zfs mirror a b | zvol 2G | ext4"),
        ("btrfs raid1 a b", "btrfs raid1 a c"),
        ("md raid1 a b", "md raid1 a b c"),
    ],
)
def test_what_they_cannot(before: str, after: str) -> None:
    assert not can_become(resolve(before), resolve(after))


def test_a_leaf_is_attached_and_waited_for() -> None:
    _, whole = changed("zfs a", "zfs mirror a (b | luks)")
    new = "/dev/mapper/poolproof-r1-second-new-0-luks"
    assert zpool_words(whole.make) == [
        ("attach", "-f", POOL, "/dev/a", new),
        ("wait", "-t", "initialize,replace,remove,resilver,trim", POOL),
    ]
    (attached,) = (step for step in whole.make if "attach" in step.argv)
    assert attached.overwrites == (new,)
    assert new in whole.block_paths
    assert [leaf.name for leaf in whole.leaves] == ["a", "b"]


def test_a_leaf_is_detached_only_when_the_data_lie_on_another() -> None:
    _, whole = changed("zfs mirror a b", "zfs mirror b c")
    assert [words[0] for words in zpool_words(whole.make)] == ["attach", "wait", "detach"]
    assert zpool_words(whole.make)[0] == ("attach", "-f", POOL, "/dev/b", "/dev/c")
    assert zpool_words(whole.make)[-1] == ("detach", POOL, "/dev/a")
    (imported,) = whole.open
    assert {"/dev/b", "/dev/c"} < set(imported.argv)
    assert "/dev/a" not in imported.argv


def test_wherever_a_run_dies_the_pool_goes_before_what_was_attached_to_it() -> None:
    standing, whole = changed(f"zfs a{TOP}", f"zfs mirror a (b | luks){TOP}")
    undos = [step.undo for step in (*standing.make, *whole.make) if step.undo and not isinstance(step.undo, UndoTree)]
    # undone in reverse order: the file system, the whole pool, the mapping that was attached to it
    assert [type(undo) for undo in undos[-3:]] == [UndoMapping, UndoPool, UndoMount]


def test_layers_on_the_pool_are_closed_during_the_change_and_keep_their_names() -> None:
    standing, whole = changed(f"zfs a{TOP}", f"zfs mirror a b{TOP}")
    assert whole.volume.path == standing.volume.path
    titles = [step.title for step in whole.make]
    point = standing.volume.path
    assert f"unmount {point}" in titles[0]
    attached = next(number for number, title in enumerate(titles) if title.startswith("attach"))
    mounted = next(number for number, title in enumerate(titles) if title.startswith("mount"))
    assert 0 < attached < mounted
    assert [step.title for step in whole.close][-1] == f"export the pool {POOL}"


def test_nothing_is_done_where_nothing_differs() -> None:
    standing, whole = changed("zfs mirror a b", "zfs mirror a b")
    assert whole.make == ()
    assert (whole.close, whole.open, whole.flush) == (standing.close, standing.open, standing.flush)


def exchange_with_sectors(folder: Path, sectors: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the check of `zfs a` before it becomes `zfs mirror a b`, with a `blockdev` that knows these disks."""
    _, whole = changed("zfs a", "zfs mirror a b")
    (check,) = (step for step in whole.make if "ashift" in step.title)
    program = folder / "blockdev"
    cases = " ".join(f'"{option} /dev/{disk}") echo {size};;' for (option, disk), size in _sizes(sectors).items())
    program.write_text(f'#!/bin/sh\ncase "$*" in {cases} *) exit 1;; esac\n')
    program.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return subprocess.run(check.argv, env={"PATH": path}, capture_output=True, text=True, check=False)


def _sizes(sectors: dict[str, str]) -> dict[tuple[str, str], str]:
    options = ("--getss", "--getpbsz")
    return {
        (option, disk): size
        for disk, both in sectors.items()
        for option, size in zip(options, both.split("/"), strict=True)
    }


def test_a_disk_with_other_sectors_is_not_attached(tmp_path: Path) -> None:
    assert exchange_with_sectors(tmp_path, {"a": "512/4096", "b": "512/4096"}).returncode == 0
    # the mirror's ashift would be that of a, also if it were new
    assert exchange_with_sectors(tmp_path, {"a": "512/4096", "b": "512/512"}).returncode == 0
    refused = exchange_with_sectors(tmp_path, {"a": "512/512", "b": "512/4096"})
    assert refused.returncode != 0
    assert "512/512" in refused.stderr
    assert "512/4096" in refused.stderr


def test_sectors_are_compared_before_anything_is_attached_unless_the_layout_sets_the_ashift() -> None:
    _, whole = changed("zfs a", "zfs mirror a b")
    assert "ashift" in whole.make[0].title
    _, whole = changed("zfs a ashift=12", "zfs mirror a b ashift=12")
    assert not any("ashift" in step.title for step in whole.make)
