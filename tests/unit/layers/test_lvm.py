"""LVM: the exact commands, which can access only the run's own devices."""

import re
from dataclasses import replace

import pytest

from poolproof.evidence.target_facts import Target
from poolproof.layers import open_layout
from poolproof.layers.base import DeviceNode, OpenLayer
from poolproof.layers.lvm_commands import UndoGroup
from poolproof.undos import Holds

from .ground import MIB, SITE, plan
from .recorded import RecordedHost

GROUP = "poolproof-r1-mix-lvm"
VOLUME = f"{GROUP}/volume"


def config(*devices: str) -> str:
    accepted = ",".join(f'"a|^/dev/{name}$|"' for name in devices)
    only_ours = f'devices{{filter=[{accepted},"r|.*|"]types=["zvol",16]}}'
    return f"{only_ours}backup{{backup=0 archive=0}}activation{{monitoring=0}}"


def commands(text: str) -> list[tuple[str, ...]]:
    """Return the LVM commands without the filter that limits them to these devices."""
    return [(step.argv[1], *step.argv[4:]) for step in plan(text).make if step.argv[0] == "lvm"]


def created(text: str) -> list[str]:
    told = [argv for argv in commands(text) if argv[0] in ("lvcreate", "lvconvert")]
    return [" ".join(argv).replace(" --yes --quiet", "") for argv in told]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("lvm linear a", [f"lvcreate --name volume --type linear --extents 100%PVS {GROUP} /dev/a"]),
        (
            "lvm striped a b stripesize=64k size=1G",
            [f"lvcreate --name volume --type striped --stripes 2 --size 1G --stripesize 64k {GROUP} /dev/a /dev/b"],
        ),
        (
            "lvm raid1 a b c nosync",
            [
                f"lvcreate --name volume --type raid1 --mirrors 2 --extents 100%PVS --nosync {GROUP} "
                "/dev/a /dev/b /dev/c"
            ],
        ),
        (
            "lvm raid5 a b c",
            [f"lvcreate --name volume --type raid5 --stripes 2 --extents 100%PVS {GROUP} /dev/a /dev/b /dev/c"],
        ),
        (
            "lvm raid10 a b c d",
            [
                f"lvcreate --name volume --type raid10 --mirrors 1 --stripes 2 --extents 100%PVS {GROUP} "
                "/dev/a /dev/b /dev/c /dev/d"
            ],
        ),
        (
            "lvm cache a b cachevol c cachemode=writeback chunksize=128k",
            [
                f"lvcreate --name volume --type linear --extents 100%PVS {GROUP} /dev/a /dev/b",
                f"lvcreate --name fast --type linear --extents 100%PVS {GROUP} /dev/c",
                f"lvconvert --type cache --cachevol fast --cachemode writeback --chunksize 128k {VOLUME}",
            ],
        ),
        (
            "lvm writecache a cachevol b writecache-settings=high_watermark=90",
            [
                f"lvcreate --name volume --type linear --extents 100%PVS {GROUP} /dev/a",
                "lvcreate --name fast --type linear --activate n --zero n --wipesignatures n --extents 100%PVS "
                f"{GROUP} /dev/b",
                f"lvconvert --type writecache --cachevol fast --cachesettings high_watermark=90 {VOLUME}",
            ],
        ),
        (
            "lvm thin a chunksize=64k zero=n virtualsize=5G",
            [
                "lvcreate --name pool --type thin-pool --poolmetadataspare n --extents 100%PVS --chunksize 64k "
                f"--zero n {GROUP} /dev/a",
                f"lvcreate --name volume --type thin --virtualsize 5G --thinpool {GROUP}/pool",
            ],
        ),
    ],
)
def test_the_commands_of_lvm(text: str, made: list[str]) -> None:
    assert created(text) == made


def test_only_the_runs_own_devices_are_looked_at() -> None:
    told = [step.argv for step in (*plan("lvm linear a b").make,) if step.argv[0] == "lvm"]
    assert {argv[2:4] for argv in told} == {("--config", config("a", "b"))}


