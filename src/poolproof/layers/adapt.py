"""Turn a built layout into another one without building it again, and plan the steps for it.

Two ways exist. A layout can be extended: log and cache vdevs are added to the pool of its core, and removed later. Or
it can be changed: leaf vdevs of mirrors are attached and detached. The pool, its data and the layers on top stay.

The layers above a change are closed before it and opened after it. So the undo of each is in the journal after that of
the change, and a crashed run is cleaned up from the top down.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from poolproof.devices.model import Site, Volume
from poolproof.layers.base import AdaptableLayer, LayerNode, Node
from poolproof.layers.tree import BuiltNode, TreePlan, build_layer, build_node, from_bottom, names_of, on_host, plan_of
from poolproof.steps import Step


def core_of(node: Node) -> Node:
    """Return the layout without what can be added while it is built; the layout itself if nothing can."""
    if not isinstance(node, LayerNode):
        return node
    core = _without_addable(node)
    return replace(core, inputs=tuple(core_of(below) for below in core.inputs))


def can_become(built: Node, target: Node) -> bool:
    """True if the built layout can be changed into the target, or is the target already."""
    if built == target:
        return True
    if not (isinstance(built, LayerNode) and isinstance(target, LayerNode)) or built.layer != target.layer:
        return False
    if _adapts(built, target):
        return True
    pairs = list(zip(built.inputs, target.inputs, strict=False))
    alike = built.spec == target.spec and len(built.inputs) == len(target.inputs)
    return alike and all(can_become(before, after) for before, after in pairs)


def plan_extension(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """Plan the layout `node` on its built core; a pure function.

    `make` has only the steps that the core lacks; `close`, `open` and `flush` are for the whole layout. `volumes` has
    all devices of the layout, those of the core as they are built. `name` is the layout's.
    """
    extension = _Extension(_Additions(volumes, site, f"{name}-added"))
    whole = plan_of(extension.over(core.top, node))
    return replace(whole, make=tuple(extension.added.steps))


def plan_change(core: TreePlan, node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """Plan how the built layout becomes `node`, if `can_become`; a pure function.

    `make` has only the steps of the change; `close`, `open` and `flush` are for the new layout. `volumes` has all
    devices of the new layout, those that stay as they are built. `name` is the new layout's; layers that stay keep
    their names.
    """
    change = _Change(_Additions(volumes, site, f"{name}-new"))
    whole = plan_of(change.into(core.top, node))
    return replace(whole, make=(*change.closing, *change.added.steps, *change.opening))


def _without_addable(node: LayerNode) -> LayerNode:
    return node.layer.core(node) if isinstance(node.layer, AdaptableLayer) else node


def _adapts(built: LayerNode, target: LayerNode) -> bool:
    return isinstance(target.layer, AdaptableLayer) and target.layer.can_become(built, target)


@dataclass
class _Additions:
    """The steps that are added to a built layout, and the inputs that are built for it."""

    volumes: Mapping[str, Volume]
    site: Site
    prefix: str
    steps: list[Step] = field(default_factory=list)

    def build(self, node: Node) -> BuiltNode:
        """Plan an input that the built layout lacks. Its layers get names of their own."""
        built = build_node(node, self.volumes, self.site, self._names(node))
        for entry in from_bottom(built):
            if entry.plan is not None:
                self.steps += [*entry.plan.make, *entry.plan.open]
        return built

    def rebuilt(self, before: BuiltNode, node: LayerNode, inputs: tuple[BuiltNode, ...]) -> BuiltNode:
        """Plan the layer over its new inputs, under the name that it has."""
        return build_layer(node, inputs, self.site, before.name)

    def _names(self, node: Node) -> Iterator[str]:
        return names_of(node, f"{self.prefix}-{len(self.steps)}")


@dataclass
class _Extension:
    """Walks the core and the whole layout in parallel."""

    added: _Additions

    def over(self, core: BuiltNode, node: Node) -> BuiltNode:
        """Return the whole layout at `node`, whose core is built."""
        if not isinstance(node, LayerNode):
            return core
        built = iter(core.inputs)
        cores = [core_of(below) for below in _without_addable(node).inputs]
        inputs = tuple(
            self.over(next(built), below) if core_of(below) in cores else self.added.build(below)
            for below in node.inputs
        )
        after = self.added.rebuilt(core, node, inputs)
        if len(inputs) > len(core.inputs):
            assert isinstance(node.layer, AdaptableLayer)
            volumes = [entry.volume for entry in inputs]
            steps = node.layer.extend(node.spec, after.volume, volumes, self.added.site, core.name)
            self.added.steps += on_host(steps, after.volume.host)
        return after


@dataclass
class _Change:
    """Walks the built and the new layout in parallel."""

    added: _Additions
    closing: list[Step] = field(default_factory=list)
    opening: list[Step] = field(default_factory=list)

    def into(self, before: BuiltNode, node: Node) -> BuiltNode:
        """Return the new layout at `node`, where `before` is built."""
        if before.node == node:
            return before
        assert isinstance(before.node, LayerNode)
        assert isinstance(node, LayerNode)
        if _adapts(before.node, node):
            return self._become(before, before.node, node)
        inputs = tuple(self.into(entry, below) for entry, below in zip(before.inputs, node.inputs, strict=True))
        after = self.added.rebuilt(before, node, inputs)
        assert before.plan is not None
        assert after.plan is not None
        self.closing[:0] = before.plan.close
        self.opening += after.plan.open
        return after

    def _become(self, before: BuiltNode, old: LayerNode, new: LayerNode) -> BuiltNode:
        built = list(zip(old.inputs, before.inputs, strict=True))
        found = [next((entry for node, entry in built if node == below), None) for below in new.inputs]
        inputs = tuple(
            self.added.build(below) if entry is None else entry for entry, below in zip(found, new.inputs, strict=True)
        )
        after = self.added.rebuilt(before, new, inputs)
        had, gets = [entry.volume for entry in before.inputs], [entry.volume for entry in inputs]
        assert isinstance(new.layer, AdaptableLayer)
        self.added.steps += on_host(new.layer.become(old, had, new, gets, before.volume), before.volume.host)
        return after
