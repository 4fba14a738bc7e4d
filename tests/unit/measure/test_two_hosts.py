"""A layout on two scripted hosts: everything on the second host's disk is done on that host, and nothing else is."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import GuardError
from poolproof.hosts.base import Hosts, Tick
from poolproof.layers.tree import hosts_of
from poolproof.measure.plan import check_disks_of_layers, plan_one
from poolproof.process import Completed
from poolproof.provision.journal import Journal
from tests.unit.layers.toys import toy_layers

from .scripted_host import CAMPAIGN, Argv, Run, Script, ScriptedHost, planned, script

FAR = Path(__file__).parent / "far"
TEXT = CAMPAIGN.replace("{one: a | ext4, two: b | ext4}", "{one: a | far | ext4}")
HERE, THERE = "/sys/class/block/loop0/stat", "/sys/class/block/loop7/stat"


class CountingHost(ScriptedHost):
    """A scripted host that shows the sampler the script's next counters without using them up."""

    def read_files(self, paths: Sequence[str]) -> Tick:
        if threading.current_thread().name == "sampler":
            return self._ticks[tuple(paths)][-1]
        return super().read_files(paths)


def main_script() -> Script:
    """Return the record for the main host, without the readings during pauses, which only concern the leaf devices."""
    found = script()
    counters = [entry for entry in found.ticks if entry[0][0] == HERE]
    between = [entry for number, entry in enumerate(counters) if number % 5 > 1]
    return Script(found.commands, found.files, [*(each for each in found.ticks if each not in counters), *between])


def other_script() -> Script:
    """Return the record for a host with one disk, which did the same as the recorded disk."""
    found = script()
    files = [(name.replace("/loop0/", "/loop7/"), text) for name, text in found.files if "/self/mount" not in name]
    ticks: list[tuple[Argv, Tick]] = []
    for paths, tick in found.ticks:
        if paths[0] == HERE:
            ticks.append(((THERE,), Tick(tick.at_s, tick.texts[:1])))
    return Script(files=[*files, ("/proc/self/mounts", "")], ticks=ticks)


def main_answer(argv: Argv) -> Completed | None:
    if argv[:2] == ("sh", "-c") and "readlink" in argv[2]:
        return Completed(argv, 0, f"{HERE}\n", "", 0.0)
    return None


def second_host(disks: str = "") -> ScriptedHost:
    """Return a host on which every command succeeds, and the loop device has its backing file until it is detached.

    `disks`: the block devices that exist before the layout is built, as rows of lsblk's output.
    """

    def answer(argv: Argv) -> Completed:
        if argv[0] == "lsblk":
            return Completed(argv, 0, f'{{"blockdevices": [{disks}]}}', "", 0.0)
        if argv[:2] == ("losetup", "--detach"):
            host._files["/sys/block/loop7/loop/backing_file"] = [None]
        return Completed(argv, 0, "", "", 0.0)

    host = CountingHost(other_script(), answer, name="nas2")
    host._files["/sys/block/loop7/loop/backing_file"] = ["/var/tmp/poolproof-scripted/one-far.img\n"]
    return host


@pytest.fixture(autouse=True)
def _toy() -> Iterator[None]:
    with toy_layers(FAR):
        yield


def run_on_two_hosts(
    path: Path, disks: str = "", permitted: frozenset[str] = frozenset()
) -> tuple[ScriptedHost, ScriptedHost, Run]:
    main, other = CountingHost(main_script(), main_answer), second_host(disks)
    run = planned(main, path, TEXT)
    run = replace(run, host=Hosts(main, {"nas2": other}), plan=replace(run.plan, allowed_disks=permitted))
    run.conduct()
    return main, other, run


def test_the_layer_names_the_host_that_the_run_connects_to(tmp_path: Path) -> None:
    plan = planned(CountingHost(main_script()), tmp_path / "run", TEXT).plan
    assert hosts_of(plan.nodes["one"]) == {"nas2"}


