"""A mistake in a layout is found before anything is built, and is shown with a caret under the word."""

from collections.abc import Callable

import pytest

from poolproof.campaign.expression import parse_expression
from poolproof.errors import CampaignError
from poolproof.layers import resolve as resolving
from poolproof.layers import tree
from tests.golden import Message

from .ground import resolve

MISTAKES = [
    ("a | ext5", "ext5", "`ext4`"),
    ("a | b", "b", "`|`"),
    ("rsut | ext4", "rsut", "`rust`"),
    ("a b", "b", "`|`"),
    ("ext4", "ext4", "needs a device"),
    ("ext4 a b", "b", "takes one device"),
    ("a | ext4 noatim", "noatim", "`noatime`"),
    ("a | ext4 inode_ratoi=4096", "inode_ratoi=4096", "`inode_ratio`"),
    ("a | ext4 commit=5 commit=9", "commit=9", "given twice"),
    ("a | ext4 errors=continue,ro", "errors=continue,ro", "comma"),
    ("(dir /srv) | ext4", "ext4", "needs block devices"),
    ("a | xfs metadata.reflnk=0", "metadata.reflnk=0", "`metadata.reflink`"),
    ("a | xfs logdev=sdb", "logdev=sdb", "cannot set `logdev`, because its value would name a file"),
    ("zfs a mountpoint=/srv", "mountpoint=/srv", "cannot set `mountpoint`"),
    ("btrfs raid11 a b", "raid11", "`raid1`"),
    ("btrfs raid1 a", "raid1", "at least 2 devices"),
    ("btrfs raid1c3 a b", "raid1c3", "at least 3 devices"),
    ("btrfs raid10 a", "raid10", "at least 2 devices"),
    ("btrfs a b metadata=raid1c3", "metadata=raid1c3", "at least 3 devices"),
    ("btrfs a b metadata=raid2", "metadata=raid2", "of btrfs"),
    ("btrfs a b raid1", "raid1", "metadata=raid1"),
    ("btrfs raid1 a a", "a", "used twice"),
    ("a | btrfs b", "b", "left of the `|`"),
    ("btrfs (a | ext4)", "(a | ext4)", "needs block devices"),
    ("mergerfs a", "a", "needs directories"),
    ("mergerfs", "mergerfs", "branch"),
    ("mergerfs (a | ext4) category.create=epmf", "category.create=epmf", "`epmfs`"),
    ("mergerfs (a | ext4) minfreespce=1G", "minfreespce=1G", "`minfreespace`"),
    ("dir", "dir", "needs the path"),
    ("dir data", "data", "absolute"),
    ("dir /a /b", "/b", "path"),
    ("a | dir /b", "dir", "first"),
    ("zfs", "zfs", "data vdev"),
    ("zfs log a", "zfs", "data vdev"),
    ("zfs mirror a", "mirror", "at least 2 devices"),
    ("zfs raidz2 a b", "raidz2", "at least 3 devices"),
    ("zfs raidz4 a b c d e f", "raidz4", "1, 2 or 3"),
    ("zfs mirror a b log", "log", "at least 1 device"),
    ("zfs cache mirror a b", "cache", "at least 1 device"),
    ("zfs mirror a b log c log d", "log", "only once"),
    ("zfs mirror a b log raidz1 c d", "raidz1", "log vdev"),
    ("zfs mirror a b c mirror d e", "mirror", "3-way mirror and a 2-way mirror"),
    ("zfs mirror a b special c", "c", "2-way mirror and a single disk"),
    ("zfs raidz2 a b c mirror d e", "mirror", "raidz2 of 3 devices and a 2-way mirror"),
    ("zfs mirrr a b", "mirrr", "`mirror`"),
    ("zfs draid1:4d a b c", "draid1:4d", "found 3"),
    ("zfs draid1:0d a b c", "draid1:0d", "at least 1 data device"),
    ("zfs draid1:5c a b c", "draid1:5c", "5 children"),
    ("zfs draid:3x a b c", "draid:3x", "write draid as"),
    ("zfs a ashift=20", "ashift=20", "9 to 16"),
    ("zfs a compresion=off", "compresion=off", "`compression`"),
    ("zfs a recordsize=100k", "recordsize=100k", "a power of 2"),
    ("zfs a sync=allways", "sync=allways", "`always`"),
    ("zfs (a | ext4)", "(a | ext4)", "needs block devices"),
    ("a | zvol 1G", "zvol", "needs a pool"),
    ("zfs a | zvol", "zvol", "needs a size"),
    ("zfs a | zvol large", "large", "not a size"),
    ("zfs a | zvol 1G recordsize=16k", "recordsize=16k", "ZFS property"),
    ("md raid5 a b", "raid5", "at least 3 devices"),
    ("md raid7 a b", "raid7", "`raid7`"),
    ("md a b", "a", "needs a level first"),
    ("md raid1 a b bitmap=intrnal", "bitmap=intrnal", "`internal`"),
    ("md raid10 a b layout=q2", "layout=q2", "copies"),
    ("md raid0 a write-mostly b", "raid0", "only with raid1"),
    ("lvm cache hdd1 nvme1", "cache", "fast device"),
    ("lvm linear hdd1 cachevol nvme1", "cachevol", "writecache"),
    ("lvm raid1 a", "raid1", "at least 2 devices"),
    ("lvm raid1 a b mirrors=two", "mirrors=two", "mirrors=1"),
    ("lvm raid1 a b mirrors=2", "mirrors=2", "needs 3 devices, found 2"),
    ("lvm raid10 a b c d mirrors=1 stripes=3", "mirrors=1", "needs 6 devices, found 4"),
    ("lvm raid5 a b c stripes=3", "stripes=3", "needs 4 devices, found 3"),
    ("md raid5 a b c write-journal=/dev/sdq", "write-journal=/dev/sdq", "of md"),
    ("a | luks cypher=aes", "cypher=aes", "`cipher`"),
    ("a | luks sector-size=1000", "sector-size=1000", "1024, 2048, 4096 or 512"),
    ("autotier (a | ext4)", "autotier", "at least 2 tiers"),
    ("autotier quota=20% (a | ext4) (b | ext4)", "quota=20%", "tier"),
    ("autotier (a | ext4) quota=lots (b | ext4)", "quota=lots", "not a quota"),
    ("autotier (a | ext4) quota=120% (b | ext4)", "quota=120%", "not a quota"),
]


