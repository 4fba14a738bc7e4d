"""The facts about the disks under a layout that a host reports, and facts that stay unknown."""

from dataclasses import replace

import pytest

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.target_facts import Target
from poolproof.facts.block import Below
from poolproof.facts.machine import Machine
from poolproof.hosts.base import Hosts
from poolproof.load.fio.jobfile import read_job_file
from poolproof.load.fio.load import load_of
from poolproof.measure.target import target_of
from poolproof.rules.judge import judge, lint
from poolproof.rules.model import Case
from tests.unit.facts.told import ToldHost
from tests.unit.rules.making import direction, said

_MOUNTS = "40 1 8:1 / /srv rw,relatime shared:1 - ext4 /dev/sda rw\n"
_SATA = "/sys/devices/pci0000:00/0000:00:17.0/ata{}/host0/target0:0:0/0:0:0:0/block/sd{}"
_SECTORS = {"sda": "4096\n", "sdb": "512\n"}
_BELOW = Below("vda", "/sys/class/block/vda/stat")


def leaf(device: str, below: Below | None = None, model: str = "") -> Leaf:
    return Leaf("d", f"/dev/{device}", f"/sys/class/block/{device}/stat", below, model=model)


def target(*leaves: Leaf, files: dict[str, str] | None = None, guest: bool | None = None) -> Target:
    places = {
        "/sys/class/block/sda": _SATA.format(1, "a"),
        "/sys/class/block/sdb": _SATA.format(2, "b"),
        "/sys/class/block/loop0": "/sys/devices/virtual/block/loop0",
    }
    host = ToldHost({"/proc/self/mountinfo": _MOUNTS, **(files or {})}, places)
    machine = Machine("Linux 6.18.5", "Debian", 4, 8 << 30, 4 << 30, True, frozenset(), frozenset(), is_guest=guest)
    return target_of(host, Volume("/srv", False, leaves), leaves, machine)


def test_the_bandwidths_of_all_links_add_up() -> None:
    found = target(leaf("sda"), leaf("sdb"))
    assert (found.ceiling_read_bytes_per_s, found.ceiling_write_bytes_per_s) == (1200e6, 1200e6)


def test_an_emulated_disk_has_the_link_of_its_kind() -> None:
    """1,078 MiB/s from an emulated hard disk were `sound`."""
    found = target(leaf("loop0", model="hdd-7200"), leaf("loop1", model="nvme"))
    assert (found.ceiling_read_bytes_per_s, found.ceiling_write_bytes_per_s) == (4540e6, 4540e6)
    one = target(leaf("loop0", model="hdd-7200"))
    job = load_of(read_job_file("[w]\nrw=write\nbs=1m\nsize=1g\ndirect=1\ndirectory=/srv\n").jobs)
    for rate, refuted in ((1078 << 20, True), (200_000_000, False)):
        case = Case(job, said(write=direction(rate, 1.0, 1 << 20), name="w"), target=one)
        assert ("physical-ceiling" in {each.rule for each in judge(case).findings}) is refuted


def test_one_unknown_link_makes_the_ceiling_unknown() -> None:
    assert target(leaf("sda"), leaf("loop0")).ceiling_read_bytes_per_s is None
    assert target().ceiling_read_bytes_per_s is None


@pytest.mark.parametrize(("says", "zoned"), [("none\n", None), ("host-aware\n", True), ("host-managed\n", True)])
def test_a_zoned_disk_is_recognized(says: str, zoned: bool | None) -> None:
    """A drive-managed shingled disk also reports "none", so "none" does not prove that the disk is not shingled."""
    assert target(leaf("sda"), leaf("sdb"), files={"/sys/class/block/sdb/queue/zoned": says}).zoned is zoned


@pytest.mark.parametrize(
    ("disk", "guest"),
    [(leaf("sda"), True), (leaf("loop0", _BELOW), True), (leaf("loop0"), None)],
    ids=["a disk", "a file on a disk", "an emulated disk, with its own model below"],
)
def test_disks_of_a_guest_may_be_cached_by_its_host(disk: Leaf, guest: bool | None) -> None:
    assert target(disk, guest=True).in_guest is guest
    assert target(disk, guest=None).in_guest is None


