"""Steps run in order, each after it was written to the journal.

Undos affect only what still belongs to the run, and keep to their limits.
"""

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof import process
from poolproof.devices.model import IdentityCheck
from poolproof.errors import BuildError, GuardError, HostError
from poolproof.hosts.base import Hosts
from poolproof.hosts.local import LocalHost
from poolproof.layers.zfs_commands import UndoPool
from poolproof.provision.apply import apply, repeat
from poolproof.provision.journal import Journal
from poolproof.provision.undo import complain, undo_all, undo_one
from poolproof.steps import Step, daemon
from poolproof.undos import UNMOUNT_LIMIT_S, Owned, UndoDaemon, UndoMount, UndoPrograms, UndoTree
from tests.golden import Message

from ..layers.toys import toy_layers

HOST = LocalHost()
NOTHING: frozenset[str] = frozenset()
LABEL = "0badcafe"


def owned(folder: Path) -> Owned:
    return Owned(LABEL, (str(folder),))


class StandIns(LocalHost):
    """This machine, with the file `mounts` as its mount table, and with substitutes for some programs."""

    def __init__(self, folder: Path, **scripts: str) -> None:
        self.mounts, self._programs = folder / "mounts", folder / "bin"
        self.mounts.touch()
        self._programs.mkdir(exist_ok=True)
        for name, script in scripts.items():
            program = self._programs / name
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        chosen = self._programs / argv[0]
        words = (str(chosen), *argv[1:]) if chosen.exists() else argv
        return super().run(words, timeout_s=timeout_s, stdin=stdin, check=check)

    def read(self, path: str) -> str:
        return super().read(str(self.mounts) if path == "/proc/self/mounts" else path)

    def mount(self, point: Path) -> str:
        self.mounts.write_text(f"{self.mounts.read_text()}/dev/fuse {point} fuse rw 0 0\n")
        return str(point)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


def test_a_failed_step_stops_the_rest_and_leaves_what_stands_in_the_journal(
    tmp_path: Path, journal: Journal, message: Message
) -> None:
    made = tmp_path / "poolproof-a"
    steps = [
        Step("make a", ("mkdir", str(made)), UndoTree(str(made))),
        Step("fail", ("sh", "-c", "echo the tool says no >&2; exit 3")),
        Step("never", ("touch", str(tmp_path / "never"))),
    ]
    with pytest.raises(BuildError, match=r"\bfail\b.*the tool says no") as failed:
        apply(steps, HOST, journal, may_overwrite=NOTHING)
    message(failed.value)
    assert made.is_dir()
    assert not (tmp_path / "never").exists()
    assert undo_all(journal, HOST, owned(tmp_path)) == ()
    assert not made.exists()
    assert journal.outstanding() == ()


UNAVAILABLE = "cannot create 'tank': one or more devices is currently unavailable"
"""The output of `zpool create` (OpenZFS 2.1.11) while udev read the partition table that zpool had just written."""


def counting(path: Path, said: str, *, until: int) -> tuple[str, ...]:
    """Return a program that counts its runs in a file, and fails with a message in all runs before the last."""
    script = f'echo >>{path}; [ $(wc -l <{path}) -ge {until} ] || {{ echo "{said}" >&2; exit 1; }}'
    return ("sh", "-c", script)


def test_a_device_that_is_away_for_a_moment_is_asked_for_again(tmp_path: Path, journal: Journal) -> None:
    runs = tmp_path / "runs"
    step = Step("create", counting(runs, UNAVAILABLE, until=3), again_if="currently unavailable")
    apply([step], HOST, journal, may_overwrite=NOTHING)
    assert len(runs.read_text()) == 3


def test_a_device_that_stays_away_and_any_other_complaint_are_errors(tmp_path: Path, journal: Journal) -> None:
    away = Step("create", counting(tmp_path / "away", UNAVAILABLE, until=4), again_if="currently unavailable")
    with pytest.raises(BuildError, match="currently unavailable"):
        apply([away], HOST, journal, may_overwrite=NOTHING)
    other = Step("create", counting(tmp_path / "other", "no such pool", until=2), again_if="currently unavailable")
    with pytest.raises(BuildError, match="no such pool"):
        apply([other], HOST, journal, may_overwrite=NOTHING)
    assert len((tmp_path / "other").read_text()) == 1