@pytest.mark.parametrize(("text", "pointed_at", "fact"), MISTAKES)
def test_the_caret_is_under_the_word(text: str, pointed_at: str, fact: str) -> None:
    with pytest.raises(CampaignError) as raised:
        resolve(text)
    message, line, carets = raised.value.message.split("\n")
    assert fact in message
    assert line.strip() == text
    assert line[carets.index("^") : carets.rindex("^") + 1] == pointed_at


def test_the_messages_about_mistakes_in_layouts(wording: Callable[[str], str]) -> None:
    for text, _, _ in MISTAKES:
        with pytest.raises(CampaignError) as raised:
            resolve(text)
        wording(str(raised.value))


@pytest.mark.parametrize(
    "text", ["zfs raidz1 a b raidz1 c d e", "zfs raidz2 a b c raidz2 d e f rust", "zfs mirror a b raidz1 c d e"]
)
def test_vdevs_of_the_same_redundancy_may_be_combined(text: str) -> None:
    """zpool accepts raidz vdevs of different widths in OpenZFS 2.1 and 2.3."""
    assert tree.devices(resolve(text))


def test_a_device_named_like_a_layer(message: Message) -> None:
    with pytest.raises(CampaignError, match="zfs") as caught:
        resolving.resolve(parse_expression("zfs a"), ["zfs", "a"])
    message(caught.value)
