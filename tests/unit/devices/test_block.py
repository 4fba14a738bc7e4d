"""The output of lsblk, wipefs and mountinfo is parsed into facts."""

import pytest

from poolproof.errors import HostError
from poolproof.facts.block import mount_of, parse_lsblk, parse_mountinfo, parse_wipefs

from .captured import server, server_disk, text


def test_disks_without_a_medium_are_left_out() -> None:
    assert [disk.name for disk in server()] == ["nvme0n1", "sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg"]


def test_a_disk_is_known_by_its_most_readable_name() -> None:
    disk = server_disk("sdd")
    assert disk.identity == "ata-HGST_HUS726T4TALA6L4_V1G0DDDD"
    assert disk.stable_path == "/dev/disk/by-id/ata-HGST_HUS726T4TALA6L4_V1G0DDDD"
    assert disk.identities[1:] == ("wwn-0x5000cca0dddd0000", "V1G0DDDD", "0x5000cca0dddd0000")
    assert server_disk("nvme0n1").identity == "nvme-Samsung_SSD_980_500GB_S64DNX0R123456"
    assert (disk.rotational, disk.size_bytes) == (True, 4000787030016)
    assert disk.counter == "/sys/class/block/sdd/stat"


def test_without_udev_a_disk_is_known_by_its_serial() -> None:
    (disk,) = parse_lsblk(text("lsblk-2.34-desktop.json"), {})
    assert disk.identity == "WD-WCC6Y0AAAAAA"
    assert disk.stable_path == "/dev/sda"


def test_numbers_and_flags_as_text_are_read_too() -> None:
    (disk,) = parse_lsblk(text("lsblk-2.34-desktop.json"), {})
    assert (disk.size_bytes, disk.rotational, disk.read_only) == (1000204886016, True, False)
    assert disk.children[0].mount_points == ("/",)


def test_the_tree_of_a_disk_has_the_devices_on_top_of_it() -> None:
    assert [device.name for device in server_disk("nvme0n1").tree()] == ["nvme0n1", "nvme0n1p1", "nvme0n1p2", "dm-0"]
    assert server_disk("sdg").mount_points == ("/srv/media", "/mnt/media")


@pytest.mark.parametrize("said", ["", "lsblk: unrecognized option '--json'", "[]", '{"devices": []}'])
def test_text_that_is_not_a_listing_is_an_error(said: str) -> None:
    with pytest.raises(HostError, match="lsblk"):
        parse_lsblk(said, {})


def test_signatures() -> None:
    assert parse_wipefs(text("wipefs-2.38.1.json")) == ("gpt", "gpt", "PMBR")
    assert parse_wipefs("") == ()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("/home/ada", "/dev/mapper/vg0-root"),
        ("/", "/dev/mapper/vg0-root"),
        ("/dev/shm/x", "tmpfs"),
        ("/dev/shmoo", "/dev/mapper/vg0-root"),
        ("/srv/photos/2026", "/dev/sdh"),
        ("/srv/my media/film", "/dev/sdf1"),  # mounted over /dev/sdg
    ],
)
def test_the_last_and_deepest_mount_holds_a_path(path: str, source: str) -> None:
    mount = mount_of(parse_mountinfo(text("mountinfo-6.1.txt")), path)
    assert mount is not None
    assert mount.source == source


def test_an_overlay_names_its_upper_directory() -> None:
    mount = mount_of(parse_mountinfo(text("mountinfo-6.1.txt")), "/var/lib/box")
    assert mount is not None
    assert "upperdir=/srv/my media/upper" in mount.options


@pytest.mark.parametrize(
    "listing",
    ['{"blockdevices": [{"children": "x"}]}', '{"blockdevices": [5]}', "[1]", "[" * 5000, '{"signatures": 5}'],
)
def test_json_of_another_form_is_one_clear_error(listing: str) -> None:
    with pytest.raises(HostError, match=r"^lsblk"):
        parse_lsblk(listing, {})
    with pytest.raises(HostError, match=r"^wipefs"):
        parse_wipefs(listing)


@pytest.mark.parametrize("character", ["\u2028", "\x85", "\x0c", "\x1c", "\x0b"])
def test_a_mount_point_with_a_character_like_a_line_end_is_one_mount(character: str) -> None:
    line = f"30 20 0:40 / /home/eve/a{character}b rw,nosuid - fuse.eve eve{character} rw,user_id=1000\n"
    mounts = parse_mountinfo(f"20 1 8:1 / / rw - ext4 /dev/sda1 rw\n{line}")
    assert [mount.point for mount in mounts] == ["/", f"/home/eve/a{character}b"]
    assert mount_of(mounts, "/srv") == mounts[0]


@pytest.mark.parametrize("line", ["", " - ", "a - b", "30 20 0:40 / /a rw - ext4 /dev/sdb", " rw - ext4 /dev/sdb rw"])
def test_an_incomplete_line_of_the_mounts_is_skipped(line: str) -> None:
    assert parse_mountinfo(line) == ()
