"""Kernel settings that affect storage results but belong to no layout: how much data stays in RAM, and for how long.

Source: Documentation/admin-guide/sysctl/vm.rst of Linux. The layers add their own settings (`Layer.settings`).
"""

from collections.abc import Mapping

from poolproof.hosts.base import Host

_LIMIT_S = 10.0
_VM = ("dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes", "dirty_expire_centisecs")
_VM_FILES = {f"/proc/sys/vm/{name}": f"vm.{name}" for name in _VM}


def tunables(host: Host, files: Mapping[str, str]) -> dict[str, str]:
    """Return the current values by name, as the kernel prints them, without those that this host lacks.

    `files`: more settings to read, as names by path.

    Raises:
        CommandError: the host does not answer.
    """
    names = {**_VM_FILES, **files}
    printed = host.run(["grep", "-sH", "", *names], timeout_s=_LIMIT_S, check=False).stdout
    rows = (line.partition(":") for line in printed.splitlines())
    return {names[path]: value.strip() for path, _, value in rows if path in names and value.strip()}
