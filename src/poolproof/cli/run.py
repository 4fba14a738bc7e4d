"""`poolproof run`: the main job."""

from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.lab_options import AUTO, PROCESSORS, RAM, SERIES, Acceleration, Processors, Ram, Series, lab_of_run
from poolproof.errors import UsageError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Plain = Annotated[bool, typer.Option("--plain", help="Lines instead of the live screen, also on a terminal.")]
Out = Annotated[Path | None, typer.Option("--out", help="Where to write the run. Default: runs/<name>-<time>.")]
Work = Annotated[str, typer.Option("--work", help="Where images and mount points go, on the host.")]
On = Annotated[
    str,
    typer.Option("--on", metavar="HOST", help="The machine to measure: user@host, or an alias of ssh; or lab:NAME."),
]
OnItsHost = Annotated[
    str | None,
    typer.Option("--on", metavar="HOST", help="Another name of the run's host. Default: the one in run.json."),
]
LOCAL = "local"
"""This machine, as `hosts.reach` and run.json call it."""

Wipe = Annotated[
    list[str] | None,
    typer.Option("--wipe", metavar="IDENTITY", help="Permit this real disk to be overwritten; once for each."),
]


def command(
    campaign: Annotated[list[str] | None, typer.Argument(help="The campaign's YAML file.")] = None,
    layout: Annotated[
        list[str] | None, typer.Option("--layout", "-l", metavar="EXPRESSION", help="A layout; repeat for more.")
    ] = None,
    device: Annotated[
        list[str] | None, typer.Option("--device", "-d", metavar="NAME=SOURCE", help="A device, as a=file:8G.")
    ] = None,
    workload: Annotated[
        list[str] | None, typer.Option("--workload", "-w", metavar="WORKLOAD", help="A preset, or fio options.")
    ] = None,
    baseline: Annotated[str | None, typer.Option("--baseline", help="The layout to compare the others with.")] = None,
    time: Annotated[str | None, typer.Option("--time", help="How long a trial lasts, as 10s.")] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="Measure until the figure is known to within this, as 3%.")
    ] = None,
    confidence: Annotated[
        str | None, typer.Option("--confidence", help="How sure that is, as 95%; with --until.")
    ] = None,
    least: Annotated[str | None, typer.Option("--min", help="The shortest trial, as 3s; with --until.")] = None,
    most: Annotated[str | None, typer.Option("--max", help="The longest trial, as 180s; with --until.")] = None,
    steady: Annotated[
        str | None,
        typer.Option("--steady", help="What counts as steady: poolproof or snia; with --until."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="How long all trials may take, as 2h; with --until.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option("--goal", metavar="WORKLOAD", help="The workload that decides which layout is best.")
    ] = None,
    trials: Annotated[
        str | None, typer.Option("--trials", help="Trials for each cell: 3; with --until also 2..6.")
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure each disk alone first: the limit of all figures.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="The campaign's small form, as its `quick` part says.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the order of trials.")] = None,
    out: Out = None,
    work: Work = "/var/tmp",
    wipe: Wipe = None,
    on: On = LOCAL,
    lab: Annotated[
        bool, typer.Option("--lab", help="Run it in a lab, which is started for it and ends with it.")
    ] = False,
    zfs: Series = SERIES,
    ram: Ram = RAM,
    cpus: Processors = PROCESSORS,
    accel: Acceleration = AUTO,
    keep_lab: Annotated[bool, typer.Option("--keep-lab", help="Let the lab live on after the run.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every step; change nothing. With --lab, one is started for it.")
    ] = False,
    save: Annotated[Path | None, typer.Option("--save", help="Write the campaign as a file and go on.")] = None,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Build each layout, run each workload on it, prove each figure, take all down.

    Without a file, --layout, --device and --workload say what to run:

    poolproof run --layout 'btrfs raid1 a b' --device a=file:8G --device b=emulate:hdd-7200,8G --workload etcd

    With --lab, the devices become disks of a virtual machine that has ZFS and all else; --zfs, --ram, --cpus and
    --accel say what machine.
    """
    from poolproof.cli.campaign_args import Changes, Flags, campaign_asked, check_wipe, save_campaign, split_words

    if (lab or keep_lab) and on != LOCAL:
        raise UsageError("--on and --lab were given: the run is in one place", "leave one of them out")
    path, more = split_words(campaign or [])
    flags = Flags(layout, device, [*(workload or ()), *more], baseline)
    changes = Changes(time, trials, seed, quick, until, confidence, least, most, steady, budget, goal, calibrate)
    asked, text = campaign_asked(path, flags, changes)
    if wipe:
        check_wipe(asked, wipe)
    if save is not None:
        save_campaign(asked, save)
    own_lab = lab_of_run(zfs, ram, cpus, accel) if lab or keep_lab else None
    if own_lab is None and on == LOCAL:
        _ask_fio()
    from poolproof.cli.session import RunRequest, dry_run_text, start

    request = RunRequest(asked, text, out, work, frozenset(wipe or ()), as_json, on, own_lab, keep_lab, plain)
    if dry_run:
        typer.echo(dry_run_text(request))
        return
    start(request)


def _ask_fio() -> None:
    """Have the fio of this machine asked what every plan asks it, while what measures is imported."""
    from poolproof.hosts.reach import HERE
    from poolproof.load.fio.ahead import ask_ahead
    from poolproof.measure.jobs import ADDED

    ask_ahead(HERE, ADDED["ioengine"][0])
