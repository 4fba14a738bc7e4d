"""What the user is told about a real disk that `--wipe` names, from the first refusal to `resume` after a reboot.

Each command that a message suggests must work when it is typed.
"""

import contextlib
import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.loop.command import Answer, Started, ask
from tests.loop.testbed import Testbed
from tests.loop.whole_disk import whole_disk

_NAME = f"ata-POOLPROOF_{os.getpid()}"
_OTHER = f"{_NAME}_B"
_CAMPAIGN = f"""
devices: {{a: {{disk: {_NAME}}}}}
layouts: {{one: a | ext4}}
workloads: {{reads: {{rw: randread, bs: 16k, size: 16m}}}}
measure: {{trials: 2, time: 1s}}
"""
_GUARD, _USAGE, _BUILD, _RUN = 5, 2, 6, 7
_END_S = 90.0

pytestmark = pytest.mark.parallel


@pytest.fixture(autouse=True)
def disk() -> Iterator[str]:
    with whole_disk(_NAME) as path:
        yield path


@pytest.mark.parametrize("name", [f"/dev/disk/by-id/{_NAME}", _NAME.lower()], ids=["path", "lower case"])
def test_wipe_accepts_the_path_and_any_case(testbed: Testbed, name: str) -> None:
    answer = _dry_run(testbed, _CAMPAIGN, "--wipe", name)
    assert answer.code == 0, answer.err
    assert "mkfs.ext4 -q -F -L" in answer.out and f"/dev/disk/by-id/{_NAME}" in answer.out
    assert "foreign()" not in answer.out, "the script that erases the signatures hides the other commands"
    assert f"undo: erase the signatures on /dev/disk/by-id/{_NAME}" in answer.out


def test_one_message_names_all_disks_that_wipe_must_name(testbed: Testbed) -> None:
    two = _CAMPAIGN.replace("devices: {", f"devices: {{b: {{disk: {_OTHER}}}, ").replace("a | ext4", "btrfs raid1 a b")
    with whole_disk(_OTHER):
        refused = _dry_run(testbed, two)
        assert refused.code == _GUARD
        (hint,) = [line.strip() for line in refused.err.splitlines() if "add --wipe" in line]
        answer = _dry_run(testbed, two, *shlex.split(hint.removeprefix("add ")))
    assert answer.code == 0, answer.err


def test_a_disk_that_the_campaign_does_not_use_is_reported(testbed: Testbed) -> None:
    answer = _dry_run(testbed, _CAMPAIGN, "--wipe", _NAME, "--wipe", _OTHER)
    assert answer.code == _USAGE
    assert f"--wipe {_OTHER}: the campaign does not use this disk" in answer.err
    assert f"the campaign uses {_NAME}" in answer.err


def test_a_disk_of_another_run_names_that_run(testbed: Testbed) -> None:
    started = _start(testbed)
    started.wait_for_program("fio", "job.fio")
    going = _dry_run(testbed, _CAMPAIGN, "--wipe", _NAME)
    assert going.code == _GUARD
    assert f"its run {testbed.runs / 'run'} is still running" in going.err
    assert "umount" not in going.err
    started.kill()
    dead = _dry_run(testbed, _CAMPAIGN, "--wipe", _NAME)
    assert dead.code == _GUARD
    assert f"its run {testbed.runs / 'run'} has crashed" in dead.err
    assert _suggested(dead, "clean").code == 0
    assert _dry_run(testbed, _CAMPAIGN, "--wipe", _NAME).code == 0


def test_resume_after_clean_asks_for_the_disk_again(testbed: Testbed) -> None:
    started = _start(testbed)
    started.wait_for_program("fio", "job.fio")
    started.kill()
    run = str(testbed.runs / "run")
    assert ask("clean", run).code == 0
    refused = ask("resume", run)
    assert refused.code == _GUARD
    assert "was rebooted or the run was cleaned up" in refused.err
    resumed = _suggested(refused, "resume")
    assert resumed.code == 0, resumed.err
    assert len(testbed.trial_lines()) == 2
    again = ask("resume", run)
    assert again.code == _RUN
    assert "is finished; nothing is left to measure" in again.err


def test_data_that_someone_wrote_to_a_released_disk_is_not_overwritten(testbed: Testbed, disk: str) -> None:
    """Raw data has no signature. The trials must not count as failed, because `resume --wipe` measures them."""
    started = _start(testbed)
    started.wait_for_program("fio", "job.fio")
    started.signal(signal.SIGINT)
    assert started.wait(_END_S).code == 130
    before = testbed.trial_lines()
    testbed.command("dd", "if=/dev/urandom", f"of={disk}", "bs=1M", "count=1", "seek=99", "oflag=direct")
    refused = ask("resume", str(testbed.runs / "run"))
    assert refused.code == _GUARD
    assert f"someone has written to {_NAME} since this run released it" in refused.err
    assert testbed.trial_lines() == before
    other = ask("resume", str(testbed.runs / "run"), "--wipe", _OTHER)
    assert other.code == _USAGE
    resumed = _suggested(refused, "resume")
    assert resumed.code == 0, resumed.err
    assert len(testbed.trial_lines()) == 2
    assert not [line for line in testbed.trial_lines() if '"failed"' in line]


def test_after_a_reboot_the_messages_lead_to_the_end(testbed: Testbed) -> None:
    started = _start(testbed)
    started.wait_for_program("fio", "job.fio")
    started.kill()
    state = testbed.work / f"poolproof-{testbed.label()}"
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(state) in file.read_text():
                os.kill(int(file.parent.name), signal.SIGKILL)
    testbed.command(
        "sh",
        "-c",
        'for i in $(seq 50); do umount "$0" && exit; sleep 0.1; done; exit 1',
        str(state / "mnt" / "one-ext4"),
    )
    boot = testbed.path / "boot_id"
    boot.write_text(f"{uuid4()}\n")
    rebooted = ("unshare", "-m", "sh", "-c", f'mount --bind {boot} /proc/sys/kernel/random/boot_id; exec "$@"', "sh")
    run = str(testbed.runs / "run")
    for words in (("clean", run), ("resume", run), ("resume", run, "--wipe", _NAME)):
        refused = ask(*words, before=rebooted)
        assert refused.code == _BUILD
        assert "sh -c" not in refused.err
        assert f"was rebooted after poolproof claimed /dev/disk/by-id/{_NAME}" in refused.err
        assert "\n  then run: poolproof clean" in refused.err
    testbed.command("wipefs", "--all", f"/dev/disk/by-id/{_NAME}")
    assert _suggested(refused, "clean", rebooted).code == 0
    refused = ask("resume", run, before=rebooted)
    assert refused.code == _GUARD
    resumed = _suggested(refused, "resume", rebooted)
    assert resumed.code == 0, resumed.err
    assert len(testbed.trial_lines()) == 2


def _start(testbed: Testbed) -> Started:
    return Started(testbed.path, *testbed.words(testbed.campaign(_CAMPAIGN)), "--wipe", _NAME)


def _dry_run(testbed: Testbed, text: str, *words: str) -> Answer:
    campaign = testbed.campaign(text, "other")
    return ask(
        "run", str(campaign), "--work", str(testbed.work), "--out", str(Path(testbed.runs, "n")), "--dry-run", *words
    )


def _suggested(refused: Answer, command: str, before: tuple[str, ...] = ()) -> Answer:
    """Run the command that the message suggests, exactly as it is printed."""
    _, _, words = refused.err.rpartition(f"poolproof {command} ")
    return ask(command, *shlex.split(words), before=before)
