"""Each kind of bad input causes one clear error, with the next command and an exit code, and leaves nothing behind."""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.loop.command import Answer, ask
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_READS = "workloads: {reads: {rw: randread, size: 16m}}"
_FINE = f"""
devices: {{a: {{file: 256M}}, b: {{file: 256M}}}}
layouts: {{one: a | ext4}}
{_READS}
measure: {{trials: 1, time: 200ms}}
"""
_USAGE, _CAMPAIGN, _HOST, _RUN, _FIO = 2, 3, 4, 7, 8


@dataclass(frozen=True)
class Mistake:
    """A change that makes a campaign invalid, the exit code, and words that the message and the hint must contain."""

    right: str
    wrong: str
    code: int
    message: str
    hint: str


_MISTAKES = {
    "unknown layer": Mistake("a | ext4", "a | ext5", _CAMPAIGN, "ext5", "ext4"),
    "unknown option of a layer": Mistake("a | ext4", "a | ext4 no_such=1", _CAMPAIGN, "no_such", ""),
    "unknown option of fio": Mistake("rw: randread", "rw: randread, iodepht: 4", _CAMPAIGN, "iodepht", ""),
    "a value that fio refuses": Mistake("rw: randread", "rw: sideways", _CAMPAIGN, "sideways", ""),
    "unknown device": Mistake("a | ext4", "c | ext4", _CAMPAIGN, "`c`", ""),
    "unknown model": Mistake("file: 256M", "emulate: floppy, size: 256M", _CAMPAIGN, "floppy", "hdd-7200"),
    "unknown key": Mistake("measure:", "mesure:", _CAMPAIGN, "did you mean `measure`", "workloads"),
    "a device used twice": Mistake("a | ext4", "btrfs raid1 a a", _CAMPAIGN, "a", ""),
    "unknown engine": Mistake("rw: randread", "rw: randread, ioengine: floppy", _CAMPAIGN, "floppy", "libaio"),
    "an option for poolproof to set": Mistake("rw: randread", "rw: read, directory: /srv", _CAMPAIGN, "directory", ""),
    "a device too small for its layer": Mistake("a | ext4", "a | xfs", _HOST, "256 MiB", "300M"),
    "larger than the target": Mistake("size: 16m", "size: 8g", _CAMPAIGN, "8 GiB", "size"),
    "too small to format": Mistake("file: 256M", "file: 64K", _CAMPAIGN, "", ""),
    "a missing path": Mistake("a | ext4", "dir /no/such", _HOST, "/no/such", "mkdir -p /no/such"),
    "a missing disk": Mistake("file: 256M", "disk: no-disk", _CAMPAIGN, "no-disk", "poolproof devices"),
    "a disk by its letter": Mistake("file: 256M", "disk: sda", _CAMPAIGN, "sda", ""),
    "not a mapping": Mistake(_FINE, "- just\n- a list\n", _CAMPAIGN, "mapping", "layouts"),
    "invalid YAML": Mistake(_FINE, "layouts: {one: [", _CAMPAIGN, "YAML", ""),
    "an empty file": Mistake(_FINE, "", _CAMPAIGN, "empty", "layouts"),
    "no layouts": Mistake("layouts: {one: a | ext4}", "", _CAMPAIGN, "no layouts", "layouts"),
    "no workloads": Mistake(_READS, "", _CAMPAIGN, "no workloads", "workloads"),
    "a size of 0": Mistake("size: 16m", "size: 0", _CAMPAIGN, "size=0", "size=1g"),
    "a size below one block": Mistake("size: 16m", "size: 16m, bs: 64m", _CAMPAIGN, "64 MiB", "size=1g"),
    "out of range": Mistake("size: 16m", "size: 16m, iodepth: -4", _CAMPAIGN, "value out of range: -4", "iodepth"),
    "an empty list of values": Mistake("rw: randread", "rw: []", _CAMPAIGN, "empty", "rw"),
    "a missing file": Mistake(
        "a | ext4}\nworkloads: {reads: {", "dir /srv}\nworkloads: {reads: {filename: none, fill: false, ",
        _CAMPAIGN, "/srv/none", "filename",
    ),
    "existing files of a new layout": Mistake("size: 16m", "size: 16m, fill: false", _CAMPAIGN, "fill: false", "dir"),
}  # fmt: skip


