"""Layouts built on the disks of a running lab: made, written to, cooled, counted, and taken down without a trace."""

import secrets
import shlex
from collections.abc import Mapping
from pathlib import Path

from poolproof.campaign.grammar import parse_expression
from poolproof.devices.model import Leaf, Site, Volume
from poolproof.facts.machine import survey
from poolproof.hosts.base import Host
from poolproof.layers import tree
from poolproof.layers.catalogue import all_layers
from poolproof.layers.extend import plan_extension
from poolproof.provision.apply import apply, repeat
from poolproof.provision.journal import Journal
from poolproof.provision.place import places, site_of
from poolproof.provision.undo import Leftover, undo_all

_LIMIT_S = 120.0
_MIB = 1024**2
_MODULES = ("zfs", "md_mod", "dm_mod", "dm_crypt")


class LayerBench:
    """One run's place on the lab machine: its disks by name, its journal, and the layouts that it builds."""

    def __init__(self, host: Host, disks: Mapping[str, str], folder: Path) -> None:
        self.host = host
        self.volumes = {name: self._volume(name, path) for name, path in disks.items()}
        self.site = self._site()
        self._journal = Journal(folder / "journal.jsonl")
        self._kept: frozenset[int] = frozenset()
        self.renew()

    def renew(self) -> None:
        """Make the run's directory, also again after a tear-down."""
        apply(places(self.site, with_ram=False), self.host, self._journal, may_overwrite=frozenset())

    def plan(self, text: str) -> tree.TreePlan:
        node = tree.resolve(parse_expression(text), list(self.volumes))
        return tree.plan_tree(node, self.volumes, self.site, "bench")

    def build(self, text: str) -> tree.TreePlan:
        plan = self.plan(text)
        ours = frozenset(volume.path for volume in self.volumes.values()) | plan.block_paths
        apply(plan.make, self.host, self._journal, may_overwrite=ours)
        return plan

    def extend(self, core: tree.TreePlan, text: str) -> tree.TreePlan:
        """The whole layout over its standing core."""
        node = tree.resolve(parse_expression(text), list(self.volumes))
        whole = plan_extension(core, node, self.volumes, self.site, "more")
        self._kept = frozenset(change.number for change in self._journal.standing())
        ours = frozenset(volume.path for volume in self.volumes.values()) | whole.block_paths
        apply(whole.make, self.host, self._journal, may_overwrite=ours)
        return whole

    def retract(self) -> tuple[Leftover, ...]:
        """Undo what the last extension brought."""
        return undo_all(self._journal, self.host, keep=lambda change: change.number in self._kept)

    def cool(self, plan: tree.TreePlan) -> None:
        repeat(plan.close, self.host)
        repeat(plan.open, self.host)

    def flush(self, plan: tree.TreePlan) -> None:
        repeat(plan.flush, self.host)

    def write(self, plan: tree.TreePlan, size_mib: int) -> str:
        """Random bytes, whole on the disks; returns their checksum."""
        path = self._data(plan)
        self.sh(f"dd if=/dev/urandom of={path} bs=1M count={size_mib} conv=fsync status=none")
        self.flush(plan)
        return self.checksum(plan, size_mib)

    def checksum(self, plan: tree.TreePlan, size_mib: int) -> str:
        return self.sh(f"dd if={self._data(plan)} bs=1M count={size_mib} status=none | md5sum").split()[0]

    def sh(self, script: str) -> str:
        return self.host.run(("sh", "-c", script), timeout_s=_LIMIT_S).stdout

    def read_bytes(self) -> int:
        """Bytes read from all disks since they appeared."""
        return sum(
            int(self.host.read(leaf.counter).split()[2]) * 512
            for volume in self.volumes.values()
            for leaf in volume.leaves
        )

    def tear_down(self) -> tuple[Leftover, ...]:
        return undo_all(self._journal, self.host)

    def traces(self) -> list[str]:
        """Whatever on the machine still bears the run's label, and signatures that could be taken for a layout."""
        label = shlex.quote(self.site.label)
        script = (
            f"grep -h {label} /proc/mounts; ls -d /dev/mapper/*{label}* /dev/md/*{label}* /dev/*{label}* "
            f"/proc/spl/kstat/zfs/*{label}* /dev/shm/*{label}* /var/tmp/*{label}* 2>/dev/null; "
            f"zpool list -H -o name 2>/dev/null | grep {label}; ls /sys/block | grep -E '^(md|dm-|zd)'; true"
        )
        return self.sh(script).splitlines()

    def _data(self, plan: tree.TreePlan) -> str:
        return plan.volume.path if plan.volume.is_block else f"{plan.volume.path}/data"

    def _volume(self, name: str, path: str) -> Volume:
        kernel = self.sh(f"basename $(readlink -f {path})").strip()
        size = int(self.host.run(("blockdev", "--getsize64", path), timeout_s=_LIMIT_S).stdout)
        return Volume(path, True, (Leaf(name, path, f"/sys/class/block/{kernel}/stat"),), size)

    def _site(self) -> Site:
        label = secrets.token_hex(4)
        programs = {program for layer in all_layers().values() for program in layer.programs}
        machine = survey(self.host, programs, _MODULES)
        return site_of(machine, label, f"/var/tmp/poolproof-{label}", f"/dev/shm/poolproof-{label}", is_here=False)
