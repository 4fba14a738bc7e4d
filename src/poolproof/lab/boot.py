"""Boot a lab's machine: QEMU with the first acceleration that brings the guest to its ready line."""

import contextlib
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.errors import BuildError, HostError
from poolproof.hosts.local import LocalHost
from poolproof.lab import accelerate
from poolproof.lab.cache import Image, public_key
from poolproof.lab.disks import LabDisk
from poolproof.lab.qemu import READY, Accelerator, Virtual, qemu_command
from poolproof.lab.standing import is_running, last_words
from poolproof.provision.apply import apply
from poolproof.provision.journal import Change, Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step, UndoDaemon

_READY_S = 300.0
_POLL_S = 0.1
_START_QEMU_S = 30.0
_PORTS_TO_TRY = 3
_PORT_TAKEN = "host forwarding"  # in QEMU's words


@dataclass(frozen=True)
class Boot:
    """What is to boot, and where its files go. `machine.port` 0: any that is free."""

    machine: Virtual
    image: Image
    folder: Path
    disks: Sequence[LabDisk]
    journal: Journal

    @property
    def pidfile(self) -> str:
        return f"{self.folder}/qemu.pid"


class _NotUp(HostError):
    """The machine did not come up: QEMU does not start, or the guest is not ready. By other means it may."""


def boot(asked: Boot, wish: accelerate.Wish, tell: Callable[[str], None]) -> tuple[Accelerator, int]:
    """The machine runs and is ready; returns how it runs, and the port that leads to its sshd.

    Raises:
        HostError: QEMU does not start, the port is taken, the guest crashed or never became ready.
    """
    choices, failed = accelerate.to_try(wish), ""
    for left, accelerator in zip(reversed(range(len(choices))), choices, strict=True):
        begun = time.monotonic()
        try:
            port = _come_up(asked, accelerator, accelerate.KVM_LIMIT_S if left else _READY_S)
        except _NotUp as error:
            _end_qemu(asked)
            if not left:
                raise
            failed = error.message
            tell(f"KVM is there but does not work ({failed.splitlines()[0]}); emulating")
            continue
        accelerate.learn(accelerator, failed)
        tell(f"the lab {asked.machine.name} is ready after {time.monotonic() - begun:.1f} s ({accelerator})")
        return accelerator, port
    raise AssertionError("unreachable")


def _come_up(asked: Boot, accelerator: Accelerator, limit_s: float) -> int:
    """Start QEMU and wait until the guest is ready; returns the port.

    Raises:
        _NotUp: it is not within `limit_s` seconds.
        HostError: the port is taken.
    """
    deadline = time.monotonic() + limit_s
    port = _run_qemu(asked, accelerator)
    why_not = _await_ready(asked.folder, deadline)
    if why_not:
        hint = "poolproof lab start … --accel tcg" if accelerator == "kvm" else "poolproof lab build --anew"
        raise _NotUp(f"the lab {asked.machine.name} did not become ready: {why_not}", hint)
    return port


def _run_qemu(asked: Boot, accelerator: Accelerator) -> int:
    """Start QEMU; returns the port. Another program may take a free port first: then another one is tried."""
    wanted = asked.machine.port
    for left in reversed(range(1 if wanted else _PORTS_TO_TRY)):
        port = wanted or _free_port()
        try:
            apply([_qemu(asked, accelerator, port)], LocalHost(), asked.journal, may_overwrite=frozenset())
            return port
        except BuildError as error:
            if _PORT_TAKEN not in error.message:
                why = error.message.strip().splitlines()[-1]
                hint = "poolproof lab start … --accel tcg" if accelerator == "kvm" else "qemu-system-x86_64 --version"
                raise _NotUp(f"QEMU does not start: {why}", hint) from None
            if not left:
                raise HostError(f"port {port} of this machine is in use", "leave --port out, or name another") from None
    raise AssertionError("unreachable")


def _qemu(asked: Boot, accelerator: Accelerator, port: int) -> Step:
    """What a run before left would pass for the pid and the words of this one."""
    with contextlib.suppress(FileNotFoundError):
        Path(asked.pidfile).unlink()
    (asked.folder / "console.log").write_text("")
    machine = replace(asked.machine, port=port)
    return Step(
        title=f"start the machine of {machine.name}",
        argv=qemu_command(machine, accelerator, asked.image, asked.folder, public_key(), asked.disks),
        undo=UndoDaemon(asked.pidfile, asked.pidfile),
        await_file=asked.pidfile,
        timeout_s=accelerate.KVM_LIMIT_S if accelerator == "kvm" else _START_QEMU_S,
    )


def _await_ready(folder: Path, deadline: float) -> str:
    """Empty when the guest said that it is ready; else why it is not."""
    console = folder / "console.log"
    while True:
        alive = is_running(folder)
        text = console.read_text(encoding="utf-8", errors="replace")
        if READY in text:
            return ""
        if not alive:
            return f"the guest crashed; {last_words(folder)}"
        if time.monotonic() > deadline:
            return f"the guest did not say in time that it is ready; {last_words(folder)}"
        time.sleep(_POLL_S)


def _end_qemu(asked: Boot) -> None:
    def is_other(change: Change) -> bool:
        return not (isinstance(change.undo, UndoDaemon) and change.undo.pidfile == asked.pidfile)

    undo_all(asked.journal, LocalHost(), keep=is_other)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
