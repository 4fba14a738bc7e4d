"""Decides which real disks `resume` may overwrite: those that `--wipe` names, and those that the host remembers."""

from collections.abc import Sequence
from dataclasses import replace

from poolproof.campaign.model import Disk
from poolproof.devices.disk import check_wiped, find_disk, was_written
from poolproof.devices.guard import bare_identity
from poolproof.devices.permission import claim_note, forget_permission, kept_permission
from poolproof.errors import GuardError, RunError, as_word
from poolproof.facts.block import BlockFacts, block_devices
from poolproof.hosts.base import display_name
from poolproof.lab.reach import ReachedHost
from poolproof.results.runs.convergence import trials_ahead
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord


def still_permitted(run: RunDirectory, record: RunRecord, reached: ReachedHost, wipe: Sequence[str]) -> ReachedHost:
    """Return the host, with the disks that the run may overwrite according to `wipe` and to the host's own record.

    Raises:
        RunError: the host does not remember the disks, because the run is finished.
        GuardError: the host does not remember the disks and `wipe` is empty, or someone has written to a disk since the
            run released it and `wipe` does not name this disk.
        UsageError: `wipe` names a disk that the campaign does not use.
        CampaignError: one of the campaign's disks was not found.
    """
    kept = kept_permission(reached.host, record.state_dir) if record.allowed_disks else frozenset()
    unknown = [] if wipe else [name for name in record.allowed_disks if name not in kept]
    if unknown:
        if not trials_ahead([trial for trial in run.trials() if not trial.interrupted], reached.campaign):
            raise RunError(f"{run.path} is finished; nothing is left to measure", f"poolproof show {as_word(run.path)}")
        reason = (
            f"{', '.join(unknown)} may contain someone's data by now, because since the run was started, "
            f"{display_name(reached.host)} was rebooted or the run was cleaned up, or the run is from another machine"
        )
        raise GuardError(reason, _wipe_again(run, unknown, block_devices(reached.host, ())))
    if not kept and not wipe:
        return reached
    disks = block_devices(reached.host, ())
    check_wiped(wipe, reached.campaign.devices, disks)
    devices = {
        device.name: find_disk(device.name, device.source.identity, disks)
        for device in reached.campaign.devices
        if isinstance(device.source, Disk)
    }
    named = {bare_identity(name) for name in wipe}
    again = [name for name, disk in devices.items() if not named.isdisjoint(map(bare_identity, disk.identities))]
    notes = {name: claim_note(record.state_dir, name) for name in devices if name not in again}
    written = [devices[name].identity for name, note in notes.items() if was_written(devices[name], note, reached.host)]
    if written:
        raise GuardError(
            f"someone has written to {', '.join(written)} since this run released it, so it may contain someone's data",
            _wipe_again(run, [*wipe, *written], disks),
        )
    if again:
        forget_permission(reached.host, record.state_dir, again)
    return replace(reached, permitted=reached.permitted | (kept & frozenset(record.allowed_disks)))


def _wipe_again(run: RunDirectory, names: Sequence[str], disks: Sequence[BlockFacts]) -> str:
    """Return a hint: how to look for data on these disks, and how to permit overwriting them."""
    paths = {bare_identity(name): disk.stable_path for disk in disks for name in disk.identities}
    found = [paths[bare_identity(name)] for name in names if bare_identity(name) in paths] or ["DISK"]
    tests = (f"cmp -n 1G /dev/zero {as_word(path)}" for path in found)
    flags = " ".join(f"--wipe {as_word(name)}" for name in names)
    return (
        f"to check the first GiB for data: {'; '.join(tests)}; if the data can be deleted: poolproof resume "
        f"{as_word(run.path)} {flags}"
    )
