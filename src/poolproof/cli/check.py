"""`poolproof check`: read a campaign without running it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.options import Json


def command(
    campaign: Annotated[Path, typer.Argument(help="The campaign's YAML file.")],
    as_json: Json = False,
) -> None:
    """Check a campaign and its layout expressions, and list its cells. Nothing is run."""
    from poolproof.campaign.calibration import calibrated_device, calibration_of
    from poolproof.campaign.grammar import format_expression
    from poolproof.campaign.yaml import read_campaign
    from poolproof.layers.least_trial import check_budget
    from poolproof.layers.tree import resolve
    from poolproof.units import format_number_of

    parsed = read_campaign(campaign)
    names = {device.name for device in parsed.devices}
    for layout in parsed.layouts:
        resolve(layout.expression, names)
    check_budget(parsed)
    layouts = {layout.name: format_expression(layout.expression) for layout in parsed.layouts}
    workloads = [workload.name for workload in parsed.workloads]
    if as_json:
        typer.echo(json.dumps({"name": parsed.name, "layouts": layouts, "workloads": workloads}))
        return
    counted = f"{format_number_of(len(layouts), 'layout')} × {format_number_of(len(workloads), 'workload')}"
    typer.echo(f"{parsed.name}: {counted} = {format_number_of(len(layouts) * len(workloads), 'cell')}")
    calibration = calibration_of(parsed)
    if calibration.layouts:
        disks = ", ".join(calibrated_device(layout.name) or "" for layout in calibration.layouts)
        count = format_number_of(len(calibration.workloads), "workload")
        typer.echo(f"  first, each disk is measured alone ({disks}) under {count}")
    for name, line in layouts.items():
        typer.echo(f"  layout {name}: {line}")
    for workload in workloads:
        typer.echo(f"  workload {workload}")
