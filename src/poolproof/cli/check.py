"""`poolproof check`: check a campaign without running it."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from poolproof.cli.options import Json
from poolproof.cli.output import print_answer


def command(
    campaign: Annotated[Path, Argument(metavar="CAMPAIGN", help="The campaign's YAML file.")], as_json: Json = False
) -> None:
    """Check a campaign and list its cells. Nothing is run."""
    from poolproof.campaign.calibration import calibrated_device, calibration_of
    from poolproof.campaign.error_location import located_in
    from poolproof.campaign.expression import format_expression
    from poolproof.campaign.external_engine import FLAG, engines_in, with_engines
    from poolproof.campaign.trial_length import few_events_ahead
    from poolproof.campaign.yaml import read_campaign
    from poolproof.layers.least_trial import check_budget
    from poolproof.layers.resolve import resolve
    from poolproof.layers.trims import check_trims
    from poolproof.load.generator import generator_for
    from poolproof.units import format_number_of

    parsed = read_campaign(campaign)
    names = {device.name for device in parsed.devices}
    for layout in parsed.layouts:
        resolve(layout.expression, names)
    check_trims(parsed)
    check_budget(parsed)
    engines = engines_in(parsed)
    for workload in with_engines(parsed, engines).workloads:
        with located_in(workload):
            generator_for(workload).check_permitted(workload)
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
        *few_events_ahead(parsed),
        *(f"fio would run the code in {path}; `run` permits this only with {FLAG} {path}" for path in engines),
    ]
    lines += [f"note: {note}" for note in notes]
    answer = {"name": parsed.name, "layouts": layouts, "workloads": workloads, "notes": notes}
    print_answer(answer, lines, as_json=as_json)
