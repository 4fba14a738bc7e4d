"""A layout as a tree of layers: read from an expression, planned, counted.

Everything here walks the tree; what a technology does stands in its own file.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from poolproof.campaign.expression import Argument, Expression, Group, Stage, Word, mistake_in
from poolproof.campaign.names import did_you_mean
from poolproof.devices.model import Leaf, Site, Volume
from poolproof.errors import CampaignError, HostError
from poolproof.layers.base import DeviceNode, LayerNode, LayerPlan, Node, StageReader
from poolproof.layers.catalogue import all_layers
from poolproof.layers.directory import Dir
from poolproof.steps import Step

_FLUSH_LIMIT_S = 600.0
_ADD = "give it as a device: under `devices:` in the campaign, or --device NAME=file:1G (poolproof run --help)"


@dataclass(frozen=True)
class BuiltNode:
    """A node of a layout with the volume that it offers once built. `plan` is None for a device.

    `name` is the layer's in the run.
    """

    node: Node
    volume: Volume
    inputs: tuple["BuiltNode", ...] = ()
    plan: LayerPlan | None = None
    name: str = ""


@dataclass(frozen=True)
class TreePlan:
    """How a layout comes to stand on its devices.

    `make` builds and opens everything from the bottom up. `close` then `open` is the way to cool it: all layers are
    closed from the top down and opened again from the bottom up, and nothing of the layout stays in RAM. `flush` writes
    out what is dirty, from the top down, and leaves everything open.
    """

    make: tuple[Step, ...]
    close: tuple[Step, ...]
    open: tuple[Step, ...]
    flush: tuple[Step, ...]
    top: BuiltNode

    @property
    def volume(self) -> Volume:
        """What the layout offers: a mounted directory, or a block device."""
        return self.top.volume

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The disks at the bottom, each once."""
        return tuple(dict.fromkeys(self.top.volume.leaves))

    @property
    def block_paths(self) -> frozenset[str]:
        """The block devices that the layout's own layers offer to those above them."""
        standing = (entry for entry in from_bottom(self.top) if entry.plan is not None)
        return frozenset(entry.volume.path for entry in standing if entry.volume.is_block)


def resolve(expression: Expression, device_names: Collection[str]) -> Node:
    """The typed tree of a layout over the campaign's devices.

    Raises:
        CampaignError: an unknown layer, device, word or option, a device used twice, too few devices for a level; the
            message points at the word.
    """
    return _Resolver(expression, frozenset(device_names)).tree(expression)


class _Resolver:
    """Reads one expression; remembers which devices it has used."""

    def __init__(self, source: Expression, devices: frozenset[str]) -> None:
        self._source = source
        self._devices = devices
        self._used: set[str] = set()

    def tree(self, expression: Expression) -> Node:
        node: Node | None = None
        for stage in expression.stages:
            node = self._stage(stage, node)
        if node is None:
            raise CampaignError("a layout is empty", "a layout looks like: rust | ext4")
        return node

    def _stage(self, stage: Stage, below: Node | None) -> Node:
        first = stage.arguments[0]
        if not isinstance(first, Word) or first.text not in all_layers():
            return self._ground(stage, first, below)
        if first.text in self._devices:
            raise self._mistake(first, f"`{first.text}` is the name of a layer; give the device another name")
        reading = StageReader(
            arguments=stage.arguments[1:],
            below=below,
            node=self._node,
            is_device=self._devices.__contains__,
            mistake=lambda argument, message: self._mistake(argument or first, message),
        )
        return all_layers()[first.text].read(reading)

    def _ground(self, stage: Stage, first: Argument, below: Node | None) -> Node:
        """A first stage that is a device or a group by itself."""
        if below is not None:
            raise self._mistake(first, f"expected a layer after the `|`{_near_layer(first)}")
        node = self._node(first)
        if len(stage.arguments) > 1:
            raise self._mistake(
                stage.arguments[1], "expected `|` and a layer; several devices are joined by a layer: btrfs raid1 a b"
            )
        return node

    def _node(self, argument: Argument) -> Node:
        match argument:
            case Group(expression):
                return self.tree(expression)
            case Word(text) if text in self._devices:
                return self._device(argument, text)
            case Word(text):
                known = [*self._devices, *all_layers()]
                guess = did_you_mean(text, known)
                raise self._mistake(argument, f"`{text}` is no device and no layer{guess}", "" if guess else _ADD)
        raise self._mistake(argument, "expected a device or a layer, found an option")

    def _device(self, argument: Argument, name: str) -> DeviceNode:
        if name in self._used:
            raise self._mistake(argument, f"the device `{name}` is used twice")
        self._used.add(name)
        return DeviceNode(name)

    def _mistake(self, argument: Argument, message: str, hint: str = "") -> CampaignError:
        return mistake_in(self._source, argument.span, message, hint)


