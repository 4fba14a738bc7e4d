"""A real disk that a run has claimed is empty again afterwards. A loop device takes the place of the disk."""

from pathlib import Path

import pytest

from poolproof.campaign.model import Device, Disk, LoopFile
from poolproof.devices.model import Site
from poolproof.devices.permission import forget_permission
from poolproof.devices.plan import DeviceFacts, plan_devices
from poolproof.facts.block import BlockFacts
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.provision.owned import owned_by_site
from poolproof.provision.undo import undo_all

from .real_devices import HOST, created

pytestmark = pytest.mark.parallel


def test_only_the_signatures_of_the_run_are_wiped(site: Site) -> None:
    with created(Device("stand-in", LoopFile(256 << 20)), site) as volume:
        number = HOST.run(["lsblk", "-dno", "MAJ:MIN", volume.path], timeout_s=60).stdout.strip()
        name = Path(volume.path).name
        disk = BlockFacts(name, volume.path, 256 << 20, "disk", number=number, serial="SN-0001", signatures=())
        facts = DeviceFacts(loops=(0,), disks=(disk,), permitted=frozenset({"SN-0001"}))
        (plan,) = plan_devices((Device("d", Disk("SN-0001")),), site, facts)
        journal = Journal(Path(site.state_dir) / "claim.journal")
        apply(plan.steps, HOST, journal, may_overwrite=frozenset())
        HOST.run(["mkfs.ext4", "-q", "-L", site.label, volume.path], timeout_s=60)
        assert _signatures(volume.path) == ["ext4"]
        assert undo_all(journal, HOST, owned_by_site(site)) == ()
        assert _signatures(volume.path) == []

        HOST.run(["mkfs.ext4", "-q", volume.path], timeout_s=60)
        assert undo_all(Journal(journal.path), HOST, owned_by_site(site)) == ()
        assert _signatures(volume.path) == ["ext4"], "once given back, the disk is not touched again"
        forget_permission(HOST, site.state_dir, ["d"])


def _signatures(path: str) -> list[str]:
    listing = HOST.run(["wipefs", "--no-act", "--noheadings", "--output", "TYPE", path], timeout_s=20)
    return listing.stdout.split()
