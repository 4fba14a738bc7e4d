"""A disk in RAM that poolproof takes for a real disk: lsblk shows the type `disk`, and it has a by-id name."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

_BY_ID = Path("/dev/disk/by-id")
_CONTROL = Path("/sys/class/zram-control")
_SIZE_BYTES = 256 << 20


@contextlib.contextmanager
def whole_disk(name: str) -> Iterator[str]:
    """Create a disk with the given by-id name, as udev does, and yield its path. Its data is lost at the end."""
    if not _CONTROL.exists():
        # lsblk does not show a loop device as a disk, so the test needs zram. In CI, a skip is a failure.
        pytest.skip("this kernel has no zram devices")
    number = (_CONTROL / "hot_add").read_text().strip()
    device = f"zram{number}"
    made = [folder for folder in (_BY_ID, _BY_ID.parent) if not folder.exists()]
    _BY_ID.mkdir(parents=True, exist_ok=True)
    link = _BY_ID / name
    link.symlink_to(f"/dev/{device}")
    try:
        Path(f"/sys/block/{device}/disksize").write_text(str(_SIZE_BYTES))
        yield f"/dev/{device}"
    finally:
        link.unlink()
        for folder in made:
            with contextlib.suppress(OSError):  # another test may use it
                folder.rmdir()
        Path(f"/sys/block/{device}/reset").write_text("1")
        (_CONTROL / "hot_remove").write_text(number)
