"""Connects to the host of a run: this machine, another one over SSH, a running lab, or a lab started for this run."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof import process
from poolproof.campaign.model import Campaign, Device, Disk
from poolproof.campaign.write import format_source
from poolproof.errors import CampaignError, HostError, PoolproofError
from poolproof.hosts.base import Host, Hosts, HostUnreachable
from poolproof.hosts.local import reach
from poolproof.lab.contents import check_image
from poolproof.lab.labs import PREFIX, Lab, LabRecord, find, image_named, is_running, last_words, remove, this_process
from poolproof.results.runs.model import RunLab


@dataclass(frozen=True)
class ReachedHost:
    """A host, the campaign adapted to the host's disks, and the identities of the disks that may be overwritten."""

    host: Host
    campaign: Campaign
    permitted: frozenset[str]


@contextlib.contextmanager
def reach_host(name: str) -> Iterator[Host]:
    """Connect to a host: `local`, `lab:NAME`, or any destination that ssh accepts.

    Raises:
        UsageError: the name is not an ssh destination.
        HostError: the host can't be reached, or the lab is not running.
    """
    if not name.startswith(PREFIX):
        with reach(name) as host:
            yield host
        return
    lab = find(name)
    with _explain_crash(lab, f"the lab {lab.name}", lab.start_command), _reach_lab(lab) as host:
        yield host


@contextlib.contextmanager
def reach_others(main: Host, names: Iterable[str], warn: Callable[[str], None] | None = None) -> Iterator[Host]:
    """Connect to the other hosts of a run. Yields a single `Host` that represents all hosts of the run.

    `warn`: called with an error message for each host that is unreachable or has an invalid name. The host is then
    skipped. If `warn` is None, the same errors as in `reach_host` are raised instead.
    """
    others: dict[str, Host] = {}
    with contextlib.ExitStack() as links:
        for name in sorted(set(names) - {"", main.name}):
            try:
                others[name] = links.enter_context(reach_host(name))
            except PoolproofError as error:
                if warn is None:
                    raise
                warn(error.message)
        yield Hosts(main, others) if others else main


@contextlib.contextmanager
def reach_for_campaign(name: str, campaign: Campaign, permitted: frozenset[str]) -> Iterator[ReachedHost]:
    """Connect to an existing host. If it is a lab, its disks replace the campaign's devices with the same names.

    Raises:
        UsageError: as in `reach_host`.
        CampaignError: a lab disk differs from the campaign's device with the same name.
        HostError: as in `reach_host`, or the lab's image lacks packages that the campaign needs.
    """
    with reach_host(name) as host:
        if name.startswith(PREFIX):
            lab = find(name)
            anew = f"poolproof lab rm {lab.name}; poolproof lab build --zfs {lab.record.series}"
            check_image(image_named(lab.record.image), campaign, f"{anew}; then: {lab.start_command}")
            yield _in_lab(host, lab.record, campaign, permitted)
        else:
            yield ReachedHost(host, campaign, permitted)


@contextlib.contextmanager
def reach_own_lab(
    options: RunLab, name: str, campaign: Campaign, *, keep: bool, tell: Callable[[str], None]
) -> Iterator[ReachedHost]:
    """Start a lab whose disks are the campaign's devices. If the lab's image does not exist, it is built first.

    The lab is removed when the context ends, unless `keep` is set.

    Raises:
        CampaignError: a device can't become a disk of a lab.
        HostError: the image can't be built, or the lab can't be started or has crashed.
    """
    lab = _start(options, name, campaign, keep=keep, tell=tell)
    try:
        with _explain_crash(lab, "the lab"), _reach_lab(lab) as host:
            yield _in_lab(host, lab.record, campaign, frozenset())
    finally:
        if keep:
            state = (
                f"keeps running: poolproof lab ssh {lab.name}" if is_running(lab.folder) else "has crashed, but is kept"
            )
            tell(f"the lab {state}; to remove it: poolproof lab rm {lab.name}")
        else:
            remove(lab.folder)


def run_in_lab(lab: Lab, argv: Sequence[str], timeout_s: float) -> process.Completed:
    """Run a program as root in the lab and wait until it ends.

    Raises:
        HostError: the lab is not running.
        CommandError: the program is not installed in the lab, or exceeded the time limit.
    """
    with _reach_lab(lab) as host:
        return host.run(argv, timeout_s=timeout_s, check=False)


def ssh_command(lab: Lab) -> list[str]:
    """Return the command for an interactive ssh session in the lab. Raises a HostError if the lab is not running."""
    if lab.state not in ("running", "orphan"):
        raise HostError(f"the lab {lab.name} is not running (state: {lab.state})", lab.start_command)
    return ["ssh", "-F", str(lab.ssh_config), lab.destination]


def with_lab_disks(lab: LabRecord, campaign: Campaign) -> Campaign:
    """Return a copy of the campaign in which lab disks replace the devices with the same names.

    Raises a CampaignError if a lab disk differs from the device with the same name.
    """
    return replace(campaign, devices=tuple(_as_lab_disk(lab, device) for device in campaign.devices))


def _as_lab_disk(lab: LabRecord, device: Device) -> Device:
    if isinstance(device.source, Disk) or device.name not in lab.disks:
        return device
    source = format_source(device.source)
    if source != lab.sources[device.name]:
        raise CampaignError(
            f"device {device.name} is {source} in the campaign, but {lab.sources[device.name]} in the lab {lab.name}",
            "start another lab, or let the run start its own lab: --lab",
        )
    return replace(device, source=Disk(lab.disks[device.name]))


def _in_lab(host: Host, lab: LabRecord, campaign: Campaign, permitted: frozenset[str]) -> ReachedHost:
    """Return the lab as the host for the campaign. The lab's own disks may always be overwritten."""
    return ReachedHost(host, with_lab_disks(lab, campaign), permitted | frozenset(lab.disks.values()))


@contextlib.contextmanager
def _reach_lab(lab: Lab) -> Iterator[Host]:
    from poolproof.hosts.ssh import SshHost

    ssh_command(lab)
    with SshHost(lab.destination, lab.ssh_config) as host:
        yield host


@contextlib.contextmanager
def _explain_crash(lab: Lab, name: str, *first: str) -> Iterator[None]:
    """If the lab has crashed, raise an error that shows the end of its console log instead of the lost connection.

    `first`: commands to suggest in the hint, ahead of the command that the original hint ends with.
    """
    try:
        yield
    except HostUnreachable as error:
        if is_running(lab.folder):
            raise
        again = error.hint.rpartition("then: ")[2] if "then: " in error.hint else ""
        hint = "; then: ".join((*first, again) if again else first)
        raise HostError(f"{name} crashed: {last_words(lab.folder)}", hint) from None


def _start(options: RunLab, name: str, campaign: Campaign, *, keep: bool, tell: Callable[[str], None]) -> Lab:
    from poolproof.lab.boot import check_acceleration
    from poolproof.lab.build import built_or_build
    from poolproof.lab.disks import check_devices
    from poolproof.lab.start import LabRequest, check_programs, start

    acceleration = check_acceleration(options.acceleration)
    check_devices(campaign.devices)
    check_programs(name, campaign.devices)
    image = built_or_build(options.zfs, tell)
    check_image(
        image,
        campaign,
        "build the image on a Debian machine and copy it to this machine: see `The image` in docs/lab.md",
    )
    request = LabRequest(
        name=name,
        series=options.zfs,
        image=image,
        devices=campaign.devices,
        ram_bytes=options.ram_bytes,
        processors=options.processors,
        acceleration=acceleration,
        owner=None if keep else this_process(),
    )
    return start(request, tell)
