"""`poolproof presets`: the predefined workloads."""

import json

import typer

from poolproof.cli.options import Json


def command(as_json: Json = False) -> None:
    """List the predefined workloads, what each represents, and its fio options."""
    from poolproof.campaign.presets import presets

    rows = [
        {
            "name": preset.name,
            "summary": preset.summary,
            "metric": preset.metric,
            "jobs": {job.name: dict(job.options) for job in preset.jobs},
        }
        for preset in presets().values()
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for preset in presets().values():
        typer.echo(f"{preset.name}: {preset.summary}")
        for job in preset.jobs:
            typer.echo(f"  {' '.join(f'{key}={value}' for key, value in job.options)}")
