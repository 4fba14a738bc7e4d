"""`poolproof check`: check a campaign without running it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from poolproof.cli.options import Json
from poolproof.cli.output import print_answer

if TYPE_CHECKING:
    from poolproof.campaign.model import Device


def command(
    campaign: Annotated[Path, Argument(metavar="CAMPAIGN", help="The campaign's YAML file.")], as_json: Json = False
) -> None:
    """Check a campaign and list its cells. Nothing is run.

    If this machine has a disk that the campaign names, and lsblk shows that the disk is in use or not empty, the output
    contains a note.
    """
    from poolproof.campaign.calibration import calibrated_device, calibration_of
    from poolproof.campaign.expression import format_expression
    from poolproof.campaign.external_engine import FLAG, engines_in, with_engines
    from poolproof.campaign.trial_length import few_events_ahead
    from poolproof.campaign.yaml import read_campaign
    from poolproof.measure.plan import check_without_host
    from poolproof.units import format_number_of

    parsed = read_campaign(campaign)
    engines = engines_in(parsed)
    devices = check_without_host(with_engines(parsed, engines))
    layouts = {layout.name: format_expression(layout.expression) for layout in parsed.layouts}
    workloads = [each.name for each in parsed.workloads]
    product = f"{format_number_of(len(layouts), 'layout')} × {format_number_of(len(workloads), 'workload')}"
    lines = [f"{parsed.name}: {product} = {format_number_of(len(layouts) * len(workloads), 'cell')}"]
    calibration = calibration_of(parsed)
    if calibration.layouts:
        disks = ", ".join(calibrated_device(layout.name) or "" for layout in calibration.layouts)
        count = format_number_of(len(calibration.workloads), "workload")
        lines.append(f"  first, each disk is measured alone ({disks}) under {count}")
    lines += [f"  layout {name}: {expression}" for name, expression in layouts.items()]
    lines += [f"  workload {name}" for name in workloads]
    notes = [
        *_refused_here(devices),
        *few_events_ahead(parsed),
        *(f"fio would run the code in {path}; `run` permits this only with {FLAG} {path}" for path in engines),
    ]
    lines += [f"note: {note}" for note in notes]
    answer = {"name": parsed.name, "layouts": layouts, "workloads": workloads, "notes": notes}
    print_answer(answer, lines, as_json=as_json)


def _refused_here(devices: "Sequence[Device]") -> "Iterator[str]":
    """Yield a note for each disk that this machine has but `run` would reject on it.

    The campaign may be meant for another machine, so this is not an error. The disks' contents are not read.
    """
    from poolproof.campaign.model import Disk
    from poolproof.devices.disk import find_disk
    from poolproof.devices.guard import known_refusal
    from poolproof.errors import PoolproofError
    from poolproof.facts.block import block_devices
    from poolproof.hosts.local import HERE

    named = {device.name: device.source.identity for device in devices if isinstance(device.source, Disk)}
    try:
        disks = block_devices(HERE, ()) if named else ()
    except PoolproofError:
        return
    for name, identity in named.items():
        try:
            refused = known_refusal(find_disk(name, identity, disks))
        except PoolproofError:
            continue
        if refused is not None:
            yield f"on this machine, `run` would reject device {name}: {refused.message}"
