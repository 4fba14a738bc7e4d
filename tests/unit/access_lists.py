"""Set a POSIX access control list without the program setfacl, encode an NFSv4 list, and mark tests that need root."""

import errno
import os
import struct
from pathlib import Path

import pytest

_NONE = 0xFFFFFFFF

# CI runs as root and fails if a test is skipped, so these tests always run there.
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


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


def nfs4_list(*entries: tuple[int, int, int, str]) -> bytes:
    """Encode a list as the kernel does on an NFSv4 mount. Each entry has a type, flags, permissions and a name."""
    packed = struct.pack(">I", len(entries))
    for kind, flags, mask, name in entries:
        text = name.encode()
        packed += struct.pack(">IIII", kind, flags, mask, len(text)) + text + bytes(-len(text) % 4)
    return packed


OWNER = (0, 0, 0x1601BF, "OWNER@")
NFS4_OF_MODE_755 = nfs4_list(OWNER, (0, 0x40, 0x1200A9, "GROUP@"), (0, 0, 0x1200A9, "EVERYONE@"))
