"""Resolves a layout expression into a tree of layers and devices."""

from collections.abc import Collection

from poolproof.campaign.expression import Argument, Expression, Group, Stage, Word, mistake_in
from poolproof.campaign.names import did_you_mean
from poolproof.errors import CampaignError
from poolproof.layers.base import DeviceNode, Node, StageReader
from poolproof.layers.layer_catalogue import all_layers
from poolproof.layers.option_values import check_values

_ADD = "define the device under `devices:` in the campaign or with --device NAME=file:1G (see poolproof run --help)"


def resolve(expression: Expression, device_names: Collection[str]) -> Node:
    """Return the tree of a layout expression, or raise a CampaignError that points at the mistake."""
    return _Resolver(expression, frozenset(device_names)).tree(expression)


class _Resolver:
    """Resolves one expression, keeping track of the devices that it already uses."""

    def __init__(self, source: Expression, devices: frozenset[str]) -> None:
        self._source = source
        self._devices = devices
        self._used: set[str] = set()

    def tree(self, expression: Expression) -> Node:
        node: Node | None = None
        for stage in expression.stages:
            node = self._stage(stage, node)
        if node is None:
            raise CampaignError("the layout is empty", "a layout looks like: hdd1 | ext4")
        return node

    def _stage(self, stage: Stage, below: Node | None) -> Node:
        first = stage.arguments[0]
        if not isinstance(first, Word) or first.text not in all_layers():
            return self._only_an_input(stage, first, below)
        if first.text in self._devices:
            raise self._mistake(first, f"`{first.text}` is the name of a layer; give the device a different name")
        reading = StageReader(
            arguments=stage.arguments[1:],
            below=below,
            node=self._node,
            is_device=self._devices.__contains__,
            mistake=lambda argument, message: self._mistake(argument or first, message),
        )
        layer = all_layers()[first.text]
        node = layer.read(reading)
        check_values(reading.arguments, layer.values, self._mistake)
        return node

    def _only_an_input(self, stage: Stage, first: Argument, below: Node | None) -> Node:
        """Return the node for a stage without a layer. Only the first stage may consist of just a device or a group."""
        if below is not None:
            guess = did_you_mean(first.text, all_layers()) if isinstance(first, Word) else ""
            raise self._mistake(first, f"expected a layer after the `|`{guess}")
        node = self._node(first)
        if len(stage.arguments) > 1:
            message = "expected `|` and a layer; to join several devices, use a layer: btrfs raid1 a b"
            raise self._mistake(stage.arguments[1], message)
        return node

    def _node(self, argument: Argument) -> Node:
        match argument:
            case Group(expression):
                return self.tree(expression)
            case Word(name) if name in self._used:
                raise self._mistake(argument, f"the device `{name}` is used twice")
            case Word(name) if name in self._devices:
                self._used.add(name)
                return DeviceNode(name)
            case Word(name):
                guess = did_you_mean(name, [*self._devices, *all_layers()])
                raise self._mistake(argument, f"`{name}` is neither a device nor a layer{guess}", "" if guess else _ADD)
        raise self._mistake(argument, "expected a device or a layer, found an option")

    def _mistake(self, argument: Argument, message: str, hint: str = "") -> CampaignError:
        return mistake_in(self._source, argument.span, message, hint)
