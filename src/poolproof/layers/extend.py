"""Layouts that differ only in what can be added and removed while they stand: their core is built once.

Log and cache vdevs of a pool come and go; the pool, what it holds and what stands on it stay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from poolproof.devices.model import Site, Volume
from poolproof.layers.adaptable import AdaptableLayer, without_addable
from poolproof.layers.base import LayerNode, Node
from poolproof.layers.tree import BuiltNode, TreePlan, from_bottom, names_of, plan_of, stand
from poolproof.steps import Step


def core_of(node: Node) -> Node:
    """The layout without what can be added to it while it stands; the layout itself where nothing can."""
    if not isinstance(node, LayerNode):
        return node
    core = without_addable(node)
    return replace(core, inputs=tuple(core_of(below) for below in core.inputs))


def plan_extension(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """The whole layout `node` over its standing core; a pure function.

    `make` holds only what the core lacks; `close`, `open` and `flush` are those of the whole. `volumes` has every
    device of the whole layout, those of the core as they stand. `name` is the layout's.
    """
    extended = _Extended(volumes, site, name)
    whole = plan_of(extended.over(core.top, node))
    return replace(whole, make=tuple(extended.steps))


@dataclass
class _Extended:
    """Walks the core and the whole side by side; `steps` are what comes on top."""

    volumes: Mapping[str, Volume]
    site: Site
    name: str

    def __post_init__(self) -> None:
        self.steps: list[Step] = []

    def over(self, core: BuiltNode, node: Node) -> BuiltNode:
        """The whole at `node`, where the core stands already."""
        if not isinstance(node, LayerNode):
            return core
        kept = iter(core.inputs)
        cores = [core_of(below) for below in without_addable(node).inputs]
        inputs = tuple(
            self.over(next(kept), below) if core_of(below) in cores else self._anew(below) for below in node.inputs
        )
        below = [entry.volume for entry in inputs]
        plan = node.layer.plan(node.spec, below, self.site, core.name)
        if len(inputs) > len(core.inputs):
            assert isinstance(node.layer, AdaptableLayer)
            self.steps += node.layer.extend(node.spec, plan.volume, below, self.site, core.name)
        return BuiltNode(node, plan.volume, inputs, plan, core.name)

    def _anew(self, node: Node) -> BuiltNode:
        """An input that the core does not have, built now, under the name of its own layout."""
        standing = stand(node, self.volumes, self.site, self._names(node))
        for entry in from_bottom(standing):
            if entry.plan is not None:
                self.steps += [*entry.plan.make, *entry.plan.open]
        return standing

    def _names(self, node: Node) -> Iterator[str]:
        """Each added input has names of its own, apart from those of the core."""
        number = len(self.steps)
        return names_of(node, f"{self.name}-added-{number}")
