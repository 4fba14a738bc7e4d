"""Facts about the branches of mergerfs and the tiers of autotier, which the mount of the whole does not show."""

import pytest

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.target_facts import Target
from poolproof.layers.open_layout import describe
from poolproof.layers.tree import plan_tree
from tests.unit.facts.told import ToldHost

from .ground import SITE, resolve

_TARGET = Target("fuse.mergerfs", mount_options=("rw", "allow_other"))
_LINE = "{number} 1 0:{number} / {point} rw,relatime shared:1 - {kind} /dev/{name} {options}\n"


def _disk(name: str) -> Volume:
    path = f"/dev/{name}"
    return Volume(path, True, (Leaf(name, path, f"/sys/class/block/{name}/stat"),))


def _described(text: str, *mounts: tuple[str, str]) -> Target:
    """Return the target of a layout over the devices a and b.

    `mounts`: the file system and the options of each mounted branch, in the order of the branches.
    """
    plan = plan_tree(resolve(text), {"a": _disk("loop1"), "b": _disk("loop2")}, SITE, "mix")
    lines = [
        _LINE.format(number=30 + number, point=branch.volume.path, kind=kind, name="x", options=options)
        for number, (branch, (kind, options)) in enumerate(zip(plan.top.inputs, mounts, strict=True))
    ]
    return describe(plan, ToldHost({"/proc/self/mountinfo": "".join(lines)}), _TARGET)


_PLAIN = ("ext4", "rw")


@pytest.mark.parametrize("pool", ["mergerfs", "autotier"])
@pytest.mark.parametrize("option", ["data=journal", "nobarrier"])
def test_one_branch_is_enough_for_an_option_that_may_keep_data_in_ram(pool: str, option: str) -> None:
    found = _described(f"{pool} (a | ext4) (b | ext4)", _PLAIN, ("ext4", f"rw,{option}"))
    assert found.mount_options == ("rw", "allow_other", option)
    assert _described(f"{pool} (a | ext4) (b | ext4)", _PLAIN, _PLAIN) == _TARGET


@pytest.mark.parametrize("pool", ["mergerfs", "autotier"])
def test_a_branch_that_compresses_is_known(pool: str) -> None:
    found = _described(f"{pool} (a | ext4) (b | btrfs compress=zstd:3)", _PLAIN, ("btrfs", "rw,compress=zstd:3"))
    assert (found.compression, found.record_bytes) == ("zstd:3", 128 * 1024)
    assert _described(f"{pool} (a | ext4) (b | btrfs)", _PLAIN, ("btrfs", "rw")).compression is None


def test_writes_are_synchronous_only_if_they_are_on_all_branches() -> None:
    text = "mergerfs (a | ext4) (b | ext4)"
    assert "sync" in _described(text, ("ext4", "rw,sync"), ("ext4", "rw,sync")).mount_options
    assert "sync" not in _described(text, ("ext4", "rw,sync"), _PLAIN).mount_options