def test_an_array_is_looked_up_on_the_host_of_its_disks() -> None:
    mdstat = "md0 : active raid1 sda[0]\n      1047552 blocks super 1.2 [2/1] [U_]\n"
    lacking, fine = ({"/proc/self/mountinfo": _MOUNTS, "/proc/mdstat": text} for text in (mdstat, ""))
    machine = Machine("Linux 6.18.5", "Debian", 4, 8 << 30, 4 << 30, True, frozenset(), frozenset())
    here, there = leaf("sda"), replace(leaf("sda"), host="far")
    for disk, main, far, is_degraded in (
        (here, lacking, fine, True),
        (there, lacking, fine, False),
        (there, fine, lacking, True),
    ):
        hosts = Hosts(ToldHost(main, {}), {"far": ToldHost(far, {})})
        found = target_of(hosts, Volume("/srv", False, (disk,)), (disk,), machine)
        assert bool(found.degraded) is is_degraded


def test_the_sector_size_of_a_layout_is_the_largest_of_its_disks() -> None:
    sizes = {f"/sys/class/block/{name}/queue/physical_block_size": size for name, size in _SECTORS.items()}
    assert target(leaf("sda"), leaf("sdb"), files=sizes).physical_block_bytes == 4096
    assert target(leaf("sdb"), leaf("loop0"), files=sizes).physical_block_bytes == 512
    assert target(leaf("loop0"), files=sizes).physical_block_bytes is None


def test_a_pool_with_an_ashift_below_the_sector_size_is_reported() -> None:
    sizes = {"/sys/class/block/sda/queue/physical_block_size": "4096\n"}
    job = read_job_file("[w]\nrw=randwrite\nbs=4k\nsize=64m\ndirectory=/srv\n").jobs
    for alignment_bytes, is_told in ((512, True), (4096, False)):
        standing = replace(target(leaf("sda"), files=sizes), alignment_bytes=alignment_bytes)
        assert ("misaligned-sectors" in {each.rule for each in lint(Case(load_of(job), target=standing))}) is is_told


@pytest.mark.parametrize(
    ("leaves", "guest", "disks"),
    [
        ((leaf("sda"), leaf("sdb")), False, 2),
        ((leaf("sda"),), True, None),
        ((leaf("loop0", _BELOW),), False, None),
        ((leaf("loop0", model="hdd-7200"), leaf("loop1", model="hdd-7200")), True, 2),
        ((leaf("loop0", model="hdd-7200"), leaf("sda")), False, 2),
        ((leaf("loop0", model="hdd-7200"), leaf("sda")), True, None),
        ((), False, None),
    ],
    ids=[
        "real disks",
        "a disk of a guest",
        "a file on a loop device",
        "emulated disks of a guest",
        "one of each",
        "one of each in a guest",
        "no known disk",
    ],
)
def test_disks_are_counted_only_if_their_seek_time_is_known(
    leaves: tuple[Leaf, ...], guest: bool, disks: int | None
) -> None:
    assert target(*leaves, guest=guest).disks == disks


def test_a_seek_limit_applies_to_emulated_disks() -> None:
    files = {"/sys/class/block/loop0/queue/rotational": "1\n"}
    found = target(leaf("loop0", model="hdd-7200"), files=files, guest=True)
    assert (found.rotational, found.disks) == (True, 1)
    job = load_of(read_job_file("[r]\nrw=randread\nbs=4k\nsize=2m\ndirect=1\ndirectory=/srv\n").jobs)
    reads = direction(26_000 * 4096, 1.0)
    effects = {each.rule: each.effect for each in judge(Case(job, said(read=reads, name="r"), target=found)).findings}
    assert (effects["physical-ceiling"], effects["disk-buffer"]) == ("refutes", "suspects")


def test_the_rotational_ones_of_unlike_disks_are_named() -> None:
    hdd, ssd = replace(leaf("loop0", model="hdd-7200"), name="hdd"), replace(leaf("loop1", model="nvme"), name="ssd")
    files = {"/sys/class/block/loop0/queue/rotational": "1\n", "/sys/class/block/loop1/queue/rotational": "0\n"}
    found = target(hdd, ssd, files=files, guest=True)
    assert (found.rotational, found.rotational_devices) == (False, ("hdd",))
    unknown = replace(leaf("sda"), name="hdd")  # a virtual disk often calls itself rotational
    assert target(unknown, files={"/sys/class/block/sda/queue/rotational": "1\n"}, guest=True).rotational_devices == ()


def test_disks_that_the_kernel_does_not_count_are_named() -> None:
    off = target(leaf("sda"), files={"/sys/class/block/sda/queue/iostats": "0\n"})
    assert off.not_counted == ("d",)
    assert target(leaf("sda"), files={"/sys/class/block/sda/queue/iostats": "1\n"}).not_counted == ()


