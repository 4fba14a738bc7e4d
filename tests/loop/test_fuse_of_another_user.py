"""A FUSE file system of another user reports root as the owner of its files. It is refused all the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.loop.command import ask
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_NOBODY = 65534
_CAMPAIGN = """
layouts: {{one: dir {data}}}
workloads: {{reads: {{rw: randread, bs: 4k, size: 16m}}}}
measure: {{trials: 1, time: 1s}}
"""


@contextmanager
def _mounted_by_nobody(testbed: Testbed) -> Iterator[Path]:
    below, point = testbed.path / "below", testbed.path / "mounted"
    below.mkdir()
    point.mkdir()
    rights = "+sys_admin,+dac_override"  # /dev/fuse may be closed to other users
    as_nobody = ("setpriv", "--reuid", str(_NOBODY), "--clear-groups", "--inh-caps", rights, "--ambient-caps", rights)
    testbed.command(*as_nobody, "mergerfs", "-o", "allow_other", str(below), str(point))
    try:
        assert point.is_mount() and point.stat().st_uid == 0
        yield point
    finally:
        testbed.command("umount", str(point))


def test_neither_a_layout_nor_results_are_put_there(testbed: Testbed) -> None:
    with _mounted_by_nobody(testbed) as point:
        in_it = testbed.campaign(_CAMPAIGN.format(data=point))
        layout = ask(*testbed.words(in_it), "--dry-run")
        assert layout.code == 4
        assert f"who mounted the FUSE file system at {point}, could replace" in layout.error["message"]
        own = testbed.path / "own"
        own.mkdir()
        words = testbed.words(testbed.campaign(_CAMPAIGN.format(data=own)))
        words[words.index("--out") + 1] = str(point / "run")
        results = ask(*words)
        assert f"has mounted a FUSE file system at {point}" in results.error["message"]
        assert not list(point.iterdir())
