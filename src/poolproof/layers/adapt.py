"""Plans how to turn a built layout into another one without rebuilding it.

A layout can be extended: log and cache vdevs are added to the layout's pool and removed later. A layout can also be
changed: leaf vdevs of mirrors are attached and detached. The pool, its data and the layers above it are kept.

The layers above a changed pool are closed before the change and opened after it. Their undos are therefore recorded in
the journal after the undo of the change, so a crashed run is cleaned up from the top down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from poolproof.devices.model import Site, Volume
from poolproof.layers.base import AdaptableLayer, LayerNode, Node
from poolproof.layers.tree import BuiltNode, TreePlan, build_layer, build_node, from_bottom, names_of, on_host, plan_of
from poolproof.steps import Step


def core_of(node: Node) -> Node:
    """Return the layout without the inputs that can be added after it is built."""
    if not isinstance(node, LayerNode):
        return node
    core = _without_addable(node)
    return replace(core, inputs=tuple(core_of(below) for below in core.inputs))


def can_become(built: Node, target: Node) -> bool:
    """True if the built layout equals the target or can be turned into it."""
    if built == target:
        return True
    if not (isinstance(built, LayerNode) and isinstance(target, LayerNode)) or built.layer != target.layer:
        return False
    if _adapts(built, target):
        return True
    alike = built.spec == target.spec and len(built.inputs) == len(target.inputs)
    return alike and all(map(can_become, built.inputs, target.inputs))


def plan_extension(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """Plan how to turn the built core into the layout `node`, named `name`, by adding what is missing.

    The plan's `make` contains only the added steps. `volumes` maps the name of each device in the layout to its volume.
    """
    adaptation = _Adaptation(volumes, site, f"{name}-added")
    return adaptation.plan(adaptation.extended(core.top, node))


def plan_change(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """Plan how to turn the built layout into `node`. `can_become` must have said that this is possible.

    `name` is the new layout's name; layers that are kept also keep their names. The plan's `make` contains only the
    steps of the change. `volumes` maps the name of each device in the new layout to its volume.
    """
    adaptation = _Adaptation(volumes, site, f"{name}-new")
    return adaptation.plan(adaptation.changed(core.top, node))


def _without_addable(node: LayerNode) -> LayerNode:
    return node.layer.core(node) if isinstance(node.layer, AdaptableLayer) else node


def _adapts(built: LayerNode, target: LayerNode) -> bool:
    return isinstance(target.layer, AdaptableLayer) and target.layer.can_become(built, target)


@dataclass
class _Adaptation:
    """Walks through the built and the new layout side by side and collects the steps that turn one into the other."""

    volumes: Mapping[str, Volume]
    site: Site
    prefix: str
    closing: list[Step] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    opening: list[Step] = field(default_factory=list)

    def plan(self, top: BuiltNode) -> TreePlan:
        return replace(plan_of(top), make=(*self.closing, *self.steps, *self.opening))

    def extended(self, core: BuiltNode, node: Node) -> BuiltNode:
        """Plan the extended layout's `node`. `core` is the same node as it was built, without the additions."""
        if not isinstance(node, LayerNode):
            return core
        built = iter(core.inputs)
        cores = [core_of(below) for below in _without_addable(node).inputs]
        inputs = tuple(
            self.extended(next(built), below) if core_of(below) in cores else self._added(below)
            for below in node.inputs
        )
        after = build_layer(node, inputs, self.site, core.name)
        if len(inputs) > len(core.inputs):
            assert isinstance(node.layer, AdaptableLayer)
            volumes = [entry.volume for entry in inputs]
            steps = node.layer.extend(node.spec, after.volume, volumes, self.site, core.name)
            self.steps += on_host(steps, after.volume.host)
        return after

    def changed(self, before: BuiltNode, node: Node) -> BuiltNode:
        """Plan the new layout's `node`. `before` is the node at the same place in the built layout."""
        old = before.node
        if old == node:
            return before
        assert isinstance(old, LayerNode)
        assert isinstance(node, LayerNode)
        if _adapts(old, node):
            return self._become(before, old, node)
        inputs = tuple(map(self.changed, before.inputs, node.inputs))
        after = build_layer(node, inputs, self.site, before.name)
        assert before.plan is not None
        assert after.plan is not None
        self.closing[:0] = before.plan.close
        self.opening += after.plan.open
        return after

    def _become(self, before: BuiltNode, old: LayerNode, new: LayerNode) -> BuiltNode:
        built = list(zip(old.inputs, before.inputs, strict=True))
        found = [next((entry for node, entry in built if node == below), None) for below in new.inputs]
        inputs = tuple(entry or self._added(below) for entry, below in zip(found, new.inputs, strict=True))
        after = build_layer(new, inputs, self.site, before.name)
        had, gets = [entry.volume for entry in before.inputs], [entry.volume for entry in inputs]
        assert isinstance(new.layer, AdaptableLayer)
        self.steps += on_host(new.layer.become(old, had, new, gets, before.volume), before.volume.host)
        return after

    def _added(self, node: Node) -> BuiltNode:
        """Plan an input that the built layout lacks. Its layers get new names."""
        names = names_of(node, f"{self.prefix}-{len(self.steps)}")
        built = build_node(node, self.volumes, self.site, names)
        self.steps += [
            step for entry in from_bottom(built) if entry.plan for step in (*entry.plan.make, *entry.plan.open)
        ]
        return built
