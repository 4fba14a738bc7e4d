"""Build layouts on the disks of a running lab, write to them, drop caches, read counters, and remove everything."""

import itertools
import secrets
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from poolproof.campaign.expression import parse_expression
from poolproof.devices.model import Leaf, Volume
from poolproof.facts.machine import Machine, survey
from poolproof.hosts.base import Host
from poolproof.layers import tree
from poolproof.layers.adapt import plan_change
from poolproof.layers.layer_catalogue import all_layers
from poolproof.layers.resolve import resolve
from poolproof.provision.apply import apply, repeat
from poolproof.provision.directories import directory_steps, owner_of, site_of
from poolproof.provision.journal import Journal
from poolproof.provision.owned import owned_by_site
from poolproof.provision.undo import FailedUndo, undo_all
from poolproof.steps import Step

_LIMIT_S = 120.0
_SECTOR = 512
_MODULES = ("zfs", "md_mod", "dm_mod", "dm_crypt")


@dataclass(frozen=True)
class LabFacts:
    """Facts about the lab machine, read once for all tests: its disks, keyed by name, and what it supports."""

    host: Host
    volumes: Mapping[str, Volume]
    machine: Machine


def facts_of(host: Host, disks: Mapping[str, str]) -> LabFacts:
    """Return the facts about a running lab.

    `disks`: the path of each disk, keyed by name.
    """
    programs = {program for layer in all_layers().values() for program in layer.programs}
    return LabFacts(host, volumes_of(host, disks), survey(host, programs, _MODULES))


def volumes_of(host: Host, disks: Mapping[str, str]) -> dict[str, Volume]:
    """Return the disks or partitions as devices of a campaign, keyed by name."""
    asked = (
        'for path; do node=$(readlink -f "$path"); echo "${node##*/} $(cat "/sys/class/block/${node##*/}/size")"; done'
    )
    said = host.run(("sh", "-c", asked, "sh", *disks.values()), timeout_s=_LIMIT_S).stdout.splitlines()
    rows = {name: (path, *line.split()) for (name, path), line in zip(disks.items(), said, strict=True)}
    return {
        name: Volume(path, True, (Leaf(name, path, f"/sys/class/block/{kernel}/stat"),), int(sectors) * _SECTOR)
        for name, (path, kernel, sectors) in rows.items()
    }


class LayerBench:
    """The state of a run on the lab machine: its journal, and the layouts that it has built."""

    def __init__(self, testbed: LabFacts, folder: Path) -> None:
        self.host, self.volumes = testbed.host, dict(testbed.volumes)
        label = secrets.token_hex(4)
        self.site = site_of(
            testbed.machine, label, f"/var/tmp/poolproof-{label}", f"/dev/shm/poolproof-{label}", is_here=False
        )
        self._disks = dict(testbed.volumes)
        self._built_on: set[str] = set()
        self._journal = Journal(folder / "journal.jsonl")
        self.renew()

    def renew(self) -> None:
        """Create the run's directory, which does not exist at first and after each removal of everything."""
        apply(
            directory_steps(self.site, owner_of(self._journal.path.parent), with_ram=False),
            self.host,
            self._journal,
            may_overwrite=frozenset(),
        )

    def use(self, paths: Mapping[str, str]) -> None:
        """Use these devices, for example partitions, instead of the disks.

        `paths`: the path of each device, keyed by name.
        """
        self.volumes = volumes_of(self.host, paths)

    def plan(self, text: str) -> tree.TreePlan:
        node = resolve(parse_expression(text), list(self.volumes))
        return tree.plan_tree(node, self.volumes, self.site, "bench")

    def build(self, text: str) -> tree.TreePlan:
        plan = self.plan(text)
        self._apply(plan, plan.make)
        return plan

    def change_until(self, existing: tree.TreePlan, text: str, last: str) -> None:
        """Start to convert the layout into another one in place, and stop after the step with this title.

        This leaves the same state as a run that was killed.
        """
        node = resolve(parse_expression(text), list(self.volumes))
        whole = plan_change(existing, node, self.volumes, self.site, "next")
        steps = itertools.takewhile(lambda step: not step.title.startswith(last), whole.make)
        (final,) = (step for step in whole.make if step.title.startswith(last))
        self._apply(whole, (*steps, final))

    def reopen_journal(self) -> None:
        """Open the journal again, as another process would that has only the file."""
        self._journal = Journal(self._journal.path)

    def cool(self, plan: tree.TreePlan) -> None:
        repeat(plan.close, self.host)
        repeat(plan.open, self.host)

    def flush(self, plan: tree.TreePlan) -> None:
        repeat(plan.flush, self.host)

    def write(self, plan: tree.TreePlan, size_mib: int) -> str:
        """Write random bytes to the layout, flush them to the disks, and return their checksum."""
        path = self._data(plan)
        # not through a pipe: in a pool this small, each write of a few KiB would become a transaction group
        fill = f"dd if=/dev/urandom of={path} bs=1M count={size_mib} status=none conv=notrunc"
        made = self.sh(f"{fill}; dd if={path} bs=1M count={size_mib} status=none | cksum; sync {path}")
        self.flush(plan)
        return made.strip()

    def checksum(self, plan: tree.TreePlan, size_mib: int) -> str:
        return self.sh(f"dd if={self._data(plan)} bs=1M count={size_mib} status=none | cksum").strip()

    def sh(self, script: str) -> str:
        return self.host.run(("sh", "-c", script), timeout_s=_LIMIT_S).stdout

    def tear_down(self) -> tuple[FailedUndo, ...]:
        return undo_all(self._journal, self.host, owned_by_site(self.site))

    def moved(self) -> dict[str, tuple[int, int]]:
        """Return the bytes read from and written to each device since it appeared, keyed by name."""
        counters = [leaf.counter for volume in self.volumes.values() for leaf in volume.leaves]
        said = self.host.run(("cat", *counters), timeout_s=_LIMIT_S).stdout.splitlines()
        rows = [line.split() for line in said]
        return {
            name: (int(row[2]) * _SECTOR, int(row[6]) * _SECTOR) for name, row in zip(self.volumes, rows, strict=True)
        }

    def wipe(self) -> None:
        """Erase the signatures of layouts on whole disks, as a run does for the disks that it has claimed."""
        paths = [volume.path for name, volume in self._disks.items() if name in self._built_on]
        if paths:
            self.sh(f"wipefs --all --quiet {shlex.join(paths)} && udevadm settle")

    def traces(self) -> list[str]:
        """Return everything that has the run's label, and all signatures that could be mistaken for a layout."""
        label = shlex.quote(self.site.label)
        script = (
            f"grep -h {label} /proc/mounts; ls -d /dev/mapper/*{label}* /dev/md/*{label}* /dev/*{label}* "
            f"/proc/spl/kstat/zfs/*{label}* /dev/shm/*{label}* /var/tmp/*{label}* 2>/dev/null; "
            f"zpool list -H -o name 2>/dev/null | grep {label}; ls /sys/block | grep -E '^(md|dm-|zd)'; true"
        )
        return self.sh(script).splitlines()

    def _data(self, plan: tree.TreePlan) -> str:
        return plan.volume.path if plan.volume.is_block else f"{plan.volume.path}/data"

    def _apply(self, plan: tree.TreePlan, steps: Iterable[Step]) -> None:
        self._built_on.update(leaf.name for leaf in plan.leaves)
        ours = frozenset(volume.path for volume in self.volumes.values()) | plan.block_paths
        apply(steps, self.host, self._journal, may_overwrite=ours)
