"""From a device and the facts about a host follow the exact commands."""

import re
from dataclasses import replace

import pytest

from poolproof.campaign.model import Device, Disk, Emulated, LoopFile, Qcow2
from poolproof.devices.disk import UndoClaim
from poolproof.devices.loop import UndoLoop
from poolproof.devices.model import DevicePlan, Site
from poolproof.devices.plan import DeviceFacts, plan_devices, programs_of
from poolproof.errors import CampaignError, GuardError, HostError
from poolproof.facts.block import Below, BlockFacts
from poolproof.steps import Step
from poolproof.undos import Holds, UndoDaemon, UndoMount
from tests.golden import Message

from .captured import server, server_disk

_GIB = 1 << 30
_BELOW = Below("vda", "/sys/class/block/vda/stat")
_ALL = ("losetup", "truncate", "touch", "tee", "nbdkit", "nbdfuse", "qemu-img", "qemu-nbd", "wipefs")
_SITE = Site(
    *("ab12", "/var/tmp/poolproof-ab12", "/dev/shm/poolproof-ab12", "/var/tmp/poolproof-ab12/mnt"),
    is_root=True,
    programs=frozenset(_ALL),
    file_systems=frozenset(),
    ram_bytes=16 * _GIB,
    ram_free_bytes=8 * _GIB,
)
_FACTS = DeviceFacts(loops=(40, 41, 42, 43), below=_BELOW, disks=server(), permitted=frozenset({"V1G0DDDD"}))
_S = "/var/tmp/poolproof-ab12"


def plan_device(device: Device, site: Site, facts: DeviceFacts, seed: int = 1) -> DevicePlan:
    (plan,) = plan_devices((device,), site, facts, seed)
    return plan


def test_a_file() -> None:
    plan = plan_device(Device("a", LoopFile(_GIB)), _SITE, _FACTS)
    assert [step.argv for step in plan.steps] == [
        ("rm", "-f", "--", f"{_S}/a.img"),
        ("truncate", "-s", "1073741824", f"{_S}/a.img"),
        ("losetup", "--direct-io=on", "/dev/loop40", f"{_S}/a.img"),
    ]
    assert plan.steps[-1].undo == UndoLoop(40, f"{_S}/a.img")
    (leaf,) = plan.volume.leaves
    assert (plan.volume.path, plan.volume.is_block, plan.volume.size_bytes) == ("/dev/loop40", True, _GIB)
    assert (leaf.name, leaf.path, leaf.counter, leaf.below) == (
        *("a", "/dev/loop40", "/sys/class/block/loop40/stat"),
        _BELOW,
    )


def test_a_qcow2_image_on_a_loop_device() -> None:
    plan = plan_device(Device("q", Qcow2(_GIB)), _SITE, _FACTS)
    clear, create, serve, touch, mount, attach = plan.steps
    assert clear.argv[:3] == ("rm", "-f", "--")
    assert create.argv == ("qemu-img", "create", "-q", "-f", "qcow2", f"{_S}/q.qcow2", "1073741824")
    assert serve.argv == (
        *("qemu-nbd", "--socket", f"{_S}/q.sock", "--fork", "--persistent", "--shared=0"),
        *("--pid-file", f"{_S}/q.nbd.pid", "--cache=none", "--discard=unmap", "-f", "qcow2", f"{_S}/q.qcow2"),
    )
    assert serve.undo == UndoDaemon(f"{_S}/q.nbd.pid", f"{_S}/q.sock")
    assert touch.argv == ("touch", f"{_S}/q.disk")
    assert mount.argv[-8:] == ("nbdfuse", "-C", "8", "-P", f"{_S}/q.fuse.pid", f"{_S}/q.disk", "--unix", f"{_S}/q.sock")
    assert mount.await_file == f"{_S}/q.fuse.pid"
    assert mount.undo == UndoMount(f"{_S}/q.disk", lazy=True)
    assert attach.argv == ("losetup", "--direct-io=on", "/dev/loop40", f"{_S}/q.disk")
    assert plan.volume.leaves[0].below == _BELOW


def test_a_qcow2_image_on_the_kernels_nbd() -> None:
    plan = plan_device(Device("q", Qcow2(_GIB)), _SITE, replace(_FACTS, nbds=(3,)))
    connect, wait, record = plan.steps[-3:]
    assert connect.argv == (
        *("qemu-nbd", "--connect=/dev/nbd3", "--cache=none", "--pid-file", f"{_S}/q.nbd.pid"),
        *("-f", "qcow2", f"{_S}/q.qcow2"),
    )
    assert wait.await_file == "/sys/block/nbd3/pid"
    assert record.argv == ("cp", "/sys/block/nbd3/pid", f"{_S}/q.nbd.thread")
    assert plan.identity_check[-2:] == ("/dev/nbd3", f"{_S}/q.nbd.thread")
    assert plan.volume.path == "/dev/nbd3"
    assert plan.volume.leaves[0].counter == "/sys/class/block/nbd3/stat"


