"""A marker for tests that need this machine's fio, because captured output can't show what other versions accept.

Without fio, these tests are skipped with a message that contains the command to install it. `scripts/test` reports
skipped tests as tests that could not run. In CI, this counts as a failure.
"""

import shutil

import pytest

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed: `apt-get install fio`")
