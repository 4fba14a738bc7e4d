"""A target is `discarded` if, and only if, mkfs ran directly on a real disk that supports discard."""

from dataclasses import replace

import pytest

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence import model
from poolproof.evidence.target_facts import Target
from poolproof.layers.open_layout import describe
from poolproof.layers.tree import plan_tree
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.facts.told import ToldHost
from tests.unit.rules.making import EXT4, GIB, counted, direction, jobs, said

from .ground import SITE, resolve

METAL = Target("ext4", rotational=False, in_guest=False)


def disk(name: str) -> Volume:
    path = f"/dev/{name}"
    return Volume(path, True, (Leaf("d", path, f"/sys/class/block/{name}/stat"),))


def host(name: str, most: str = "2147450880\n") -> ToldHost:
    return ToldHost({f"/sys/class/block/{name}/queue/discard_max_bytes": most})


def described(text: str, volume: Volume, on: ToldHost, target: Target = METAL) -> Target:
    return describe(plan_tree(resolve(text), {"a": volume}, SITE, "mix"), on, target)


@pytest.mark.parametrize("text", ["a | ext4", "a | xfs", "btrfs a"])
def test_a_file_system_directly_on_an_ssd(text: str) -> None:
    assert described(text, disk("sda"), host("sda")).discarded


@pytest.mark.parametrize(
    ("target", "volume", "told"),
    [
        (METAL, disk("sda"), host("sda", "0\n")),
        (METAL, disk("sda"), ToldHost({})),
        (METAL, disk("loop0"), host("loop0")),
        (METAL, replace(disk("sda"), path="/dev/mapper/vault"), host("sda")),
        (replace(METAL, in_guest=True), disk("sda"), host("sda")),
        (replace(METAL, in_guest=None), disk("sda"), host("sda")),
    ],
    ids=["no discards", "nothing told", "a loop device", "a layer between", "a guest", "nobody knows"],
)
def test_other_targets_are_unchanged(target: Target, volume: Volume, told: ToldHost) -> None:
    assert described("a | ext4", volume, told, target) == target


@pytest.mark.parametrize(("unwritten", "verdict"), [(0, "sound"), (1 << 20, "suspect")])
def test_reads_of_files_that_were_filled_since_are_sound(unwritten: int, verdict: str) -> None:
    counts = replace(
        counted(read=(GIB, GIB)), files=(model.TestFile("X", GIB, hole_bytes=0, unwritten_bytes=unwritten),)
    )
    job = jobs("rw=randread bs=4k size=1g direct=1 ioengine=libaio iodepth=16 filename=X")
    case = Case(job, said(read=direction(GIB, 10.0)), counts, replace(EXT4, discarded=True))
    assert judge(case).verdict == verdict
