"""Decides which layouts can be converted into each other without rebuilding them, and plans the conversion.

There are two kinds of conversion. An extension adds log and cache vdevs to the layout's pool and later removes them. A
change attaches leaf vdevs to mirrors and detaches others. Both keep the pool, its data and the layers above it. A
change closes the layers above the pool first and reopens them afterwards. When they are reopened, their undos are added
to the journal again, after the undo of the change. `poolproof clean` can therefore undo a crashed run from the top
down.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolproof.devices.model import Site, Volume
from poolproof.layers.base import AdaptableLayer, LayerNode, Node
from poolproof.layers.tree import (
    BuiltNode,
    TreePlan,
    build_layer,
    build_node,
    devices,
    from_bottom,
    names_of,
    on_host,
    plan_of,
)
from poolproof.steps import Step


def core_of(node: Node) -> Node:
    """Return the core of a layout: a copy without the inputs that can be added once the layout is built."""
    if not isinstance(node, LayerNode):
        return node
    core = _without_addable(node)
    return replace(core, inputs=tuple(core_of(below) for below in core.inputs))


def can_become(built: Node, target: Node) -> bool:
    """True if the built layout equals the target layout or can be converted into it."""
    if built == target:
        return True
    if not (isinstance(built, LayerNode) and isinstance(target, LayerNode)) or built.layer != target.layer:
        return False
    if _adapts(built, target):
        return True
    alike = built.spec == target.spec and len(built.inputs) == len(target.inputs)
    return alike and all(map(can_become, built.inputs, target.inputs))


def families(nodes: Mapping[str, Node], names: Sequence[str]) -> list[list[str]]:
    """Divide the layouts into families: consecutive layouts, each of which can be converted in place into the next.

    Within a family, layouts differ only in the log and cache devices of a pool or in the leaf devices of its mirrors. A
    device that was detached is not attached again in the same family.
    """
    found: list[list[str]] = []
    for name in names:
        if found and _can_follow(nodes, found[-1], name):
            found[-1].append(name)
        else:
            found.append([name])
    return found


def _can_follow(nodes: Mapping[str, Node], family: Sequence[str], name: str) -> bool:
    before, after = core_of(nodes[family[-1]]), core_of(nodes[name])
    given_up = {device for member in family for device in devices(core_of(nodes[member]))} - set(devices(before))
    if not given_up.isdisjoint(devices(nodes[name])):
        return False
    if before != after:
        return can_become(before, after)
    # if a layout is listed twice, with nothing to add, the user wants it to be built twice
    return any(nodes[member] != after for member in (name, *family) if core_of(nodes[member]) == after)


def plan_extension(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """Plan how to extend a built core to the full layout.

    `node`: the full layout.
    `volumes`: the layout's volumes, keyed by device name.
    `name`: the full layout's name.

    In the returned plan, `make` contains only the steps that add the missing inputs.
    """
    adaptation = _Adaptation(volumes, site, f"{name}-added")
    return adaptation.plan(adaptation.extended(core.top, node))


def plan_change(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """Plan how to convert the built layout into another one, which must be possible according to `can_become`.

    `node`: the new layout.
    `volumes`: the new layout's volumes, keyed by device name.
    `name`: the new layout's name. Layers that are kept also keep their old names.

    In the returned plan, `make` contains only the steps of the conversion.
    """
    adaptation = _Adaptation(volumes, site, f"{name}-new")
    return adaptation.plan(adaptation.changed(core.top, node))


def _without_addable(node: LayerNode) -> LayerNode:
    return node.layer.core(node) if isinstance(node.layer, AdaptableLayer) else node


def _adapts(built: LayerNode, target: LayerNode) -> bool:
    return isinstance(target.layer, AdaptableLayer) and target.layer.can_become(built, target)


@dataclass
class _Adaptation:
    """Compares the built layout with the new one and collects the steps that convert one into the other."""

    volumes: Mapping[str, Volume]
    site: Site
    prefix: str
    closing: list[Step] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    opening: list[Step] = field(default_factory=list)

    def plan(self, top: BuiltNode) -> TreePlan:
        return replace(plan_of(top), make=(*self.closing, *self.steps, *self.opening))

    def extended(self, core: BuiltNode, node: Node) -> BuiltNode:
        """Plan a node of the extended layout. `core`: the same node in the built layout, without the added inputs."""
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
        """Plan a node of the new layout. `before`: the node of the built layout in the same position."""
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
        """Plan an input that the built layout does not have. Its layers get new names."""
        names = names_of(node, f"{self.prefix}-{len(self.steps)}")
        built = build_node(node, self.volumes, self.site, names)
        self.steps += [
            step for entry in from_bottom(built) if entry.plan for step in (*entry.plan.make, *entry.plan.open)
        ]
        return built
