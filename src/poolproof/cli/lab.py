"""`poolproof lab`: disposable virtual machines with all supported storage systems. Each subcommand is a function."""

from typing import Annotated

import typer
from typer import Argument, Option

from poolproof.cli import options
from poolproof.cli.options import Json, Texts
from poolproof.cli.output import print_answer, print_json, say
from poolproof.cli.signals import end_in_order
from poolproof.cli.usage import PlainCommand

LabName = Annotated[str, Argument(metavar="NAME", help="The lab's name, with or without `lab:`.")]

app = typer.Typer(
    name="lab",
    help=(
        "Build, start, use and stop labs.\n\nA lab is a disposable virtual machine with disks like those of a campaign."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(cls=PlainCommand)
def build(
    zfs: options.Zfs = options.ZFS,
    anew: Annotated[bool, Option("--anew", help="Build the image even if it already exists.")] = False,
    as_json: Json = False,
) -> None:
    """Build the virtual machine image from which labs start. There is one image for each OpenZFS series.

    The image consists of Debian packages and of OpenZFS compiled for the image's kernel. The packages come from the
    mirrors in this machine's apt configuration. An interrupted build continues after the last finished stage.
    """
    from poolproof.lab.build import USUALLY, Stopwatch, recipe_here
    from poolproof.lab.build import build as build_image
    from poolproof.lab.labs import image_named

    end_in_order()
    recipe = recipe_here(zfs)
    existed = image_named(recipe.name).exists and not anew
    if not existed:
        say(f"building the image {recipe.name}: {USUALLY}")
    image = build_image(recipe, Stopwatch(say), anew=anew)
    answer = {"image": recipe.name, "path": str(image.folder), "built": not existed}
    print_answer(answer, f"{image.folder}{' already exists' if existed else ''}", as_json=as_json)


@app.command(cls=PlainCommand)
def start(
    name: LabName,
    disk: Annotated[
        Texts, Option("--disk", "-d", metavar="NAME=SOURCE", help="A disk, such as a=emulate:hdd-7200,8G; repeatable.")
    ] = None,
    zfs: options.Zfs = options.ZFS,
    ram: options.LabRam = options.LAB_RAM,
    cpus: options.Cpus = options.CPUS,
    accel: options.Accel = options.ACCEL,
    port: Annotated[
        int | None,
        Option(
            metavar="PORT", min=1, max=65535, help="The port of the lab's sshd on 127.0.0.1. Default: any free port."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start a lab with these disks. The lab runs until you stop it. Build the image first: poolproof lab build.

    poolproof lab start nas --disk a=emulate:hdd-7200,8G --disk b=emulate:sata-ssd,8G
    """
    from poolproof.campaign.device_source import parse_device_flag
    from poolproof.lab.boot import check_acceleration
    from poolproof.lab.build import built
    from poolproof.lab.start import LabRequest, check_processors, check_programs, parse_ram
    from poolproof.lab.start import start as start_lab

    end_in_order()
    devices = tuple(parse_device_flag(text, "--disk") for text in disk or ())
    check_programs(name, devices)
    request = LabRequest(
        name=name,
        series=zfs,
        image=built(zfs),
        devices=devices,
        ram_bytes=parse_ram(ram),
        processors=check_processors(cpus),
        acceleration=check_acceleration(accel),
        port=port,
    )
    lab = start_lab(request, say)
    answer = {"name": lab.name, "on": lab.destination, "port": lab.record.port, "disks": lab.record.disks}
    lines = [f"{device}: /dev/disk/by-id/{identity}" for device, identity in lab.record.disks.items()]
    lines.append(f"to log in: poolproof lab ssh {lab.name}; to measure there: --on {lab.destination}")
    lines.append(f"to stop it: poolproof lab stop {lab.name}")
    print_answer(answer, lines, as_json=as_json)


@app.command(cls=PlainCommand, context_settings={"ignore_unknown_options": True})
def run(
    name: LabName,
    argv: Annotated[list[str], Argument(metavar="-- COMMAND…", help="The program and its arguments.")],
    limit: Annotated[str, Option(metavar="DURATION", help="Kill the program after this time.")] = "10m",
    as_json: Json = False,
) -> None:
    """Run a program in a lab as root. The program's output and exit code are passed on.

    poolproof lab run nas -- zpool version
    """
    from poolproof.campaign.document import OptionSpot
    from poolproof.campaign.measure import duration
    from poolproof.lab.labs import find
    from poolproof.lab.reach import run_in_lab

    completed = run_in_lab(find(name), argv, duration(limit, OptionSpot("--limit"), "limit"))
    if as_json:
        names = ("returncode", "stdout", "stderr")
        print_json({name: getattr(completed, name) for name in names})
    else:
        typer.echo(completed.stdout, nl=False)
        typer.echo(completed.stderr, nl=False, err=True)
    raise typer.Exit(completed.returncode)


@app.command(cls=PlainCommand)
def ssh(name: LabName, as_json: Json = False) -> None:
    """Open a root shell in a lab. With --json, print the ssh command instead of running it."""
    from poolproof.lab.labs import find
    from poolproof.lab.reach import ssh_command
    from poolproof.process import become

    argv = ssh_command(find(name))
    if as_json:
        print_json({"argv": argv})
    else:
        become(argv)


@app.command(cls=PlainCommand)
def stop(name: LabName, as_json: Json = False) -> None:
    """Stop a lab and discard its disks with all data on them. The lab's console log remains until `lab rm`."""
    from poolproof.lab.labs import find
    from poolproof.lab.labs import stop as stop_lab

    end_in_order()
    lab = find(name)
    stop_lab(lab.folder)
    print_answer({"stopped": lab.name}, f"{lab.name} stopped", as_json=as_json)


@app.command("list", cls=PlainCommand)
def list_(as_json: Json = False) -> None:
    """List all labs with their states, and all images."""
    from poolproof.lab.labs import images, labs
    from poolproof.units import format_size

    rows, lines = [], []
    for lab in labs():
        record, state = lab.record, lab.state
        row = {
            "name": lab.name,
            "state": state,
            "zfs": record.series,
            "accelerator": record.accelerator,
            "port": record.port,
            "ram_bytes": record.ram_bytes,
            "disks": record.disks,
        }
        rows.append(row)
        disks = " ".join(record.disks) or "none"
        lines.append(f"lab {lab.name}: {state}, OpenZFS {record.series}, {record.accelerator}, disks: {disks}")
    sizes = {image.folder.name: image.size_bytes for image in images()}
    built = [{"name": name, "bytes": size_bytes} for name, size_bytes in sizes.items()]
    lines += [f"image {name}: {format_size(size_bytes)}" for name, size_bytes in sizes.items()]
    nothing = ["no labs or images yet; to build an image: poolproof lab build"]
    print_answer({"labs": rows, "images": built}, lines or nothing, as_json=as_json)


@app.command(cls=PlainCommand)
def rm(
    name: Annotated[str, Argument(metavar="NAME", help="A lab or an image, as shown by `poolproof lab list`.")],
    as_json: Json = False,
) -> None:
    """Stop a lab and delete all its files, or delete an image."""
    from poolproof.lab.labs import remove_named

    end_in_order()
    remove_named(name)
    print_answer({"removed": name}, f"{name} removed", as_json=as_json)