def _near_layer(argument: Argument) -> str:
    return did_you_mean(argument.text, all_layers()) if isinstance(argument, Word) else ""


def layer_nodes(node: Node) -> Iterator[LayerNode]:
    """The layers of a tree, from the bottom up, each before what stands on it."""
    if isinstance(node, LayerNode):
        for below in node.inputs:
            yield from layer_nodes(below)
        yield node


def devices(node: Node) -> tuple[str, ...]:
    """The campaign's devices that the layout uses, from left to right."""
    if isinstance(node, DeviceNode):
        return (node.name,)
    if isinstance(node.spec, Dir):
        return ()
    return tuple(name for below in node.inputs for name in devices(below))


def directories(node: Node) -> tuple[str, ...]:
    """The existing directories that the layout uses (`dir /srv/data`); plan_tree wants a Volume for each, by path."""
    return tuple(dict.fromkeys(entry.spec.path for entry in layer_nodes(node) if isinstance(entry.spec, Dir)))


def plan_tree(node: Node, volumes: Mapping[str, Volume], site: Site, name: str) -> TreePlan:
    """The steps that build a layout; a pure function.

    `volumes` holds what each device offers, by its name, and each directory of a `dir` layer, by its path. `name` is
    the layout's, unique in the run: it becomes part of mount points.

    Raises:
        HostError: a layer cannot be built here.
    """
    return plan_of(stand(node, volumes, site, names_of(node, name)))


def plan_of(top: BuiltNode) -> TreePlan:
    """The steps of a layout whose nodes are planned."""
    if top.plan is None:
        return TreePlan((), (_drop_block_cache(top.volume.path),), (), (_sync(top.volume),), top)
    plans = [standing.plan for standing in from_bottom(top) if standing.plan is not None]
    return TreePlan(
        make=tuple(step for plan in plans for step in (*plan.make, *plan.open)),
        close=tuple(step for plan in reversed(plans) for step in plan.close),
        open=tuple(step for plan in plans for step in plan.open),
        flush=tuple(step for plan in reversed(plans) for step in _flush(plan, is_top=plan is top.plan)),
        top=top,
    )


def _flush(plan: LayerPlan, *, is_top: bool) -> tuple[Step, ...]:
    """A block device has pages of its own only where fio writes to it: at the top."""
    if plan.volume.is_block:
        return (*plan.flush, _sync(plan.volume)) if is_top else ()
    return plan.flush or (_sync(plan.volume),)


def _sync(volume: Volume) -> Step:
    whole = () if volume.is_block else ("--file-system",)
    return Step(f"write out {volume.path}", ("sync", *whole, volume.path), timeout_s=_FLUSH_LIMIT_S)


def stand(node: Node, volumes: Mapping[str, Volume], site: Site, names: Iterator[str]) -> BuiltNode:
    """The nodes of a layout planned, from the bottom up; each layer takes the next name."""
    if isinstance(node, DeviceNode):
        return BuiltNode(node, volumes[node.name])
    inputs = tuple(stand(below, volumes, site, names) for below in node.inputs)
    name = next(names)
    plan = node.layer.plan(node.spec, [below.volume for below in inputs], site, name)
    return BuiltNode(node, plan.volume, inputs, plan, name)


