"""KVM or emulation: KVM is tried first, with a limit, until it is known not to work here; that is remembered."""

import os
from pathlib import Path
from typing import Literal

import msgspec

from poolproof.errors import UsageError
from poolproof.lab.cache import lab_folder
from poolproof.lab.qemu import Accelerator

Wish = Literal["auto", "kvm", "tcg"]
WISHES: tuple[Wish, ...] = ("auto", "kvm", "tcg")

KVM_LIMIT_S = 15.0
"""A guest under a KVM that works is ready in a few seconds; one that is not by then never will be."""

_KVM = Path("/dev/kvm")


class Memory(msgspec.Struct, frozen=True):
    """What came of KVM under one kernel of this machine."""

    kernel: str
    works: bool
    why: str


def check_wish(text: str) -> Wish:
    """The wish that `--accel` names.

    Raises:
        UsageError: it names none.
    """
    for wish in WISHES:
        if wish == text:
            return wish
    raise UsageError(f"--accel {text}: there is no such acceleration", f"write --accel {', '.join(WISHES)}")


def to_try(wish: Wish) -> tuple[Accelerator, ...]:
    """What to start with, in order: the second if the guest is not ready with the first.

    A KVM that worked once can be broken later, by another hypervisor or by permissions: it has a second behind it too.
    """
    if wish != "auto":
        return (wish,)
    if not os.access(_KVM, os.R_OK | os.W_OK):
        return ("tcg",)
    known = remembered()
    return ("tcg",) if known is not None and not known.works else ("kvm", "tcg")


def remembered() -> Memory | None:
    """What is known of KVM under the kernel that runs now."""
    try:
        memory = msgspec.json.decode(_path().read_bytes(), type=Memory)
    except (OSError, msgspec.DecodeError):
        return None
    return memory if memory.kernel == os.uname().release else None


def learn(accelerator: Accelerator, kvm_failed: str = "") -> None:
    """Keep what a machine that came up shows of KVM; `kvm_failed`: why KVM did not bring up the same machine before.

    Only then does KVM count as broken: a machine that emulation can't bring up either says nothing of KVM.
    """
    if accelerator == "kvm":
        remember(True)
    elif kvm_failed:
        remember(False, kvm_failed)


def remember(works: bool, why: str = "") -> None:
    """Keep what came of trying KVM."""
    beside = _path().with_suffix(f".{os.getpid()}")
    beside.write_bytes(msgspec.json.encode(Memory(os.uname().release, works, why)))
    beside.rename(_path())


def _path() -> Path:
    return lab_folder() / "kvm.json"
