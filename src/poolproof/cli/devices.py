"""`poolproof devices`: the disks of a machine by the names for a campaign, and which of them can be used."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from poolproof.cli.options import LOCAL, Json, On

if TYPE_CHECKING:
    from poolproof.facts.block import BlockFacts


def command(on: On = LOCAL, as_json: Json = False) -> None:
    """List the disks of a machine by the names to use in a campaign, and the models of emulated disks.

    Each line shows what a disk contains or what uses it. Only a free, empty disk can be used, and only with --wipe.
    """
    from poolproof.devices.emulated.model import MODELS
    from poolproof.facts.block import block_devices
    from poolproof.lab.reach import reach_host

    with reach_host(on) as host:
        disks = [disk for disk in block_devices(host) if disk.kind == "disk"]
    if as_json:
        models = {name: model.summary for name, model in MODELS.items()}
        typer.echo(json.dumps({"disks": [_object(disk) for disk in disks], "models": models}))
        return
    for line in _columns([_row(disk) for disk in disks]):
        typer.echo(line)
    typer.echo("")
    for line in _columns([(f"emulate:{name}", model.summary) for name, model in MODELS.items()]):
        typer.echo(line)


def _object(disk: "BlockFacts") -> dict[str, Any]:
    from poolproof.devices.guard import refusal, state

    refused = refusal(disk)
    return {
        "identity": disk.identity,
        "path": disk.path,
        "size_bytes": disk.size_bytes,
        "model": disk.model,
        "serial": disk.serial,
        "rotational": disk.rotational,
        "usable": refused is None and bool(disk.identity),
        "state": state(disk),
        "hint": refused.hint if refused else "",
    }


def _row(disk: "BlockFacts") -> tuple[str, ...]:
    from poolproof.devices.guard import state
    from poolproof.units import format_size

    name = f"disk:{disk.identity}" if disk.identity else "(no serial number: cannot be used in a campaign)"
    kind = "rotational" if disk.rotational else "solid state"
    return (disk.path, format_size(disk.size_bytes), disk.model, kind, name, state(disk))


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Align the columns of the rows; a column that is empty in all rows is omitted."""
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    widths = [max(map(len, column)) for column in columns]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]
