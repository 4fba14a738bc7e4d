"""Run Hypothesis without a deadline, because the machine may be busy. In CI, its examples are always the same.

Each test process has its own locks, because the tests start runs in parallel. If pytest was started with `nohup`, the
programs that the tests start do not ignore SIGHUP. SIGTERM ends the session like Ctrl-C: the fixtures remove what they
created, such as labs.

The fixtures `message` and `wording` compare the texts of a test with a golden file. The tests themselves check facts,
so only the golden file changes if a text is reworded.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.golden import Message, folder_section, module_section

settings.register_profile("poolproof", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("poolproof")

_locks = tempfile.mkdtemp(prefix="poolproof-locks-")
Path(_locks).chmod(0o1777)  # like /run/lock, because some tests run poolproof as another user
os.environ["POOLPROOF_LOCKS"] = _locks

if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    # pytest still survives the end of its terminal. A handler, unlike SIG_IGN, is not passed on to other programs.
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)
signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_unconfigure() -> None:
    shutil.rmtree(_locks, ignore_errors=True)


_PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember which tests passed. A test that failed or was skipped may not have recorded all of its texts."""
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


@pytest.fixture
def wording(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A function that records a table or a page, and returns it without line breaks.

    At the end of the test, all recorded texts are compared with the test's section in `golden/MODULE.txt`.
    """
    section = module_section(request, tmp_path)
    yield section.record
    if request.node.stash.get(_PASSED, False):
        section.compare()


@pytest.fixture
def message(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Message]:
    """A function that records a message or an error with its hint, and returns it without line breaks.

    At the end of the test, all recorded messages are compared with the test's section in `golden/messages.txt`.
    """
    section = folder_section(request, tmp_path)
    yield section.record
    if request.node.stash.get(_PASSED, False):
        section.compare()
