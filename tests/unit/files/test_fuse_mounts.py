"""The FUSE file systems through which a path leads, and who mounted them."""

import pytest

from poolproof.files.fuse_mounts import fuse_mounters

# /proc/self/mountinfo, Linux 6.18, with mounts by mergerfs 2.41 and sshfs 3.7; the last line is ntfs-3g
MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
36 22 0:31 / /srv/pool rw,relatime shared:18 - fuse.mergerfs a:b rw,user_id=0,group_id=0,default_permissions,allow_other
37 22 0:32 / /home/bob/my\040nas rw,nosuid,nodev,relatime - fuse.sshfs nas:/x rw,user_id=1001,group_id=1001
38 22 0:33 / /home/bob/in rw,relatime - tmpfs user_id=7 rw,size=1k
39 22 8:17 / /mnt/usb rw,relatime - fuseblk /dev/sdb1 rw,user_id=0,group_id=0,allow_other,blksize=4096
"""


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/srv/pool/runs", (("/srv/pool", 0),)),
        ("/home/bob/my nas", (("/home/bob/my nas", 1001),)),
        ("/home/bob/my nas/deep/er", (("/home/bob/my nas", 1001),)),
        ("/home/bob/my nasty", ()),
        ("/home/bob/in/x", ()),
        ("/mnt/usb", (("/mnt/usb", 0),)),
        ("/", ()),
    ],
)
def test_who_mounted_the_file_systems_of_a_path(path: str, found: tuple[tuple[str, int], ...]) -> None:
    assert fuse_mounters(path, MOUNTS) == found


@pytest.mark.parametrize("character", ["\r", "\f", "\v", "\x1c", "\u2028", "\xa0"])
def test_an_unusual_character_in_a_name_hides_nothing(character: str) -> None:
    point = f"/a{character}b"
    mounts = f"22 1 0:5 / {point} rw - fuse.x{character} s{character} rw,user_id=1000,group_id=1000\n"
    assert fuse_mounters(f"{point}/c", mounts) == ((point, 1000),)


def test_a_root_file_system_can_be_fuse_too() -> None:
    assert fuse_mounters("/x", "22 1 0:5 / / rw - fuse x rw,user_id=1000,group_id=1000\n") == (("/", 1000),)
