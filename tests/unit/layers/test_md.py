"""md arrays: the exact commands, the location of the data, and the kernel's reports."""

import pytest

from poolproof.errors import HostError
from poolproof.evidence.target_facts import Target
from poolproof.layers import md, open_layout, tree
from poolproof.layers.base import DeviceNode, OpenLayer
from poolproof.layers.md import UndoArray
from poolproof.steps import Step
from poolproof.undos import Holds
from tests.golden import Message

from .ground import MIB, SITE, plan, resolve, volumes
from .recorded import RecordedHost

NODE = "/dev/md/poolproof-r1-mix-md"


def created(text: str) -> Step:
    (found,) = (step for step in plan(text).make if step.argv[:2] == ("mdadm", "--create"))
    return found


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("md raid1 a b", "--level=raid1 --raid-devices=2 /dev/a /dev/b"),
        ("md 0 a b chunk=64k", "--level=raid0 --raid-devices=2 --chunk=64K /dev/a /dev/b"),
        ("md 0 a b chunk=64k chunk=128k", "--level=raid0 --raid-devices=2 --chunk=128K /dev/a /dev/b"),
        ("md raid1 a b bitmap=none", "--level=raid1 --raid-devices=2 --bitmap=none /dev/a /dev/b"),
        (
            "md raid5 a b c d spare-devices=1 bitmap=internal bitmap-chunk=64M",
            "--level=raid5 --raid-devices=3 --spare-devices=1 --bitmap=internal --bitmap-chunk=64M "
            "/dev/a /dev/b /dev/c /dev/d",
        ),
        (
            "md raid1 assume-clean failfast a write-mostly b bitmap=internal write-behind=256",
            "--level=raid1 --raid-devices=2 --bitmap=internal --write-behind=256 --assume-clean --failfast "
            "/dev/a --write-mostly /dev/b",
        ),
        ("md raid10 a b c layout=f2", "--level=raid10 --raid-devices=3 --layout=f2 /dev/a /dev/b /dev/c"),
    ],
)
def test_the_command_of_mdadm(text: str, argv: str) -> None:
    step = created(text)
    assert step.argv == ("mdadm", "--create", NODE, "--run", "--quiet", *argv.split())
    assert step.overwrites == tuple(word for word in argv.split() if word.startswith("/"))


def test_superblocks_are_erased_only_while_the_array_is_known_to_be_ours() -> None:
    undo = created("md raid1 a b").undo
    assert undo == UndoArray(NODE, ("/dev/a", "/dev/b"))
    removal = undo.removal()
    assert removal.only_if == Holds(NODE, "")
    assert removal.argv[3:] == (NODE, "/dev/a", "/dev/b")


def test_a_mirror_is_waited_for_and_a_stripe_is_not() -> None:
    waits = [step for step in plan("md raid1 a b").make if "synced" in step.title]
    assert [step.argv for step in waits] == [("sh", "-c", md._AWAIT_SYNC, NODE)]
    assert waits[0].timeout_s > 3600
    assert not [step for step in plan("md raid0 a b").make if "synced" in step.title]


def test_an_array_drops_caches_by_stopping_and_assembling() -> None:
    built = plan("md raid5 a b c | ext4")
    assert built.close[-1].argv[-1] == NODE
    assert "mdadm --stop" in built.close[-1].argv[2]
    assert built.open[0].argv == ("mdadm", "--assemble", "--quiet", NODE, "/dev/a", "/dev/b", "/dev/c")
    assert built.open[0].unless == NODE
    assert built.open[0].await_file == NODE


def test_a_long_name_of_a_layout_gives_way_to_digits() -> None:
    node = resolve("md raid1 a b")
    built = tree.plan_tree(node, volumes(node), SITE, "a-very-long-name-of-a-layout")
    name = built.volume.path.removeprefix("/dev/md/")
    assert name.startswith("poolproof-r1-")
    assert len(name) <= 32


def test_what_the_members_hold() -> None:
    host = RecordedHost()
    for text, held in (
        ("md raid1 a b c", (90, 90, 90)),
        ("md raid0 a b c", (30, 30, 30)),
        ("md raid5 a b c", (45, 45, 45)),
        ("md raid10 a b c", (60, 60, 60)),
        ("md raid1 a b c spare-devices=1", (90, 90, 0)),
    ):
        built = plan(text)
        node = built.top.node
        assert not isinstance(node, DeviceNode)
        inputs = [below.volume for below in built.top.inputs]
        found = node.layer.stored(OpenLayer(node.spec, built.volume, inputs, host), 90 * MIB)
        assert found == tuple(count * MIB for count in held), text


def test_a_resync_and_a_bitmap_are_reported() -> None:
    built = plan("md raid1 a b")
    state = 'cd "/sys/block/$(basename "$(readlink -f "$0")")/md" && cat '
    action, location = (("sh", "-c", state + file, NODE) for file in ("sync_action", "bitmap/location"))
    busy = RecordedHost({action: "resync\n", location: "+8\n"})
    (resync,) = open_layout.busy_with(built, busy)
    assert "resync" in resync and resync.endswith(NODE)
    assert open_layout.describe(built, busy, Target("ext4")).md_bitmap is True
    assert open_layout.describe(built, busy, Target("ext4")).has_parity is False
    assert open_layout.describe(plan("md raid6 a b c d"), busy, Target("ext4")).has_parity is True
    rebuilt = RecordedHost({action: "recover\n", location: "+8\n"})
    (recovery,) = open_layout.busy_with(built, rebuilt)
    assert "recovery" in recovery and recovery.endswith(NODE)
    quiet = RecordedHost({action: "idle\n", location: "none\n"})
    assert open_layout.busy_with(built, quiet) == ()
    assert open_layout.describe(built, quiet, Target("ext4")).md_bitmap is False
    assert open_layout.describe(built, RecordedHost(), Target("ext4")).md_bitmap is None


def test_a_device_that_is_too_small() -> None:
    with pytest.raises(HostError, match=r"\bmd .* 2 MiB"):
        plan("md raid1 a b", size_bytes=MIB)


def test_an_array_that_lost_a_disk_is_reported(message: Message) -> None:
    degraded = ("sh", "-c", 'cd "/sys/block/$(basename "$(readlink -f "$0")")/md" && cat degraded', NODE)
    mirror, stripe = plan("md raid1 a b"), plan("md raid0 a b")
    (fault,) = open_layout.faults_of(mirror, RecordedHost({degraded: "1\n"}))
    assert " 1 " in message(fault.message)
    assert open_layout.faults_of(mirror, RecordedHost({degraded: "0\n"})) == ()
    assert open_layout.faults_of(stripe, RecordedHost()) == ()