def test_steps_cache_drops_and_undo_of_the_far_disk_run_on_its_host(tmp_path: Path) -> None:
    main, other, run = run_on_two_hosts(tmp_path / "run")
    about_the_disk = [argv for argv in other.ran if "/dev/loop7" in argv]
    programs = [argv[0] for argv in about_the_disk]
    assert programs[0] == "losetup" and programs[-1] == "losetup"
    assert programs.count("blockdev") >= 2, "before each trial"
    assert not [argv for argv in main.ran if "/dev/loop7" in argv]
    assert not [argv for argv in other.ran if "/dev/loop0" in argv or argv[0] in ("mkfs.ext4", "mount", "fincore")]
    assert Journal(run.directory.journal_path).outstanding() == ()


def test_the_runs_directory_is_created_and_removed_on_both_hosts(tmp_path: Path) -> None:
    main, other, _run = run_on_two_hosts(tmp_path / "run")
    for host in (main, other):
        assert ("mkdir", "-m", "0700", "/var/tmp/poolproof-scripted") in host.ran
    assert ("rm", "-rf", "--one-file-system", "--", "/var/tmp/poolproof-scripted") in main.ran


def test_the_counters_of_each_host_make_one_sound_trial(tmp_path: Path) -> None:
    _main, _other, run = run_on_two_hosts(tmp_path / "run")
    trials = run.directory.trials()
    assert {trial.workload for trial in trials} == {"reads", "writes"}
    assert {trial.verdict for trial in trials} == {"sound"}, [trial.findings for trial in trials]
    assert {leaf.device for trial in trials for leaf in trial.leaves} == {"one-far-disk"}
    assert all(trial.account and trial.account.leaf_read_bytes + trial.account.leaf_write_bytes for trial in trials)


_DISK = '"kname": "loop7", "path": "/dev/loop7", "size": 100663296, "maj:min": "7:7", "serial": "S7"'


@pytest.mark.parametrize(
    ("row", "permitted", "fact"),
    [
        ('"type": "loop"', "nas2:S7", "loop"),
        ('"type": "disk", "mountpoints": ["/srv"]', "nas2:S7", "/srv"),
        ('"type": "disk", "fstype": "xfs"', "nas2:S7", "xfs"),
        ('"type": "disk"', "S7", "--wipe"),
        ('"type": "disk"', "nas3:S7", "--wipe"),
    ],
)
def test_a_disk_of_the_other_host_is_guarded_there(tmp_path: Path, row: str, permitted: str, fact: str) -> None:
    main, other, run = run_on_two_hosts(tmp_path / "run", f"{{{_DISK}, {row}}}", frozenset({permitted}))
    findings = [finding.message for trial in run.directory.trials() for finding in trial.findings]
    assert findings and all(text.startswith("on nas2: S7 (/dev/loop7) ") and fact in text for text in findings)
    changes = ("losetup", "blockdev", "mkfs.ext4", "mount")
    assert not [argv for argv in (*main.ran, *other.ran) if argv[0] in changes and "--list" not in argv]


def test_a_free_disk_of_the_other_host_that_is_named_with_its_host_is_used(tmp_path: Path) -> None:
    _main, other, run = run_on_two_hosts(tmp_path / "run", f'{{{_DISK}, "type": "disk"}}', frozenset({"nas2:S7"}))
    assert {trial.verdict for trial in run.directory.trials()} == {"sound"}
    assert ("losetup", "/dev/loop7") in {argv[:2] for argv in other.ran}


def test_the_guard_looks_at_the_other_host_before_anything_is_built(tmp_path: Path) -> None:
    main, other = CountingHost(main_script(), main_answer), second_host(f'{{{_DISK}, "type": "disk"}}')
    run = planned(main, tmp_path / "run", TEXT)
    with pytest.raises(GuardError, match="--wipe does not name it") as caught:
        check_disks_of_layers(run.plan, Hosts(main, {"nas2": other}))
    assert caught.value.hint == "add --wipe nas2:S7"
    check_disks_of_layers(replace(run.plan, allowed_disks=frozenset({"nas2:S7"})), Hosts(main, {"nas2": other}))
    assert "nas2:/dev/loop7" in plan_one(run.plan, main, "one").may_overwrite
