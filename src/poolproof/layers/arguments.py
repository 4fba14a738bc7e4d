"""The arguments of a stage, sorted: what is an input, what is an option, and what is wrong with the rest."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.campaign.names import did_you_mean, listed
from poolproof.errors import CampaignError
from poolproof.layers.base import LayerNode, Node, StageReader
from poolproof.units import parse_size


@dataclass(frozen=True)
class Sorted:
    """The inputs of a stage in order, each with the argument that named it (None: left of the `|`), and the rest."""

    inputs: tuple[tuple[Argument | None, Node], ...]
    rest: tuple[Word | Option, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(node for _, node in self.inputs)


def sort(reading: StageReader, word: str) -> Sorted:
    """Devices and groups apart from words and options.

    Raises:
        CampaignError: inputs stand both left of the `|` and after the layer's word.
    """
    inputs: list[tuple[Argument | None, Node]] = [(None, reading.below)] if reading.below is not None else []
    rest: list[Word | Option] = []
    for argument in reading.arguments:
        if isinstance(argument, Option) or (isinstance(argument, Word) and not reading.is_device(argument.text)):
            rest.append(argument)
        else:
            check_one_place(reading, argument, word)
            inputs.append((argument, reading.node(argument)))
    return Sorted(tuple(inputs), tuple(rest))


def check_one_place(reading: StageReader, argument: Argument, word: str) -> None:
    """Raise a CampaignError if the stage has an input left of the `|` and another one at `argument`."""
    if reading.below is not None:
        raise reading.mistake(argument, f"{word} has a device left of the `|` already; name all of them after `{word}`")


def is_block(node: Node) -> bool:
    """Whether the node offers a block device."""
    return node.layer.offers_block if isinstance(node, LayerNode) else True


def check_blocks(reading: StageReader, inputs: Iterable[tuple[Argument | None, Node]], word: str) -> None:
    """Raise a CampaignError at the first input that is a directory."""
    for argument, node in inputs:
        if not is_block(node):
            raise reading.mistake(argument, f"{word} stands on block devices, and this is a directory")


def check_directories(reading: StageReader, inputs: Iterable[tuple[Argument | None, Node]], word: str) -> None:
    """Raise a CampaignError at the first input that is a block device."""
    for argument, node in inputs:
        if is_block(node):
            raise reading.mistake(
                argument,
                f"{word} stands on directories, and this is a block device; put a file system on it: (x | ext4)",
            )


def one_block(reading: StageReader, word: str) -> tuple[Node, tuple[Word | Option, ...]]:
    """The only input of the stage, a block device, and the other arguments.

    Raises:
        CampaignError: no input, more than one, or a directory.
    """
    found = sort(reading, word)
    if not found.inputs:
        raise _none_found(reading, found, word)
    if len(found.inputs) > 1:
        raise reading.mistake(
            found.inputs[1][0], f"{word} stands on one device; join several with btrfs, zfs, md or lvm"
        )
    check_blocks(reading, found.inputs, word)
    return found.nodes[0], found.rest


def _none_found(reading: StageReader, found: Sorted, word: str) -> CampaignError:
    stray = next((argument for argument in found.rest if isinstance(argument, Word)), None)
    if stray is not None:
        return reading.mistake(stray, f"{word} stands on a device, and `{stray.text}` is no device of the campaign")
    return reading.mistake(None, f"{word} needs a device: write `DEVICE | {word}`")


def unknown(reading: StageReader, argument: Word | Option, what: str, known: Collection[str]) -> CampaignError:
    """The error for a word or key that is none of `known`, with the nearest right one."""
    name = argument.key if isinstance(argument, Option) else argument.text
    short = f"; expected {listed(sorted(known))}" if 0 < len(known) <= 16 else ""
    return reading.mistake(argument, f"`{name}` is no {what}{did_you_mean(name, known) or short}")


def check_values(reading: StageReader, options: Iterable[Word | Option], known: Mapping[str, Collection[str]]) -> None:
    """Raise a CampaignError at the first option whose value is none of those known for its key."""
    for option in options:
        if isinstance(option, Option) and option.value not in known.get(option.key, (option.value,)):
            what = f"{did_you_mean(option.value, known[option.key])}; expected {listed(sorted(known[option.key]))}"
            raise reading.mistake(option, f"`{option.value}` is no value of {option.key}{what}")


def size_of(text: str) -> int | None:
    """Bytes in a size with its unit, as `512M`; None for all else: a bare number counts other units in each tool."""
    try:
        return parse_size(text) if text and text[-1] in "kKmMgGtT" else None
    except ValueError:
        return None


def words(text: str) -> frozenset[str]:
    """The words of a line: a long list of names reads better as a line."""
    return frozenset(text.split())
