"""A journal from a stranger can't run arbitrary commands, and can name only what its run has created."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from poolproof.devices.disk import UndoClaim
from poolproof.devices.loop import UndoLoop
from poolproof.errors import BuildError
from poolproof.hosts.local import LocalHost
from poolproof.layers.luks import UndoMapping
from poolproof.layers.lvm_commands import UndoGroup
from poolproof.layers.md import UndoArray
from poolproof.layers.zfs_commands import UndoArcLimit, UndoPool, UndoVdevs
from poolproof.provision.journal import Change, Journal, undo_kinds
from poolproof.provision.owned import refusal
from poolproof.provision.undo import FailedUndo, complain, undo_all
from poolproof.undos import CommandUndo, Owned, Undo, UndoDaemon, UndoMount, UndoPrograms, UndoTree
from tests.golden import Message

LABEL = "0badcafe"
STATE, RAM = f"/var/tmp/poolproof-{LABEL}", f"/dev/shm/poolproof-{LABEL}"
OWNED = Owned(LABEL, (STATE, RAM))
NAME = f"poolproof-{LABEL}-one-zfs"


def journal_of(path: Path, undo: dict[str, Any]) -> Journal:
    line = {"line": "change", "number": 1, "title": "it", "argv": ["true"], "undo": undo, "schema": 1}
    path.write_text(json.dumps(line) + "\n")
    return Journal(path)


@pytest.mark.parametrize(
    "argv",
    [
        ["sh", "-c", "touch {}"],
        ["touch", "{}"],
        ["umount", "/x", ";", "touch", "{}"],
        ["sh", "-c", "touch {}", "/dev/md/poolproof-0badcafe-a"],
        ["sh", "-c", "touch {}", "poolproof-0badcafe-g", "--config=x"],
        ["sh", "-c", "touch {}", "{note}"],
        ["sh", "-c", "touch {}", "id", "/dev/null", "1", "", "", "", "{note}"],
        ["sh", "-c", "touch {}", "id", "/dev/null", "9" * 5000, "", "", "", "{note}"],
    ],
)
@pytest.mark.parametrize("last_resort", [[], ["sh", "-c", "touch {}"]])
def test_no_command_of_a_journal_is_run(tmp_path: Path, argv: list[str], last_resort: list[str]) -> None:
    canary, note = tmp_path / "canary", tmp_path / "note"
    note.write_text("id tank")
    words = [word.replace("{note}", str(note)).replace("{}", str(canary)) for word in argv]
    for path, text in (("/dev/null", ""), (str(note), "id"), (words[-1], "")):
        undo = {
            "kind": "command",
            "argv": words,
            "only_if": {"path": path, "text": text},
            "timeout_s": 0,
            "last_resort": last_resort,
        }
        journal = journal_of(tmp_path / "journal.jsonl", undo)
        left = undo_all(journal, LocalHost(), Owned(LABEL, (str(tmp_path),)))
        assert not canary.exists()
        if left:
            assert left[0].reason
            assert len(journal.outstanding()) == 1
        note.write_text("id tank")


def test_a_title_and_a_host_cannot_forge_lines_of_a_message(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    undo = {"kind": "tree", "path": "/x"}
    title, host = "make it\npoolproof: clean", "nas\nnothing is left"
    line = {"line": "change", "number": 1, "title": title, "argv": [], "undo": undo, "host": host, "schema": 1}
    path.write_text(json.dumps(line) + "\n")
    failed = undo_all(Journal(path), LocalHost(), OWNED)
    with pytest.raises(BuildError) as raised:
        complain(failed, "run")
    assert [line[:3] for line in raised.value.message.splitlines()[1:]] == ["  -"]


def test_an_unknown_command_is_named_and_stays_in_the_journal(tmp_path: Path, message: Message) -> None:
    undo = {"kind": "command", "argv": ["sh", "-c", "id > PWN"], "only_if": {"path": "/", "text": ""}}
    journal = journal_of(tmp_path / "journal.jsonl", undo)
    told: list[str] = []
    (left,) = undo_all(journal, LocalHost(), OWNED, tell=told.append)
    assert not told  # nothing was undone
    assert message(left.reason).endswith(": sh -c 'id > PWN'")
    assert not left.can_repeat
    assert len(journal.outstanding()) == 1


def test_the_commands_of_older_versions_become_typed_undos(tmp_path: Path) -> None:
    gone = {
        "umount": (["umount", f"{STATE}/mnt/a"], {"path": "/proc/self/mounts", "text": f" {STATE}/mnt/a "}),
        "loop": (
            ["losetup", "--detach", "/dev/loop77"],
            {"path": "/sys/block/loop77/loop/backing_file", "text": f"{STATE}/a.img"},
        ),
        "luks": (["cryptsetup", "close", NAME], {"path": f"/dev/mapper/{NAME}", "text": ""}),
        "zfs": (["zpool", "destroy", "-f", NAME], {"path": f"/proc/spl/kstat/zfs/{NAME}", "text": ""}),
        "md": (["sh", "-c", "mdadm …", f"/dev/md/{NAME}", "/dev/sdy"], {"path": f"/dev/md/{NAME}", "text": ""}),
        "lvm": (["sh", "-c", "lvm …", NAME, "--config=…", "/dev/sdy"], {"path": f"/dev/{NAME}", "text": ""}),
    }
    for name, (argv, only_if) in gone.items():
        journal = journal_of(tmp_path / name, {"kind": "command", "argv": argv, "only_if": only_if})
        assert undo_all(journal, LocalHost(), OWNED) == (), name
        assert journal.outstanding() == ()
        foreign = json.loads(json.dumps([argv, only_if]).replace(LABEL, "0badbeef"))
        journal = journal_of(tmp_path / name, {"kind": "command", "argv": foreign[0], "only_if": foreign[1]})
        (left,) = undo_all(journal, LocalHost(), OWNED)
        assert not left.can_repeat, name


GOOD: tuple[Undo, ...] = (
    UndoMount(f"{STATE}/mnt/one-ext4"),
    UndoMount(f"{STATE}/a.disk", lazy=True),
    UndoLoop(7, f"{RAM}/a.img"),
    UndoMapping(NAME),
    UndoArray(f"/dev/md/{NAME}", ("/dev/loop1", "/dev/disk/by-id/ata-A_B:1")),
    UndoGroup(NAME, ("/dev/loop1",)),
    UndoPool(NAME),
    UndoVdevs(NAME, (("/dev/a", "/dev/b"), ("/dev/c",)), f"{STATE}/one-zfs.added"),
    UndoArcLimit(f"{STATE}/one-zfs.arc"),
    UndoClaim("id", "/dev/disk/by-id/ata-A_B", 1 << 30, "8:0", "", "", f"{STATE}/a.claimed"),
    UndoDaemon(f"{STATE}/a.pid", f"{STATE}/a.sock"),
    UndoPrograms(("fio", "sh"), f"{STATE}/"),
    UndoTree(STATE),
    UndoTree(f"{STATE}/mnt/one-ext4"),
    UndoTree(f"{RAM}.one-luks.key"),
    UndoTree(f"/srv/data/poolproof-{LABEL}-one-dir"),
)


@pytest.mark.parametrize("undo", GOOD, ids=str)
def test_what_a_run_made_may_be_removed(undo: Undo) -> None:
    assert refusal(undo, OWNED) is None


def test_every_undo_that_writes_to_a_disk_or_a_setting_needs_a_record() -> None:
    """Only root can write the record, unlike the journal and the notes of a run."""
    assert {type(undo) for undo in GOOD} == set(undo_kinds())
    scripts = {type(undo): undo.removal().argv for undo in GOOD if isinstance(undo, CommandUndo)}
    writing = {kind for kind, argv in scripts.items() if re.search(r"wipefs --all|/sys/|/proc/sys/", " ".join(argv))}
    assert writing == {UndoClaim, UndoArcLimit}
    assert all("$(read_record " in scripts[kind][2] for kind in writing)


BAD: tuple[Undo, ...] = (
    UndoMount("/home"),
    UndoMount(f"{STATE}/../../home"),
    UndoMount(STATE),
    UndoMount(f"{STATE}/a\nb"),
    UndoLoop(7, "/home/disk.img"),
    UndoLoop(-1, f"{STATE}/a.img"),
    UndoMapping("vault"),
    UndoMapping(f"../{NAME}"),
    UndoMapping("poolproof-0badbeef-one-luks"),
    UndoArray("/dev/md/data", ("/dev/sda",)),
    UndoArray(NAME, ("/dev/sda",)),
    UndoArray(f"/dev/md/{NAME}", ("--force", "/dev/sda")),
    UndoGroup(NAME, ("/etc/passwd",)),
    UndoGroup("vg0", ("/dev/sda",)),
    UndoPool("tank"),
    UndoPool(f"{NAME} tank"),
    UndoPool(f"{NAME}/x"),
    UndoVdevs(NAME, (("/dev/a; id",),), f"{STATE}/note"),
    UndoVdevs(NAME, ((),), f"{STATE}/note"),
    UndoVdevs(NAME, (("/dev/a",),), "/etc/passwd"),
    UndoArcLimit("/etc/shadow"),
    UndoClaim("id", "/dev/../etc/passwd", 1, "", "", "", f"{STATE}/note"),
    UndoClaim("id", "/dev/sda", 1, "8:0; id", "", "", f"{STATE}/note"),
    UndoClaim("id", "/dev/sda", 1, "8:0", "", "", "/home/alice/note"),
    UndoDaemon(f"{STATE}/a.pid", ""),
    UndoDaemon(f"{STATE}/a.pid", "/"),
    UndoDaemon(f"{STATE}/a.pid", STATE),
    UndoDaemon("/run/sshd.pid", f"{STATE}/a.sock"),
    UndoPrograms(("sh",), ""),
    UndoPrograms(("sh",), "/"),
    UndoPrograms(("sh", "-e"), "/var/tmp/"),
    UndoPrograms(("a b",), f"{STATE}/"),
    UndoTree("/"),
    UndoTree(""),
    UndoTree("poolproof-0badcafe-x"),
    UndoTree("/x/victim-poolproof/../precious"),
    UndoTree(f"{STATE}/../precious"),
    UndoTree(f"/x/../poolproof-{LABEL}-x"),
    UndoTree("/home/poolproof"),
    UndoTree("/var/tmp/poolproof-0badbeef"),
    UndoTree(f"/var/tmp/poolproof-{LABEL}x"),
)


@pytest.mark.parametrize("undo", BAD, ids=str)
def test_everything_else_is_refused_with_the_reason(undo: Undo) -> None:
    assert refusal(undo, OWNED)


def test_a_forged_tree_and_a_forged_daemon_harm_nobody(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / "victim-poolproof").mkdir()
    owned = Owned(LABEL, (str(tmp_path / f"poolproof-{LABEL}"),))
    tree = {"kind": "tree", "path": f"{tmp_path}/victim-poolproof/../precious"}
    (left,) = undo_all(journal_of(tmp_path / "1", tree), LocalHost(), owned)
    assert "without `..`" in left.reason
    assert precious.is_dir()
    with subprocess.Popen(["sleep", "300.75"]) as stranger:
        try:
            (tmp_path / "pid").write_text(f"{stranger.pid}\n")
            daemon = {"kind": "daemon", "pidfile": str(tmp_path / "pid"), "marker": ""}
            (left,) = undo_all(journal_of(tmp_path / "2", daemon), LocalHost(), owned)
            assert not left.can_repeat
            os.kill(stranger.pid, 0)
            assert stranger.poll() is None
        finally:
            stranger.kill()


def _state_with_a_link(tmp_path: Path) -> tuple[Path, Path]:
    """Create a state directory with a link to another directory that contains a file, as an unpacked archive can.

    Return both directories.
    """
    state, precious = tmp_path.resolve() / f"poolproof-{LABEL}", tmp_path / "precious"
    for folder in (state, precious / "inner"):
        folder.mkdir(parents=True)
    (precious / "inner" / "note").write_text(f"{NAME} 1 2 id\n")
    (state / "link").symlink_to(precious)
    return state, precious / "inner" / "note"


@pytest.mark.parametrize(
    "undo",
    [
        {"kind": "tree", "path": "{}/link/inner"},
        {"kind": "tree", "path": "{}/link/inner/note"},
        {"kind": "tree", "path": f"{{}}/link/inner/../inner/poolproof-{LABEL}-x"},
        {"kind": "tree", "path": f"{{}}/link/poolproof-{LABEL}-x"},
        {"kind": "vdevs", "pool": NAME, "vdevs": [["/dev/null"]], "note": "{}/link/inner/note"},
        {"kind": "arc", "note": "{}/link/inner/note"},
        {"kind": "daemon", "pidfile": "{}/link/inner/note", "marker": "{}/x"},
    ],
)
def test_nothing_is_removed_through_a_link_in_the_state_directory(tmp_path: Path, undo: dict[str, Any]) -> None:
    state, note = _state_with_a_link(tmp_path)
    own = note.parent.parent / f"poolproof-{LABEL}-x"
    own.mkdir()
    journal = journal_of(tmp_path / "journal.jsonl", json.loads(json.dumps(undo).replace("{}", str(state))))
    (left,) = undo_all(journal, LocalHost(), Owned(LABEL, (str(state),)))
    assert not left.can_repeat
    assert note.exists()
    assert own.is_dir()


@pytest.mark.timeout(20)
def test_a_fifo_as_a_pidfile_or_note_does_not_stop_the_clean_up(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for undo in (
        {"kind": "daemon", "pidfile": str(fifo), "marker": f"{tmp_path}/x"},
        {"kind": "arc", "note": str(fifo)},
    ):
        journal = journal_of(tmp_path / "journal.jsonl", undo)
        assert undo_all(journal, LocalHost(), Owned(LABEL, (str(tmp_path),))) == ()


def test_the_suggested_command_cannot_run_the_host_of_a_change() -> None:
    """ssh would read such a host as an option, and run the command in it."""
    change = Change(1, "a pool", (), UndoTree("/x"), host="-oProxyCommand=touch /x")
    with pytest.raises(BuildError) as caught:
        complain((FailedUndo(change, "no connection", is_unreached=True),), "runs/x")
    assert "ssh -v -- '-oProxyCommand=touch /x' true" in caught.value.hint
