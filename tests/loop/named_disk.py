"""A loop device that takes the place of a disk with a serial number."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poolproof.facts.block import BlockFacts
from tests.loop.testbed import Testbed

SIZE_BYTES = 64 << 20


@contextmanager
def named_disk(testbed: Testbed) -> Iterator[BlockFacts]:
    """Attach `disk.img` in the testbed to a loop device, and yield the facts of a disk with a serial number."""
    image = testbed.path / "disk.img"
    testbed.command("truncate", "-s", str(SIZE_BYTES), str(image))
    path = testbed.command("losetup", "--find", "--show", str(image))
    try:
        number = testbed.command("lsblk", "--nodeps", "--noheadings", "--output", "MAJ:MIN", path)
        yield BlockFacts(Path(path).name, path, SIZE_BYTES, "disk", number=number, serial="SN-0001", signatures=())
    finally:
        testbed.command("losetup", "--detach", path)