def test_a_step_is_tried_again_as_long_as_it_has_patience(tmp_path: Path, journal: Journal) -> None:
    patient = Step("export", counting(tmp_path / "runs", "pool is busy", until=3), patience_s=5.0)
    apply([patient], HOST, journal, may_overwrite=NOTHING)
    assert len((tmp_path / "runs").read_text()) == 3
    slow = ("sh", "-c", f"sleep 0.3; {counting(tmp_path / 'slow', 'pool is busy', until=2)[2]}")
    apply([Step("export", slow, patience_s=0.2)], HOST, journal, may_overwrite=NOTHING)
    assert len((tmp_path / "slow").read_text()) == 2, "a program that takes longer to complain gets its second try"
    in_vain = Step("export", counting(tmp_path / "vain", "pool is busy", until=99), patience_s=0.3)
    with pytest.raises(BuildError, match=r"export.*pool is busy"):
        apply([in_vain], HOST, journal, may_overwrite=NOTHING)
    assert len((tmp_path / "vain").read_text()) > 1


def test_a_step_is_left_out_where_its_work_stands_already(tmp_path: Path, journal: Journal) -> None:
    made, stands = tmp_path / "made", tmp_path / "stands"
    step = Step("import", ("touch", str(made)), unless=str(stands))
    stands.touch()
    apply([step], HOST, journal, may_overwrite=NOTHING)
    assert not made.exists()
    stands.unlink()
    apply([step], HOST, journal, may_overwrite=NOTHING)
    assert made.exists()


def test_a_step_that_hangs_is_ended_at_its_limit(journal: Journal, message: Message) -> None:
    begun = time.monotonic()
    with pytest.raises(BuildError, match=r"0\.3 s") as ended:
        apply([Step("hang", ("sleep", "60"), timeout_s=0.3)], HOST, journal, may_overwrite=NOTHING)
    message(ended.value)
    assert time.monotonic() - begun < 10


def test_a_device_that_is_not_of_the_run_is_never_written_to(tmp_path: Path, journal: Journal) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    step = Step("wipe", ("truncate", "-s", "0", str(victim)), overwrites=(str(victim),))
    with pytest.raises(GuardError, match="victim"):
        apply([step], HOST, journal, may_overwrite=frozenset({"/dev/loop99"}))
    assert victim.read_text() == "precious"


def test_an_undo_does_nothing_when_its_name_belongs_to_somebody_else(tmp_path: Path, journal: Journal) -> None:
    host = StandIns(tmp_path, umount=f"touch {tmp_path}/umounted")
    apply([Step("mount", ("true",), UndoMount(f"{tmp_path}/mnt"))], host, journal, may_overwrite=NOTHING)
    host.mount(tmp_path / "mnt-of-another")
    assert undo_all(journal, host, owned(tmp_path)) == ()
    assert not (tmp_path / "umounted").exists()