_FILES = {
    "/sys/class/block/loop0/loop/backing_file": "/img/a\n",
    "/sys/dev/block/8:2/uevent": "DEVNAME=vda\n",
    "/sys/class/block/vda/queue/write_cache": "write back\n",
}
_MOUNTS_OF_FILES = _MOUNTS + "41 1 8:2 / /img rw,relatime,{options} shared:1 - {kind} /dev/vda rw,{options}\n"


def _on_file(kind: str, options: str = "barrier=1", model: str = "", **files: str) -> Target:
    mounts = _MOUNTS_OF_FILES.format(kind=kind, options=options)
    told = {
        **_FILES,
        "/proc/self/mountinfo": mounts,
        **{f"/sys/class/block/{key}": text for key, text in files.items()},
    }
    return target(leaf("loop0", _BELOW, model), files=told)


def test_the_disk_below_a_loop_device_may_not_be_counted() -> None:
    assert _on_file("ext4", **{"vda/queue/iostats": "0\n"}).backing.not_counted == ("vda",)
    assert _on_file("ext4", **{"vda/queue/iostats": "1\n"}).backing.not_counted == ()


@pytest.mark.parametrize(
    ("kind", "model", "served"), [("fuse.nbdfuse", "", ("d",)), ("fuse.nbdfuse", "hdd-7200", ()), ("xfs", "", ())]
)
def test_a_program_serves_files_on_fuse(kind: str, model: str, served: tuple[str, ...]) -> None:
    assert _on_file(kind, model=model).backing.served_by_program == served


def test_the_options_of_the_file_system_with_the_file_are_known() -> None:
    assert "barrier=0" in _on_file("ext4", "barrier=0").backing.mount_options
    through = _on_file("ext4", "barrier=0", **{"vda/queue/write_cache": "write through\n"})
    assert through.backing.mount_options == ()


def test_a_setting_does_not_take_the_write_cache_from_a_loop_device() -> None:
    """Since the kernel then sends no flushes, syncs without a flush were judged as those of a disk without a cache."""
    through = {"/sys/class/block/loop0/queue/write_cache": "write through\n"}
    assert target(leaf("loop0"), files=through).write_through is False
    assert target(leaf("loop0"), files=through).without_write_cache == ()
    disk = {"/sys/class/block/sda/queue/write_cache": "write through\n"}
    assert target(leaf("sda"), files=disk).write_through is True
    assert target(leaf("sda")).write_through is None


@pytest.mark.parametrize(
    ("setting", "model", "unflushed"),
    [("write through", "", ("vda",)), ("write back", "", ()), ("write through", "hdd-7200", ())],
)
def test_a_disk_with_the_file_may_get_no_flushes(setting: str, model: str, unflushed: tuple[str, ...]) -> None:
    files = {"vda/queue/write_cache": f"{setting}\n", "vda/queue/../cache_type": "write back\n"}
    assert _on_file("ext4", model=model, **files).backing.unflushed == unflushed


_NO_FLUSHES = {"/sys/class/block/sda/queue/write_cache": "write through\n"}
_CACHE_TYPE = "/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/scsi_disk/0:0:0:0/cache_type"


@pytest.mark.parametrize(
    ("files", "through"),
    [
        ({}, True),
        ({"/sys/class/block/sda/queue/fua": "0\n", _CACHE_TYPE: "write through\n"}, True),
        ({_CACHE_TYPE: "write back\n"}, False),
        ({"/sys/class/block/sda/queue/fua": "1\n"}, False),
    ],
)
def test_a_setting_does_not_take_the_write_cache_from_a_disk(files: dict[str, str], through: bool) -> None:
    """The kernel only stops sending flushes; the driver of the disk, or FUA, shows that the cache is on."""
    assert target(leaf("sda"), files=_NO_FLUSHES | files).write_through is through


def test_a_virtual_disk_tells_its_write_cache() -> None:
    files = {"/sys/class/block/vda/queue/write_cache": "write through\n"}
    assert target(leaf("vda"), files=files).write_through is True
    files["/sys/class/block/vda/queue/../cache_type"] = "write back\n"
    assert target(leaf("vda"), files=files).write_through is False


def test_a_partition_has_the_queue_of_its_disk() -> None:
    found = target(leaf("sda1"), files={"/sys/class/block/sda1/../queue/write_cache": "write through\n"})
    assert (found.write_through, found.without_write_cache) == (True, ("d",))


