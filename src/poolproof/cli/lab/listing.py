"""`poolproof lab list`: labs and images."""

import json

import typer

from poolproof.cli.run import Json


def command(as_json: Json = False) -> None:
    """List the labs, how each is, and the images that are built."""
    from poolproof.lab.cache import images
    from poolproof.lab.standing import labs
    from poolproof.units import format_size

    rows = [
        {
            "name": lab.name,
            "state": lab.state,
            "zfs": lab.record.series,
            "accelerator": lab.record.accelerator,
            "port": lab.record.port,
            "ram_bytes": lab.record.ram_bytes,
            "disks": lab.record.disks,
        }
        for lab in labs()
    ]
    built = [{"name": image.folder.name, "bytes": image.size_bytes} for image in images()]
    if as_json:
        typer.echo(json.dumps({"labs": rows, "images": built}))
        return
    for lab in labs():
        disks = " ".join(lab.record.disks) or "none"
        typer.echo(
            f"lab {lab.name}: {lab.state}, OpenZFS {lab.record.series}, {lab.record.accelerator}, disks: {disks}"
        )
    for image in images():
        typer.echo(f"image {image.folder.name}: {format_size(image.size_bytes)}")
    if not rows and not built:
        typer.echo("no labs, no images; to build one: poolproof lab build")
