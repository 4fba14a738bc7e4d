"""Root and another user measure on the same machine at the same time.

Neither run changes the other, and neither user's `clean` removes what the other's run made.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.loop.command import AS_NOBODY, NOBODY, Answer, ask
from tests.loop.hosts.processes import wait_until_true
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.slow

_CAMPAIGN = """
layouts: {{one: 'dir {data}'}}
workloads: {{reads: {{rw: randread, bs: 4k, size: 16m}}, writes: {{rw: randwrite, bs: 4k, size: 16m}}}}
measure: {{trials: 1, time: {seconds}s}}
"""
_HOST = 4


class _User:
    """A user of the machine, with directories of their own."""

    def __init__(self, folder: Path, user: int) -> None:
        self._before = AS_NOBODY if user else ()
        self.data, self.work, self.runs = (folder / name for name in ("data", "work", "runs"))
        folder.mkdir()
        for each in (folder, self.data, self.work, self.runs):
            each.mkdir(exist_ok=True)
            os.chown(each, user, user)

    def ask(self, *words: str) -> Answer:
        return ask(*words, "--json", before=self._before, env={"HOME": str(self.runs)})

    def measure(self, name: str, *words: str, seconds: int = 1) -> Answer:
        campaign = self.runs / f"{name}.yaml"
        campaign.write_text(_CAMPAIGN.format(data=self.data, seconds=seconds))
        return self.ask("run", str(campaign), "--out", str(self.runs / name), "--work", str(self.work), *words)

    def made(self) -> set[Path]:
        """Return the directories that a run has made."""
        return {*self.data.glob("poolproof-*"), *self.work.glob("poolproof-*")}


@pytest.fixture
def users(testbed: Testbed, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[_User, _User]]:
    """Root and nobody, whose runs take their locks in a directory with the permissions of /run/lock."""
    testbed.path.chmod(0o755)
    locks = testbed.path / "locks"
    locks.mkdir()
    locks.chmod(0o1777)
    monkeypatch.setenv("POOLPROOF_LOCKS", str(locks))
    users = _User(testbed.path / "roots", 0), _User(testbed.path / "nobodys", NOBODY)
    yield users
    assert [path for user in users for path in user.made()] == []


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


@pytest.mark.parametrize("first", [0, 1], ids=["root first", "nobody first"])
def test_a_second_run_by_another_user_is_refused(
    users: tuple[_User, _User], background: ThreadPoolExecutor, first: int
) -> None:
    running = _begun(background, users[first], "first")
    refused = users[1 - first].measure("second")
    assert refused.code == _HOST, refused.out + refused.err
    assert "another poolproof run is in progress on this machine" in refused.error["message"]
    assert users[1 - first].made() == set()
    assert running.result().code == 0, running.result().out


def test_two_runs_that_share_the_machine_leave_each_other_alone(
    users: tuple[_User, _User], background: ThreadPoolExecutor
) -> None:
    root, nobody = users
    runs = [_begun(background, user, "run", "--share-host") for user in users]
    made = [user.made() for user in users]
    for user, other, owner in ((root, nobody, "nobody"), (nobody, root, "root")):
        answer = user.ask("clean", "--work", str(other.work))
        # other runs on this machine are listed too
        (left,) = (each for each in answer.json["left"] if each["state_dir"].startswith(f"{other.work}/"))
        assert (left["standing"], left["why"]) == ("foreign", f"it belongs to user {owner}")
        answer = user.ask("clean", str(other.runs / "run"))
        assert answer.code != 0, answer.out
    assert [user.made() for user in users] == made
    for run in runs:
        answer = run.result()
        assert answer.code == 0, answer.out + answer.err
        assert {cell["trials"] for cell in answer.json["cells"]} == {1}


def test_two_runs_of_two_users_in_one_directory_are_refused_even_if_they_share_the_machine(
    users: tuple[_User, _User], background: ThreadPoolExecutor
) -> None:
    root, nobody = users
    root.data.chmod(0o1777)
    running = _begun(background, root, "first", "--share-host")
    nobody.data = root.data
    refused = nobody.measure("second", "--share-host")
    assert refused.code == _HOST, refused.out + refused.err
    assert f"another poolproof run uses the directory {root.data}" in refused.error["message"]
    assert running.result().code == 0, running.result().out


def _begun(background: ThreadPoolExecutor, user: _User, name: str, *words: str) -> Future[Answer]:
    """Start a run in the background, and wait until it has built its layout."""
    running = background.submit(user.measure, name, *words, seconds=5)
    wait_until_true(lambda: running.done() or len(user.made()) == 2)
    return running
