"""A ZFS pool with one dataset: `zfs mirror hdd1 hdd2 log (nvme1 | luks) cache nvme2 ashift=12 recordsize=16k`.

After `zfs` comes the vdev tree of `zpool create`, in its order and words (zfs_vdevs.py). Options are properties of the
pool and of the dataset, by their own names (zfs_properties.py): no name is in both. `-f` is zpool's own. One option
more, `arc_max=1G`, sets the module parameter zfs_arc_max while the layout stands.

Log and cache vdevs are added and removed, and leaves of mirrors attached and detached, while the pool stands.

The pool's name is that of its mount point. It is cooled by export and import, which leaves nothing of it in the ARC; a
cache vdev keeps what it holds, unless l2arc_rebuild_enabled is 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.expression import Option
from poolproof.devices.model import Site, Volume
from poolproof.errors import CommandError, HostError
from poolproof.evidence.model import Target, VdevUse
from poolproof.evidence.model import ZfsFacts as ZfsFacts
from poolproof.evidence.zfs import KSTATS, parse_kstat
from poolproof.hosts.base import FileMissing, Host
from poolproof.layers import arguments, mount, zfs_commands, zfs_report
from poolproof.layers.adaptable import AdaptableLayer
from poolproof.layers.base import LayerNode, LayerPlan, StageReader, WriteBack, survives
from poolproof.layers.kernel_names import kernel_name
from poolproof.layers.key_file import key_path, make_key
from poolproof.layers.signatures import wipe
from poolproof.layers.zfs_mirrors import Exchange, exchanges
from poolproof.layers.zfs_properties import DATASET, POOL, check_property
from poolproof.layers.zfs_sides import mirror_sides
from poolproof.layers.zfs_txg import transaction_groups
from poolproof.layers.zfs_vdevs import Vdev, VdevReader, VdevTree
from poolproof.steps import Step
from poolproof.units import format_size, parse_size

_MIB = 1024**2
_GIB = 1024**3
_IMPORTED = 'cd "$0" && for pool in */; do echo "${pool%/}"; done'  # a third of the time of zpool list
_SMALLEST_BYTES = 74 * _MIB  # SPA_MINDEVSIZE of 64 MiB, and what zpool keeps free around its partition on a disk
_ALIKE_BYTES = 16 * _MIB  # ZPOOL_FUZZ of cmd/zpool/zpool_vdev.c
_SMALLEST_ARC_BYTES = 64 * _MIB  # MIN_ARC_MAX of module/zfs/arc.c
_LONGEST_NAME = 120
_LIMIT_S = 60.0
_ARC_MAX = "arc_max"


@dataclass(frozen=True)
class Zfs:
    """The vdev tree, properties of the pool (`zpool create -o`) and of its dataset (`-O`), the ARC's limit in bytes."""

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


