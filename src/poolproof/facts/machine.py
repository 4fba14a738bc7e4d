"""What a host is and has: kernel, RAM, root, programs, file systems. Read-only."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.facts.guest import is_guest
from poolproof.hosts.base import FileMissing, Host

_LIMIT_S = 20.0


@dataclass(frozen=True)
class Machine:
    """The host as far as planning needs it. `is_guest`: it is a virtual machine; None where nothing tells.

    `processor`: its model, which tells a lab with KVM from an emulated one, too; empty where the kernel names none.
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
    """Look at the host; `programs` are those to look for on its PATH, `modules` those to look for in its kernel.

    Raises:
        CommandError: the host does not answer.
    """
    memory, processors = host.read("/proc/meminfo"), host.read("/proc/cpuinfo")
    model = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(\S.*)$", processors, re.MULTILINE)
    return Machine(
        kernel=host.run(["uname", "-sr"], timeout_s=_LIMIT_S).stdout.strip(),
        distribution=_distribution(host),
        processors=processors.count("\nprocessor") + 1,
        ram_bytes=_kib(memory, "MemTotal"),
        ram_free_bytes=_kib(memory, "MemAvailable"),
        is_root=host.run(["id", "-u"], timeout_s=_LIMIT_S).stdout.strip() == "0",
        programs=_present(host, programs),
        file_systems=_file_systems(host),
        modules=_modules(host, modules),
        is_guest=is_guest(host),
        processor=model[1].strip() if model else "",
    )


def mark_of(host: Host) -> str:
    """A mark that tells this machine from others and says nothing else of it; empty where it has no identity.

    machine-id(5) asks that the id itself be kept private, so the mark is its digest.
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


def _kib(memory: str, key: str) -> int:
    match = re.search(rf"^{key}:\s+(\d+) kB", memory, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def _present(host: Host, programs: Iterable[str]) -> frozenset[str]:
    """Those on the PATH, and in the sbin folders that a user's PATH may lack."""
    script = 'PATH="$PATH:/usr/sbin:/sbin"; for name; do command -v "$name" >/dev/null && echo "$name"; done; true'
    found = host.run(["sh", "-c", script, "sh", *sorted(set(programs))], timeout_s=_LIMIT_S).stdout
    return frozenset(found.split())


def _modules(host: Host, names: Iterable[str]) -> frozenset[str]:
    """Those that are loaded, built in, or there to be loaded; nothing is loaded by asking."""
    wanted = sorted(set(names))
    if not wanted:
        return frozenset()
    script = (
        'PATH="$PATH:/usr/sbin:/sbin"; for name; do '
        '{ test -d "/sys/module/$name" || modprobe -n -q "$name"; } 2>/dev/null && echo "$name"; done; true'
    )
    return frozenset(host.run(["sh", "-c", script, "sh", *wanted], timeout_s=_LIMIT_S).stdout.split())


def _file_systems(host: Host) -> frozenset[str]:
    """What the kernel has loaded, and what its modules would bring."""
    loaded = {line.split()[-1] for line in host.read("/proc/filesystems").splitlines() if line.strip()}
    script = 'ls "/lib/modules/$(uname -r)/kernel/fs" 2>/dev/null; true'
    modules = host.run(["sh", "-c", script], timeout_s=_LIMIT_S).stdout.split()
    return frozenset(loaded | set(modules))
