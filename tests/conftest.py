"""Run Hypothesis without a deadline, because the machine may be busy. In CI, its examples are always the same.

Each test process has its own locks, because the tests start runs in parallel.
"""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings

settings.register_profile("poolproof", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("poolproof")

_locks = tempfile.mkdtemp(prefix="poolproof-locks-")
Path(_locks).chmod(0o1777)  # like /run/lock, because some tests run poolproof as another user
os.environ["POOLPROOF_LOCKS"] = _locks


def pytest_unconfigure() -> None:
    shutil.rmtree(_locks, ignore_errors=True)
