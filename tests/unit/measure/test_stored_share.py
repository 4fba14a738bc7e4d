"""The fraction of the test files that the disks store, computed from the fill and from the files' blocks."""

import pytest

from poolproof.evidence import model
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.measure.model import Fill
from poolproof.measure.prepare import stored_share

_SIZE = 64 * 1024**2


def _target(file_system: str, compression: str | None, dedup: str | None = "off") -> Target:
    return Target(file_system, compression=compression, zfs=ZfsFacts(dedup=dedup))


@pytest.mark.parametrize(
    ("target", "filled", "holes", "share"),
    [
        (_target("zfs", "lz4"), 0.25, _SIZE // 2, 0.25),
        (_target("zfs", "lz4"), 1.0, _SIZE // 2, 0.5),
        (_target("zfs", None), 0.25, 0, None),
        # a later file of equal content: nothing is written, but its blocks are read from the disks
        (_target("zfs", "lz4", "on"), 0.1, 0, 1.0),
        (_target("zfs", "on", "sha256,verify"), 0.1, _SIZE // 2, 0.5),
        (_target("ext4", "lz4", "on"), 0.1, 0, None),
        (_target("ext4", "lz4"), 0.1, 0, 0.1),
    ],
)
def test_the_fill_does_not_show_it_with_deduplication(
    target: Target, filled: float, holes: int, share: float | None
) -> None:
    files = (model.TestFile("/t/a", _SIZE, hole_bytes=holes),)
    assert stored_share(target, files, Fill("", 1.0, stored_share=filled)) == share
