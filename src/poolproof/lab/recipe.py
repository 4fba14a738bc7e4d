"""The contents of the lab's image, and the command that installs them in a directory tree.

The name of the image contains a digest of the recipe, so every change to the recipe results in a new image.
"""

import contextlib
import hashlib
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from poolproof import process
from poolproof.errors import CommandError, HostError, UsageError
from poolproof.lab.apt import AptSource
from poolproof.lab.contents import backported, dkms_modules, generator_packages, layer_packages

SERIES = ("2.1", "2.3")
"""The OpenZFS series with which images can be built."""

_KERNEL = ("linux-image-cloud-amd64", "linux-headers-cloud-amd64")
_SYSTEM = (
    *("openssh-server", "udev", "fdisk", "kmod", "iproute2", "procps", "util-linux-extra"),
    *("busybox-static", "cpio"),  # for the initial RAM disk
)
_OPENZFS = "src:zfs-linux"
_BACKPORTS_PIN = """\
Package: {packages}
Pin: release n={codename}-backports
Pin-Priority: 900
"""

_TRY_S = 20.0
_REMOVE_S = 300.0
_SCRATCH = Path("/var/tmp")
_EXCLUDED = ("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*")
_ARCHIVES = "/var/cache/apt/archives"

SIGNS = (
    ("I: installing remaining packages inside the chroot", "unpacking the packages"),
    ("Setting up zfs-dkms", "compiling kernel modules"),
    ("poolproof-lab: compiled", "removing what only the build needed"),
    ("I: creating tarball", "packing the tree"),
)
"""Strings in mmdebstrap's log that show that a part of the build has started, each with a description of that part."""


@dataclass(frozen=True)
class Recipe:
    """What an image is built from: its OpenZFS series, and the archives that provide its packages."""

    series: str
    codename: str
    sources: tuple[AptSource, ...]

    @property
    def name(self) -> str:
        """The name of the image, such as `zfs-2.1-bookworm-1f3a9c20e4`. It ends with a digest of the recipe."""
        programs = (guest_program(name) for name in ("boot.sh", "init.sh", "finish.sh"))
        contents = (*self.packages, *dkms_modules(), *backported())
        parts = (self.series, *(source.line() for source in self.sources), *contents, *programs)
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return f"zfs-{self.series}-{self.codename}-{digest[:10]}"

    @property
    def packages(self) -> tuple[str, ...]:
        """The Debian packages to install in the image, without their dependencies."""
        return tuple(dict.fromkeys((*_KERNEL, *layer_packages(), *generator_packages(), *_SYSTEM)))

    def preferences(self, openzfs_suite: str) -> str:
        """Return the apt preferences that select packages from backports, or "" if none are needed.

        `openzfs_suite`: the suite that provides OpenZFS. It can be backports too.

        The format is described in apt_preferences(5).
        """
        is_backported = openzfs_suite == f"{self.codename}-backports"
        packages = (*((_OPENZFS,) if is_backported else ()), *backported())
        return _BACKPORTS_PIN.format(packages=" ".join(packages), codename=self.codename) if packages else ""


def check_series(series: str) -> str:
    """Return the series unchanged, or raise a UsageError if images can't be built with it."""
    if series not in SERIES:
        raise UsageError(f"--zfs {series}: labs do not support OpenZFS {series}", f"write --zfs {' or '.join(SERIES)}")
    return series


@cache
def guest_program(name: str) -> str:
    """Return the source code of a program from the guest/ folder."""
    return resources.files("poolproof.lab").joinpath("guest", name).read_text(encoding="utf-8")


def build_mode() -> str:
    """Return the mode for mmdebstrap: `unshare` if user namespaces are allowed, otherwise `root`.

    Raises a HostError if neither is possible.
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
        "this user cannot create user namespaces, so only root can build the lab's image",
        "sudo poolproof lab build; or install uidmap, add the user to /etc/subuid and /etc/subgid, and allow user "
        "namespaces (Debian: sysctl kernel.unprivileged_userns_clone=1; Ubuntu: sysctl "
        "kernel.apparmor_restrict_unprivileged_userns=0)",
    )


@contextlib.contextmanager
def scratch(name: str) -> Iterator[Path]:
    """Yield an empty folder for mmdebstrap's tree, and remove the folder when the context ends.

    If a build was killed, the files that it left in the folder are removed first. The folder is in /var/tmp, because
    the root user of a user namespace can access it there.

    Raises a HostError if the folder can't be created, for example because another user has created one with its name.
    """
    place = _SCRATCH / f"poolproof-build-{name}-{os.getuid()}"
    _remove(place)
    try:
        place.mkdir(mode=0o711)
    except OSError as error:
        with contextlib.suppress(OSError):
            if (owner := place.lstat().st_uid) != os.getuid():
                raise HostError(
                    f"{place}, in which the lab's image is built, belongs to another user (ID {owner})",
                    f"ask that user or root to remove it: rm -r {place}",
                ) from None
        raise HostError(f"{place} cannot be created: {error.strerror}", f"ls -ld {_SCRATCH} {place}") from None
    place.chmod(0o711)
    try:
        yield place
    finally:
        _remove(place)


def _remove(place: Path) -> None:
    """Remove the folder.

    If this user is not root, the files belong to users of a user namespace, so they are removed in a new namespace.
    """
    if not os.path.lexists(place):
        return
    namespace = () if os.geteuid() == 0 else ("unshare", "--map-root-user", "--map-auto", "--")
    remove = ["rm", "-rf", "--one-file-system", str(place)]
    if process.run([*namespace, *remove], timeout_s=_REMOVE_S, check=False).returncode != 0:
        process.run(remove, timeout_s=_REMOVE_S, check=False)  # an empty folder needs no namespace


def build_command(recipe: Recipe, how: str, archives: Path, preferences: str, tree: Path, place: Path) -> list[str]:
    """Return the mmdebstrap command that builds a tree in `place` and packs it into `tree`.

    `archives`: a folder with downloaded packages. Packages that it lacks are downloaded.

    The hooks run outside the tree, but as its root user. They receive the path of the tree as $1.
    """
    return [
        *("env", f"TMPDIR={place}", "INITRD=No"),  # the image gets an initial RAM disk of its own
        *("mmdebstrap", "--verbose", f"--mode={how}", "--variant=apt", "--architectures=amd64", "--format=tar"),
        *("--skip=download/empty", "--skip=essential/unlink", "--skip=output/dev"),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _EXCLUDED),
        "--dpkgopt=force-unsafe-io",
        '--aptopt=Acquire::Languages "none"',
        *_hooks("setup", [f'mkdir -p "$1{_ARCHIVES}"', f"sync-in {shlex.quote(str(archives))} {_ARCHIVES}"]),
        *_hooks("setup", [_write(preferences, "/etc/apt/preferences.d/lab")] if preferences else []),
        f"--include={','.join(recipe.packages)}",
        *_hooks("customize", [_finish()]),
        *(recipe.codename, str(tree)),
        *(source.line() for source in recipe.sources),
    ]


def _hooks(when: str, lines: Sequence[str]) -> list[str]:
    return [f"--{when}-hook={line}" for line in lines]


def _write(text: str, path: str) -> str:
    return f'printf %s {shlex.quote(text)} >"$1{path}"'


def _finish() -> str:
    given = {"BOOT": guest_program("boot.sh"), "INIT": guest_program("init.sh"), "MODULES": " ".join(dkms_modules())}
    assigned = " ".join(f"{name}={shlex.quote(text)}" for name, text in given.items())
    return f'{assigned} sh -c {shlex.quote(guest_program("finish.sh"))} finish.sh "$1"'