def test_two_images_take_two_nbds_and_a_third_a_loop_device() -> None:
    devices = [Device(name, Qcow2(_GIB)) for name in ("a", "b", "c")]
    plans = plan_devices(devices, _SITE, replace(_FACTS, nbds=(0, 1)))
    assert [plan.volume.path for plan in plans] == ["/dev/nbd0", "/dev/nbd1", "/dev/loop42"]


def test_an_emulated_disk() -> None:
    plan = plan_device(Device("rust", Emulated("hdd-7200", _GIB)), _SITE, _FACTS, seed=5)
    serve = plan.steps[1]
    assert serve.argv[:8] == ("nbdkit", "-U", f"{_S}/rust.sock", "-P", f"{_S}/rust.nbd.pid", "-t", "8", "python")
    assert serve.argv[8].endswith("/poolproof/devices/emulated/plugin.py")
    assert serve.argv[9:] == (
        *("model=hdd-7200", "size=1073741824", "store=/dev/shm/poolproof-ab12/rust.store"),
        *("seed=5", "pipeline=0.000200"),
    )
    assert serve.undo == UndoDaemon(f"{_S}/rust.nbd.pid", f"{_S}/rust.sock")
    rotation = plan.steps[-1]
    assert (rotation.argv, rotation.stdin) == (("tee", "/sys/block/loop40/queue/rotational"), "1\n")
    assert plan.volume.leaves[0].below is None


def test_an_emulated_disk_of_another_machine_brings_its_program_along() -> None:
    """Nothing is installed on the other machine. The files are in the run's own directory, and are removed with it."""
    plan = plan_device(Device("rust", Emulated("hdd-7200", _GIB)), replace(_SITE, is_here=False), _FACTS)
    there = f"{_S}/model/poolproof/devices/emulated"
    carried = {step.argv[3]: step.stdin or "" for step in plan.steps if step.title.startswith("write ")}
    assert set(carried) == {f"{there}/{name}.py" for name in ("plugin", "model", "hdd", "ssd")}
    serve = next(step for step in plan.steps if step.argv[0] == "nbdkit")
    assert serve.argv[8] == f"{there}/plugin.py"
    needed = {name for text in carried.values() for name in re.findall(r"from poolproof\.([\w.]+) import", text)}
    assert {f"{_S}/model/poolproof/{name.replace('.', '/')}.py" for name in needed} <= set(carried)


def test_an_ssd_does_not_rotate() -> None:
    assert plan_device(Device("ssd", Emulated("sata-ssd", _GIB)), _SITE, _FACTS).steps[-1].stdin == "0\n"


def test_emulated_disks_share_half_of_the_free_ram() -> None:
    devices = [Device(name, Emulated("nvme", size * _GIB)) for name, size in (("a", 3), ("b", 2), ("c", 1))]
    plans = plan_devices(devices, _SITE, _FACTS)
    assert [_store(plan.steps[1]) for plan in plans] == [
        "/dev/shm/poolproof-ab12/a.store",
        f"{_S}/b.store",
        "/dev/shm/poolproof-ab12/c.store",
    ]


def test_emulated_disks_differ_in_their_seeds() -> None:
    plans = plan_devices([Device(name, Emulated("hdd-7200", _GIB)) for name in "ab"], _SITE, _FACTS, seed=9)
    assert [next(text for text in plan.steps[1].argv if text.startswith("seed=")) for plan in plans] == [
        "seed=9",
        "seed=10",
    ]


def test_every_step_that_lasts_has_an_undo() -> None:
    lasting = {"losetup", "nbdkit", "qemu-nbd", "sh"}
    for source in (LoopFile(_GIB), Qcow2(_GIB), Emulated("nvme", _GIB)):
        for step in plan_device(Device("a", source), _SITE, _FACTS).steps:
            assert (step.undo is not None) == (step.argv[0] in lasting), step.title


@pytest.mark.parametrize(
    "identity",
    [
        "ata-HGST_HUS726T4TALA6L4_V1G0DDDD",
        "/dev/disk/by-id/ata-HGST_HUS726T4TALA6L4_V1G0DDDD",
        "V1G0DDDD",
        "0x5000CCA0DDDD0000",
    ],
)
def test_a_real_disk_is_found_by_what_is_written_on_it(identity: str) -> None:
    plan = plan_device(Device("hdd1", Disk(identity)), _SITE, _FACTS)
    path = "/dev/disk/by-id/ata-HGST_HUS726T4TALA6L4_V1G0DDDD"
    (claim,) = plan.steps
    size = str(server_disk("sdd").size_bytes)
    marks = ("ata-HGST_HUS726T4TALA6L4_V1G0DDDD", path, size, "", "V1G0DDDD", "0x5000cca0dddd0000")
    assert claim.argv[3:] == (*marks, "8:48", "", f"{_S}/hdd1.claimed")
    assert plan.identity_check[3:] == (*marks, "8:48", "")
    assert isinstance(claim.undo, UndoClaim)
    removal = claim.undo.removal()
    assert removal.argv[3:] == (*marks, f"{_S}/hdd1.claimed", "ab12")
    assert removal.only_if == Holds(f"{_S}/hdd1.claimed", "ata-HGST_HUS726T4TALA6L4_V1G0DDDD")
    (leaf,) = plan.volume.leaves
    assert (plan.volume.path, leaf.counter) == (path, "/sys/class/block/sdd/stat")