def test_an_undo_that_fails_is_tried_to_its_limit_and_then_named(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poolproof.undos.COMMAND_LIMIT_S", 0.3)
    host = StandIns(tmp_path, umount="echo busy >&2; exit 1")
    gone = tmp_path / "poolproof-b"
    stuck = UndoMount(host.mount(tmp_path / "mnt"))
    apply(
        [Step("make b", ("mkdir", str(gone)), UndoTree(str(gone))), Step("stick", ("true",), stuck)],
        host,
        journal,
        may_overwrite=NOTHING,
    )
    leftovers = undo_all(journal, host, owned(tmp_path))
    assert [leftover.change.title for leftover in leftovers] == ["stick"]
    assert not gone.exists(), "the undos behind a stuck one still run"
    with pytest.raises(BuildError, match=r"(?s)stick: .*busy.*poolproof clean RUN"):
        complain(leftovers, "RUN")


@pytest.mark.parametrize("name", ["plain", "with space", "with\\backslash"])
def test_a_directory_with_a_mount_inside_is_kept(tmp_path: Path, journal: Journal, name: str) -> None:
    """`rm --one-file-system` would empty a bind mount of the same file system. The mount table escapes such paths."""
    host = StandIns(tmp_path)
    folder = tmp_path / name / f"poolproof-{LABEL}-one-dir"
    precious = folder / "mounted here" / "precious"
    precious.parent.mkdir(parents=True)
    precious.write_text("data")
    escaped = str(precious.parent)
    for character in "\\ ":
        escaped = escaped.replace(character, f"\\{ord(character):03o}")
    host.mount(Path(escaped))
    journal.record(Step("make a directory", ("true",), UndoTree(str(folder))))
    (failed,) = undo_all(journal, host, owned(tmp_path))
    assert precious.read_text() == "data"
    assert failed.reason.startswith("something is still mounted at")


def test_the_last_resort_comes_when_the_undo_does_not_help(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poolproof.undos.COMMAND_LIMIT_S", 0.2)
    host = StandIns(tmp_path, umount=f'[ "$1" = -l ] && : >{tmp_path}/mounts')
    undo = UndoMount(host.mount(tmp_path / "mnt"), lazy=True)
    apply([Step("mount", ("true",), undo)], host, journal, may_overwrite=NOTHING)
    assert undo_all(journal, host, owned(tmp_path)) == ()
    assert host.mounts.read_text() == ""


def test_unmounting_may_take_as_long_as_writing_all_dirty_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a FUSE mount that hangs, the limit is shorter, because a lazy unmount helps in that case."""
    monkeypatch.setattr("poolproof.undos.COMMAND_LIMIT_S", 0.1)
    monkeypatch.setattr("poolproof.undos.ONCE_S", 0.2)
    slow = 'for point; do :; done; [ "$1" = -l ] || sleep 1; : >{mounts}'
    for lazy, took_s in ((False, 1.0), (True, 0.2)):
        host = StandIns(tmp_path, umount=slow.format(mounts=tmp_path / "mounts"))
        begun = time.monotonic()
        assert undo_one(UndoMount(host.mount(tmp_path / "mnt"), lazy), host) is None
        assert took_s <= time.monotonic() - begun < took_s + 0.7
    assert UndoMount("/x").removal().once_s == UNMOUNT_LIMIT_S
    assert UndoPool("x").removal().once_s == UNMOUNT_LIMIT_S


def test_a_daemon_is_awaited_and_ended_by_its_pid_file(tmp_path: Path, journal: Journal) -> None:
    pidfile, log = tmp_path / "d.pid", tmp_path / "d.log"
    argv = ("sh", "-c", 'echo $$ >"$0"; while sleep 1; do :; done', str(pidfile), str(tmp_path / "d.sock"))
    step = Step(
        "serve", daemon(argv, str(log)), UndoDaemon(str(pidfile), str(tmp_path / "d.sock")), await_file=str(pidfile)
    )
    apply([step], HOST, journal, may_overwrite=NOTHING)
    pid = int(pidfile.read_text())
    os.kill(pid, 0)
    assert undo_all(journal, HOST, owned(tmp_path)) == ()
    assert not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_daemon_that_does_not_come_up_is_explained_by_its_log(
    tmp_path: Path, journal: Journal, message: Message
) -> None:
    pidfile, log = tmp_path / "d.pid", tmp_path / "d.log"
    argv = daemon(("sh", "-c", "echo no such socket; exit 1"), str(log))
    step = Step("serve", argv, await_file=str(pidfile), log=str(log), timeout_s=0.5)
    with pytest.raises(BuildError, match=r"serve: .*\blog.*no such socket") as failed:
        apply([step], HOST, journal, may_overwrite=NOTHING)
    message(failed.value)


def test_a_process_that_only_has_the_old_number_is_left_alone(tmp_path: Path, journal: Journal) -> None:
    stranger = subprocess.Popen(["sleep", "300.25"])
    try:
        pidfile = tmp_path / "d.pid"
        pidfile.write_text(f"{stranger.pid}\n")
        apply(
            [Step("serve", ("true",), UndoDaemon(str(pidfile), str(tmp_path / "our.sock")))],
            HOST,
            journal,
            may_overwrite=NOTHING,
        )
        assert undo_all(journal, HOST, owned(tmp_path)) == ()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait(10)


def test_programs_are_ended_by_what_their_command_lines_hold(tmp_path: Path, journal: Journal) -> None:
    """Two of the processes match. One of the others has a different name, and one uses a different folder."""
    os.mkfifo(tmp_path / "wait")
    (tmp_path / "log").touch()
    (tmp_path / "other").mkdir()
    ours = [
        subprocess.Popen(["sh", "-c", "read -r _ <$0/wait; exec sleep 300", f"{tmp_path}/"], start_new_session=True),
        subprocess.Popen(["tail", "-f", f"{tmp_path}/other/log", "/dev/null"], start_new_session=True),
    ]
    strangers = [
        subprocess.Popen(["tail", "-f", f"{tmp_path}/log"]),
        subprocess.Popen(["sleep", "300.25"]),
    ]
    try:
        undos = (UndoPrograms(("fio", "sh"), f"{tmp_path}/"), UndoPrograms(("tail",), f"{tmp_path}/other"))
        apply([Step("run", ("true",), undo) for undo in undos], HOST, journal, may_overwrite=NOTHING)
        assert undo_all(journal, HOST, owned(tmp_path)) == ()
        assert [process.wait(10) < 0 for process in ours] == [True, True]
        assert [process.poll() for process in strangers] == [None, None]
    finally:
        for process in ours + strangers:
            process.kill()
            process.wait(10)


def test_a_directory_stays_while_something_that_stands_has_its_pid_file_there(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poolproof.undos.COMMAND_LIMIT_S", 0.2)
    host = StandIns(tmp_path, umount="exit 1")
    place = tmp_path / "poolproof-c"
    stuck = UndoMount(host.mount(place / "mnt"))
    steps = [
        Step("make c", ("mkdir", str(place)), UndoTree(str(place))),
        Step("note", ("sh", "-c", f"echo ours >{place}/owner"), stuck),
    ]
    apply(steps, host, journal, may_overwrite=NOTHING)
    leftovers = undo_all(journal, host, owned(tmp_path))
    assert [leftover.change.title for leftover in leftovers] == ["note", "make c"]
    assert (place / "owner").exists(), "without it the next clean would believe that nothing stands"


def test_an_undo_whose_program_hangs_does_not_keep_the_rest_from_being_undone(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poolproof.undos.COMMAND_LIMIT_S", 0.1)
    host = StandIns(tmp_path, umount="exec no-such-program")
    gone = tmp_path / "poolproof-d"
    steps = [
        Step("make d", ("mkdir", str(gone)), UndoTree(str(gone))),
        Step("odd", ("true",), UndoMount(host.mount(tmp_path / "mnt"))),
    ]
    apply(steps, host, journal, may_overwrite=NOTHING)
    (leftover,) = undo_all(journal, host, owned(tmp_path))
    assert "not found" in leftover.reason
    assert not gone.exists()


@pytest.mark.parametrize("named", ["/dev/xa", "device=/dev/xa", "/dev/xa:/dev/xb", "/dev/xb:/dev/xa", "log:/dev/xa,ro"])
def test_a_disk_that_was_replaced_stops_a_step_that_names_it(named: str) -> None:
    check = [IdentityCheck("/dev/xa", ("sh", "-c", "echo /dev/xa is another disk now >&2; exit 1"))]
    with pytest.raises(GuardError, match=r"mount: .*another disk now"):
        repeat([Step("mount", ("true", named))], HOST, check)
    repeat([Step("mount", ("true", named.replace("xa", "xab")))], HOST, check)


@pytest.mark.parametrize("disk_host", ["", "nas2"])
def test_only_disks_of_the_steps_own_host_are_checked_on_that_host(disk_host: str) -> None:
    main, other = _NamedHost("nas1"), _NamedHost("nas2")
    hosts, check = Hosts(main, {"nas2": other}), IdentityCheck("/dev/xa", ("false",), disk_host)
    for host in ("", "nas2"):
        step = Step("mount", ("true", "/dev/xa"), host=host)
        with pytest.raises(GuardError) if host == disk_host else nullcontext():
            repeat([step], hosts, [check])
    assert (main.ran, other.ran) == ((["false"], ["true"]) if not disk_host else (["true"], ["false"]))


def test_a_tool_that_stumbles_over_the_mount_of_a_dead_run_names_the_way_out(journal: Journal) -> None:
    """mkfs.btrfs 6.2 prints this error if the FUSE server of another run's loop file is dead."""
    said = "ERROR: cannot check mount status of /dev/loop2: Transport endpoint is not connected"
    with pytest.raises(BuildError, match="not connected") as raised:
        apply([Step("make it", ("sh", "-c", f"echo '{said}' >&2; exit 1"))], HOST, journal, may_overwrite=NOTHING)
    assert raised.value.hint.endswith(": poolproof clean")


class _NamedHost(LocalHost):
    """This machine with a different name. It records the argv of each program that it runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ran: list[str] = []

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        self.ran.append(argv[0])
        return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)


def test_steps_on_two_hosts_are_applied_and_undone_on_each(tmp_path: Path, journal: Journal) -> None:
    here, there = tmp_path / "poolproof-here", tmp_path / "poolproof-there"
    steps = [
        Step("make it here", ("mkdir", str(here)), UndoTree(str(here))),
        Step("make it there", ("mkdir", str(there)), UndoTree(str(there)), host="nas2"),
    ]
    main, other = _NamedHost("nas1"), _NamedHost("nas2")
    hosts = Hosts(main, {"nas2": other})
    apply(steps, hosts, journal, may_overwrite=NOTHING)
    assert (main.ran, other.ran) == (["mkdir"], ["mkdir"])
    assert [change.host for change in Journal(journal.path).outstanding()] == ["nas2", ""]
    repeat([Step("list it", ("ls", str(there)), host="nas2")], hosts)
    assert (main.ran, other.ran) == (["mkdir"], ["mkdir", "ls"])
    assert undo_all(Journal(journal.path), hosts, owned(tmp_path)) == ()
    assert (main.ran.count("rm"), other.ran.count("rm")) == (1, 1)
    assert not here.exists()
    assert not there.exists()


def test_a_change_on_a_host_that_the_run_cannot_reach_is_reported(tmp_path: Path, journal: Journal) -> None:
    there = tmp_path / "poolproof-there"
    step = Step("make it there", ("mkdir", str(there)), UndoTree(str(there)), host="nas2")
    apply([step], Hosts(_NamedHost("nas1"), {"nas2": _NamedHost("nas2")}), journal, may_overwrite=NOTHING)
    (failed,) = undo_all(journal, _NamedHost("nas1"), owned(tmp_path))
    assert "nas2" in failed.reason
    assert there.exists()
    with pytest.raises(HostError, match="nas3"):
        apply([replace(step, host="nas3")], HOST, journal, may_overwrite=NOTHING)


def test_a_journal_without_host_names_is_undone_on_the_one_host(tmp_path: Path) -> None:
    made = tmp_path / "poolproof-made"
    made.mkdir()
    undo = f'{{"kind":"tree","path":"{made}"}}'
    path = tmp_path / "journal.jsonl"
    path.write_text(f'{{"line":"change","number":1,"title":"make it","argv":["true"],"undo":{undo},"schema":1}}\n')
    assert undo_all(Journal(path), HOST, owned(tmp_path)) == ()
    assert not made.exists()


def test_the_hosts_of_a_run_are_used_like_its_main_host(tmp_path: Path) -> None:
    text = tmp_path / "file"
    text.write_text("hello")
    main, other = _NamedHost("nas1"), _NamedHost("nas2")
    hosts = Hosts(main, {"nas2": other})
    assert hosts.name == "nas1"
    assert hosts.run(["true"], timeout_s=5).returncode == 0
    assert (main.ran, other.ran) == (["true"], [])
    assert hosts.read(str(text)) == "hello"
    assert hosts.read_files([str(text)]).texts == ("hello",)
    with hosts.stream([str(text)], 0.01) as ticks:
        assert next(ticks).texts == ("hello",)


def test_a_daemon_without_a_pid_file_is_found_by_its_name_and_marker(tmp_path: Path, journal: Journal) -> None:
    """The daemons could not write their pid files, because the disk was full.

    Only programs that a device, a layer or the owner names are ended, regardless of what the journal names. The kernel
    truncates their names after 15 characters.
    """
    pidfile, marker = tmp_path / "a.nbd.pid", tmp_path / "a.sock"
    pidfile.touch()
    known = ("nbdkit", "qemu-nbd", "autotierfs", "toy-file-system-daemon", "machine-of-a-lab")
    started = {}
    for name in (*known, "other", "sh2"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho ready\nwhile :; do sleep 0.1; done\n")
        program.chmod(0o755)
        argv = [str(program), "-U", str(marker)]
        started[name] = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
    try:
        for process_ in started.values():
            assert process_.stdout is not None and process_.stdout.readline() == b"ready\n"
        undo = UndoDaemon(str(pidfile), str(marker))
        journal.record(Step("serve", ("true",), undo))
        with toy_layers():
            assert undo_all(journal, HOST, replace(owned(tmp_path), daemons=("machine-of-a-lab",))) == ()
        assert [started[name].wait(10) != 0 for name in known] == [True] * len(known)
        assert [started[name].poll() for name in ("other", "sh2")] == [None, None]
    finally:
        for process_ in started.values():
            process_.kill()
            process_.communicate()


def test_a_pid_file_that_stays_empty_is_reported_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: Message
) -> None:
    monkeypatch.setattr("poolproof.provision.apply._EMPTY_S", 0.2)
    path = tmp_path / "a.pid"
    step = Step("serve a", ("touch", str(path)), await_file=str(path), timeout_s=60)
    with pytest.raises(BuildError, match="file system") as caught:
        apply([step], HOST, Journal(tmp_path / "journal.jsonl"), may_overwrite=NOTHING)
    message(caught.value)
    assert caught.value.hint.startswith(f"df -h {tmp_path}")


def test_a_change_without_a_command_is_undone(tmp_path: Path) -> None:
    """poolproof never writes such a line to the journal, but a stranger can."""
    (tmp_path / "made").touch()
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(Step("make a file", (), UndoTree(str(tmp_path / "made"))))
    assert undo_all(Journal(journal.path), HOST, owned(tmp_path)) == ()
    assert not (tmp_path / "made").exists()
