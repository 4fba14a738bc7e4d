"""Layouts as trees of layers: plans the steps of a layout and computes its properties."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from poolproof.devices.model import Leaf, Site, Volume
from poolproof.errors import HostError
from poolproof.evidence.model import Expected
from poolproof.layers.base import DeviceNode, LayerNode, LayerPlan, Node
from poolproof.layers.directory import Dir
from poolproof.steps import Step, path_on
from poolproof.units import format_size

_FLUSH_LIMIT_S = 600.0
_NOTHING: Mapping[str, Expected] = MappingProxyType({})

T = TypeVar("T")


@dataclass(frozen=True)
class BuiltNode:
    """A node that has been planned, with its volume and inputs. A layer also has a plan and a name."""

    node: Node
    volume: Volume
    inputs: tuple["BuiltNode", ...] = ()
    plan: LayerPlan | None = None
    name: str = ""

    @property
    def own_leaves(self) -> tuple[Leaf, ...]:
        """The leaf devices of this node that do not belong to one of its inputs."""
        below = {leaf for entry in self.inputs for leaf in entry.volume.leaves}
        return tuple(leaf for leaf in self.volume.leaves if leaf not in below)


@dataclass(frozen=True)
class TreePlan:
    """The commands that build a layout on its devices.

    `make`: builds and opens all layers, from the bottom up.
    `close`: closes all layers, from the top down. Closing and reopening drops all of the layout's data from RAM.
    `open`: reopens all layers, from the bottom up.
    `flush`: writes out dirty data, from the top down. All layers stay open.
    `top`: the planned node at the top of the layout.
    """

    make: tuple[Step, ...]
    close: tuple[Step, ...]
    open: tuple[Step, ...]
    flush: tuple[Step, ...]
    top: BuiltNode

    @property
    def volume(self) -> Volume:
        """The mounted directory or block device that the layout provides."""
        return self.top.volume

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaf devices of the layout, each only once."""
        return tuple(dict.fromkeys(self.top.volume.leaves))

    @property
    def block_paths(self) -> frozenset[str]:
        """The paths of the block devices that the layout's layers provide, in the form that `path_on` returns."""
        built = (entry for entry in from_bottom(self.top) if entry.plan is not None)
        return frozenset(path_on(entry.volume.host, entry.volume.path) for entry in built if entry.volume.is_block)


def layer_nodes(node: Node) -> Iterator[LayerNode]:
    """Yield the layers of a tree, from the bottom up."""
    if isinstance(node, LayerNode):
        for below in node.inputs:
            yield from layer_nodes(below)
        yield node


def devices(node: Node) -> tuple[str, ...]:
    """Return the names of the campaign's devices that the layout uses, from left to right."""
    if isinstance(node, DeviceNode):
        return (node.name,)
    if isinstance(node.spec, Dir):
        return ()
    return tuple(name for below in node.inputs for name in devices(below))


def directories(node: Node) -> tuple[str, ...]:
    """Return the existing directories that the layout uses (`dir /srv/data`). `plan_tree` needs a volume for each."""
    return tuple(dict.fromkeys(entry.spec.path for entry in layer_nodes(node) if isinstance(entry.spec, Dir)))


