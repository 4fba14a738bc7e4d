"""`poolproof devices`: what a machine has, by the names to use in a campaign."""

import json

import typer

from poolproof.cli.run import LOCAL, Json, On


def command(on: On = LOCAL, as_json: Json = False) -> None:
    """List the disks of this machine, or of another one, by the names to use in a campaign; and the models of disks."""
    from poolproof.cli.ground import reached
    from poolproof.devices.emulated.model import MODELS
    from poolproof.facts.block import block_devices
    from poolproof.units import format_size

    with reached(on) as host:
        disks = [disk for disk in block_devices(host) if disk.kind == "disk"]
    if as_json:
        rows = [
            {"identity": disk.identity, "path": disk.path, "size_bytes": disk.size_bytes, "model": disk.model}
            for disk in disks
        ]
        typer.echo(json.dumps({"disks": rows, "models": {name: model.summary for name, model in MODELS.items()}}))
        return
    for disk in disks:
        name = f"disk:{disk.identity}" if disk.identity else "(bears no identity, so poolproof can't name it)"
        typer.echo(f"{disk.path}  {format_size(disk.size_bytes)}  {disk.model}  {name}")
    for name, model in MODELS.items():
        typer.echo(f"emulate:{name}  {model.summary}")
