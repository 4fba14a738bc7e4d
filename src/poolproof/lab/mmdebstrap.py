"""The command that makes the image's tree of files."""

import contextlib
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from poolproof import process
from poolproof.errors import CommandError, HostError
from poolproof.lab.recipe import PACKAGES, Recipe, guest_program

_TRY_S = 20.0
_REMOVE_S = 300.0
_SCRATCH = Path("/var/tmp")
_NOT_WANTED = ("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*")
_ARCHIVES = "/var/cache/apt/archives"

SIGNS = (
    ("I: installing remaining packages inside the chroot", "unpacking the packages"),
    ("Setting up zfs-dkms", "compiling the ZFS module"),
    ("poolproof-lab: OpenZFS", "taking away what only the build needed"),
    ("I: creating tarball", "packing the tree"),
)
"""What stands in mmdebstrap's log when a part of the work begins, and how to call that part."""


def mode() -> str:
    """How mmdebstrap becomes root of the tree: in a user namespace where that is allowed, else as root itself.

    Raises:
        HostError: neither is possible.
    """
    mapped = ("--map-root-user",) if os.geteuid() == 0 else ("--map-root-user", "--map-auto")
    try:
        tried = process.run(["unshare", "--mount", *mapped, "true"], timeout_s=_TRY_S, check=False)
    except CommandError:
        tried = None
    if tried is not None and tried.returncode == 0:
        return "unshare"
    if os.geteuid() == 0:
        return "root"
    raise HostError(
        "this user may not make user namespaces, without which the lab's image is built by root only",
        "sudo poolproof lab build; or see /etc/subuid, and: sudo sysctl kernel.unprivileged_userns_clone=1",
    )


@contextlib.contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A folder in which mmdebstrap makes the tree of that name, gone afterwards, and what a killed build left in it.

    mmdebstrap removes its tree by itself, unless it is stopped: then there is no time. In /var/tmp, since the root of a
    user namespace must be able to go there.
    """
    place = _SCRATCH / f"poolproof-build-{name}-{os.getuid()}"
    _remove(place)
    place.mkdir(mode=0o711)
    place.chmod(0o711)
    try:
        yield place
    finally:
        _remove(place)


def _remove(place: Path) -> None:
    """The files belong to the users of a namespace, so one must do it that is root there."""
    if not place.exists():
        return
    namespace = () if os.geteuid() == 0 else ("unshare", "--map-root-user", "--map-auto", "--")
    process.run([*namespace, "rm", "-rf", "--one-file-system", str(place)], timeout_s=_REMOVE_S, check=False)


def command(recipe: Recipe, how: str, archives: Path, preferences: str, tree: Path, place: Path) -> list[str]:
    """The argv: packages from `archives` where they are there, the tree made in `place` and packed into `tree`.

    The hooks run outside of the tree, as its root, and get its path as $1.
    """
    return [
        *("env", f"TMPDIR={place}", "INITRD=No"),  # the image has an initial RAM disk of its own
        *("mmdebstrap", "--verbose", f"--mode={how}", "--variant=apt", "--architectures=amd64", "--format=tar"),
        *("--skip=download/empty", "--skip=essential/unlink", "--skip=output/dev"),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _NOT_WANTED),
        "--dpkgopt=force-unsafe-io",
        '--aptopt=Acquire::Languages "none"',
        *_hooks("setup", [f'mkdir -p "$1{_ARCHIVES}"', f"sync-in {shlex.quote(str(archives))} {_ARCHIVES}"]),
        *_hooks("setup", [_write(preferences, "/etc/apt/preferences.d/lab")] if preferences else []),
        f"--include={','.join(PACKAGES)}",
        *_hooks("customize", [_finish()]),
        *(recipe.codename, str(tree)),
        *(source.line() for source in recipe.sources),
    ]


def _hooks(when: str, lines: Sequence[str]) -> list[str]:
    return [f"--{when}-hook={line}" for line in lines]


def _write(text: str, path: str) -> str:
    return f'printf %s {shlex.quote(text)} >"$1{path}"'


def _finish() -> str:
    programs = f"BOOT={shlex.quote(guest_program('boot.sh'))} INIT={shlex.quote(guest_program('init.sh'))}"
    return f'{programs} sh -c {shlex.quote(guest_program("finish.sh"))} finish.sh "$1"'
