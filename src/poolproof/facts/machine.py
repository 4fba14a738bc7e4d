"""The kernel, RAM, privileges, programs and file systems of a host. Read-only."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.facts.guest import is_guest
from poolproof.hosts.base import FileMissing, Host

_LIMIT_S = 20.0


@dataclass(frozen=True)
class Machine:
    """The facts about a host that planning needs. `is_guest`: it is a virtual machine; None if this is not known.

    `processor`: its model, which also distinguishes a lab with KVM from an emulated one; empty if the kernel has none.
    """

    kernel: str
    distribution: str
    processors: int
    ram_bytes: int
    ram_free_bytes: int
    is_root: bool
    programs: frozenset[str]
    file_systems: frozenset[str]
    modules: frozenset[str] = frozenset()
    is_guest: bool | None = None
    processor: str = ""


def survey(host: Host, programs: Iterable[str], modules: Iterable[str] = ()) -> Machine:
    """Return the facts about the host. `programs` are looked up on its PATH, `modules` in its kernel.

    Raises:
        CommandError: the host does not answer.
    """
    memory, processors = host.read("/proc/meminfo"), host.read("/proc/cpuinfo")
    model = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(\S.*)$", processors, re.MULTILINE)
    return Machine(
        kernel=host.run(["uname", "-sr"], timeout_s=_LIMIT_S).stdout.strip(),
        distribution=_distribution(host),
        processors=processors.count("\nprocessor") + 1,
        ram_bytes=memory_bytes(memory, "MemTotal"),
        ram_free_bytes=memory_bytes(memory, "MemAvailable"),
        is_root=host.run(["id", "-u"], timeout_s=_LIMIT_S).stdout.strip() == "0",
        programs=_present(host, programs),
        file_systems=_file_systems(host),
        modules=_modules(host, modules),
        is_guest=is_guest(host),
        processor=model[1].strip() if model else "",
    )


def mark_of(host: Host) -> str:
    """Return a mark that identifies this machine and reveals nothing else; empty if it has no machine id.

    machine-id(5) asks to keep the id itself private, so the mark is a digest of it.
    """
    try:
        identity = host.read("/etc/machine-id").strip()
    except FileMissing:
        return ""
    return hashlib.sha256(f"poolproof {identity}".encode()).hexdigest()[:16] if identity else ""


def _distribution(host: Host) -> str:
    try:
        match = re.search(r'^PRETTY_NAME="?([^"\n]*)', host.read("/etc/os-release"), re.MULTILINE)
    except FileMissing:
        return ""
    return match[1] if match else ""


def memory_bytes(memory: str, key: str) -> int:
    """Return the bytes of one line of /proc/meminfo or /proc/PID/status, such as `MemTotal`; 0 if there is none."""
    match = re.search(rf"^{key}:\s+(\d+) kB", memory, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def _present(host: Host, programs: Iterable[str]) -> frozenset[str]:
    """Return the programs on the PATH, and in the sbin directories, which may not be on a user's PATH."""
    script = 'PATH="$PATH:/usr/sbin:/sbin"; for name; do command -v "$name" >/dev/null && echo "$name"; done; true'
    found = host.run(["sh", "-c", script, "sh", *sorted(set(programs))], timeout_s=_LIMIT_S).stdout
    return frozenset(found.split())


def _modules(host: Host, names: Iterable[str]) -> frozenset[str]:
    """Return the modules that are loaded, built in, or available; none is loaded by this."""
    unique = sorted(set(names))
    if not unique:
        return frozenset()
    script = (
        'PATH="$PATH:/usr/sbin:/sbin"; for name; do '
        '{ test -d "/sys/module/$name" || modprobe -n -q "$name"; } 2>/dev/null && echo "$name"; done; true'
    )
    return frozenset(host.run(["sh", "-c", script, "sh", *unique], timeout_s=_LIMIT_S).stdout.split())


def _file_systems(host: Host) -> frozenset[str]:
    """Return the file systems that the kernel has loaded, and those it has modules for."""
    loaded = {line.split()[-1] for line in host.read("/proc/filesystems").splitlines() if line.strip()}
    script = 'ls "/lib/modules/$(uname -r)/kernel/fs" 2>/dev/null; true'
    modules = host.run(["sh", "-c", script], timeout_s=_LIMIT_S).stdout.split()
    return frozenset(loaded | set(modules))
