"""The options of a stage, told apart by name: those for making (mkfs, luksFormat), those for opening (mount, open)."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Option, Word
from poolproof.layers.arguments import unknown, words
from poolproof.layers.base import StageReader

# mount(8), "filesystem-independent mount options", those that bear on a benchmark
ANY_MOUNT_FLAGS = words(
    "atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime lazytime nolazytime sync async "
    "dirsync iversion noiversion suid nosuid dev nodev exec noexec"
)


@dataclass(frozen=True)
class Vocabulary:
    """The options of one layer: keys for making it, and keys and bare words for opening it. No key is in both."""

    word: str
    make_keys: frozenset[str]
    open_keys: frozenset[str]
    open_flags: frozenset[str]

    def names(self) -> frozenset[str]:
        return self.make_keys | self.open_keys | self.open_flags


@dataclass(frozen=True)
class Chosen:
    """What the layout says: options for making as pairs, those for opening as mount writes them."""

    make: tuple[tuple[str, str], ...]
    open: tuple[str, ...]


def choose(reading: StageReader, arguments: Sequence[Word | Option], known: Vocabulary) -> Chosen:
    """Tell the options for making from those for opening.

    Raises:
        CampaignError: a word or key that neither knows, a key given twice, a comma in an option of mount.
    """
    formats: dict[str, str] = {}
    mounts: dict[str, str] = {}
    for argument in arguments:
        match argument:
            case Word(text) if text in known.open_flags:
                mounts[text] = text
            case Option(key, value) if key in known.make_keys | known.open_keys:
                chosen, text = (formats, value) if key in known.make_keys else (mounts, f"{key}={value}")
                if key in chosen:
                    raise reading.mistake(argument, f"`{key}` is given twice")
                if chosen is mounts and "," in value:
                    raise reading.mistake(argument, "a mount option cannot hold a comma; write several options")
                chosen[key] = text
            case _:
                raise unknown(reading, argument, f"option of {known.word}", known.names())
    return Chosen(tuple(formats.items()), tuple(mounts.values()))
