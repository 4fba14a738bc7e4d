"""A layout that stands is made another one in place: leaves of mirrors are attached and detached, data and all stays.

What stands on the layer that changes is closed meanwhile and opened again, so that the journal has its undo after that
of the change: everything is taken down from the top, wherever a run dies.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from poolproof.devices.model import Site, Volume
from poolproof.layers.adaptable import AdaptableLayer
from poolproof.layers.base import LayerNode, Node
from poolproof.layers.tree import BuiltNode, TreePlan, from_bottom, names_of, plan_of, stand
from poolproof.steps import Step


def can_become(standing: Node, wanted: Node) -> bool:
    """Whether a layout can be made another one while it stands; itself it is already."""
    if standing == wanted:
        return True
    if not (isinstance(standing, LayerNode) and isinstance(wanted, LayerNode)) or standing.layer != wanted.layer:
        return False
    if _adapts(standing, wanted):
        return True
    pairs = list(zip(standing.inputs, wanted.inputs, strict=False))
    alike = standing.spec == wanted.spec and len(standing.inputs) == len(wanted.inputs)
    return alike and all(can_become(before, after) for before, after in pairs)


def _adapts(standing: LayerNode, wanted: LayerNode) -> bool:
    return isinstance(wanted.layer, AdaptableLayer) and wanted.layer.can_become(standing, wanted)


def plan_change(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """How what stands becomes `node`, which it can; a pure function.

    `make` holds only what changes; `close`, `open` and `flush` are those of the wanted layout. `volumes` has every
    device of the wanted layout, those that stay as they stand. `name` is the wanted layout's; what stays keeps the
    names that it has.
    """
    changed = _Changed(volumes, site, name)
    whole = plan_of(changed.into(core.top, node))
    return replace(whole, make=(*changed.closing, *changed.steps, *changed.opening))


@dataclass
class _Changed:
    """Walks what stands and what is wanted side by side."""

    volumes: Mapping[str, Volume]
    site: Site
    name: str

    def __post_init__(self) -> None:
        self.steps: list[Step] = []
        self.closing: list[Step] = []
        self.opening: list[Step] = []

    def into(self, before: BuiltNode, node: Node) -> BuiltNode:
        """The wanted layout at `node`, where `before` stands."""
        if before.node == node:
            return before
        assert isinstance(before.node, LayerNode)
        assert isinstance(node, LayerNode)
        if _adapts(before.node, node):
            return self._become(before, before.node, node)
        inputs = tuple(self.into(entry, below) for entry, below in zip(before.inputs, node.inputs, strict=True))
        after = self._again(before, node, inputs)
        assert before.plan is not None
        assert after.plan is not None
        self.closing[:0] = before.plan.close
        self.opening += after.plan.open
        return after

    def _become(self, before: BuiltNode, old: LayerNode, new: LayerNode) -> BuiltNode:
        standing = list(zip(old.inputs, before.inputs, strict=True))
        inputs = tuple(next((entry for kept, entry in standing if kept == below), None) for below in new.inputs)
        filled = tuple(
            entry if entry is not None else self._anew(below) for entry, below in zip(inputs, new.inputs, strict=True)
        )
        after = self._again(before, new, filled)
        had, gets = [entry.volume for entry in before.inputs], [entry.volume for entry in filled]
        assert isinstance(new.layer, AdaptableLayer)
        self.steps += new.layer.become(old, had, new, gets, before.volume)
        return after

    def _again(self, before: BuiltNode, node: LayerNode, inputs: tuple[BuiltNode, ...]) -> BuiltNode:
        """The layer over its new inputs, by the name that it has."""
        plan = node.layer.plan(node.spec, [entry.volume for entry in inputs], self.site, before.name)
        return BuiltNode(node, plan.volume, inputs, plan, before.name)

    def _anew(self, node: Node) -> BuiltNode:
        """An input that did not stand, built now, under names of the wanted layout."""
        standing = stand(node, self.volumes, self.site, names_of(node, f"{self.name}-new-{len(self.steps)}"))
        for entry in from_bottom(standing):
            if entry.plan is not None:
                self.steps += [*entry.plan.make, *entry.plan.open]
        return standing
