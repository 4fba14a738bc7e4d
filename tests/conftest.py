"""Run Hypothesis without a deadline, because the machine may be busy. In CI, its examples are always the same.

Each test process has its own locks, because the tests start runs in parallel.

The fixture `wording` compares the texts of a test with a golden file. The tests themselves check facts, so only the
golden file changes if a message is reworded.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("poolproof", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("poolproof")

_locks = tempfile.mkdtemp(prefix="poolproof-locks-")
Path(_locks).chmod(0o1777)  # like /run/lock, because some tests run poolproof as another user
os.environ["POOLPROOF_LOCKS"] = _locks


def pytest_unconfigure() -> None:
    shutil.rmtree(_locks, ignore_errors=True)


@pytest.fixture
def wording(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A function that records a text and returns it without line breaks.

    At the end of the test, all recorded texts are compared with the test's section in `golden/MODULE.txt`. To update a
    section after an intended change: delete it, run the test, and read the new section.
    """
    texts: list[str] = []

    def record(text: str) -> str:
        lines = text.replace(str(tmp_path), "TMP").strip("\n").splitlines()
        texts.append("\n".join(line.rstrip() for line in lines))
        return " ".join(text.split())

    yield record
    path = request.path.parent / "golden" / f"{request.path.stem.removeprefix('test_')}.txt"
    golden = path.read_text(encoding="utf-8") if path.exists() else ""
    sections = dict(section.rstrip("\n").split("\n", 1) for section in golden.split("## ")[1:])
    name, text = request.node.name, "\n\n".join(texts)
    if name not in sections:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{golden}## {name}\n{text}\n\n", encoding="utf-8")
        pytest.fail(f"a section was added to {path}: read it and run the test again")
    assert text == sections[name]
