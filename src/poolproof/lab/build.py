"""Build an image in three stages, each kept when it is done: packages fetched, tree made, disk written."""

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
from poolproof.lab.apt import Offer, PrivateApt
from poolproof.lab.apt_sources import ETC_APT, codename_of, configured, for_image
from poolproof.lab.cache import Image, image_named, images, lab_folder, locked
from poolproof.lab.mmdebstrap import SIGNS, command, mode, scratch
from poolproof.lab.programs import BUILD, require
from poolproof.lab.recipe import BACKPORTS_PIN, PACKAGES, Recipe, check_series
from poolproof.units import format_size

USUALLY = "about 5 minutes on two idle cores"
"""How long a build takes, in words."""

_TREE_S = 3600.0
_DISK_S = 900.0
_DISK_BYTES = 8 << 30
_ROOM_BYTES = 4 << 30
_LOOK_S = 0.5
_TAIL_CHARACTERS = 1500

# Without a journal: the disk is thrown away with its lab, and boots faster.
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
    """The recipe by this machine's apt configuration.

    Raises:
        UsageError: no such series.
        HostError: the machine has no source of Debian's packages.
    """
    try:
        codename = codename_of(Path("/etc/os-release").read_text(encoding="utf-8"))
    except OSError:
        codename = ""
    return Recipe(check_series(series), codename, for_image(configured(etc_apt), codename))


def built(series: str, etc_apt: Path = ETC_APT) -> Image:
    """The image with that series of OpenZFS.

    Raises:
        UsageError: no such series.
        HostError: it has not been built.
    """
    image = _copied(series, etc_apt) or image_named(recipe_here(series, etc_apt).name)
    if not image.is_there:
        raise HostError(
            f"the lab's image with OpenZFS {series} has not been built",
            f"poolproof lab build --zfs {series} ({USUALLY}, once)",
        )
    return image


def built_or_build(series: str, tell: Tell) -> Image:
    """The image with that series of OpenZFS, built where it is not there; `tell` says so and how it goes on.

    Raises:
        UsageError: no such series.
        HostError: as `build`.
    """
    copied = _copied(series, ETC_APT)
    if copied is not None:
        return copied
    recipe = recipe_here(series)
    if not image_named(recipe.name).is_there:
        tell(f"the lab's image with OpenZFS {series} is not there yet: building it, {USUALLY}, once")
    return build(recipe, Stopwatch(tell))


def _copied(series: str, etc_apt: Path) -> Image | None:
    """On a machine that can build no image: one of that series that was copied to it."""
    try:
        recipe_here(series, etc_apt)
    except HostError:
        return next((image for image in images() if image.folder.name.startswith(f"zfs-{series}-")), None)
    return None


def build(recipe: Recipe, tell: Tell, *, anew: bool = False) -> Image:
    """The image of this recipe, built where it is not there; `tell` gets a line for each thing that begins.

    A build that was stopped goes on with the stage that it was in; with `anew` it begins at the first.

    Raises:
        HostError: a program is missing, an archive lacks something, the disk is full, the module can't be built.
    """
    image = image_named(recipe.name)
    if image.is_there and not anew:
        return image
    with locked(lab_folder(), recipe.name, "builds this image of the lab"):
        if image.is_there and not anew:
            return image
        require(BUILD, "building the lab's image")
        work = lab_folder() / "work" / recipe.name
        if anew:
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        _check_room(work)
        _Build(recipe, work, tell).make(image)
    return image


