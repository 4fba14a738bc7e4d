"""A plan as text and as an object: each step with its conditions, what it waits for, and its undo."""

from poolproof.presentation.terminal.plan_text import plan_object, plan_text
from poolproof.steps import Step
from poolproof.undos import UndoMount

_STEPS = (
    Step("unmount /m", ("umount", "/m"), patience_s=5.0),
    Step("import the pool p", ("zpool", "import", "p"), unless="/proc/spl/kstat/zfs/p"),
    Step("assemble /dev/md/a", ("mdadm", "--assemble", "/dev/md/a"), await_file="/dev/md/a"),
    Step("make /d", ("mkdir", "/d"), host="nas2"),
    Step("make /m", ("mkdir", "/m"), undo=UndoMount("/m")),
)


def test_each_step_has_its_conditions() -> None:
    assert plan_text(_STEPS, (), ()).splitlines() == [
        "# once",
        "# unmount /m; retried for up to 5 s",
        "umount /m",
        "# import the pool p; skipped if /proc/spl/kstat/zfs/p exists",
        "zpool import p",
        "# assemble /dev/md/a; then wait for /dev/md/a",
        "mdadm --assemble /dev/md/a",
        "# on nas2: make /d",
        "mkdir /d",
        "# make /m; undo: umount /m",
        "mkdir /m",
    ]


def test_an_object_has_the_same() -> None:
    patient, imported, assembled, far, made = plan_object(_STEPS, (), ())["once"]
    assert (patient["argv"], patient["patience_s"], patient["unless"]) == (["umount", "/m"], 5.0, None)
    assert imported["unless"] == "/proc/spl/kstat/zfs/p"
    assert assembled["await_file"] == "/dev/md/a"
    assert (far["host"], made["host"]) == ("nas2", "")
    assert made["undo"] == "umount /m"
