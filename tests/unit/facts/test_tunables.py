"""The kernel's settings as this machine has them, and as grep prints those of a host with OpenZFS."""

from pathlib import Path

from poolproof.facts.tunables import tunables
from poolproof.hosts.local import LocalHost
from tests.unit.facts.told import ToldHost

SAID = """\
/proc/sys/vm/dirty_ratio:20
/proc/sys/vm/dirty_bytes:0
/sys/module/zfs/parameters/zfs_txg_timeout:1
/sys/module/zfs/parameters/zfs_arc_max:268435456
/sys/module/zfs/parameters/zfs_other:7
"""


def test_those_of_this_machine() -> None:
    found = tunables(LocalHost(), {})
    assert found["vm.dirty_ratio"] == Path("/proc/sys/vm/dirty_ratio").read_text(encoding="ascii").strip()
    assert all(value.isdigit() for value in found.values())


def test_those_of_a_module_that_is_loaded() -> None:
    host = ToldHost({}, {"/sys/module/zfs/parameters/zfs_arc_max": SAID})
    names = ("zfs_txg_timeout", "zfs_arc_max")
    assert tunables(host, {f"/sys/module/zfs/parameters/{name}": name for name in names}) == {
        "vm.dirty_ratio": "20",
        "vm.dirty_bytes": "0",
        "zfs_txg_timeout": "1",
        "zfs_arc_max": "268435456",
    }
