"""A host's kernel, RAM, privileges, programs and settings, and whether it is a virtual machine. Read-only."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.errors import CommandError
from poolproof.hosts.base import Host, text_of
from poolproof.process import ProgramMissing

_LIMIT_S = 20.0
_PATH = 'PATH="$PATH:/usr/sbin:/sbin"; '  # the sbin directories may not be on a user's PATH
_VERSION = re.compile(r"(?<![\w.])v?(?:zfs-(?:kmod-)?)?(\d+(?:\.\d+)+[^\s,():]*)")
_DMI = ("product_name", "sys_vendor", "board_vendor", "bios_vendor")
_VENDORS = (
    *("KVM", "OpenStack", "KubeVirt", "Amazon EC2", "QEMU", "VMware", "VMW", "innotek GmbH", "VirtualBox"),
    *("Oracle Corporation", "Xen", "Bochs", "Parallels", "BHYVE", "Hyper-V", "Apple Virtualization"),
    "Google Compute Engine",
)
# these settings limit how much data stays in RAM, and for how long (Documentation/admin-guide/sysctl/vm.rst)
_VM = ("dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes", "dirty_expire_centisecs")
_VM_FILES = {f"/proc/sys/vm/{name}": f"vm.{name}" for name in _VM}


@dataclass(frozen=True)
class Machine:
    """The facts about a host that are needed for planning.

    `is_guest`: True if the host is a virtual machine, or None if unknown.
    `processor`: the CPU model, or "" if it is not in /proc/cpuinfo. It distinguishes a lab with KVM from an emulated
    one.
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
    """A program whose version is recorded, and the command that prints it.

    `is_last`: True if the version is the last version number in the output, not the first.
    """

    name: str
    argv: tuple[str, ...]
    is_last: bool = False


IN_RAM = frozenset({"1021994", "858458f6"})
"""The magic numbers of file systems whose files are in RAM, in hexadecimal digits: tmpfs and ramfs."""

_SPARE_RAM = 16


def survey(host: Host, programs: Iterable[str], modules: Iterable[str] = ()) -> Machine:
    """Collect the facts about the host, including which of these programs and modules are available.

    Raises a CommandError if the host does not respond.
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
    """Return 16 hexadecimal digits that identify the machine, or "" if it has no machine ID.

    They are part of a hash of the machine ID, because the ID itself must be kept confidential (machine-id(5)).
    """
    identity = text_of(host, "/etc/machine-id").strip()
    return hashlib.sha256(f"poolproof {identity}".encode()).hexdigest()[:16] if identity else ""


def memory_bytes(memory: str, key: str) -> int:
    """Return a value in bytes from /proc/meminfo or /proc/PID/status, such as `MemTotal`, or 0 if it is missing."""
    match = re.search(rf"^{key}:\s+(\d{{1,15}}) kB", memory, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def within_ram(free_bytes: int, memory: str) -> int:
    """Return how many of the free bytes of a file system in RAM new files may use, given the text of /proc/meminfo.

    The size limit of such a file system may be larger than the RAM that is available. A sixteenth of the RAM must stay
    available. Otherwise, the kernel would end programs of the machine to get memory.
    """
    available = memory_bytes(memory, "MemAvailable")
    if not available:
        return free_bytes
    return min(free_bytes, max(0, available - memory_bytes(memory, "MemTotal") // _SPARE_RAM))


def is_guest(host: Host) -> bool | None:
    """True in a virtual machine, False on bare metal, None if unknown.

    Xen's dom0 is recognized by `control_d` in /proc/xen/capabilities, and Xen's guests by /sys/hypervisor. On x86, the
    CPUID hypervisor bit in /proc/cpuinfo decides. On other processors, the DMI vendor decides, as in
    systemd-detect-virt(1) (systemd, src/basic/virt.c). A cloud's bare-metal machine also has the cloud's vendor name,
    but its product name ends in `.metal`.
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
    """Return the kernel settings that affect storage results, keyed by name, with the values that the kernel prints.

    `files`: names for settings other than those of the page cache, keyed by the setting's path.

    Settings that the host does not have are omitted. Raises a CommandError if the host does not respond.
    """
    names = {**_VM_FILES, **files}
    printed = host.run(["grep", "-sH", "", *names], timeout_s=_LIMIT_S, check=False).stdout
    rows = (line.partition(":") for line in printed.splitlines())
    return {names[path]: value.strip() for path, _, value in rows if path in names and value.strip()}


def program_versions(host: Host, versions: Iterable[ProgramVersion]) -> dict[str, str]:
    """Return the programs' versions, keyed by name. Programs that are missing or print no version are left out."""
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
    """Return the modules that are loaded, built in or available. No module is loaded for this test."""
    test = '{ test -d "/sys/module/$name" || modprobe -n -q "$name"; } 2>/dev/null'
    return _accepted(host, test, unique) if (unique := set(names)) else frozenset()


def _file_systems(host: Host) -> frozenset[str]:
    """Return the file systems that the kernel supports already, or could support by loading a module."""
    loaded = {line.split()[-1] for line in host.read("/proc/filesystems").splitlines() if line.strip()}
    script = 'ls "/lib/modules/$(uname -r)/kernel/fs" 2>/dev/null; true'
    return frozenset(loaded | set(host.run(["sh", "-c", script], timeout_s=_LIMIT_S).stdout.split()))


def said_by(host: Host, argv: Sequence[str], *, timeout_s: float) -> str:
    """Return a program's output, even if it exits with an error, or "" if it is not installed on the host."""
    try:
        return host.run(argv, timeout_s=timeout_s, check=False).stdout
    except ProgramMissing:
        return ""
