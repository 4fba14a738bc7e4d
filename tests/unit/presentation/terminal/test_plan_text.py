"""A plan as text and as an object: each step with its conditions, what it waits for, and its undo."""

from collections.abc import Callable

from poolproof.presentation.terminal.plan_text import plan_object, plan_text
from poolproof.steps import Step
from poolproof.undos import UndoMount, UndoPrograms

_STEPS = (
    Step("unmount /m", ("umount", "/m"), patience_s=5.0),
    Step("import the pool p", ("zpool", "import", "p"), unless="/proc/spl/kstat/zfs/p"),
    Step("assemble /dev/md/a", ("mdadm", "--assemble", "/dev/md/a"), await_file="/dev/md/a"),
    Step("make /d", ("mkdir", "/d"), host="nas2"),
    Step("make /m", ("mkdir", "/m"), undo=UndoMount("/m")),
)


def test_each_step_has_its_conditions(wording: Callable[[str], str]) -> None:
    text = plan_text(_STEPS, (), ())
    wording(text)
    lines = text.splitlines()
    commands = ["umount /m", "zpool import p", "mdadm --assemble /dev/md/a", "mkdir /d", "mkdir /m"]
    assert [line for line in lines if not line.startswith("#")] == commands
    facts = (("# unmount /m", "5 s"), ("# import", "/p exists"), ("wait", "/dev/md/a"), ("nas2",), ("undo: umount /m",))
    for command, words in zip(commands, facts, strict=True):
        assert all(word in lines[lines.index(command) - 1] for word in words)


def test_an_undo_names_all_programs_that_it_ends() -> None:
    text = plan_text((Step("run", ("true",), undo=UndoPrograms(("one", "other"), "/d/")),), (), ())
    assert all(word in text for word in ("one", "other", "/d/"))


def test_an_object_has_the_same() -> None:
    patient, imported, assembled, far, made = plan_object(_STEPS, (), ())["once"]
    assert (patient["argv"], patient["patience_s"], patient["unless"]) == (["umount", "/m"], 5.0, None)
    assert imported["unless"] == "/proc/spl/kstat/zfs/p"
    assert assembled["await_file"] == "/dev/md/a"
    assert (far["host"], made["host"]) == ("nas2", "")
    assert made["undo"] == "umount /m"
