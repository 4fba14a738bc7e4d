"""`poolproof check`: read a campaign, run nothing."""

import json
from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.options import Json


def command(
    campaign: Annotated[Path, typer.Argument(help="The campaign's YAML file.")],
    as_json: Json = False,
) -> None:
    """Read a campaign and its layout expressions, and say which cells it has."""
    from poolproof.campaign.calibration import calibrated_device, calibration_of
    from poolproof.campaign.grammar import format_expression
    from poolproof.campaign.yaml import read_campaign
    from poolproof.layers.tree import resolve
    from poolproof.units import format_number_of

    asked = read_campaign(campaign)
    names = {device.name for device in asked.devices}
    for layout in asked.layouts:
        resolve(layout.expression, names)
    layouts = {layout.name: format_expression(layout.expression) for layout in asked.layouts}
    workloads = [workload.name for workload in asked.workloads]
    if as_json:
        typer.echo(json.dumps({"name": asked.name, "layouts": layouts, "workloads": workloads}))
        return
    counted = f"{format_number_of(len(layouts), 'layout')} × {format_number_of(len(workloads), 'workload')}"
    typer.echo(f"{asked.name}: {counted} = {format_number_of(len(layouts) * len(workloads), 'cell')}")
    calibration = calibration_of(asked)
    if calibration.layouts:
        disks = ", ".join(calibrated_device(layout.name) or "" for layout in calibration.layouts)
        count = format_number_of(len(calibration.workloads), "workload")
        typer.echo(f"  first each disk alone: {disks}, under {count}")
    for name, line in layouts.items():
        typer.echo(f"  layout {name}: {line}")
    for workload in workloads:
        typer.echo(f"  workload {workload}")