@dataclass(frozen=True)
class _Build:
    recipe: Recipe
    work: Path
    tell: Tell

    def make(self, image: Image) -> None:
        tree = self.work / "tree.tar"
        if not tree.exists():
            offer = self._fetch()
            self._make_tree(tree, offer)
        self._write_disk(image)
        shutil.rmtree(self.work, ignore_errors=True)

    def _fetch(self) -> Offer:
        self.tell("fetching the packages")
        apt = PrivateApt(self.work / "apt", self.recipe.sources)
        apt.update()
        offer = chosen(apt.offers("zfs-dkms"), self.recipe.series)
        apt.prefer(self._preferences(offer))
        apt.fetch(PACKAGES)
        return offer

    def _preferences(self, offer: Offer) -> str:
        backported = offer.suite != self.recipe.codename and offer.suite.endswith("-backports")
        return BACKPORTS_PIN.format(suite=offer.suite) if backported else ""

    def _make_tree(self, tree: Path, offer: Offer) -> None:
        self.tell(f"installing them, with OpenZFS {offer.version}")
        log, part = self.work / "tree.log", self.work / "tree.part"
        part.unlink(missing_ok=True)
        preferences = self._preferences(offer)
        how = mode()
        with scratch(self.recipe.name) as place, _retold(log, self.tell):
            argv = command(self.recipe, how, self.work / "apt" / "archives", preferences, part, place)
            self._run(argv, log, _TREE_S, "make the tree of the lab's image")
        part.rename(tree)

    def _write_disk(self, image: Image) -> None:
        self.tell("writing the disk image")
        beside = self.work / "image"
        shutil.rmtree(beside, ignore_errors=True)
        argv = [*_as_root(), "sh", "-c", _WRITE_DISK, "sh", str(self.work), str(beside), str(_DISK_BYTES // 1024) + "k"]
        self._run(argv, self.work / "disk.log", _DISK_S, "write the lab's disk image")
        (beside / "about.json").write_text(json.dumps(asdict(self.recipe), indent=1) + "\n")
        self._put_in_place(beside, image)

    def _put_in_place(self, beside: Path, image: Image) -> None:
        """A lab that runs from the image that was there keeps its files open."""
        old = self.work / "old"  # which a build that was killed here has left
        shutil.rmtree(old, ignore_errors=True)
        try:
            image.folder.parent.mkdir(exist_ok=True)
            if image.is_there:
                image.folder.rename(old)
            beside.rename(image.folder)
        except OSError as error:
            raise HostError(
                f"{image.folder} cannot be put in place: {error.strerror}",
                f"rm -r {self.work}; then: poolproof lab build --anew",
            ) from None

    def _run(self, argv: Sequence[str], log: Path, timeout_s: float, what: str) -> None:
        keep = ["sh", "-c", 'log=$0; exec "$@" >"$log" 2>&1', str(log), *argv]
        try:
            done = process.run(keep, timeout_s=timeout_s, check=False)
        except CommandError as error:
            raise HostError(f"could not {what}: {error.message}", f"its log: {log}") from None
        if done.returncode != 0:
            raise HostError(f"could not {what}: {_tail(log)}", f"all of it: {log}; to try again: poolproof lab build")


def chosen(offers: Sequence[Offer], series: str) -> Offer:
    """The offer of that series of OpenZFS.

    Raises:
        HostError: there is none.
    """
    found = next((offer for offer in offers if offer.version.startswith(f"{series}.")), None)
    if found is None:
        there = ", ".join(f"{offer.version} in {offer.suite}" for offer in offers) or "none at all"
        raise HostError(
            f"the archives have no zfs-dkms {series}; they have {there}",
            "ask for one that they have: poolproof lab build --zfs 2.3" if offers else "sudo apt-get update",
        )
    return found


@contextlib.contextmanager
def _retold(log: Path, tell: Tell) -> Iterator[None]:
    """What the log says of the way it is on, retold while the context lasts."""
    log.write_text("")
    over = threading.Event()
    thread = threading.Thread(target=_retell, args=(log, tell, over), name="build log", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _retell(log: Path, tell: Tell, over: threading.Event) -> None:
    left = list(SIGNS)
    with log.open(encoding="utf-8", errors="replace") as file:
        while not over.wait(_LOOK_S):
            text = file.read()
            for sign, words in [pair for pair in left if pair[0] in text]:
                tell(words)
                left.remove((sign, words))


def _as_root() -> tuple[str, ...]:
    """What makes the disk's files root's own."""
    return () if os.geteuid() == 0 else ("fakeroot", "--")


def _check_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _ROOM_BYTES:
        raise HostError(
            f"{folder} has {format_size(free)} left; building the lab's image takes {format_size(_ROOM_BYTES)}",
            "set XDG_CACHE_HOME to a folder with more room",
        )


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace").strip()[-_TAIL_CHARACTERS:]


class Stopwatch:
    """Lines with the seconds since the beginning before them."""

    def __init__(self, write: Tell) -> None:
        self._write = write
        self._begun = time.monotonic()

    def __call__(self, line: str) -> None:
        self._write(f"{time.monotonic() - self._begun:5.0f} s  {line}")
