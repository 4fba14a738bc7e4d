"""A ZFS pool with one dataset: `zfs mirror hdd1 hdd2 log (nvme1 | luks) cache nvme2 ashift=12 recordsize=16k`.

After the word `zfs` comes the vdev tree, in the syntax of `zpool create` (zfs_vdevs.py). Options are properties of the
pool or of the dataset, with the names that ZFS uses (zfs_properties.py). No name belongs to both. `-f` has the same
effect as for zpool. `arc_max=1G` sets the module parameter zfs_arc_max while the layout exists.

A built pool can be changed: log and cache vdevs can be added and removed, and leaf vdevs of mirrors can be attached and
detached. The pool is named after its mount point. Exporting and importing the pool drops its data from the ARC. A cache
vdev keeps its contents unless l2arc_rebuild_enabled is 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from poolproof.campaign.expression import Option
from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.evidence.model import VdevUse
from poolproof.evidence.target_facts import Target
from poolproof.evidence.zfs import KSTATS
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers import arguments, zfs_commands, zfs_status
from poolproof.layers.base import (
    AdaptableLayer,
    LayerFault,
    LayerNode,
    LayerPlan,
    Node,
    OpenLayer,
    StageReader,
    WriteBack,
    mean_factor,
    survives,
)
from poolproof.layers.file_system import make_mount_point, mount_point
from poolproof.layers.shared_steps import kernel_name, key_path, make_key, wipe
from poolproof.layers.zfs_commands import UndoArcLimit, UndoPool, UndoVdevs
from poolproof.layers.zfs_found import PoolReader, joined
from poolproof.layers.zfs_properties import DATASET, POOL, VALUES, check_property
from poolproof.layers.zfs_vdevs import NEEDED, Vdev, VdevTree, read_vdevs
from poolproof.steps import Step
from poolproof.units import format_size

VERSION = ProgramVersion("OpenZFS", ("zfs", "version"), is_last=True)
"""The command `zfs version`. The last version number that it prints is the kernel module's."""

_MIB = 1024**2
_GIB = 1024**3
_IMPORTED = 'cd "$0" && for pool in */; do echo "${pool%/}"; done'  # takes a third of the time of zpool list
_ALIKE_BYTES = 16 * _MIB  # ZPOOL_FUZZ of cmd/zpool/zpool_vdev.c
_SMALLEST_ARC_BYTES = 64 * _MIB  # MIN_ARC_MAX of module/zfs/arc.c
_LONGEST_NAME = 120
_LIMIT_S = 60.0
_ARC_MAX = "arc_max"
_SETTINGS = (
    *("zfs_txg_timeout", "zfs_arc_max", "zfs_dirty_data_max", "zfs_prefetch_disable", "l2arc_write_max"),
    "l2arc_noprefetch",
)
_MIRRORED = frozenset({"disk", "mirror"})


@dataclass(frozen=True)
class Zfs:
    """The vdev tree, the pool's properties (`zpool create -o`), the dataset's properties (`-O`), and the ARC limit."""

    vdevs: VdevTree
    pool: tuple[tuple[str, str], ...]
    dataset: tuple[tuple[str, str], ...]
    arc_max_bytes: int | None = None

    @property
    def is_encrypted(self) -> bool:
        return dict(self.dataset).get("encryption", "off") != "off"

    @property
    def copies(self) -> int:
        return int(dict(self.dataset).get("copies", "1"))


