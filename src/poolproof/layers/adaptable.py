"""A technology whose inputs come and go while it stands, as the vdevs of a pool do."""

from abc import abstractmethod
from collections.abc import Sequence

from poolproof.devices.model import Site, Volume
from poolproof.layers.base import Layer, LayerNode, Spec
from poolproof.steps import Step


class AdaptableLayer(Layer[Spec]):
    """What such a layer says beside what every layer says: its core, and how it becomes another."""

    @abstractmethod
    def core(self, node: LayerNode) -> LayerNode:
        """The node without those of its inputs that can be added and removed while it stands (log and cache vdevs)."""

    @abstractmethod
    def extend(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], site: Site, name: str) -> tuple[Step, ...]:
        """The steps, with their undo, by which the standing core becomes the whole.

        `volume` and `inputs` are those of the whole layer.
        """

    @abstractmethod
    def can_become(self, standing: LayerNode, wanted: LayerNode) -> bool:
        """Whether the layer can be made the wanted one while it stands, by taking inputs in and giving inputs up."""

    @abstractmethod
    def become(
        self, standing: LayerNode, old: Sequence[Volume], wanted: LayerNode, new: Sequence[Volume], volume: Volume
    ) -> tuple[Step, ...]:
        """The steps by which it does, where it can. `old` and `new` are the inputs of the two, `volume` stays."""


def without_addable(node: LayerNode) -> LayerNode:
    """The node without what can be added to it; the node itself where its layer takes nothing in."""
    return node.layer.core(node) if isinstance(node.layer, AdaptableLayer) else node
