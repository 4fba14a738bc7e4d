"""The kernel, RAM, privileges, programs, file systems and settings of a host, and whether it is a guest. Read-only."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from poolproof.errors import CommandError
from poolproof.hosts.base import Host, text_of

_LIMIT_S = 20.0
_PATH = 'PATH="$PATH:/usr/sbin:/sbin"; '  # the sbin directories may not be on a user's PATH
_VERSION = re.compile(r"(?<![\w.])v?(?:zfs-(?:kmod-)?)?(\d+(?:\.\d+)+[^\s,():]*)")
_DMI = ("product_name", "sys_vendor", "board_vendor", "bios_vendor")
_VENDORS = (
    *("KVM", "OpenStack", "KubeVirt", "Amazon EC2", "QEMU", "VMware", "VMW", "innotek GmbH", "VirtualBox"),
    *("Oracle Corporation", "Xen", "Bochs", "Parallels", "BHYVE", "Hyper-V", "Apple Virtualization"),
    "Google Compute Engine",
)
# how much data stays in RAM, and for how long (Documentation/admin-guide/sysctl/vm.rst)
_VM = ("dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes", "dirty_expire_centisecs")
_VM_FILES = {f"/proc/sys/vm/{name}": f"vm.{name}" for name in _VM}


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


@dataclass(frozen=True)
class ProgramVersion:
    """A version to record: its name, and the command that prints it.

    `is_last`: if the command prints several versions, the last one counts.
    """

    name: str
    argv: tuple[str, ...]
    is_last: bool = False


def survey(host: Host, programs: Iterable[str], modules: Iterable[str] = ()) -> Machine:
    """Return the facts about the host. `programs` are looked up on its PATH, `modules` in its kernel.

    Raises a CommandError if the host does not answer.
    """
    memory, processors = host.read("/proc/meminfo"), host.read("/proc/cpuinfo")
    model = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(\S.*)$", processors, re.MULTILINE)
    distribution = re.search(r'^PRETTY_NAME="?([^"\n]*)', text_of(host, "/etc/os-release"), re.MULTILINE)
    return Machine(
        kernel=host.run(["uname", "-sr"], timeout_s=_LIMIT_S).stdout.strip(),
        distribution=distribution[1] if distribution else "",
        processors=processors.count("\nprocessor") + 1,
        ram_bytes=memory_bytes(memory, "MemTotal"),
        ram_free_bytes=memory_bytes(memory, "MemAvailable"),
        is_root=host.run(["id", "-u"], timeout_s=_LIMIT_S).stdout.strip() == "0",
        programs=_accepted(host, 'command -v "$name" >/dev/null', programs),
        file_systems=_file_systems(host),
        modules=_modules(host, modules),
        is_guest=is_guest(host),
        processor=model[1].strip() if model else "",
    )


def mark_of(host: Host) -> str:
    """Return a mark that identifies this machine and reveals nothing else; empty if it has no machine id.

    machine-id(5) asks to keep the id itself private, so the mark is a digest of it.
    """
    identity = text_of(host, "/etc/machine-id").strip()
    return hashlib.sha256(f"poolproof {identity}".encode()).hexdigest()[:16] if identity else ""


def memory_bytes(memory: str, key: str) -> int:
    """Return the bytes of one line of /proc/meminfo or /proc/PID/status, such as `MemTotal`; 0 if there is none."""
    match = re.search(rf"^{key}:\s+(\d+) kB", memory, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def is_guest(host: Host) -> bool | None:
    """True in a virtual machine, False on bare metal, None if it cannot be detected.

    Sources: the CPUID hypervisor bit in /proc/cpuinfo (x86); /sys/hypervisor of Xen, whose dom0 has
    /proc/xen/capabilities with `control_d`; the DMI vendors that systemd-detect-virt(1) knows (systemd,
    src/basic/virt.c). A bare-metal machine of a cloud has the vendor of the cloud, and a product name that ends in
    `.metal`.
    """
    if "control_d" in text_of(host, "/proc/xen/capabilities"):
        return False
    if text_of(host, "/sys/hypervisor/type").strip():
        return True
    flags = re.search(r"^flags\s*:(.*)$", text_of(host, "/proc/cpuinfo"), re.MULTILINE)
    if flags is not None:
        return "hypervisor" in flags[1].split()
    names = [text_of(host, f"/sys/class/dmi/id/{name}").strip() for name in _DMI]
    if not any(names):
        return None
    return any(name.startswith(_VENDORS) for name in names) and not names[0].endswith(".metal")


def tunables(host: Host, files: Mapping[str, str]) -> dict[str, str]:
    """Return kernel settings that affect storage results by name, as the kernel prints them, if this host has them.

    `files`: settings to read in addition to those of the page cache, as names by path.

    Raises a CommandError if the host does not answer.
    """
    names = {**_VM_FILES, **files}
    printed = host.run(["grep", "-sH", "", *names], timeout_s=_LIMIT_S, check=False).stdout
    rows = (line.partition(":") for line in printed.splitlines())
    return {names[path]: value.strip() for path, _, value in rows if path in names and value.strip()}


def program_versions(host: Host, versions: Iterable[ProgramVersion]) -> dict[str, str]:
    """Return the versions by name, without the programs that are missing or print none."""
    found = {each.name: _version_of(host, each) for each in sorted(versions, key=lambda each: each.name)}
    return {name: version for name, version in found.items() if version}


def _version_of(host: Host, version: ProgramVersion) -> str:
    try:
        printed = host.run(version.argv, timeout_s=_LIMIT_S, check=False)
    except CommandError:
        return ""
    numbers = _VERSION.findall(printed.stdout + printed.stderr)
    return numbers[-1 if version.is_last else 0] if numbers else ""


def _accepted(host: Host, test: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names for which the shell command `test` succeeds."""
    script = f'{_PATH}for name; do {test} && echo "$name"; done; true'
    return frozenset(host.run(["sh", "-c", script, "sh", *sorted(set(names))], timeout_s=_LIMIT_S).stdout.split())


def _modules(host: Host, names: Iterable[str]) -> frozenset[str]:
    """Return the modules that are loaded, built in or available. This loads none."""
    test = '{ test -d "/sys/module/$name" || modprobe -n -q "$name"; } 2>/dev/null'
    return _accepted(host, test, unique) if (unique := set(names)) else frozenset()


def _file_systems(host: Host) -> frozenset[str]:
    """Return the file systems that the kernel has loaded, and those it has modules for."""
    loaded = {line.split()[-1] for line in host.read("/proc/filesystems").splitlines() if line.strip()}
    script = 'ls "/lib/modules/$(uname -r)/kernel/fs" 2>/dev/null; true'
    return frozenset(loaded | set(host.run(["sh", "-c", script], timeout_s=_LIMIT_S).stdout.split()))