class ZfsLayer(PoolReader, AdaptableLayer[Zfs]):
    """A ZFS pool with a mounted dataset. With `| zvol`, the pool provides a block device instead of the dataset."""

    word = "zfs"
    summary = "a ZFS pool, in zpool's own syntax: `zfs mirror hdd1 hdd2 log nvme1 ashift=12`"
    programs = ("zpool", "zfs")
    packages = ("zfsutils-linux",)
    module_packages = ("zfs-dkms",)
    dkms_modules = ("zfs",)
    components = ("contrib",)
    version = VERSION
    file_system = "zfs"
    has_own_cache = True
    cache_size_command = f"grep -w data_size {KSTATS}/arcstats"
    counts_stored_blocks = True
    undos = (UndoPool, UndoVdevs, UndoArcLimit)
    values = VALUES
    smallest_device_bytes = 74 * _MIB  # SPA_MINDEVSIZE (64 MiB) plus the space that zpool leaves around its partition
    settings = MappingProxyType({f"{zfs_status.PARAMETERS}/{name}": name for name in _SETTINGS})

    def read(self, reading: StageReader) -> LayerNode:
        vdevs, inputs = read_vdevs(reading)
        arguments.check_blocks(reading, inputs, self.word, may_be_files=True)
        options = [argument for argument in reading.arguments if isinstance(argument, Option)]
        limits = [_arc_max(reading, option) for option in options if option.key == _ARC_MAX]
        properties = [option for option in options if option.key != _ARC_MAX]
        for option in properties:
            check_property(reading, option, POOL | DATASET | {_ARC_MAX})
        spec = Zfs(
            vdevs,
            tuple((option.key, option.value) for option in properties if _is_of_pool(option)),
            tuple((option.key, option.value) for option in properties if not _is_of_pool(option)),
            limits[-1] if limits else None,
        )
        return LayerNode(self, spec, tuple(node for _, node in inputs))

    def modules(self, spec: Zfs) -> tuple[str, ...]:
        return ("zfs",)

    def plan(self, spec: Zfs, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        _check_sizes(spec.vdevs, inputs)
        pool, paths = kernel_name(site, name, longest=_LONGEST_NAME), [device.path for device in inputs]
        point, key, limit = mount_point(site, pool), key_path(site, name), spec.arc_max_bytes
        locked = [("keyformat", "raw"), ("keylocation", f"file://{key}")] if spec.is_encrypted else []
        vdevs = spec.vdevs.words(paths)
        return LayerPlan(
            make=(
                zfs_commands.load_module(),
                *((zfs_commands.limit_arc(limit, f"{site.state_dir}/{name}.arc"),) if limit is not None else ()),
                *((make_key(key),) if spec.is_encrypted else ()),
                make_mount_point(point),
                wipe(paths),
                zfs_commands.create(pool, site.mount_dir, spec.pool, (*spec.dataset, *locked), vdevs, paths),
                zfs_commands.wait_until_quiet(pool),
            ),
            open=(zfs_commands.open_pool(pool, site.mount_dir, paths),),
            close=(zfs_commands.close_pool(pool, point),),
            flush=(zfs_commands.flush_pool(pool),),
            volume=self.volume(spec, point, inputs),
        )

    def core(self, node: LayerNode) -> LayerNode:
        assert isinstance(node.spec, Zfs)
        gone = {member for vdev in node.spec.vdevs.removable for member in vdev.members}
        inputs = tuple(below for number, below in enumerate(node.inputs) if number not in gone)
        return LayerNode(self, replace(node.spec, vdevs=node.spec.vdevs.without_removable()), inputs)

    def extend(self, spec: Zfs, volume: Volume, inputs: Sequence[Volume], site: Site, name: str) -> tuple[Step, ...]:
        if not spec.vdevs.removable:
            return ()
        paths = [device.path for device in inputs]
        removable = [[paths[member] for member in vdev.members] for vdev in spec.vdevs.removable]
        note = f"{site.state_dir}/{name}.added"
        return (
            wipe([path for vdev in removable for path in vdev]),
            zfs_commands.add(pool_of(volume), spec.vdevs.words(paths, "log", "cache"), removable, note),
        )

    def can_become(self, built: LayerNode, target: LayerNode) -> bool:
        return exchanges(built, target) is not None

    def become(
        self, built: LayerNode, old: Sequence[Volume], target: LayerNode, new: Sequence[Volume], volume: Volume
    ) -> tuple[Step, ...]:
        """Return the steps that attach the new leaf vdevs, wait for the resilver, and then detach the old ones.

        The steps fail if a new pool on the target's disks would have a different ashift, unless the layout sets it.
        """
        pool, (attach, detach) = pool_of(volume), exchanges(built, target) or ([], [])
        attached = [(old[anchor].path, new[member].path) for anchor, member in attach]
        assert isinstance(built.spec, Zfs)
        assert isinstance(target.spec, Zfs)
        is_given = dict(built.spec.pool).get("ashift", "0") != "0"
        vdevs = [
            ([old[member].path for member in before.members], [new[member].path for member in after.members])
            for before, after in zip(built.spec.vdevs.data, target.spec.vdevs.data, strict=True)
        ]
        return (
            *(() if is_given else (zfs_commands.keep_ashift(pool, had, gets) for had, gets in vdevs if had != gets)),
            *((wipe([path for _, path in attached]),) if attached else ()),
            *(zfs_commands.attach(pool, anchor, path) for anchor, path in attached),
            *((zfs_commands.wait_until_quiet(pool),) if attached else ()),
            *(zfs_commands.detach(pool, old[member].path) for member in detach),
        )

    def copies_on_write(self, spec: Zfs) -> bool:
        return True

    def write_factor(self, spec: Zfs, inputs: Sequence[float]) -> float:
        """Return the lowest write amplification of any vdev that stores data, multiplied by `copies`.

        Special vdevs are included, because special_small_blocks lets them store small blocks of data. Writes to log
        vdevs are excluded.
        """
        return min(vdev.write_factor(inputs) for vdev in spec.vdevs.of("data", "special")) * spec.copies

    def factor_where_written(self, spec: Zfs, inputs: Sequence[float], written: Sequence[int]) -> float:
        """Return the mean write amplification of the data and special vdevs, weighted by the bytes written to each."""
        vdevs = spec.vdevs.of("data", "special")
        counts = [sum(written[member] for member in vdev.members) for vdev in vdevs]
        if not sum(counts):
            return self.write_factor(spec, inputs)
        return mean_factor([vdev.write_factor(inputs) for vdev in vdevs], counts) * spec.copies

    def commit_factor(self, spec: Zfs, inputs: Sequence[float]) -> float | None:
        """Return the lowest write amplification of any log vdev.

        Without log vdevs, the intent log is on the data vdevs, and `copies` does not apply to it. The result is None if
        this makes no difference.
        """
        logs = spec.vdevs.of("log") or (spec.vdevs.data if spec.copies > 1 else ())
        return min((vdev.write_factor(inputs) for vdev in logs), default=None)

    def capacity_bytes(self, spec: Zfs, inputs: Sequence[int]) -> int:
        """Return the number of bytes of data that fit if each byte is stored `copies` times.

        This excludes 32 MiB per device for labels and metaslab rounding, the slop space, and 5% for metadata. The slop
        space is 1/32 of the pool, but at least 128 MiB (or half of a small pool) and at most 128 GiB. Source:
        spa_get_slop_space() in OpenZFS.
        """
        usable = [max(0, size - 32 * _MIB) for size in inputs]
        raw = sum(vdev.capacity_bytes(usable) for vdev in spec.vdevs.data)
        slop = min(128 * _GIB, max(raw // 32, min(raw // 2, 128 * _MIB)))
        return (raw - slop) * 95 // 100 // spec.copies

    def redundancy(self, spec: Zfs, inputs: Sequence[int]) -> int:
        """Return the number of disks that may fail in the weakest data, special or dedup vdev.

        Additional `copies` do not count, because they do not protect against disk failures.
        """
        needed = spec.vdevs.of(*NEEDED)
        return min(survives([inputs[member] for member in vdev.members], vdev.survives) for vdev in needed)

    def stored(self, built: OpenLayer[Zfs], total_bytes: int) -> tuple[int, ...]:
        """Return the number of bytes on each input, in proportion to the allocated space of the data vdevs.

        The allocated space comes from `zpool list -v`. Inputs in log, cache, special, dedup and spare vdevs store 0
        bytes.
        """
        vdevs = sorted(built.spec.vdevs.data, key=lambda vdev: vdev.kind != "disk")
        rows = zfs_status.space_of(pool_of(built.volume), built.host)
        allocated = [row.allocated_bytes or 0 for row in rows if row.depth == 1 and not row.section]
        data = [vdev.data_in(count) for vdev, count in zip(vdevs, allocated, strict=False)]
        stored = [0] * len(built.inputs)
        for vdev, count in zip(vdevs, data, strict=True):
            each = vdev.stored(int(total_bytes * built.spec.copies * (count / max(1, sum(data)))))
            for member in vdev.members:
                stored[member] = each
        return tuple(stored)

    def busy_with(self, built: OpenLayer[Zfs]) -> str | None:
        pool = pool_of(built.volume)
        found = zfs_status.busy_with(built.host.run(("zpool", "status", "-i", "-t", pool), timeout_s=_LIMIT_S).stdout)
        return f"background work on the pool {pool}: {found}" if found else None

    def fault(self, built: OpenLayer[Zfs]) -> LayerFault | None:
        return zfs_status.fault_of(pool_of(built.volume), built.host)

    def describe(self, built: OpenLayer[Zfs], target: Target) -> Target:
        pool, vdevs = pool_of(built.volume), built.spec.vdevs
        properties = required_properties(pool, built.host)
        ashift, number = dict(built.spec.pool).get("ashift", "0"), properties.get("objsetid", "")
        # the file under KSTATS that has the dataset's counters
        objsets = (f"{pool}/objset-{int(number):#x}",) if number.isdecimal() else ()
        zfs = replace(
            zfs_status.module_facts(built.host),
            raidz_parity=max((vdev.parity for vdev in vdevs.data if vdev.kind == "raidz"), default=None),
            has_log=bool(vdevs.of("log")),
            has_cache=bool(vdevs.of("cache")),
            mirrors=zfs_status.mirror_sides(vdevs.data, built.inputs, built.host),
            pools=(pool,),
            objsets=objsets,
            log_devices=_leaves_of(vdevs.of("log"), built.inputs),
            cache_devices=_leaves_of(vdevs.of("cache"), built.inputs),
        )
        aligned = replace(target, alignment_bytes=1 << int(ashift) if ashift != "0" else None)
        return zfs_status.on_dataset(aligned, properties, joined(target.zfs, zfs))

    def vdevs(self, built: OpenLayer[Zfs]) -> tuple[VdevUse, ...]:
        pool = pool_of(built.volume)
        tops = [row for row in zfs_status.space_of(pool, built.host) if row.depth == 1]
        return tuple(VdevUse(pool, row.name, row.section, row.size_bytes, row.allocated_bytes) for row in tops)

    def dataset(self, volume: Volume) -> str | None:
        return pool_of(volume)

    def write_back(self, built: OpenLayer[Zfs]) -> WriteBack | None:
        return zfs_status.transaction_groups(built.host)

    def write_back_forecast(self, spec: Zfs) -> WriteBack | None:
        return WriteBack(zfs_status.TXG_TIMEOUT_S)

    def uses_page_cache(self, spec: Zfs, inputs: Sequence[bool]) -> bool:
        return False

    def cached_bytes(self, built: OpenLayer[Zfs]) -> int | None:
        """Return the number of bytes of file data in the ARC, or None if other pools may also have data there.

        All of the layout's pools share the ARC, so only the first pool reports its size, and the others report 0. The
        result is None if this pool is not imported, or if some imported pool does not belong to the run. The pools of
        the run (`poolproof-LABEL-…`) all belong to this layout, because only one layout is built at a time.
        """
        pool = pool_of(built.volume)
        imported = built.host.run(("sh", "-c", _IMPORTED, KSTATS), timeout_s=_LIMIT_S).stdout.split()
        of_run = "-".join([*pool.split("-")[:2], ""])
        if pool not in imported or not all(each.startswith(of_run) for each in imported):
            return None
        return zfs_status.read_arc(built.host).get("data_size") if pool == min(imported) else 0


def exchanges(built: LayerNode, target: LayerNode) -> tuple[list[tuple[int, int]], list[int]] | None:
    """Return the leaf vdevs to attach and detach to convert the built pool into the target. None if impossible.

    The first list contains a pair (anchor, new device) for each device to attach. The anchor stays in the pool and has
    the data. The second list contains the devices to detach. New devices are indices into the inputs of the target.
    Anchors and detached devices are indices into the inputs of the built pool.

    The two pools may differ only in the leaf vdevs of their mirrors. zpool-attach(8) converts a single disk into a
    mirror or widens a mirror, and zpool-detach(8) does the opposite.
    """
    old, new = built.spec, target.spec
    assert isinstance(old, Zfs)
    if not isinstance(new, Zfs) or replace(old, vdevs=new.vdevs) != new or len(old.vdevs.data) != len(new.vdevs.data):
        return None
    if _other_vdevs(old.vdevs, built.inputs) != _other_vdevs(new.vdevs, target.inputs):
        return None
    attached: list[tuple[int, int]] = []
    detached: list[int] = []
    for before, after in zip(old.vdevs.data, new.vdevs.data, strict=True):
        had, gets = [built.inputs[at] for at in before.members], [target.inputs[at] for at in after.members]
        stay = [member for member in before.members if built.inputs[member] in gets]
        is_possible = before.kind == after.kind if had == gets else {before.kind, after.kind} <= _MIRRORED
        if not stay or not is_possible:
            return None
        attached += [(stay[0], member) for member in after.members if target.inputs[member] not in had]
        detached += [member for member in before.members if built.inputs[member] not in gets]
    return attached, detached


def _other_vdevs(vdevs: VdevTree, nodes: Sequence[Node]) -> object:
    """Return all vdevs except the data vdevs, in a form that can be compared."""
    named = [
        (section, vdev.kind, [nodes[member] for member in vdev.members])
        for section, vdev in vdevs.sections
        if section != "data"
    ]
    return named, vdevs.force


def _leaves_of(vdevs: Sequence[Vdev], inputs: Sequence[Volume]) -> tuple[str, ...]:
    return tuple(leaf.name for vdev in vdevs for member in vdev.members for leaf in inputs[member].leaves)


def pool_of(volume: Volume) -> str:
    """Return the name of the pool, which is the last part of its mount point."""
    return volume.path.rpartition("/")[2]


def required_properties(dataset: str, host: Host) -> Mapping[str, str]:
    """Return all properties of a dataset or volume, with sizes in bytes. Raises a HostError if `zfs get` fails."""
    properties = zfs_status.read_properties(dataset, host)
    if properties is None:
        raise HostError(f"the properties of {dataset} cannot be read", "zfs list")
    return properties


def _is_of_pool(option: Option) -> bool:
    return option.key in POOL or option.key.startswith("feature@")


def _arc_max(reading: StageReader, option: Option) -> int:
    size_bytes = arguments.size_of(reading, option, option.value, "arc_max=1G")
    if size_bytes < _SMALLEST_ARC_BYTES:
        raise reading.mistake(option, "arc_max must be at least 64M")
    return size_bytes


def _check_sizes(vdevs: VdevTree, inputs: Sequence[Volume]) -> None:
    """Raise a HostError if the device sizes in a data, special or dedup vdev differ by more than zpool accepts.

    With `-f`, nothing is checked.
    """
    for vdev in () if vdevs.force else vdevs.of(*NEEDED):
        sizes = [inputs[member].size_bytes or 0 for member in vdev.members]
        if 0 not in sizes and max(sizes) - min(sizes) > _ALIKE_BYTES:
            raise HostError(
                f"zpool refuses {vdev}, because the sizes of its devices differ: {', '.join(map(format_size, sizes))}",
                "give them the same size, or write `-f` after `zfs` to force it, as with zpool",
            )


LAYER = ZfsLayer()
