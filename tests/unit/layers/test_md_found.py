"""Directories on md arrays that poolproof did not build, as sysfs of Linux 6.1 shows the arrays (mdadm 4.2)."""

import pytest

from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import Target
from poolproof.layers import open_layout
from poolproof.layers.layer_catalogue import busy_on, device_under, leaves_under
from poolproof.layers.md_found import SYSFS, ArrayReader
from poolproof.layers.tree import expected

from .ground import plan
from .recorded import RecordedHost

_MIRROR = "level raid1\nraid_disks 2\nlayout 0\ndegraded 0\nsync_action idle\nbitmap/location none\n"
_DEGRADED = (
    "level raid1\nraid_disks 2\nlayout 0\ndegraded 1\nsync_action idle\nbitmap/location +8\nmember sda in_sync\n"
)
_ARRAYS = {
    "mirror": f"{_MIRROR}member sda in_sync\nmember sdb in_sync\n",
    "bitmap": f"{_MIRROR.replace('none', '+8')}member sda in_sync\nmember sdb in_sync\n",
    "failed": f"{_DEGRADED}member sdb faulty\n",
    "rebuilt": f"{_DEGRADED.replace('idle', 'recover')}member sdb spare\n",
    "far": (
        "level raid10\nraid_disks 3\nlayout 513\ndegraded 0\nsync_action resync\nbitmap/location none\n"
        "member sda in_sync\nmember sdb in_sync\nmember sdc in_sync\nmember sdd spare\n"
    ),
    "parity": (
        "level raid5\nraid_disks 3\nlayout 2\ndegraded 0\nsync_action idle\nbitmap/location none\n"
        "member sda in_sync\nmember sdb in_sync\nmember sdc in_sync\n"
    ),
    "stripe": "level raid0\nraid_disks 2\nlayout -1\nbitmap/location none\nmember md1 in_sync\nmember md2 in_sync\n",
}
_ARRAYS["journal"] = f"{_ARRAYS['parity']}member sdd journal\n"
_MOUNTS = "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 23 9:3 / /srv rw,relatime - ext4 /dev/md3 rw,stripe=256\n"


def _host(array: str) -> RecordedHost:
    below = {"md3": _ARRAYS[array], "md1": _ARRAYS["mirror"], "md2": _ARRAYS["mirror"].replace("sda", "sdc")}
    return RecordedHost(
        {
            ("realpath", "--canonicalize-existing", "/srv"): "/srv\n",
            **{
                ("sh", "-c", SYSFS, "sh", name): text.replace("sdb", "sdd" if name == "md2" else "sdb")
                for name, text in below.items()
            },
        },
        {"/proc/self/mountinfo": _MOUNTS, "/sys/dev/block/9:3/uevent": "MAJOR=9\nMINOR=3\nDEVNAME=md3\n"},
    )


@pytest.mark.parametrize(
    ("array", "leaves", "factor"),
    [
        ("mirror", "sda sdb", 2),
        ("failed", "sda", 1),
        ("far", "sda sdb sdc", 2),
        ("parity", "sda sdb sdc", 1.5),
        ("stripe", "sda sdb sdc sdd", 2),
        ("rebuilt", "md3", 1),
        ("journal", "md3", 1),
    ],
)
def test_the_members_are_counted_if_what_is_written_to_them_is_known(array: str, leaves: str, factor: float) -> None:
    host = _host(array)
    assert [below.device for below in leaves_under(host, "/srv")] == leaves.split()
    assert [below.device for below in device_under(host, "/srv")] == ["md3"]
    planned = plan("dir /srv", host=host)
    assert expected(planned.top.node, {}, open_layout.expected_below(planned, host)) == Expected(factor)


def test_a_member_that_failed_after_the_plan_leaves_the_write_amplification_unknown() -> None:
    planned = plan("dir /srv", host=_host("mirror"))
    assert open_layout.expected_below(planned, _host("failed")) == {}


@pytest.mark.parametrize(("array", "has_bitmap"), [("mirror", False), ("bitmap", True), ("rebuilt", None)])
def test_a_write_intent_bitmap_is_described(array: str, has_bitmap: bool | None) -> None:
    host = _host(array)
    assert open_layout.describe(plan("dir /srv", host=host), host, Target("ext4")).md_bitmap is has_bitmap


def test_a_resync_concerns_the_members() -> None:
    mdstat = "md3 : active raid1 sdb[1] sda[0]\n      1046528 blocks [2/2] [UU]\n      [==>...]  resync = 12.6% (1/8)\n"
    host = RecordedHost({}, {"/proc/mdstat": mdstat, "/proc/self/mountinfo": ""})
    assert busy_on(["sda"], host) == busy_on(["md3"], host) == ("a resync of md3 (12.6% done)",)
    assert busy_on(["sdc"], host) == ()


def test_an_array_below_itself_ends_the_search() -> None:
    """Only a host that lies shows such an array."""
    mirror = _MIRROR + "member {} in_sync\nmember {} in_sync\n"
    below = {"md3": ("md1", "md2"), "md1": ("md3", "sda"), "md2": ("md2", "md1")}
    answers: dict[tuple[str, ...], str] = {
        ("sh", "-c", SYSFS, "sh", name): mirror.format(*members) for name, members in below.items()
    }
    disks = ArrayReader().members_of("md3", RecordedHost(answers, {}))
    assert disks is not None and set(disks) == {"md1", "md2", "md3", "sda"}


@pytest.mark.parametrize("disks", [5000, 10**12])
def test_an_array_with_more_disks_than_md_supports_is_unknown(disks: int) -> None:
    text = _DEGRADED.replace("raid_disks 2", f"raid_disks {disks}").replace("degraded 1", f"degraded {disks - 1}")
    host = RecordedHost({("sh", "-c", SYSFS, "sh", "md3"): text}, {})
    assert ArrayReader().members_of("md3", host) is None
