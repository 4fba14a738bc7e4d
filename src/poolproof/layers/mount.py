"""Mounting and unmounting, as steps; and which options a mount understands.

Mount options stay at the kernel's and the program's defaults unless the layout says otherwise: `relatime` too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site
from poolproof.layers.arguments import unknown, words
from poolproof.layers.base import Reading
from poolproof.steps import Step, UndoTree, unmount

# mount(8), "filesystem-independent mount options", those that bear on a benchmark
_ANY_FLAGS = words(
    "atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime lazytime nolazytime sync async "
    "dirsync iversion noiversion suid nosuid dev nodev exec noexec"
)

_UNMOUNT_LIMIT_S = 300.0

# A program that has just ended may hold the mount for a moment: FUSE releases files after close() has returned.
_PATIENTLY = 'n=0; until umount "$0"; do n=$((n + 1)); [ "$n" -lt 50 ] || exit 1; sleep 0.1; done'


@dataclass(frozen=True)
class Vocabulary:
    """The options of one file system: keys for its mkfs, and keys and bare words for its mount. No key is in both."""

    word: str
    format_keys: frozenset[str]
    mount_keys: frozenset[str]
    mount_flags: frozenset[str]

    def names(self) -> frozenset[str]:
        return self.format_keys | self.mount_keys | self.mount_flags | _ANY_FLAGS


@dataclass(frozen=True)
class Chosen:
    """What the layout says: mkfs options as pairs, mount options as mount writes them."""

    format: tuple[tuple[str, str], ...]
    mount: tuple[str, ...]


def choose(reading: Reading, arguments: Sequence[Word | Option], known: Vocabulary) -> Chosen:
    """Tell mkfs options from mount options by their names.

    Raises:
        CampaignError: a word or key that neither knows, a key given twice, a comma in a mount option's value.
    """
    formats: dict[str, str] = {}
    mounts: dict[str, str] = {}
    for argument in arguments:
        match argument:
            case Word(text) if text in known.mount_flags | _ANY_FLAGS:
                mounts[text] = text
            case Option(key, value) if key in known.format_keys | known.mount_keys:
                chosen, text = (formats, value) if key in known.format_keys else (mounts, f"{key}={value}")
                if key in chosen:
                    raise reading.mistake(argument, f"`{key}` is given twice")
                if chosen is mounts and "," in value:
                    raise reading.mistake(argument, "a mount option cannot hold a comma; write several options")
                chosen[key] = text
            case _:
                raise unknown(reading, argument, f"option of {known.word}", known.names())
    return Chosen(tuple(formats.items()), tuple(mounts.values()))


def mount_point(site: Site, name: str) -> str:
    return f"{site.mount_dir}/{name}"


def make_mount_point(point: str) -> Step:
    return Step(f"make the mount point {point}", ("mkdir", "-p", point), undo=UndoTree(point))


def mount(kind: str, source: str, point: str, options: Sequence[str]) -> Step:
    """Mount a kernel file system."""
    chosen = ("-o", ",".join(options)) if options else ()
    return Step(f"mount {kind} on {point}", ("mount", "-t", kind, *chosen, source, point), undo=unmount(point))


def close_mount(point: str) -> Step:
    """Unmount; tries for 5 s while something still holds the mount."""
    return Step(f"unmount {point}", ("sh", "-c", _PATIENTLY, point), timeout_s=_UNMOUNT_LIMIT_S)
