"""`poolproof lab start`: a lab that stays until it is stopped."""

import json
from typing import Annotated

import typer

from poolproof.cli.lab_options import AUTO, PROCESSORS, RAM, SERIES, Acceleration, Name, Processors, Ram, Series
from poolproof.cli.run import Json


def command(
    name: Name,
    disk: Annotated[
        list[str] | None,
        typer.Option("--disk", "-d", metavar="NAME=SOURCE", help="A disk, as a=emulate:hdd-7200,8G; repeat for more."),
    ] = None,
    zfs: Series = SERIES,
    ram: Ram = RAM,
    cpus: Processors = PROCESSORS,
    accel: Acceleration = AUTO,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="Its sshd's port on 127.0.0.1. Default: a free one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Start a lab with these disks, and leave it running; its image must have been built.

    poolproof lab start nas --disk a=emulate:hdd-7200,8G --disk b=emulate:sata-ssd,8G
    """
    from poolproof.campaign.device_source import parse_device_flag
    from poolproof.cli.signals import end_in_order
    from poolproof.lab.accelerate import check_wish
    from poolproof.lab.build import built
    from poolproof.lab.start import LabRequest, check_processors, check_programs, parse_ram, start

    end_in_order()
    devices = tuple(parse_device_flag(text) for text in disk or ())
    check_programs(name, devices)
    request = LabRequest(
        name=name,
        series=zfs,
        image=built(zfs),
        devices=devices,
        ram_bytes=parse_ram(ram),
        processors=check_processors(cpus),
        wish=check_wish(accel),
        port=port,
    )
    lab = start(request, lambda line: typer.echo(line, err=True))
    if as_json:
        typer.echo(
            json.dumps({"name": lab.name, "on": lab.destination, "port": lab.record.port, "disks": lab.record.disks})
        )
        return
    for device, identity in lab.record.disks.items():
        typer.echo(f"{device}: /dev/disk/by-id/{identity}")
    typer.echo(
        f"poolproof lab ssh {lab.name}; as a host: --on {lab.destination}; its end: poolproof lab stop {lab.name}"
    )
