"""Boots a lab in QEMU with KVM or emulation, and waits until the guest is ready.

KVM is tried first, with a time limit. If it fails but emulation works, this is saved, and later boots with the same
kernel use emulation.
"""

import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from poolproof.errors import BuildError, HostError, UsageError
from poolproof.files.reading import NOT_THE_JSON
from poolproof.hosts.local import LocalHost
from poolproof.lab.disks import LabDisk
from poolproof.lab.home import lab_folder
from poolproof.lab.labs import Image, is_running, last_words, owned_by_lab, public_key
from poolproof.provision.apply import apply
from poolproof.provision.journal import Change, Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step
from poolproof.undos import UndoDaemon

Accelerator = Literal["kvm", "tcg"]
Acceleration = Literal["auto", "kvm", "tcg"]
ACCELERATIONS: tuple[Acceleration, ...] = ("auto", "kvm", "tcg")

KVM_LIMIT_S = 15.0
"""The time limit in seconds for a guest to become ready with KVM. If KVM works, a few seconds are enough."""

READY = "poolproof-lab: ready"
"""The line that the guest prints on its console when sshd is listening and all disks exist."""

_KVM = Path("/dev/kvm")
_READY_S = 300.0
_POLL_S = 0.1
_START_QEMU_S = 30.0
_PORTS_TO_TRY = 3
_PORT_TAKEN = "host forwarding"  # in QEMU's error message

# With panic=-1 and -no-reboot, QEMU ends if the guest crashes. Otherwise, poolproof would wait for the time limit.
# The kernel's self-tests of its ciphers (cryptomgr) can hang under emulation: a guest was not ready after 300 s because
# of a soft lockup in cryptomgr_test.
_KERNEL = "console=ttyS0 quiet loglevel=4 panic=-1 net.ifnames=0 mitigations=off random.trust_cpu=on cryptomgr.notests"
# If the processor reports that rep movsb is fast (erms, fsrm), the kernel uses it. Emulation, however, executes it byte
# by byte, so that a dd through /dev/shm takes twice the processor time. A fifth level of page tables (la57) makes each
# TLB miss slower.
_QEMU_ACCELERATION = {
    "kvm": ("-accel", "kvm", "-cpu", "host"),
    "tcg": ("-accel", "tcg,thread=multi", "-cpu", "max,erms=off,fsrm=off,la57=off"),
}


@dataclass(frozen=True)
class Boot:
    """The virtual machine to boot, and the folder for its pid file and its console log.

    `port`: the port on 127.0.0.1 for the guest's sshd, or 0 for any free port.
    """

    name: str
    ram_bytes: int
    processors: int
    port: int
    image: Image
    folder: Path
    disks: Sequence[LabDisk]
    journal: Journal

    @property
    def pidfile(self) -> str:
        return f"{self.folder}/qemu.pid"


class KvmResult(msgspec.Struct, frozen=True):
    """A saved result: whether KVM works on this machine with a given kernel.

    `why`: QEMU's error message if KVM does not work.
    """

    kernel: str
    works: bool
    why: str


class _NotUp(HostError):
    """QEMU did not start, or the guest did not become ready. It may help to try another accelerator."""


def check_acceleration(text: str) -> Acceleration:
    """Return the acceleration mode with this name, or raise a UsageError if it is unknown."""
    for acceleration in ACCELERATIONS:
        if acceleration == text:
            return acceleration
    raise UsageError(f"--accel {text}: unknown accelerator", f"use one of: {', '.join(ACCELERATIONS)}")


def boot(target: Boot, acceleration: Acceleration, tell: Callable[[str], None]) -> tuple[Accelerator, int]:
    """Start the machine and wait until it is ready. Returns its accelerator and the port of its sshd.

    Raises a HostError if QEMU does not start, if the port is in use, or if the guest crashes or does not become ready.
    """
    choices, kvm_error = accelerators(acceleration), ""
    for left, accelerator in zip(reversed(range(len(choices))), choices, strict=True):
        begun = time.monotonic()
        try:
            port = _come_up(target, accelerator, KVM_LIMIT_S if left else _READY_S)
        except _NotUp as error:
            _end_qemu(target)
            if not left:
                raise
            kvm_error = error.message
            tell(f"KVM exists but does not work ({kvm_error.splitlines()[0]}); using emulation")
            continue
        # KVM counts as broken only if emulation then starts the same machine. Otherwise, the machine is to blame.
        if accelerator == "kvm" or kvm_error:
            remember_kvm(not kvm_error, kvm_error)
        tell(f"the lab {target.name} is ready after {time.monotonic() - begun:.1f} s ({accelerator})")
        return accelerator, port
    raise AssertionError("unreachable")


def accelerators(acceleration: Acceleration) -> tuple[Accelerator, ...]:
    """Return the accelerators to try, in order of preference.

    Emulation is included even if KVM has worked before, because another hypervisor or changed permissions can make KVM
    fail at any time.
    """
    if acceleration != "auto":
        return (acceleration,)
    if not os.access(_KVM, os.R_OK | os.W_OK):
        return ("tcg",)
    known = kvm_result()
    return ("tcg",) if known is not None and not known.works else ("kvm", "tcg")


