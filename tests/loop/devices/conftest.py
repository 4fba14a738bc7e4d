"""A site for each module. Sockets and pid files are on disk, and the data of emulated disks is in RAM."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.devices.model import Site

from .real_devices import site_in


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    state = Path(tempfile.mkdtemp(prefix="poolproof-test-", dir="/var/tmp"))
    ram = Path(tempfile.mkdtemp(prefix="poolproof-test-", dir="/dev/shm"))
    yield site_in(state, ram)
    shutil.rmtree(state)
    shutil.rmtree(ram)