def plan_tree(node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """Return the steps that build a layout, without running them.

    `volumes`: the available volumes, keyed by device name or by the path of a `dir` layer.
    `name`: the layout's name. It is unique within the run and becomes part of the mount points.

    Raises a HostError if the layout cannot be built.
    """
    return plan_of(build_node(node, volumes, site, names_of(node, name)))


def plan_of(top: BuiltNode) -> TreePlan:
    """Return the steps for a layout whose nodes have already been planned."""
    if top.plan is None:
        path, host = top.volume.path, top.volume.host
        # a bare device has no layer to close, so its pages are dropped
        drop = Step(f"drop the page cache of {path}", ("blockdev", "--flushbufs", path), timeout_s=300, host=host)
        return TreePlan((), (drop,), (), (_sync(top.volume),), top)
    plans = [built.plan for built in from_bottom(top) if built.plan is not None]
    return TreePlan(
        make=tuple(step for plan in plans for step in (*plan.make, *plan.open)),
        close=tuple(step for plan in reversed(plans) for step in plan.close),
        open=tuple(step for plan in plans for step in plan.open),
        flush=tuple(step for plan in reversed(plans) for step in _flush(plan, is_top=plan is top.plan)),
        top=top,
    )


def _flush(plan: LayerPlan, *, is_top: bool) -> tuple[Step, ...]:
    """Return the steps that flush a layer.

    A block device is synced only if it is the top layer: under another layer, it has no dirty pages.
    """
    if plan.volume.is_block:
        return (*plan.flush, _sync(plan.volume)) if is_top else ()
    return plan.flush or (_sync(plan.volume),)


def _sync(volume: Volume) -> Step:
    scope = () if volume.is_block else ("--file-system",)
    return Step(f"write out {volume.path}", ("sync", *scope, volume.path), timeout_s=_FLUSH_LIMIT_S, host=volume.host)


def build_node(node: Node, volumes: Mapping[str, Volume], site: Site, names: Iterator[str]) -> BuiltNode:
    """Plan all nodes of a layout, from the bottom up. Each layer takes the next name from `names`.

    Raises a HostError if a device is too small for its layer, or if a layer cannot be built.
    """
    if isinstance(node, DeviceNode):
        return BuiltNode(node, volumes[node.name])
    inputs = tuple(build_node(below, volumes, site, names) for below in node.inputs)
    least = node.layer.smallest_device_bytes
    for device in (below.volume for below in inputs):
        if device.size_bytes is not None and device.size_bytes < least:
            raise HostError(
                f"{device.path} is {format_size(device.size_bytes)}, but {node.layer.word} needs at least "
                f"{format_size(least)} per device",
                f"use a device of {least // 1024**2}M or more",
            )
    return build_layer(node, inputs, site, next(names))


def build_layer(node: LayerNode, inputs: tuple[BuiltNode, ...], site: Site, name: str) -> BuiltNode:
    """Plan a layer. Its inputs have already been planned."""
    plan = node.layer.plan(node.spec, [below.volume for below in inputs], site, name)
    host = plan.volume.host
    if host and all(below.volume.host == host for below in inputs):
        make, open_, close = (on_host(steps, host) for steps in (plan.make, plan.open, plan.close))
        plan = replace(plan, make=make, open=open_, close=close, flush=on_host(plan.flush, host))
    return BuiltNode(node, plan.volume, inputs, plan, name)


def on_host(steps: Sequence[Step], host: str) -> tuple[Step, ...]:
    """Return copies of the steps with their host set to `host`. A step that already names a host keeps it."""
    return tuple(replace(step, host=step.host or host) for step in steps)


def names_of(node: Node, name: str) -> Iterator[str]:
    """Yield a name for each layer from the bottom up: `mix-ext4`, or `mix-ext4-1`, `mix-ext4-2` for two ext4 layers."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    words = [entry.layer.word for entry in layer_nodes(node)]
    for at, word in enumerate(words):
        number = f"-{words[: at + 1].count(word)}" if words.count(word) > 1 else ""
        yield f"{plain}-{word}{number}"


def from_bottom(top: BuiltNode) -> Iterator[BuiltNode]:
    """Yield the nodes of a planned layout, from the bottom up."""
    for below in top.inputs:
        yield from from_bottom(below)
    yield top


def leaves_of_layers(plan: TreePlan) -> tuple[Leaf, ...]:
    """Return the leaf devices that come from layers, such as a disk of another host, rather than from the campaign."""
    layers = (built for built in from_bottom(plan.top) if isinstance(built.node, LayerNode))
    return tuple(dict.fromkeys(leaf for built in layers for leaf in built.own_leaves))


def branches(plan: TreePlan) -> tuple[str, ...]:
    """Return the lowest directories of a layout: the branches of a union or, without a union, the only directory.

    A test directory must be created in each branch, so that it exists on all of them. By default, mergerfs preserves
    paths (category.create=epmfs): a directory created through mergerfs would exist on one branch only, and that branch
    would store all of its files.
    """
    return () if plan.volume.is_block else tuple(_branches(plan.top))


def _branches(built: BuiltNode) -> Iterator[str]:
    below = [entry for entry in built.inputs if isinstance(entry.node, LayerNode) and not entry.volume.is_block]
    if not below:
        yield built.volume.path
    for entry in below:
        yield from _branches(entry)


def needs(node: Node, site: Site) -> None:
    """Check that the host can build the layout.

    Raises a HostError that lists everything that is missing, and explains how to install it.
    """
    needed = [(entry.layer, name) for entry in layer_nodes(node) for name in entry.layer.modules(entry.spec)]
    layers = dict.fromkeys(entry.layer for entry in layer_nodes(node))
    programs = {layer: sorted({*layer.programs} - site.programs) for layer in layers}
    lacking = {layer: sorted({name for of, name in needed if of is layer} - site.modules) for layer in layers}
    missing = [f"{layer.word} needs {', '.join(names)}" for layer, names in programs.items() if names]
    missing += [
        f"{layer.word} needs the {layer.file_system} file system, which this kernel does not support"
        for layer in layers
        if layer.file_system not in (None, *site.file_systems, *site.modules, *lacking[layer])
    ]
    missing += [
        f"{layer.word} needs the kernel module{'s' if len(names) > 1 else ''} {', '.join(names)}, "
        "which this kernel does not have"
        for layer, names in lacking.items()
        if names
    ]
    if not site.is_root and any(layer.needs_root for layer in layers):
        missing.append("building the layout needs root")
    if missing:
        packages = dict.fromkeys(package for layer in layers if programs[layer] for package in layer.packages)
        packages |= dict.fromkeys(package for layer in layers if lacking[layer] for package in layer.module_packages)
        hint = (
            "install what is missing as described in its project's documentation, or use another host: --on user@host"
        )
        if packages:
            hint = f"on Debian or Ubuntu: {'' if site.is_root else 'sudo '}apt install {' '.join(packages)}"
        elif not site.is_root:
            hint = "run poolproof with sudo, or use a `dir PATH` layout, which does not need root"
        raise HostError(f"this host cannot build the layout: {'; '.join(missing)}", hint)


def modules(node: Node) -> frozenset[str]:
    """Return the names of the kernel modules that the layout needs."""
    return frozenset(name for entry in layer_nodes(node) for name in entry.layer.modules(entry.spec))


def hosts_of(node: Node) -> frozenset[str]:
    """Return the names of the hosts that the layout uses, apart from the run's main host."""
    return frozenset(name for entry in layer_nodes(node) for name in entry.layer.hosts(entry.spec))


def fold(node: Node, of_device: Callable[[str], T], of_layer: Callable[[LayerNode, list[T]], T]) -> T:
    """Compute a value for the layout, from the bottom up.

    `of_device`: returns the value for a device, given the device's name.
    `of_layer`: returns the value for a layer, given its node and the values for its inputs.
    """
    if isinstance(node, DeviceNode):
        return of_device(node.name)
    return of_layer(node, [fold(below, of_device, of_layer) for below in node.inputs])


def copies_on_write(node: Node) -> bool:
    """True if any layer is copy-on-write, which means that the read speed depends on earlier writes to the file."""
    return any(entry.layer.copies_on_write(entry.spec) for entry in layer_nodes(node))


def uses_page_cache(node: Node) -> bool:
    """True if buffered writes to the layout go to the page cache."""
    return fold(node, lambda _: True, lambda entry, inputs: entry.layer.uses_page_cache(entry.spec, inputs))


def writes_everything(node: Node) -> bool:
    """True if building any layer writes to every block of the devices below it."""
    return any(entry.layer.writes_everything(entry.spec) for entry in layer_nodes(node))


def write_factor(
    node: Node, written: Mapping[str, int] | None = None, found: Mapping[str, Expected] = _NOTHING
) -> float:
    """Return the expected write amplification: the bytes written to the leaf devices per byte of data.

    `written`: the bytes written to each device, keyed by device name.
    `found`: the known write amplification of the storage below existing directories, keyed by directory path.

    If the inputs of a layer differ, for example with mergerfs over a mirror and a single disk, the result depends on
    which of them received the data. Without `written`, this is unknown. The smallest factor is then used, because a
    factor that is too large would disprove correct results.
    """

    def of_layer(entry: LayerNode, factors: list[float]) -> float:
        if isinstance(entry.spec, Dir) and entry.spec.path in found:
            return found[entry.spec.path].write_factor
        if written is None:
            return entry.layer.write_factor(entry.spec, factors)
        counts = [sum(written.get(name, 0) for name in devices(below)) for below in entry.inputs]
        return entry.layer.factor_where_written(entry.spec, factors, counts)

    return fold(node, lambda _: 1.0, of_layer)


def expected(node: Node, written: Mapping[str, int], found: Mapping[str, Expected] = _NOTHING) -> Expected:
    """Return the layout's expected write amplification, both for all writes and for committed writes.

    `written`: the bytes written to each device, keyed by device name.
    `found`: as for `write_factor`.
    """
    return Expected(write_factor(node, written, found), commit_factor=commit_factor(node, found))


def commit_factor(node: Node, found: Mapping[str, Expected] = _NOTHING) -> float | None:
    """Return the bytes written to ZFS's intent log per byte of a committed write, or None if as many as for data.

    Of several pools, the lowest value is returned. `found`: as for `write_factor`.
    """

    def of_layer(entry: LayerNode, inputs: list[tuple[float, float | None]]) -> tuple[float, float | None]:
        if isinstance(entry.spec, Dir) and entry.spec.path in found:
            return found[entry.spec.path].write_factor, found[entry.spec.path].commit_factor
        factors = [factor for factor, _ in inputs]
        own = entry.layer.commit_factor(entry.spec, factors)
        below = min((factor for _, factor in inputs if factor is not None), default=None)
        return entry.layer.write_factor(entry.spec, factors), below if own is None else own

    factors: tuple[float, float | None] = fold(node, lambda _: (1.0, None), of_layer)
    return factors[1]


def capacity_bytes(node: Node, sizes: Mapping[str, int]) -> int:
    """Return a conservative estimate of the layout's capacity for data, in bytes.

    `sizes`: the size of each device, keyed by name, and the free space of each `dir` layer, keyed by path. Both in
    bytes.
    """
    return fold(node, sizes.__getitem__, lambda entry, inputs: entry.layer.capacity_bytes(entry.spec, inputs))


def largest_file_bytes(node: Node, sizes: Mapping[str, int]) -> int:
    """Return the maximum size of a file on the layout, in bytes. With mergerfs, a file must fit on one branch."""
    return fold(node, sizes.__getitem__, lambda entry, inputs: entry.layer.largest_file_bytes(entry.spec, inputs))


def redundancy(node: Node) -> int | None:
    """Return the number of devices that may fail in any combination without data loss, or None if unknown.

    It is unknown if the layout uses an existing directory, because the redundancy of the storage below it is unknown.
    """

    def of_layer(entry: LayerNode, inputs: list[int | None]) -> int | None:
        known = [count for count in inputs if count is not None]
        return entry.layer.redundancy(entry.spec, known) if len(known) == len(inputs) else None

    return fold(node, lambda _: 0, of_layer)
