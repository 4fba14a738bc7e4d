"""Builds an image in three stages: fetch packages, install them in a tree, write the disk.

The result of each stage is saved.
"""

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from poolproof import process
from poolproof.errors import CommandError, HostError
from poolproof.lab.apt import ETC_APT, Offer, PrivateApt, codename_of, configured, for_image
from poolproof.lab.contents import ABOUT, components, lacking
from poolproof.lab.home import lab_folder
from poolproof.lab.labs import BUILD, Image, image_named, images, locked, require
from poolproof.lab.recipe import SERIES, SIGNS, Recipe, build_command, build_mode, check_series, scratch
from poolproof.units import format_size

USUALLY = "about 5 minutes on two idle cores"
"""The usual duration of a build, as text."""

_TREE_S = 3600.0
_DISK_S = 900.0
_DISK_BYTES = 8 << 30
_ROOM_BYTES = 4 << 30
_POLL_S = 0.5
_TAIL_CHARACTERS = 1500

# The file system has no journal, because all writes are discarded with the lab anyway. Labs then boot faster.
_WRITE_DISK = """
set -eu
tree=$(mktemp -d "$1/tree.XXXXXX")
trap 'rm -rf "$tree"' EXIT
tar -C "$tree" --numeric-owner -xf "$1/tree.tar"
mkdir -p "$tree/dev" "$tree/proc" "$tree/sys" "$tree/run"
mkdir "$2"
mv "$tree/boot/kernel" "$tree/boot/initrd" "$2"
mke2fs -q -t ext4 -O ^has_journal -E lazy_itable_init=1,root_owner=0:0 -m 0 -L lab -d "$tree" "$2/disk.raw" "$3"
"""

Tell = Callable[[str], None]


def recipe_here(series: str, etc_apt: Path = ETC_APT) -> Recipe:
    """Return the recipe for an image, based on the configuration of this machine's apt.

    Raises a UsageError if the series is unknown, and a HostError if the machine has no source of Debian packages.
    """
    try:
        codename = codename_of(Path("/etc/os-release").read_text(encoding="utf-8"))
    except OSError:
        codename = ""
    return Recipe(check_series(series), codename, for_image(configured(etc_apt), codename, components()))


def built(series: str, etc_apt: Path = ETC_APT) -> Image:
    """Return the image with this OpenZFS series, which must exist.

    Raises a UsageError if the series is unknown, and a HostError if the image has not been built.
    """
    image = _copied(series, etc_apt) or image_named(recipe_here(series, etc_apt).name)
    if not image.exists:
        raise HostError(
            f"the lab's image with OpenZFS {series} has not been built{_older(series)}",
            f"poolproof lab build --zfs {series} (needed only once; takes {USUALLY})",
        )
    return image


def built_or_build(series: str, tell: Tell) -> Image:
    """Return the image with this OpenZFS series. If it does not exist, it is built first.

    `tell`: called with each progress message.

    Raises a UsageError if the series is unknown, and the same errors as `build`.
    """
    copied = _copied(series, ETC_APT)
    if copied is not None:
        return copied
    recipe = recipe_here(series)
    if not image_named(recipe.name).exists:
        tell(f"building the lab's image with OpenZFS {series}; this is needed only once and takes {USUALLY}")
    return build(recipe, Stopwatch(tell))


def _copied(series: str, etc_apt: Path) -> Image | None:
    """Return an image copied from another machine. None if none was copied, or if this machine can build images.

    If several images have this series, the one with the fewest missing packages is returned.
    """
    try:
        recipe_here(series, etc_apt)
    except HostError:
        return min(_images_with(series), key=lambda image: len(lacking(image)), default=None)
    return None


def _images_with(series: str) -> list[Image]:
    return [image for image in images() if image.folder.name.startswith(f"zfs-{series}-")]


def _older(series: str) -> str:
    """Return a clause that lists the packages that existing images of this series lack. Empty if they lack none."""
    found = {image.folder.name: packages for image in _images_with(series) if (packages := lacking(image))}
    return "".join(f"; the older image {name} does not have {', '.join(packages)}" for name, packages in found.items())


def build(recipe: Recipe, tell: Tell, *, anew: bool = False) -> Image:
    """Return the image for the recipe. If it does not exist, it is built first.

    `tell`: called with a message for each part of the build.
    `anew`: build the image from scratch, even if it exists. Otherwise, an interrupted build resumes at its last stage.

    Raises a HostError if the image can't be built, for example because a program or package is missing, or because the
    disk is full.
    """
    image = image_named(recipe.name)
    if image.exists and not anew:
        return image
    with locked(lab_folder(), recipe.name, "is building this image"):
        if image.exists and not anew:
            return image
        require(BUILD, "building the lab's image")
        work = lab_folder() / "work" / recipe.name
        if anew:
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(work).free
        if free < _ROOM_BYTES:
            raise HostError(
                f"{work} has only {format_size(free)} free, but building the lab's image requires "
                f"{format_size(_ROOM_BYTES)}",
                "set XDG_CACHE_HOME to a folder with more space",
            )
        _Build(recipe, work, tell).make(image)
    return image


