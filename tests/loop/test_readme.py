"""The commands in the README do what it says."""

import re
import shlex
from pathlib import Path

import pytest

from tests.loop.command import ask
from tests.loop.testbed import Testbed, judged

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _after(mark: str, pattern: str) -> str:
    found = re.search(rf"<!-- test: {mark} -->\n{pattern}", README, re.DOTALL)
    assert found, f"the README has no {mark} that is marked for a test"
    return found[1]


@pytest.fixture
def campaign(testbed: Testbed) -> Path:
    return testbed.campaign(_after("campaign", r"```yaml\n(.*?)```"), "first")


def test_the_first_campaign_can_be_checked(campaign: Path) -> None:
    answer = ask("check", str(campaign))
    assert answer.code == 0, answer.err
    assert "2 layouts × 2 workloads = 4 cells" in answer.out


def test_its_dry_run_prints_the_commands_and_changes_nothing(testbed: Testbed, campaign: Path) -> None:
    answer = ask("run", str(campaign), "--dry-run", "--work", str(testbed.work))
    assert answer.code == 0, answer.err
    assert "mkfs.btrfs" in answer.out
    assert "undo: losetup --detach" in answer.out
    assert "each trial of log runs fio" in answer.out and "fdatasync=1" in answer.out
    assert not list(testbed.work.iterdir())


def test_it_runs(testbed: Testbed, campaign: Path) -> None:
    """The command is run with one trial of one second, so that it takes less time than in the README."""
    answer = ask(*testbed.words(campaign), "--time", "1s", "--trials", "1")
    assert answer.code == 0, answer.err
    assert {(cell["layout"], cell["workload"]) for cell in answer.json["cells"]} == {
        (layout, workload) for layout in ("one", "mirror") for workload in ("reads", "log")
    }
    assert {judged(cell) for cell in answer.json["cells"]} == {"sound"}


@pytest.mark.slow
def test_the_command_without_a_file_runs(testbed: Testbed) -> None:
    words = shlex.split(_after("command", r"    poolproof (.*?)\n"))
    words[words.index("dir /var/tmp")] = f"dir {testbed.data}"
    answer = ask(*words, "--out", str(testbed.runs / "flags"), "--work", str(testbed.work), "--json")
    assert answer.code == 0, answer.err
    assert [cell["trials"] for cell in answer.json["cells"]] == [2, 2]


def test_both_commands_exist_and_ci_runs_the_one_of_the_readme() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    assert "make test" in README
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
