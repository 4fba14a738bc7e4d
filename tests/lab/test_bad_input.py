"""A layout that can't be built is refused before anything is built.

A vdev tree is refused if, and only if, zpool would refuse it.
"""

from pathlib import Path

import pytest

from poolproof.campaign.expression import parse_expression
from poolproof.errors import CampaignError, HostError
from poolproof.layers import tree
from poolproof.layers.resolve import resolve
from tests.unit.layers.ground import SITE, device

from .machine import Machine, leftovers, poolproof

MIB = 1024**2
SIZES_MIB = {**dict.fromkeys("abcdef", 80), "large": 128}
TREES = (
    *("a", "a large", "mirror a b", "mirror a b c mirror d e", "mirror a large", "-f mirror a large", "mirror a"),
    *("a mirror b c", "-f a mirror b c", "raidz1 a", "raidz1 a b", "raidz2 a b", "raidz3 a b c", "raidz3 a b c d"),
    *("raidz4 a b c d e f", "raidz1 a b raidz1 c d e", "raidz1 a b raidz2 c d e", "raidz1 a b large"),
    *("mirror a b raidz1 c d e", "mirror a b c raidz2 d e f", "raidz2 a b c mirror d e", "draid1:1d:2s a b c"),
    *("draid a b", "draid1:1d:3c:1s a b c", "draid2:2d a b c", "draid1:5c a b c", "draid:3x a b c"),
    *("draid1 a b c raidz1 d e", "draid1 a b c draid1 d e", "draid1:1d:3c a b c draid2:1d:3c d e f"),
    *("log a", "mirror a b log", "mirror a b log c mirror d e", "mirror a b log raidz1 c d e", "a log b log c"),
    *("a cache b", "a cache mirror b c", "a cache b cache c", "a spare b", "a spare mirror b c", "cache mirror a b"),
    *("mirror a b special c", "-f mirror a b special c", "raidz1 a b c special mirror d e", "a special raidz1 b c"),
    *("mirror a b dedup mirror c d spare e", "mirror a b dedup c", "mirror a b log mirror c large"),
)  # fmt: skip
ASKED = """
mkdir "$0" && cd "$0" && trap 'rm -r "$0"' EXIT && modprobe zfs
for name in a b c d e f; do truncate -s 80M "$name"; done; truncate -s 128M large
for line; do
    words=; for word in $line; do [ -f "$word" ] && word=$0/$word; words="$words $word"; done
    said=$(zpool create -n probe $words 2>&1) && echo "$line: taken" || echo "$line: refused:" $said
done
"""


@pytest.mark.zfs("2.1", "2.3")
def test_a_vdev_tree_is_refused_if_zpool_refuses_it(lab: Machine) -> None:
    said = lab.run("sh", "-c", ASKED, f"/dev/shm/{lab.name}-trees", *TREES)
    assert said.code == 0, said.err
    zpool = {line.partition(": ")[0]: line.partition(": ")[2] for line in said.out.splitlines()}
    assert list(zpool) == list(TREES)
    differing = {text: answer for text, answer in zpool.items() if (answer == "taken") != _is_taken(text)}
    assert differing == {}


def _is_taken(text: str) -> bool:
    sizes = {name: size * MIB for name, size in SIZES_MIB.items()}
    volumes = {name: device(name, size_bytes) for name, size_bytes in sizes.items()}
    try:
        tree.plan_tree(resolve(parse_expression(f"zfs {text}"), list(volumes)), volumes, SITE, "probe")
    except (CampaignError, HostError):
        return False
    return True


def test_a_device_below_the_minimum_is_refused_before_anything_is_built(lab: Machine, tmp_path: Path) -> None:
    devices = ("-d", "a=file:320M", "-d", "tiny=file:64M")
    layout, workload = ("-l", "zfs -f mirror a tiny"), ("-w", "rw=read,size=8m")
    answer = poolproof("run", *layout, *devices, *workload, "--on", lab.on, "--out", str(tmp_path / "run"), "--json")
    assert "zfs needs at least 74 MiB" in answer.error["message"]
    assert not (tmp_path / "run" / "journal.jsonl").exists()
    assert leftovers(lab) == ""