@dataclass(frozen=True)
class _Build:
    recipe: Recipe
    work: Path
    tell: Tell

    @property
    def _again(self) -> str:
        """The command that repeats the build."""
        return f"poolproof lab build --zfs {self.recipe.series}"

    def make(self, image: Image) -> None:
        tree = self.work / "tree.tar"
        if not tree.exists():
            self._make_tree(tree, self._fetch())
        self._write_disk(image)
        shutil.rmtree(self.work, ignore_errors=True)

    def _fetch(self) -> Offer:
        self.tell("fetching packages")
        apt = PrivateApt(self.work / "apt", self.recipe.sources)
        apt.update()
        offer = chosen(apt.offers("zfs-dkms"), self.recipe.series)
        apt.prefer(self.recipe.preferences(offer.suite))
        apt.fetch(self.recipe.packages)
        return offer

    def _make_tree(self, tree: Path, offer: Offer) -> None:
        self.tell(f"installing packages, with OpenZFS {offer.version}")
        log, part = self.work / "tree.log", self.work / "tree.part"
        part.unlink(missing_ok=True)
        preferences, mode = self.recipe.preferences(offer.suite), build_mode()
        with scratch(self.recipe.name) as place, _report_progress(log, self.tell):
            argv = build_command(self.recipe, mode, self.work / "apt" / "archives", preferences, part, place)
            self._run(argv, log, _TREE_S, "create the files of the lab's image")
        part.rename(tree)

    def _write_disk(self, image: Image) -> None:
        self.tell("writing the disk image")
        new = self.work / "image"
        shutil.rmtree(new, ignore_errors=True)
        as_root = () if os.geteuid() == 0 else ("fakeroot", "--")  # root owns the files in the image
        argv = [*as_root, "sh", "-c", _WRITE_DISK, "sh", str(self.work), str(new), f"{_DISK_BYTES // 1024}k"]
        self._run(argv, self.work / "disk.log", _DISK_S, "write the lab's disk image")
        about = asdict(self.recipe) | {"packages": self.recipe.packages}
        (new / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
        # Replace the image. A lab that runs from the old one keeps its files open.
        old = self.work / "old"  # may exist if a build was killed at this point
        shutil.rmtree(old, ignore_errors=True)
        try:
            image.folder.parent.mkdir(exist_ok=True)
            if image.exists:
                image.folder.rename(old)
            new.rename(image.folder)
        except OSError as error:
            raise HostError(
                f"{image.folder} cannot be written: {error.strerror}",
                f"ls -ld {image.folder.parent}; to try again: {self._again} --anew",
            ) from None

    def _run(self, argv: Sequence[str], log: Path, timeout_s: float, what: str) -> None:
        keep = ["sh", "-c", 'log=$0; exec "$@" >"$log" 2>&1', str(log), *argv]
        try:
            done = process.run(keep, timeout_s=timeout_s, check=False)
        except CommandError as error:
            raise HostError(f"could not {what}: {error.message}", f"see the log: {log}") from None
        if done.returncode != 0:
            end = log.read_text(encoding="utf-8", errors="replace").strip()[-_TAIL_CHARACTERS:]
            raise HostError(f"could not {what}: {end}", f"see {log}; to try again: {self._again}")


def chosen(offers: Sequence[Offer], series: str) -> Offer:
    """Return the newest available version of an OpenZFS series. Raises a HostError if none is available."""
    found = next((offer for offer in offers if offer.version.startswith(f"{series}.")), None)
    if found is None:
        available = ", ".join(f"{offer.version} in {offer.suite}" for offer in offers) or "none"
        usable = [each for each in SERIES if any(offer.version.startswith(f"{each}.") for offer in offers)]
        raise HostError(
            f"the package archives do not contain zfs-dkms {series}; available: {available}",
            f"choose an available series: poolproof lab build --zfs {usable[0]}" if usable else "sudo apt-get update",
        )
    return found


@contextlib.contextmanager
def _report_progress(log: Path, tell: Tell) -> Iterator[None]:
    """Monitor the log until the context ends, and report when each part of the build starts."""
    log.write_text("")
    over = threading.Event()

    def follow() -> None:
        left = list(SIGNS)
        with log.open(encoding="utf-8", errors="replace") as file:
            while not over.wait(_POLL_S):
                text = file.read()
                for sign, words in [pair for pair in left if pair[0] in text]:
                    tell(words)
                    left.remove((sign, words))

    thread = threading.Thread(target=follow, name="build log", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Stopwatch:
    """Prefixes each line with the elapsed time in seconds before writing it."""

    def __init__(self, write: Tell) -> None:
        self._write = write
        self._begun = time.monotonic()

    def __call__(self, line: str) -> None:
        self._write(f"{time.monotonic() - self._begun:5.0f} s  {line}")