class ZfsLayer(AdaptableLayer[Zfs]):
    """A pool: the dataset is mounted, and `| zvol` makes a block device of it."""

    word = "zfs"
    summary = "a ZFS pool, in zpool's own words: `zfs mirror hdd1 hdd2 log nvme1 ashift=12`"
    programs = ("zpool", "zfs")
    packages = ("zfsutils-linux",)
    module_packages = ("zfs-dkms",)

    def read(self, reading: StageReader) -> LayerNode:
        reader = VdevReader(reading)
        vdevs = reader.read()
        arguments.check_blocks(reading, reader.inputs, self.word)
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
        return LayerNode(self, spec, tuple(node for _, node in reader.inputs))

    def modules(self, spec: Zfs) -> tuple[str, ...]:
        return ("zfs",)

    def plan(self, spec: Zfs, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        _check_sizes(spec.vdevs, inputs)
        pool, paths = kernel_name(site, name, longest=_LONGEST_NAME), [device.path for device in inputs]
        point = mount.mount_point(site, pool)
        sizes = [device.size_bytes for device in inputs if device.size_bytes is not None]
        return LayerPlan(
            make=(
                zfs_commands.load_module(),
                *_arc_limit(spec, site, name),
                *_key(spec, site, name),
                mount.make_mount_point(point),
                wipe(paths),
                _create(spec, pool, paths, site, name),
                zfs_commands.wait_until_quiet(pool),
            ),
            open=(zfs_commands.open_pool(pool, site.mount_dir, paths),),
            close=(zfs_commands.close_pool(pool),),
            flush=(zfs_commands.flush_pool(pool),),
            volume=Volume(
                point,
                False,
                tuple(leaf for device in inputs for leaf in device.leaves),
                self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None,
            ),
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
        flat = [path for vdev in removable for path in vdev]
        note = f"{site.state_dir}/{name}.added"
        return (
            wipe(flat),
            zfs_commands.add(pool_of(volume), spec.vdevs.added(paths), removable, note),
        )

    def can_become(self, standing: LayerNode, wanted: LayerNode) -> bool:
        return _exchanges(standing, wanted) is not None

    def become(
        self, standing: LayerNode, old: Sequence[Volume], wanted: LayerNode, new: Sequence[Volume], volume: Volume
    ) -> tuple[Step, ...]:
        """All that is new is attached and has its data before anything is given up."""
        pool, found = pool_of(volume), _exchanges(standing, wanted) or ()
        attached = [(old[each.anchor].path, new[member].path) for each in found for member in each.attached]
        detached = [old[member].path for each in found for member in each.detached]
        arriving = (wipe([path for _, path in attached]),) if attached else ()
        return (
            *arriving,
            *(zfs_commands.attach(pool, anchor, path) for anchor, path in attached),
            *((zfs_commands.wait_until_quiet(pool),) if attached else ()),
            *(zfs_commands.detach(pool, path) for path in detached),
        )

    def moves_what_is_written(self, spec: Zfs) -> bool:
        return True

    def write_factor(self, spec: Zfs, inputs: Sequence[float]) -> float:
        """Of the data; what a log vdev takes of synchronous writes comes on top. Of unlike vdevs the smallest."""
        return min(vdev.write_factor(inputs) for vdev in spec.vdevs.data) * spec.copies

    def capacity_bytes(self, spec: Zfs, inputs: Sequence[int]) -> int:
        """Less labels and metaslab rounding (32 MiB a device), the slop space, and 5 % for metadata.

        Slop is 1/32 of the pool, at least 128 MiB, at most half the pool or 128 GiB: spa_get_slop_space() of OpenZFS.
        """
        usable = [max(0, size - 32 * _MIB) for size in inputs]
        raw = sum(vdev.capacity_bytes(usable) for vdev in spec.vdevs.data)
        slop = min(128 * _GIB, max(raw // 32, min(raw // 2, 128 * _MIB)))
        return (raw - slop) * 95 // 100 // spec.copies

    def redundancy(self, spec: Zfs, inputs: Sequence[int]) -> int:
        """The weakest of the vdevs that a pool can't do without: a log or a cache may fail, `copies` help no disk."""
        needed = (*spec.vdevs.data, *spec.vdevs.special, *spec.vdevs.dedup)
        return min(survives([inputs[member] for member in vdev.members], vdev.survives) for vdev in needed)

    def stored(
        self, spec: Zfs, volume: Volume, inputs: Sequence[Volume], total_bytes: int, host: Host
    ) -> tuple[int, ...]:
        """By what `zpool list -v` says is allocated on each data vdev; nothing on log, cache, special, dedup, spare."""
        ordered = sorted(spec.vdevs.data, key=lambda vdev: vdev.kind != "disk")
        shares = _shares(ordered, _space_of(pool_of(volume), host))
        held = [0] * len(inputs)
        for vdev, share in zip(ordered, shares, strict=True):
            for member in vdev.members:
                held[member] = vdev.stored(int(total_bytes * spec.copies * share))
        return tuple(held)

    def busy_with(self, spec: Zfs, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        pool = pool_of(volume)
        found = zfs_report.busy_with(host.run(("zpool", "status", "-i", "-t", pool), timeout_s=_LIMIT_S).stdout)
        return f"zfs works on {pool}: {found}" if found else None

    def describe(self, spec: Zfs, volume: Volume, inputs: Sequence[Volume], host: Host, target: Target) -> Target:
        pool = pool_of(volume)
        properties = read_properties(pool, host)
        ashift = dict(spec.pool).get("ashift", "0")
        others = target.zfs or ZfsFacts()
        return replace(
            target,
            record_bytes=int(properties["recordsize"]),
            compression=compression_of(properties),
            alignment_bytes=1 << int(ashift) if ashift != "0" else None,
            zfs=ZfsFacts(
                version=_read(host, "/sys/module/zfs/version"),
                direct=properties.get("direct"),
                sync=properties.get("sync"),
                logbias=properties.get("logbias"),
                primarycache=properties.get("primarycache"),
                dedup=properties.get("dedup"),
                arc_max_bytes=_arcstats(host).get("c_max"),
                has_log=others.has_log or bool(spec.vdevs.log),
                has_cache=others.has_cache or bool(spec.vdevs.cache),
                mirrors=(*others.mirrors, *mirror_sides(spec.vdevs.data, inputs, host)),
                pools=(*others.pools, pool),
                objsets=(*others.objsets, *_objset(pool, properties)),
            ),
        )

    def vdevs(self, volume: Volume, host: Host) -> tuple[VdevUse, ...]:
        pool = pool_of(volume)
        tops = [row for row in _space_of(pool, host) if row.depth == 1]
        return tuple(VdevUse(pool, row.name, row.section, row.size_bytes, row.allocated_bytes) for row in tops)

    def dataset(self, volume: Volume) -> str | None:
        return pool_of(volume)

    def write_back(self, spec: Zfs, volume: Volume, host: Host) -> WriteBack | None:
        return transaction_groups(host)

    def cached_bytes(self, spec: Zfs, volume: Volume, host: Host) -> int | None:
        """File data in the ARC. It is one for all pools: told for the first of the layout's, and 0 for its others.

        With others' pools imported it tells nothing of these. A run's pools are the layout's: one stands at a time.
        """
        pool = pool_of(volume)
        imported = host.run(("sh", "-c", _IMPORTED, KSTATS), timeout_s=_LIMIT_S).stdout.split()
        if pool not in imported or not all(each.startswith(_names_of_run(pool)) for each in imported):
            return None
        return _arcstats(host).get("data_size") if pool == min(imported) else 0


def _exchanges(standing: LayerNode, wanted: LayerNode) -> tuple[Exchange, ...] | None:
    """None where the pools differ in more than the leaves of their mirrors."""
    old, new = standing.spec, wanted.spec
    assert isinstance(old, Zfs)
    if not isinstance(new, Zfs) or replace(old, vdevs=new.vdevs) != new:
        return None
    return exchanges(old.vdevs, standing.inputs, new.vdevs, wanted.inputs)


def pool_of(volume: Volume) -> str:
    """The pool's name, which its mount point bears."""
    return volume.path.rpartition("/")[2]


def _names_of_run(pool: str) -> str:
    """What the names of all pools of a pool's run begin with: `poolproof-LABEL-`."""
    return "-".join([*pool.split("-")[:2], ""])


def read_properties(dataset: str, host: Host) -> Mapping[str, str]:
    """All properties of a dataset or volume, sizes in bytes.

    Raises:
        HostError: there is no such dataset.
    """
    try:
        said = host.run(("zfs", "get", "-H", "-p", "-o", "property,value", "all", dataset), timeout_s=_LIMIT_S)
    except CommandError as error:
        raise HostError(f"the properties of {dataset} cannot be read: {error.message}", "zfs list") from None
    return zfs_report.parse_properties(said.stdout)


def _objset(pool: str, properties: Mapping[str, str]) -> tuple[str, ...]:
    """The file below KSTATS in which the dataset is counted."""
    number = properties.get("objsetid", "")
    return (f"{pool}/objset-{int(number):#x}",) if number.isdigit() else ()


def compression_of(properties: Mapping[str, str]) -> str | None:
    """The property as set; None when nothing is compressed."""
    said = properties.get("compression", "off")
    return None if said == "off" else said


def _is_of_pool(option: Option) -> bool:
    return option.key in POOL or option.key.startswith("feature@")


def _arc_max(reading: StageReader, option: Option) -> int:
    try:
        size_bytes = parse_size(option.value)
    except ValueError:
        raise reading.mistake(option, f"`{option.value}` is no size; write one: arc_max=1G") from None
    if size_bytes < _SMALLEST_ARC_BYTES:
        raise reading.mistake(option, "ZFS takes no zfs_arc_max below 64M")
    return size_bytes


def _arc_limit(spec: Zfs, site: Site, name: str) -> tuple[Step, ...]:
    if spec.arc_max_bytes is None:
        return ()
    return (zfs_commands.limit_arc(spec.arc_max_bytes, f"{site.state_dir}/{name}.arc"),)


def _key(spec: Zfs, site: Site, name: str) -> tuple[Step, ...]:
    return (make_key(key_path(site, name)),) if spec.is_encrypted else ()


def _create(spec: Zfs, pool: str, paths: Sequence[str], site: Site, name: str) -> Step:
    locked = [("keyformat", "raw"), ("keylocation", f"file://{key_path(site, name)}")] if spec.is_encrypted else []
    return zfs_commands.create(
        pool, site.mount_dir, spec.pool, (*spec.dataset, *locked), spec.vdevs.words(paths), paths
    )


def _shares(vdevs: Sequence[Vdev], rows: Sequence[zfs_report.VdevSpace]) -> list[float]:
    """How much of the data lies on each data vdev; zpool counts parity among what is allocated."""
    found = [row.allocated_bytes or 0 for row in rows if row.depth == 1 and not row.section]
    data = [vdev.data_in(count) for count, vdev in zip(found, vdevs, strict=False)]
    return [count / max(1, sum(data)) for count in data]


def _space_of(pool: str, host: Host) -> tuple[zfs_report.VdevSpace, ...]:
    return zfs_report.parse_list(host.run(("zpool", "list", "-v", "-p", pool), timeout_s=_LIMIT_S).stdout)


def _arcstats(host: Host) -> Mapping[str, int]:
    return parse_kstat(_read(host, f"{KSTATS}/arcstats") or "")


def _read(host: Host, path: str) -> str | None:
    try:
        return host.read(path).strip()
    except FileMissing:
        return None


def _check_sizes(vdevs: VdevTree, inputs: Sequence[Volume]) -> None:
    for device in inputs:
        if device.size_bytes is not None and device.size_bytes < _SMALLEST_BYTES:
            raise HostError(
                f"{device.path} has {format_size(device.size_bytes)}, and zfs needs 74 MiB on each device",
                "give the device a size of 74M or more in the campaign",
            )
    for vdev in () if vdevs.force else vdevs.groups:
        sizes = [inputs[member].size_bytes or 0 for member in vdev.members]
        if 0 not in sizes and max(sizes) - min(sizes) > _ALIKE_BYTES:
            raise HostError(
                f"zpool refuses {vdev} of unequal devices: {', '.join(map(format_size, sizes))}",
                "give them the same size, or write `-f` after `zfs` to force it, as zpool does",
            )


LAYER = ZfsLayer()
