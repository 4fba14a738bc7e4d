"""Background work on disks, according to /proc/mdstat of Linux 6.1 (mdadm 4.2)."""

import pytest

from poolproof.layers.layer_catalogue import busy_on
from poolproof.layers.md import ArrayWork, parse_mdstat

from .recorded import RecordedHost

_MDSTAT = """\
Personalities : [raid1] [raid6] [raid5] [raid4]
md1 : active raid1 loop3[1] loop2[0]
      1046528 blocks super 1.2 [2/2] [UU]

md0 : active raid1 loop1[1] loop0[0]
      1046528 blocks super 1.2 [2/2] [UU]
      [==>..................]  resync = 12.6% (132224/1046528) finish=0.4min speed=33056K/sec

unused devices: <none>
"""


def test_an_array_at_work_is_named_with_how_far_it_is() -> None:
    assert list(parse_mdstat(_MDSTAT)) == [ArrayWork("md0", ("loop1", "loop0"), "resync", "12.6%")]


def test_idle_arrays_and_no_arrays() -> None:
    assert list(parse_mdstat("Personalities : \nunused devices: <none>\n")) == []
    assert list(parse_mdstat("")) == []


@pytest.mark.parametrize(
    ("device", "born", "said"),
    [
        ("sda", "1795300000", ("the initialization of ext4's inode tables (ext4lazyinit)",)),
        ("sda", "1790000000", ()),
        ("sda", "0", ()),
        ("sdb", "1795300000", ()),
        ("nvme0n1", "1795300000", ()),
    ],
)
def test_lazy_initialization_counts_for_a_new_ext4_on_the_disk(device: str, born: str, said: tuple[str, ...]) -> None:
    mounts = "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n29 24 8:16 / /srv rw - xfs /dev/sdb rw\n"
    host = RecordedHost(
        said={
            ("ps", "-e", "-o", "comm="): "systemd\next4lazyinit\n",
            ("stat", "-c", "%W", "--", "/"): f"{born}\n",
            ("date", "+%s"): "1795310018\n",
        },
        files={"/proc/self/mountinfo": mounts, "/proc/mdstat": _MDSTAT},
    )
    assert busy_on([device], host) == said