@pytest.mark.parametrize(("upper", "volatile"), [("/mnt/ram/upper", True), ("/srv/upper", False)])
def test_an_overlay_writes_to_its_upper_directory(upper: str, volatile: bool) -> None:
    mounts = _MOUNTS + "41 1 0:40 / /mnt/ram rw - tmpfs tmpfs rw\n"
    mounts += f"42 1 0:41 / /srv/o rw - overlay overlay rw,lowerdir=/srv/low,upperdir={upper},workdir=/w\n"
    host = ToldHost({"/proc/self/mountinfo": mounts}, {})
    machine = Machine("Linux 6.18.5", "Debian", 4, 8 << 30, 4 << 30, True, frozenset(), frozenset())
    assert target_of(host, Volume("/srv/o/data", False, ()), (), machine).volatile is volatile


@pytest.mark.parametrize(("below", "cached"), [("0", ("/dev/loop0",)), ("1", ())])
def test_a_loop_device_below_another_one_may_use_the_page_cache(below: str, cached: tuple[str, ...]) -> None:
    """67,758 reads/s came from the page cache of the lower loop device's file and were `sound`."""
    facts = {
        "/proc/self/mountinfo": f"{_MOUNTS}42 1 7:9 / /mnt rw - ext4 /dev/loop9 rw\n",
        "/sys/dev/block/7:9/uevent": "DEVNAME=loop9\n",
        "/sys/class/block/loop0/loop/dio": "1\n",
        "/sys/class/block/loop0/loop/backing_file": "/mnt/disk.img\n",
        "/sys/class/block/loop9/loop/dio": f"{below}\n",
        "/sys/class/block/loop9/loop/backing_file": "/srv/below.img\n",
    }
    found = target(leaf("loop0"), files=facts)
    assert (found.volatile, found.loop_without_direct) == (False, cached)


@pytest.mark.parametrize(
    ("options", "compressed"), [("rw,compress=zstd:3", ("/dev/loop0",)), ("rw", ()), ("rw,compress=no", ())]
)
def test_a_loop_device_may_have_a_file_on_a_file_system_with_compression(
    options: str, compressed: tuple[str, ...]
) -> None:
    facts = {
        "/proc/self/mountinfo": f"{_MOUNTS}42 1 0:41 / /mnt rw - btrfs /dev/sdb {options}\n",
        "/sys/class/block/loop0/loop/dio": "1\n",
        "/sys/class/block/loop0/loop/backing_file": "/mnt/disk.img\n",
    }
    assert target(leaf("loop0"), files=facts).compressed_below == compressed


@pytest.mark.parametrize(
    ("files", "volatile", "cached"),
    [
        ({"loop0": "/dev/shm/disk.img"}, True, ("/dev/loop0",)),
        ({"loop0": "/srv/disk.img"}, False, ()),
        ({"loop0": "/mnt/disk.img", "loop9": "/dev/shm/below.img"}, True, ("/dev/loop0",)),
        ({"loop0": "/mnt/disk.img", "loop9": "/srv/below.img"}, False, ()),
        ({}, False, ()),
    ],
    ids=["in RAM", "on a disk", "a loop device in RAM", "a loop device on a disk", "no file"],
)
def test_a_loop_device_whose_file_is_in_ram_is_volatile(
    files: dict[str, str], volatile: bool, cached: tuple[str, ...]
) -> None:
    """With direct I/O, reads of a file on tmpfs were `sound`, because the kernel counts the loop device's requests."""
    mounts = f"{_MOUNTS}41 1 0:5 / /dev/shm rw - tmpfs tmpfs rw\n42 1 7:9 / /mnt rw - ext4 /dev/loop9 rw\n"
    facts = {f"/sys/class/block/{name}/loop/backing_file": f"{file}\n" for name, file in files.items()}
    facts |= {"/proc/self/mountinfo": mounts, "/sys/dev/block/7:9/uevent": "DEVNAME=loop9\n"}
    found = target(leaf("loop0"), files={"/sys/class/block/loop0/loop/dio": "1\n", **facts})
    assert (found.volatile, found.loop_without_direct) == (volatile, cached)
    both = target(leaf("sda"), leaf("loop0"), files={"/sys/class/block/loop0/loop/dio": "1\n", **facts})
    assert (both.volatile, both.loop_without_direct) == (False, cached), "for example, a journal in RAM"