@pytest.mark.parametrize("name", _MISTAKES)
def test_an_error_in_a_campaign(testbed: Testbed, name: str) -> None:
    mistake = _MISTAKES[name]
    assert mistake.right in _FINE
    answer = testbed.ask(_FINE.replace(mistake.right, mistake.wrong))
    _is_one_clear_error(answer, mistake.code, mistake.message, mistake.hint)
    assert re.match(rf"{re.escape(str(testbed.path))}/c\.yaml(:\d+)?: ", answer.error["message"]), "where it stands"
    assert not (testbed.runs / "run").exists()
    assert testbed.traces() == []


def test_without_json_the_error_is_text_on_standard_error(testbed: Testbed) -> None:
    words = testbed.words(testbed.campaign(_FINE.replace("a | ext4", "a | ext5")))
    answer = ask(*[word for word in words if word != "--json"])
    assert (answer.code, answer.out) == (_CAMPAIGN, "")
    assert answer.err.startswith("poolproof: ")
    assert "did you mean `ext4`" in answer.err
    assert "Traceback" not in answer.err


def test_a_missing_campaign_file(testbed: Testbed) -> None:
    answer = ask(*testbed.words(testbed.path / "nowhere.yaml"))
    _is_one_clear_error(answer, _CAMPAIGN, "nowhere.yaml", "path")


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("run", _USAGE, "no campaign"),
        ("run --no-such-option", _USAGE, "--no-such-option"),
        ("rnu", _USAGE, "Did you mean 'run'"),
        ("show", _USAGE, "RUN"),
        ("run -l 'a | ext4' -d a=file:1G -w etcd --time soon", _CAMPAIGN, "soon"),
        ("run -l 'a | ext4' -d a=file:1G -w etcd --trials 0", _USAGE, "at least one"),
        ("run -l 'a | ext4' -d a=file:1G", _CAMPAIGN, "workload"),
    ],
)
def test_an_error_on_the_command_line(line: str, code: int, message: str) -> None:
    _is_one_clear_error(ask(*shlex.split(line), "--json"), code, message, "")


@pytest.mark.parametrize("command", ["resume", "clean", "show"])
def test_a_missing_run(testbed: Testbed, command: str) -> None:
    _is_one_clear_error(ask(command, str(testbed.runs / "none"), "--json"), _RUN, "none", "runs")


def test_a_run_that_already_exists(testbed: Testbed) -> None:
    (testbed.runs / "run").mkdir()
    (testbed.runs / "run" / "kept").write_text("mine")
    _is_one_clear_error(testbed.ask(_FINE), _RUN, "not empty", "--out")
    assert (testbed.runs / "run" / "kept").read_text() == "mine"
    assert testbed.traces() == []


def test_fio_is_missing(testbed: Testbed) -> None:
    answer = ask(*testbed.words(testbed.campaign(_FINE)), env={"PATH": str(_programs_except_fio(testbed))})
    _is_one_clear_error(answer, _FIO, "fio is not installed", "install")
    assert testbed.traces() == []


@pytest.mark.parametrize("version", ["fio-2.1", "fio-3.5", "no version at all"])
def test_fio_is_too_old(testbed: Testbed, version: str) -> None:
    folder = _programs_except_fio(testbed)
    (folder / "fio").write_text(f"#!/bin/sh\necho {version}\n")
    (folder / "fio").chmod(0o755)
    answer = ask(*testbed.words(testbed.campaign(_FINE)), env={"PATH": str(folder)})
    _is_one_clear_error(answer, _FIO, version, "install")
    assert testbed.traces() == []


