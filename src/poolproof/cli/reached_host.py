"""Where a run takes place: this machine, one over SSH, a lab that stands, or a lab that lives as long as the run."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from poolproof.campaign.model import Campaign
from poolproof.cli.saying import say
from poolproof.errors import HostError
from poolproof.hosts.base import Host, HostUnreachable
from poolproof.hosts.reach import reach
from poolproof.results.runs.model import RunLab

if TYPE_CHECKING:
    from poolproof.lab.standing import Lab

_LAB = "lab:"
_OWN = "run-"


@dataclass(frozen=True)
class ReachedHost:
    """The host, the campaign as it is seen from there, and the identities of the disks that may be overwritten."""

    host: Host
    campaign: Campaign
    permitted: frozenset[str]


@contextlib.contextmanager
def reached(name: str) -> Iterator[Host]:
    """The host of that name: `local`, `lab:NAME`, or whatever ssh understands.

    Raises:
        UsageError: the name is no destination for ssh.
        HostError: it can't be reached, or the lab is not running.
    """
    if not name.startswith(_LAB):
        with reach(name) as host:
            yield host
        return
    from poolproof.lab import link
    from poolproof.lab.standing import find

    lab = find(name)
    with _crash_told(lab, f"the lab {lab.name}", lab.start_command), link.reached(lab) as host:
        yield host


@contextlib.contextmanager
def on_host(name: str, campaign: Campaign, permitted: frozenset[str]) -> Iterator[ReachedHost]:
    """A host that is there already. Devices that a lab has as disks are those disks.

    Raises:
        UsageError, HostError: as `reached`.
        CampaignError: the lab's disk of a device's name is another one.
    """
    with reached(name) as host:
        if not name.startswith(_LAB):
            yield ReachedHost(host, campaign, permitted)
            return
        from poolproof.lab.campaign import own_disks, seen_from
        from poolproof.lab.standing import find

        lab = find(name).record
        yield ReachedHost(host, seen_from(lab, campaign), permitted | own_disks(lab))


@contextlib.contextmanager
def in_own_lab(wish: RunLab, label: str, campaign: Campaign, *, keep: bool) -> Iterator[ReachedHost]:
    """A lab with the campaign's devices as its disks; its image is built where it is not there.

    It ends with the context, unless it is to be kept.

    Raises:
        CampaignError: a device can't be a disk of a lab.
        HostError: the image can't be built, or the lab can't be started, or it crashed.
    """
    from poolproof.lab import link
    from poolproof.lab.campaign import own_disks, seen_from
    from poolproof.lab.standing import remove

    lab = _start(wish, label, campaign, keep=keep)
    try:
        with _crash_told(lab, "the lab"), link.reached(lab) as host:
            yield ReachedHost(host, seen_from(lab.record, campaign), own_disks(lab.record))
    finally:
        if keep:
            say(f"the lab stays: poolproof lab ssh {lab.name}; its end: poolproof lab rm {lab.name}")
        else:
            remove(lab.folder)


@contextlib.contextmanager
def _crash_told(lab: "Lab", name: str, *first: str) -> Iterator[None]:
    """Where the lab's machine is gone, its last words in place of the lost link's; `first` is to be typed first.

    The way to a machine that is gone never works again; what follows in the link's hint does.
    """
    from poolproof.lab.standing import is_running

    try:
        yield
    except HostUnreachable as error:
        if is_running(lab.folder):
            raise
        again = error.hint.rpartition("then: ")[2] if "then: " in error.hint else ""
        hint = "; then: ".join((*first, again) if again else first)
        raise HostError(f"{name} crashed: {lab.last_words()}", hint) from None


def own_lab_folder(label: str) -> Path:
    """Where the own lab of the run with that label lies, there or not."""
    from poolproof.lab.standing import folder_of

    return folder_of(f"{_OWN}{label}")


def _start(wish: RunLab, label: str, campaign: Campaign, *, keep: bool) -> "Lab":
    from poolproof.lab.accelerate import check_wish
    from poolproof.lab.build import built_or_build
    from poolproof.lab.disks import check_devices
    from poolproof.lab.standing import this_process
    from poolproof.lab.start import LabRequest, check_programs, start

    acceleration = check_wish(wish.acceleration)
    check_devices(campaign.devices)
    check_programs(f"{_OWN}{label}", campaign.devices)
    request = LabRequest(
        name=f"{_OWN}{label}",
        series=wish.zfs,
        image=built_or_build(wish.zfs, say),
        devices=campaign.devices,
        ram_bytes=wish.ram_bytes,
        processors=wish.processors,
        wish=acceleration,
        owner=None if keep else this_process(),
    )
    return start(request, say)
