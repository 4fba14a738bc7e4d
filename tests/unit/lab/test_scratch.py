"""The folder in /var/tmp in which an image is built. Every user can create folders there."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.lab.recipe import scratch
from tests.loop.command import AS_NOBODY, NOBODY

_NAME = f"test-{os.getpid()}"
_BUILD = f"""
from poolproof.errors import HostError
from poolproof.lab.recipe import scratch
try:
    with scratch("{_NAME}") as place: print("built in", place)
except HostError as error: print(error.message, "|", error.hint)
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """The path of nobody's folder, which does not exist yet."""
    place = Path(f"/var/tmp/poolproof-build-{_NAME}-{NOBODY}")
    yield place
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        place.rmdir()


def test_the_folder_is_new_and_removed() -> None:
    with scratch(_NAME) as place:
        (place / "tree").mkdir()
        assert place.stat().st_mode & 0o777 == 0o711
    assert not place.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("kind", ["", "folder", "file", "dangling link"])
def test_a_folder_of_another_user_is_an_error_that_names_the_user(place: Path, kind: str) -> None:
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.write_text("")
    elif kind:
        place.symlink_to("/nowhere")
    printed = _as_nobody()
    if kind:
        assert f"{place}, in which the lab's image is built, belongs to another user (ID 0)" in printed
        assert f"rm -r {place}" in printed
    else:
        assert printed == f"built in {place}\n"
        assert not place.exists()


def _as_nobody() -> str:
    argv = [*AS_NOBODY, sys.executable, "-c", _BUILD]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout
