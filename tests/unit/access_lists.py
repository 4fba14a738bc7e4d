"""Set a POSIX access control list, without the program setfacl."""

import errno
import os
import struct
from pathlib import Path

import pytest

_NONE = 0xFFFFFFFF


def allow_to_write(path: Path, user: int) -> None:
    """Let a user write to a file or directory; skip the test if the file system has no access control lists."""
    entries = ((1, 7, _NONE), (2, 7, user), (4, 5, _NONE), (16, 7, _NONE), (32, 5, _NONE))
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries)
    try:
        os.setxattr(path, "system.posix_acl_access", packed)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        # Without these lists, nothing can grant the access that the test is about.
        pytest.skip("the file system has no access control lists")