def kvm_result() -> KvmResult | None:
    """Return the result that was saved for the running kernel, or None if none was."""
    try:
        result = msgspec.json.decode(_kvm_path().read_bytes(), type=KvmResult)
    except (OSError, *NOT_THE_JSON):
        return None
    return result if result.kernel == os.uname().release else None


def remember_kvm(works: bool, why: str = "") -> None:
    """Save whether KVM works with the running kernel."""
    part = _kvm_path().with_suffix(f".{os.getpid()}")
    part.write_bytes(msgspec.json.encode(KvmResult(os.uname().release, works, why)))
    part.rename(_kvm_path())


def qemu_command(target: Boot, accelerator: Accelerator, port: int, key: str) -> tuple[str, ...]:
    """Return the command that runs QEMU.

    `key`: the public ssh key for logging in.

    The image is the root disk, and all writes to it are discarded (snapshot=on). The guest's only network connection is
    the port of its sshd.
    """
    image = target.image
    return (
        *("qemu-system-x86_64", "-name", f"poolproof-lab-{target.name}", "-nodefaults", "-no-user-config"),
        *("-display", "none", "-no-reboot", "-daemonize", "-pidfile", target.pidfile),
        *("-machine", "pc", *_QEMU_ACCELERATION[accelerator]),
        *("-smp", _processors(target.processors), "-m", f"{target.ram_bytes // 1024**2}M"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", f"{_KERNEL} poolproof.key={key}"),
        *("-serial", f"file:{target.folder}/console.log"),
        *("-drive", f"file={str(image.disk).replace(',', ',,')},format=raw,if=none,id=root,snapshot=on,cache=unsafe"),
        *("-device", "virtio-blk-pci,drive=root,werror=report"),
        *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
        *("-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-rng-pci"),
        *("-object", "iothread,id=disks", "-device", "virtio-scsi-pci,id=scsi0,iothread=disks"),
        *(word for number, disk in enumerate(target.disks) for word in disk.qemu(number)),
    )


def _processors(count: int) -> str:
    """Return the value of -smp, which reserves a slot for a second processor if the guest has only one.

    If a guest can't have more than one processor, QEMU up to 8.0 omits memory barriers, although its disk thread runs
    on another of this machine's processors. That thread may then miss a new request, and the guest waits forever.
    Source: commit c914d46d0a64 of QEMU (`tcg_gen_mb`), and `mttcg_start_vcpu_thread` (`max_cpus > 1`).
    """
    return str(count) if count > 1 else "1,maxcpus=2"


def _come_up(target: Boot, accelerator: Accelerator, limit_s: float) -> int:
    """Start QEMU, wait until the guest is ready, and return the port of its sshd.

    Raises:
        _NotUp: QEMU did not start, the guest crashed, or the guest was not ready within `limit_s` seconds.
        HostError: the port is in use.
    """
    deadline = time.monotonic() + limit_s
    port = _run_qemu(target, accelerator)
    while True:
        # checked before the console is read, because a guest may end as soon as it is ready
        alive = is_running(target.folder)
        if READY in (target.folder / "console.log").read_text(encoding="utf-8", errors="replace"):
            return port
        if not alive or time.monotonic() > deadline:
            why_not = f"the guest was not ready after {limit_s:g} s" if alive else "the guest crashed"
            hint = "poolproof lab start … --accel tcg" if accelerator == "kvm" else "poolproof lab build --anew"
            words = last_words(target.folder)
            raise _NotUp(f"the lab {target.name} could not be started: {why_not}; {words}", hint)
        time.sleep(_POLL_S)


def _run_qemu(target: Boot, accelerator: Accelerator) -> int:
    """Start QEMU and return the port. If another program takes a free port first, another port is tried.

    Raises:
        _NotUp: QEMU did not start.
        HostError: the port is in use.
    """
    fixed = target.port
    for left in reversed(range(1 if fixed else _PORTS_TO_TRY)):
        port = fixed or _free_port()
        # Otherwise, the pid file and console log of an earlier boot would be taken for those of this one.
        Path(target.pidfile).unlink(missing_ok=True)
        (target.folder / "console.log").write_text("")
        step = Step(
            title=f"start the machine of {target.name}",
            argv=qemu_command(target, accelerator, port, public_key()),
            undo=UndoDaemon(target.pidfile, target.pidfile),
            await_file=target.pidfile,
            timeout_s=KVM_LIMIT_S if accelerator == "kvm" else _START_QEMU_S,
        )
        try:
            apply([step], LocalHost(), target.journal, may_overwrite=frozenset())
            return port
        except BuildError as error:
            if _PORT_TAKEN not in error.message:
                why = error.message.strip().splitlines()[-1]
                hint = "poolproof lab start … --accel tcg" if accelerator == "kvm" else "qemu-system-x86_64 --version"
                raise _NotUp(f"QEMU did not start: {why}", hint) from None
            if not left:
                raise HostError(
                    f"port {port} of this machine is in use", "leave out --port, or use another port"
                ) from None
    raise AssertionError("unreachable")


def _end_qemu(target: Boot) -> None:
    def is_other(change: Change) -> bool:
        return not (isinstance(change.undo, UndoDaemon) and change.undo.pidfile == target.pidfile)

    undo_all(target.journal, LocalHost(), owned_by_lab(target.folder), keep=is_other)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _kvm_path() -> Path:
    return lab_folder() / "kvm.json"