def names_of(node: Node, name: str) -> Iterator[str]:
    """`mix-ext4`; where a layer's word comes more than once, `mix-ext4-1`, `mix-ext4-2`, from the bottom up."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    words = [entry.layer.word for entry in layer_nodes(node)]
    for at, word in enumerate(words):
        number = f"-{words[: at + 1].count(word)}" if words.count(word) > 1 else ""
        yield f"{plain}-{word}{number}"


def from_bottom(top: BuiltNode) -> Iterator[BuiltNode]:
    """The nodes of a planned layout, each after what it stands on."""
    for below in top.inputs:
        yield from from_bottom(below)
    yield top


def branches(plan: TreePlan) -> tuple[str, ...]:
    """The lowest directories of an open layout: the branches of mergerfs, else the layout's own directory.

    mergerfs keeps paths by default (category.create=epmfs): a directory made on top of it comes into being on one
    branch, and every file in it lands there. A directory made in each of these is on all of them.
    """
    return tuple(_branches(plan.top)) if not plan.volume.is_block else ()


def _branches(standing: BuiltNode) -> Iterator[str]:
    below = [entry for entry in standing.inputs if isinstance(entry.node, LayerNode) and not entry.volume.is_block]
    if not below:
        yield standing.volume.path
    for entry in below:
        yield from _branches(entry)


def _drop_block_cache(path: str) -> Step:
    """A layout that is a bare device has no layer to close; its pages belong to the device node."""
    return Step(f"drop the page cache of {path}", ("blockdev", "--flushbufs", path), timeout_s=300)


def needs(node: Node, site: Site) -> None:
    """Check that the host has all that building the layout takes.

    Raises:
        HostError: names everything that is missing, and the command that installs it.
    """
    layers = list(dict.fromkeys(entry.layer for entry in layer_nodes(node)))
    without_programs = [layer for layer in layers if not site.programs.issuperset(layer.programs)]
    lacking = {entry.layer: entry.layer.modules(entry.spec) for entry in layer_nodes(node)}
    without_modules = [layer for layer, names in lacking.items() if not site.modules.issuperset(names)]
    missing = [
        f"{layer.word} needs {', '.join(sorted(set(layer.programs) - site.programs))}" for layer in without_programs
    ]
    missing += [
        f"{layer.word} needs the file system {layer.file_system}, and this kernel has none"
        for layer in layers
        if layer.file_system is not None and layer.file_system not in site.file_systems
    ]
    missing += [
        f"{layer.word} needs the kernel module {', '.join(sorted(set(lacking[layer]) - site.modules))}, "
        "and this kernel has none"
        for layer in without_modules
    ]
    if not site.is_root and any(layer.needs_root for layer in layers):
        missing.append("building needs root")
    if missing:
        packages = dict.fromkeys(
            [package for layer in without_programs for package in layer.packages]
            + [package for layer in without_modules for package in layer.module_packages]
        )
        raise HostError(f"this host cannot build the layout: {'; '.join(missing)}", _mend(packages, site.is_root))


def _mend(packages: Iterable[str], is_root: bool) -> str:
    named = " ".join(packages)
    if named:
        return f"on Debian or Ubuntu: {'' if is_root else 'sudo '}apt install {named}"
    if not is_root:
        return "run poolproof under sudo, or use a layout `dir PATH`, which needs no root"
    return "Debian has no package for it: install it as its makers say, or measure on another host: --on user@host"


def modules(node: Node) -> frozenset[str]:
    """The kernel modules that building the layout takes."""
    return frozenset(name for entry in layer_nodes(node) for name in entry.layer.modules(entry.spec))


def moves_what_is_written(node: Node) -> bool:
    """Whether any layer of it is copy-on-write: then reads of a file depend on who wrote to it before."""
    if isinstance(node, DeviceNode):
        return False
    return node.layer.moves_what_is_written(node.spec) or any(map(moves_what_is_written, node.inputs))


def write_factor(node: Node, landed: Mapping[str, int] | None = None) -> float:
    """P: bytes written to the leaves for each byte of data.

    Where the inputs of a layer differ (mergerfs over a mirror and a single disk), P depends on where the data went.
    `landed` tells it: bytes written to each device, by name. Without it the smallest factor counts: the bound that
    cannot make an honest write look too small.
    """
    if isinstance(node, DeviceNode):
        return 1.0
    factors = [write_factor(below, landed) for below in node.inputs]
    if landed is not None and len(set(factors)) > 1:
        factors = [_mean_factor(node.inputs, factors, landed)] * len(factors)
    return node.layer.write_factor(node.spec, factors)


def _mean_factor(inputs: Iterable[Node], factors: list[float], landed: Mapping[str, int]) -> float:
    """Leaf bytes over data bytes, summed over the inputs: an input with factor p holds its leaf bytes / p of data."""
    leaf_bytes = [sum(landed.get(name, 0) for name in devices(below)) for below in inputs]
    data_bytes = sum(count / factor for count, factor in zip(leaf_bytes, factors, strict=True))
    return sum(leaf_bytes) / data_bytes if data_bytes else min(factors)


def capacity_bytes(node: Node, sizes: Mapping[str, int]) -> int:
    """Bytes of data that fit, an estimate from below. `sizes`: bytes by device name, and free bytes by `dir` path."""
    if isinstance(node, DeviceNode):
        return sizes[node.name]
    return node.layer.capacity_bytes(node.spec, [capacity_bytes(below, sizes) for below in node.inputs])


def largest_file_bytes(node: Node, sizes: Mapping[str, int]) -> int:
    """Bytes of the largest single file that fits: over mergerfs it must fit in one branch."""
    if isinstance(node, DeviceNode):
        return sizes[node.name]
    return node.layer.largest_file_bytes(node.spec, [largest_file_bytes(below, sizes) for below in node.inputs])


def redundancy(node: Node) -> int | None:
    """How many of the layout's devices may fail, whichever they are, without a byte lost.

    None over an existing directory: what protects it below is not known.
    """
    if isinstance(node, DeviceNode):
        return 0
    inputs = [redundancy(below) for below in node.inputs]
    known = [count for count in inputs if count is not None]
    if isinstance(node.spec, Dir) or len(known) < len(inputs):
        return None
    return node.layer.redundancy(node.spec, known)