def test_no_room_for_the_test_files_in_a_directory(testbed: Testbed) -> None:
    small = testbed.loop_mount("small", "ext4", "64M")
    answer = testbed.ask(_FINE.replace("a | ext4", f"dir {small}").replace("16m", "100m"))
    _is_one_clear_error(answer, _CAMPAIGN, "100 MiB", "size")
    assert testbed.traces() == []
    assert [path.name for path in small.iterdir()] == ["lost+found"]


def test_no_room_for_images_in_the_work_directory(testbed: Testbed) -> None:
    """The image of the device is sparse, so it can grow larger than the disk on which it is stored."""
    testbed.work = testbed.mount_ram("small", "48M") / "work"
    testbed.work.mkdir()
    answer = testbed.ask(_FINE.replace("size: 16m", "size: 100m"))
    _reports_no_space(answer)
    assert testbed.traces() == []
    assert list(testbed.work.iterdir()) == []


def test_the_target_fills_up_while_fio_writes(testbed: Testbed) -> None:
    """Another program uses up the space after the run was planned."""
    small = testbed.loop_mount("small", "ext4", "256M")
    started = testbed.start(_FINE.replace("a | ext4", f"dir {small}").replace("size: 16m", "size: 150m"))
    started.wait_for(lambda: (testbed.runs / "run/run.json").exists(), "no run.json")
    testbed.command("fallocate", "-l", "150M", str(small / "other"))
    _reports_no_space(started.wait())
    assert testbed.traces() == []
    assert sorted(path.name for path in small.iterdir()) == ["lost+found", "other"]


def test_no_room_for_the_run_directory(testbed: Testbed) -> None:
    """The space does not suffice for fio's report of a trial. With more space, the run can be resumed."""
    testbed.runs = testbed.mount_ram("small", "28K")
    answer = testbed.ask(_FINE.replace("a | ext4", "dir {data}"))
    _is_one_clear_error(answer, _RUN, "No space left on device", "poolproof resume")
    assert testbed.traces() == []
    testbed.command("mount", "-o", "remount,size=16M", str(testbed.runs))
    assert testbed.resume().wait().code == 0
    assert len(testbed.trial_lines()) == 1


@pytest.mark.parametrize(("place", "message"), [("file", "is not a directory"), ("none", "does not exist")])
def test_a_target_that_is_not_a_directory(testbed: Testbed, place: str, message: str) -> None:
    (testbed.path / "file").touch()
    there = testbed.path / place
    of_layout = testbed.ask(_FINE.replace("a | ext4", f"dir {there}"))
    _is_one_clear_error(of_layout, _HOST, message, str(there))
    testbed.work = there
    _is_one_clear_error(testbed.ask(_FINE), _HOST, message, "--work")
    assert not (testbed.runs / "run").exists()


def _is_one_clear_error(answer: Answer, code: int, message: str, hint: str) -> None:
    assert answer.code == code, answer.out + answer.err
    error = answer.error
    assert message in error["message"] + error["hint"]
    assert hint in error["hint"] + error["message"]
    assert error["hint"], "no next command to type"


def _reports_no_space(answer: Answer) -> None:
    """Check that the lack of space is reported, either before anything is built or as failed trials (exit code 6)."""
    assert "Traceback" not in answer.out + answer.err
    if "error" in answer.json:
        assert "space" in answer.error["message"] or "room" in answer.error["message"]
        return
    assert answer.code == 6, answer.err
    (cell,) = answer.json["cells"]
    assert cell["verdict"] == "failed"
    message = cell["findings"][0]["message"]
    assert "No space left on device" in message or ("has only" in message and "left, so work" in message)


def _programs_except_fio(testbed: Testbed) -> Path:
    """Return a folder with links to all programs of this machine except fio."""
    folder = testbed.path / "programs"
    folder.mkdir()
    for source in dict.fromkeys(Path(name).resolve() for name in os.environ["PATH"].split(":")):
        for program in _files_of(source):
            if program.name != "fio" and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    return folder


def _files_of(folder: Path) -> Iterator[Path]:
    return iter(folder.iterdir()) if folder.is_dir() else iter(())
