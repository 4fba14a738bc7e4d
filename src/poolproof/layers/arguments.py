"""Sorts a stage's arguments into inputs, options for creating the layer, and mount options.

For each mistake, a CampaignError that points at the argument is raised.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.campaign.names import did_you_mean, listed
from poolproof.errors import CampaignError
from poolproof.layers.base import LayerNode, Node, StageReader
from poolproof.layers.option_values import NAME_PLACES
from poolproof.units import parse_size

Input = tuple[Argument | None, Node]
"""An input, preceded by the argument that names it. The argument is None for the input to the left of the `|`."""


def words(text: str) -> frozenset[str]:
    """Split a string into a set of words, so that the source code can list many names in one string."""
    return frozenset(text.split())


# mount(8), "filesystem-independent mount options": those that affect a benchmark
ANY_MOUNT_FLAGS = words(
    "atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime lazytime nolazytime sync async "
    "dirsync iversion noiversion suid nosuid dev nodev exec noexec"
)


@dataclass(frozen=True)
class Sorted:
    """A stage's arguments, separated into inputs and other arguments.

    `marks`: maps each bare word to the number of inputs before its first occurrence.
    """

    inputs: tuple[Input, ...]
    rest: tuple[Word | Option, ...]
    marks: Mapping[str, int]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(node for _, node in self.inputs)


def sort(reading: StageReader, word: str, *, flags: Collection[str] | None = None) -> Sorted:
    """Separate a stage's inputs (devices and groups) from its other words and its options.

    By default, a word is an input if one of the campaign's devices has this name. If `flags` is given, every word that
    is not in `flags` is an input. Raises a CampaignError if there are inputs on both sides of the `|`, or an argument
    is neither a device nor a valid group.
    """

    def is_flag(text: str) -> bool:
        return not reading.is_device(text) if flags is None else text in flags

    inputs: list[Input] = [(None, reading.below)] if reading.below is not None else []
    rest: list[Word | Option] = []
    marks: dict[str, int] = {}
    for argument in reading.arguments:
        match argument:
            case Word(text) if is_flag(text):
                marks.setdefault(text, len(inputs))
                rest.append(argument)
            case Option():
                rest.append(argument)
            case _:
                check_one_place(reading, argument, word)
                inputs.append((argument, reading.node(argument)))
    return Sorted(tuple(inputs), tuple(rest), marks)


def check_one_place(reading: StageReader, argument: Argument, word: str) -> None:
    """Raise a CampaignError that points at the input `argument` if another input is to the left of the `|`."""
    if reading.below is not None:
        raise reading.mistake(
            argument, f"{word} already has a device to the left of the `|`; list all devices after `{word}`"
        )


def is_block(node: Node) -> bool:
    """True if the node provides a block device; False if it provides a directory."""
    return node.layer.offers_block if isinstance(node, LayerNode) else True


def check_blocks(reading: StageReader, inputs: Iterable[Input], word: str, *, may_be_files: bool = False) -> None:
    """Raise a CampaignError if any input is not a block device.

    `may_be_files`: also accept files, which serve as vdevs.
    """
    for argument, node in inputs:
        if not is_block(node):
            raise reading.mistake(argument, f"{word} needs block devices, but this is a directory")
        if isinstance(node, LayerNode) and node.layer.offers_file and not may_be_files:
            raise reading.mistake(argument, f"{word} needs block devices, but this is a file, which only zfs can use")


def check_directories(reading: StageReader, inputs: Iterable[Input], word: str) -> None:
    """Raise a CampaignError if any input is not a directory."""
    for argument, node in inputs:
        if is_block(node):
            raise reading.mistake(
                argument, f"{word} needs directories, but this is a block device; put a file system on it: (x | ext4)"
            )


def one_block(reading: StageReader, word: str) -> tuple[Node, tuple[Word | Option, ...]]:
    """Return the stage's only input, which must be a block device, and the remaining arguments.

    Raises a CampaignError if there are several inputs, none, or one that is not a block device.
    """
    found = sort(reading, word)
    if not found.inputs:
        for argument in found.rest:
            if isinstance(argument, Word):
                message = f"{word} needs a device, and `{argument.text}` is not a device of the campaign"
                raise reading.mistake(argument, message)
        raise reading.mistake(None, f"{word} needs a device: write `DEVICE | {word}`")
    if len(found.inputs) > 1:
        raise reading.mistake(
            found.inputs[1][0], f"{word} takes one device; to join several, use a layer such as btrfs, zfs, md or lvm"
        )
    check_blocks(reading, found.inputs, word)
    return found.nodes[0], found.rest


def first_word(reading: StageReader, word: str, what: str, known: Collection[str], example: str) -> Word:
    """Return the stage's first argument, or raise a CampaignError if it is not a word in `known`.

    `what`: what error messages call the word, e.g. `level`.
    """
    first = reading.arguments[0] if reading.arguments else None
    if isinstance(first, Word) and first.text in known:
        return first
    if isinstance(first, Word) and not reading.is_device(first.text):
        raise unknown(reading, first, f"{what} of {word}", known)
    raise reading.mistake(first, f"{word} needs a {what} first: {example}")


def unknown(reading: StageReader, argument: Word | Option, what: str, known: Collection[str]) -> CampaignError:
    """Return an error that says that a word or key is not in `known`.

    The message suggests the most similar known name. If none is similar, it lists all known names, if there are at most
    16. If the name is that of an option whose value would be a path, the message says that a layout cannot set it.
    """
    name = argument.key if isinstance(argument, Option) else argument.text
    if name in NAME_PLACES:
        message = f"a layout cannot set `{name}`, because its value would name a file, a directory or a device"
        return reading.mistake(argument, message)
    short = f"; expected {listed(sorted(known))}" if 0 < len(known) <= 16 else ""
    return reading.mistake(argument, f"`{name}` is not a known {what}{did_you_mean(name, known) or short}")


def check_values(reading: StageReader, options: Iterable[Word | Option], known: Mapping[str, Collection[str]]) -> None:
    """Raise a CampaignError if an option has a value that `known` does not allow.

    `known`: the allowed values of each option, keyed by option. An option that is not in `known` may have any value.
    """
    for option in options:
        if isinstance(option, Option) and option.value not in known.get(option.key, (option.value,)):
            what = f"{did_you_mean(option.value, known[option.key])}; expected {listed(sorted(known[option.key]))}"
            raise reading.mistake(option, f"`{option.value}` is not a valid value for {option.key}{what}")


def size_of(reading: StageReader, argument: Argument, text: str, example: str) -> int:
    """Convert a size such as `4M` to bytes. If it is not a size, raise a CampaignError that gives `example`."""
    try:
        return parse_size(text)
    except ValueError:
        raise reading.mistake(argument, f"`{text}` is not a size; example: {example}") from None


def bytes_with_unit(text: str) -> int | None:
    """Convert a size such as `512M` to bytes. Returns None if `text` is not a size with a unit.

    The unit is required, because tools disagree about the meaning of a plain number.
    """
    try:
        return parse_size(text) if text and text[-1] in "kKmMgGtT" else None
    except ValueError:
        return None


@dataclass(frozen=True)
class Vocabulary:
    """The options that a layer accepts: keys for creating it, and keys and bare words for mounting it."""

    word: str
    make_keys: frozenset[str]
    open_keys: frozenset[str]
    open_flags: frozenset[str]

    def names(self) -> frozenset[str]:
        return self.make_keys | self.open_keys | self.open_flags


@dataclass(frozen=True)
class Chosen:
    """The options that a stage sets: key-value pairs for creating the layer, and options for `mount -o`."""

    make: tuple[tuple[str, str], ...]
    open: tuple[str, ...]


def choose(
    reading: StageReader, arguments: Sequence[Word | Option], known: Vocabulary, *, last_wins: bool = False
) -> Chosen:
    """Separate the options for creating the layer from the mount options.

    Raises a CampaignError if an option is unknown, if the value of a mount option contains a comma, or if a key is
    repeated. With `last_wins`, a key may be repeated, and the last value counts.
    """
    formats: dict[str, str] = {}
    mounts: dict[str, str] = {}
    for argument in arguments:
        match argument:
            case Word(text) if text in known.open_flags:
                mounts[text] = text
            case Option(key, value) if key in known.make_keys | known.open_keys:
                chosen, text = (formats, value) if key in known.make_keys else (mounts, f"{key}={value}")
                if key in chosen and not last_wins:
                    raise reading.mistake(argument, f"`{key}` is given twice")
                if chosen is mounts and "," in value:
                    raise reading.mistake(argument, "a mount option cannot contain a comma; write separate options")
                chosen[key] = text
            case _:
                raise unknown(reading, argument, f"option of {known.word}", known.names())
    return Chosen(tuple(formats.items()), tuple(mounts.values()))
