"""The mark of tests that ask this machine's fio, because no captured output can show what another version accepts.

Without fio they are skipped with the command that installs it. `scripts/test` reports a skipped test as one that could
not run, and in CI that is a failure.
"""

import shutil

import pytest

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed: `apt-get install fio`")