def test_a_group_is_made_activated_and_removed() -> None:
    built = plan("lvm linear a b physicalextentsize=8m | ext4")
    one, two, created_group = commands("lvm linear a b physicalextentsize=8m | ext4")[:3]
    for labelled, device in ((one, "/dev/a"), (two, "/dev/b")):
        assert (labelled[:5], labelled[-1]) == (("pvcreate", "--yes", "--quiet", "--norestorefile", "--uuid"), device)
    assert one[5] != two[5]
    assert created_group == (*("vgcreate", "--quiet", "--physicalextentsize", "8m", GROUP, "/dev/a", "/dev/b"),)
    (grouped,) = (step for step in built.make if step.argv[:2] == ("lvm", "vgcreate"))
    assert grouped.undo == UndoGroup(GROUP, ("/dev/a", "/dev/b"))
    removal = grouped.undo.removal()
    assert removal.only_if == Holds(f"/dev/{GROUP}", "")
    assert removal.argv[3:] == (GROUP, f"--config={config('a', 'b')}")
    assert built.open[0].argv == ("lvm", "vgchange", "--config", config("a", "b"), "--quiet", "--activate", "y", GROUP)
    assert built.close[-1].argv[-3:] == ("--activate", "n", GROUP)
    assert built.block_paths == {f"/dev/{VOLUME}"}


def test_the_uuid_of_a_physical_volume_begins_with_the_runs_label() -> None:
    made = plan("lvm linear a b", site=replace(SITE, label="a1b2c3d4")).make
    labelled = [step for step in made if step.argv[:2] == ("lvm", "pvcreate")]
    uuids = [step.argv[step.argv.index("--uuid") + 1] for step in labelled]
    assert len(set(uuids)) == 2
    assert all(re.fullmatch(r"a1b2c3-d4\w{2}(-\w{4}){4}-\w{6}", uuid) for uuid in uuids)
    assert [step.overwrites for step in labelled] == [("/dev/a",), ("/dev/b",)]


def test_a_sync_is_awaited_unless_the_layout_says_nosync() -> None:
    assert [step for step in plan("lvm raid1 a b").make if "synced" in step.title]
    for text in ("lvm striped a b", "lvm raid1 a b nosync"):
        assert not [step for step in plan(text).make if "synced" in step.title]


def test_a_cache_is_written_back_before_the_layout_is_closed() -> None:
    wait, deactivate = plan("lvm cache a cachevol b cachemode=writeback").close
    assert VOLUME in wait.title and "cache" in wait.title
    assert deactivate.title == f"deactivate {GROUP}"
    for text in ("lvm cache a cachevol b", "lvm writecache a cachevol b", "lvm linear a b"):
        assert [step.title for step in plan(text).close] == [f"deactivate {GROUP}"], text


def test_the_fast_devices_of_a_cache_are_known() -> None:
    built = plan("lvm cache a cachevol (lvm linear b c)")
    assert open_layout.describe(built, RecordedHost(), Target("ext4")).cache_devices == ("b", "c")
    assert open_layout.describe(plan("lvm linear a b"), RecordedHost(), Target("ext4")).cache_devices == ()


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        ("lvm cache a cachevol b", ("b",)),
        ("lvm cache a cachevol b cachemode=writethrough", ("b",)),
        ("lvm cache a cachevol b cachemode=writeback", ()),
        ("lvm writecache a cachevol b", ()),
    ],
)
def test_a_cache_that_writes_through_only_holds_copies(text: str, copies: tuple[str, ...]) -> None:
    assert open_layout.describe(plan(text), RecordedHost(), Target("ext4")).copy_devices == copies


def test_what_the_devices_hold() -> None:
    for text, held in (
        ("lvm raid1 a b", (90, 90)),
        ("lvm striped a b", (45, 45)),
        ("lvm raid5 a b c", (45, 45, 45)),
        ("lvm linear a b", (45, 45)),
        ("lvm cache a b cachevol c", (45, 45, 0)),
    ):
        built = plan(text)
        node = built.top.node
        assert not isinstance(node, DeviceNode)
        inputs = [below.volume for below in built.top.inputs]
        found = node.layer.stored(OpenLayer(node.spec, built.volume, inputs, RecordedHost()), 90 * MIB)
        assert found == tuple(count * MIB for count in held), text


def test_a_running_sync_is_reported() -> None:
    built = plan("lvm raid1 a b")
    asked = ("lvm", "lvs", "--config", config("a", "b"), "--noheadings", "-o", "sync_percent", VOLUME)
    (busy,) = open_layout.busy_with(built, RecordedHost({asked: "  43.75 \n"}))
    assert busy.startswith("a sync ") and busy.endswith(f"/dev/{VOLUME}")
    assert open_layout.busy_with(built, RecordedHost({asked: "  100.00 \n"})) == ()
