"""Find the FUSE file systems that other users have mounted.

Such a file system is a program of its user. It can report any owner and mode for its files, so these prove nothing.
"""

import re

_FUSE = re.compile(
    r"^(?:[^ \n]+ ){4}([^ \n]+) .* - fuse[^ \n]* [^ \n]* (?:[^ \n]*,)?user_id=(\d{1,10})\b", re.MULTILINE | re.ASCII
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def fuse_mounters(path: str, mountinfo: str) -> tuple[tuple[str, int], ...]:
    """Return the mount point and the user of each FUSE file system that the path leads through.

    The user is given by number. It is the one who mounted the file system (`user_id` in fuse.rst).

    `path`: an absolute path without symbolic links.
    `mountinfo`: the contents of /proc/self/mountinfo.
    """
    mounts = (
        (_OCTAL.sub(lambda octal: chr(int(octal[1], 8)), point), int(user)) for point, user in _FUSE.findall(mountinfo)
    )
    return tuple((point, user) for point, user in mounts if f"{path}/".startswith(f"{point.rstrip('/')}/"))