@pytest.mark.parametrize("identity", ["sdd", "/dev/sdd", "nvme0n1", "/dev/nvme0n1p1"])
def test_a_kernel_name_is_refused_with_the_name_to_use(identity: str) -> None:
    with pytest.raises(CampaignError) as caught:
        plan_device(Device("hdd1", Disk(identity)), _SITE, _FACTS)
    assert "kernel name" in caught.value.message
    known = {"sdd": "ata-HGST_HUS726T4TALA6L4_V1G0DDDD", "nvme": "nvme-Samsung_SSD_980_500GB_S64DNX0R123456"}
    for part, name in known.items():
        if part in identity:
            assert caught.value.hint == f"write hdd1: {{disk: {name}}}"


@pytest.mark.parametrize("identity", ["/dev/mapper/vault", "/dev/disk/by-path/pci-0000:00:1f.2-ata-3"])
def test_another_path_is_refused_and_not_called_a_kernel_name(identity: str) -> None:
    with pytest.raises(CampaignError) as caught:
        plan_device(Device("hdd1", Disk(identity)), _SITE, _FACTS)
    assert f"{identity} is a path outside /dev/disk/by-id/" in caught.value.message
    assert "kernel name" not in caught.value.message


def test_an_unknown_disk_is_answered_with_the_nearest() -> None:
    with pytest.raises(CampaignError) as caught:
        plan_device(Device("hdd1", Disk("V1G0DDDE")), _SITE, _FACTS)
    assert "did you mean V1G0DDDD?" in caught.value.hint


def test_a_serial_number_of_two_disks_is_refused() -> None:
    twin = BlockFacts("sdz", "/dev/sdz", _GIB, "disk", serial="V1G0DDDD")
    with pytest.raises(CampaignError, match="several disks: /dev/sdd, /dev/sdz"):
        plan_device(Device("hdd1", Disk("V1G0DDDD")), _SITE, replace(_FACTS, disks=(*server(), twin)))


def test_the_guard_protects_a_real_disk() -> None:
    with pytest.raises(GuardError):
        plan_device(Device("hdd1", Disk("V1G0DDDD")), _SITE, replace(_FACTS, permitted=frozenset()))


def test_an_unknown_model_is_answered_with_the_nearest() -> None:
    with pytest.raises(CampaignError) as caught:
        plan_device(Device("rust", Emulated("hdd-7400", _GIB)), _SITE, _FACTS)
    assert "did you mean hdd-7200?" in caught.value.hint


@pytest.mark.parametrize("source", [LoopFile(_GIB), Qcow2(_GIB), Emulated("nvme", _GIB)])
def test_what_the_host_lacks_is_named_with_its_package(source: LoopFile | Qcow2 | Emulated) -> None:
    for program in programs_of(source):
        poorer = replace(_SITE, programs=_SITE.programs - {program})
        with pytest.raises(HostError, match=program) as caught:
            plan_device(Device("a", source), poorer, _FACTS)
        assert "apt-get install" in caught.value.hint
    with pytest.raises(HostError, match="needs root"):
        plan_device(Device("a", source), replace(_SITE, is_root=False), _FACTS)


def test_a_socket_path_that_the_kernel_cannot_hold_is_refused(message: Message) -> None:
    with pytest.raises(HostError, match="Unix socket") as refused:
        plan_device(Device("a", Emulated("nvme", _GIB)), replace(_SITE, state_dir="/var/tmp/" + "x" * 100), _FACTS)
    message(refused.value)


def _store(step: Step) -> str:
    return next(text.removeprefix("store=") for text in step.argv if text.startswith("store="))


def test_the_undo_of_a_claim_without_a_by_id_name_holds_the_device_number_too() -> None:
    disk = replace(server_disk("sdd"), by_id=())
    facts = replace(_FACTS, disks=(disk,))
    (claim,) = plan_device(Device("hdd1", Disk("V1G0DDDD")), _SITE, facts).steps
    assert isinstance(claim.undo, UndoClaim)
    assert (claim.undo.path, claim.undo.size_bytes, claim.undo.number) == ("/dev/sdd", disk.size_bytes, disk.number)


def test_a_loop_device_is_detached_only_from_exactly_its_file() -> None:
    """A copy of the file in a backup has a path that contains the path of the file."""
    condition = UndoLoop(7, "/var/tmp/a.img").removal().only_if
    assert condition.is_in("/var/tmp/a.img\n") and condition.is_in("/var/tmp/a.img (deleted)\n")
    assert not condition.is_in("/backup/var/tmp/a.img\n") and not condition.is_in("/var/tmp/a.img.old\n")
