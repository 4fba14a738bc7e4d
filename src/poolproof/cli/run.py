"""`poolproof run`: measure a campaign."""

from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.options import (
    AUTO,
    LAB_RAM,
    LOCAL,
    PROCESSORS,
    SERIES,
    Acceleration,
    Json,
    LabRam,
    On,
    Out,
    Plain,
    Processors,
    Series,
    Work,
    lab_of_run,
)
from poolproof.errors import UsageError


def command(
    campaign: Annotated[list[str] | None, typer.Argument(help="The campaign's YAML file.")] = None,
    layout: Annotated[
        list[str] | None, typer.Option("--layout", "-l", metavar="EXPRESSION", help="A layout; repeatable.")
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option("--device", "-d", metavar="NAME=SOURCE", help="A device, such as a=file:8G; repeatable."),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option("--workload", "-w", metavar="WORKLOAD", help="A preset or fio options; repeatable."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="The layout with which the others are compared.")
    ] = None,
    time: Annotated[str | None, typer.Option("--time", help="The duration of a trial, such as 10s.")] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", help="Measure until the result is known to within this margin, such as 3%."),
    ] = None,
    confidence: Annotated[
        str | None, typer.Option("--confidence", help="With --until: the confidence level, such as 95%.")
    ] = None,
    least: Annotated[
        str | None, typer.Option("--min", help="With --until: the shortest duration of a trial, such as 3s.")
    ] = None,
    most: Annotated[
        str | None, typer.Option("--max", help="With --until: the longest duration of a trial, such as 180s.")
    ] = None,
    steady: Annotated[
        str | None,
        typer.Option("--steady", help="With --until: the steady-state criterion: poolproof or snia."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="With --until: the most time for all trials, such as 2h.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option("--goal", metavar="WORKLOAD", help="The workload that decides which layout is best."),
    ] = None,
    trials: Annotated[
        str | None, typer.Option("--trials", help="The number of trials per cell, such as 3; with --until also 2..6.")
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="First measure each disk alone, as an upper limit for the layouts.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run the campaign's shorter form, as defined in its `quick` section.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="The random seed for the order of trials.")] = None,
    out: Out = None,
    work: Work = "/var/tmp",
    wipe: Annotated[
        list[str] | None,
        typer.Option("--wipe", metavar="IDENTITY", help="Allow this real disk to be overwritten; repeatable."),
    ] = None,
    on: On = LOCAL,
    lab: Annotated[
        bool, typer.Option("--lab", help="Run in a new lab, which is removed when the run has ended.")
    ] = False,
    zfs: Series = SERIES,
    ram: LabRam = LAB_RAM,
    cpus: Processors = PROCESSORS,
    accel: Acceleration = AUTO,
    keep_lab: Annotated[
        bool, typer.Option("--keep-lab", help="Like --lab, but keep the lab running after the run.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every step and change nothing. With --lab, a lab is started.")
    ] = False,
    save: Annotated[Path | None, typer.Option("--save", help="Also write the campaign to this YAML file.")] = None,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Build each layout, run each workload on it, check each result, and remove the layouts.

    Without a campaign file, use --layout, --device and --workload:

    poolproof run --layout 'btrfs raid1 a b' --device a=file:8G --device b=emulate:hdd-7200,8G --workload etcd

    With --lab, the devices are disks of a virtual machine that has ZFS and every other storage system. --zfs, --ram,
    --cpus and --accel configure it.
    """
    from poolproof.campaign.overrides import Flags, Overrides, campaign_of, check_wipe, save_campaign, split_words

    if (lab or keep_lab) and on != LOCAL:
        raise UsageError("--on and --lab were both given", "leave one of them out")
    path, more = split_words(campaign or [])
    flags = Flags(layout, device, [*(workload or ()), *more], baseline)
    overrides = Overrides(time, trials, seed, quick, until, confidence, least, most, steady, budget, goal, calibrate)
    chosen, text = campaign_of(path, flags, overrides)
    if wipe:
        check_wipe(chosen, wipe)
    if save is not None:
        save_campaign(chosen, save)
    own_lab = lab_of_run(zfs, ram, cpus, accel) if lab or keep_lab else None
    if own_lab is None and on == LOCAL:
        _query_fio_ahead()
    from poolproof.cli.session import dry_run_text, start
    from poolproof.measure.session import RunRequest

    request = RunRequest(chosen, text, out, work, frozenset(wipe or ()), on, own_lab, keep_lab)
    if dry_run:
        typer.echo(dry_run_text(request, as_json=as_json))
    else:
        start(request, as_json=as_json, plain=plain)


def _query_fio_ahead() -> None:
    """Ask this machine's fio now what every plan needs to know, while the measuring modules are imported."""
    from poolproof.hosts.reach import HERE
    from poolproof.load.generators import all_generators
    from poolproof.load.model import DEFAULT_GENERATOR

    all_generators()[DEFAULT_GENERATOR].ask_ahead(HERE)
