"""`poolproof run`: measure a campaign."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from poolproof.cli import options
from poolproof.cli.options import Text, Texts
from poolproof.errors import UsageError


def command(
    campaign: Annotated[Texts, Argument(metavar="CAMPAIGN", help="The campaign's YAML file.")] = None,
    layout: Annotated[Texts, Option("--layout", "-l", metavar="EXPRESSION", help="A layout; repeatable.")] = None,
    device: Annotated[
        Texts, Option("--device", "-d", metavar="NAME=SOURCE", help="A device, such as a=file:8G; repeatable.")
    ] = None,
    workload: Annotated[
        Texts, Option("--workload", "-w", metavar="WORKLOAD", help="A preset or fio options; repeatable.")
    ] = None,
    baseline: Annotated[Text, Option(metavar="LAYOUT", help="The layout to compare the others with.")] = None,
    time: Annotated[Text, Option(metavar="DURATION", help="The duration of a trial, such as 10s.")] = None,
    until: Annotated[
        Text, Option(metavar="SHARE", help="Measure until the margin of error is at most this share, such as 3%.")
    ] = None,
    confidence: Annotated[
        Text, Option(metavar="SHARE", help="With --until: the confidence level, such as 95%.")
    ] = None,
    least: Annotated[
        Text, Option("--min", metavar="DURATION", help="With --until: the shortest duration of a trial, such as 3s.")
    ] = None,
    most: Annotated[
        Text, Option("--max", metavar="DURATION", help="With --until: the longest duration of a trial, such as 180s.")
    ] = None,
    steady: Annotated[
        Text, Option(metavar="NAME", help="With --until: the steady-state criterion: poolproof or snia.")
    ] = None,
    budget: Annotated[
        Text,
        Option(
            metavar="DURATION",
            help="With --until: the time limit of the whole run, including building and filling, such as 2h.",
        ),
    ] = None,
    goal: Annotated[Text, Option(metavar="WORKLOAD", help="The workload that decides which layout is best.")] = None,
    builds: Annotated[
        Text, Option(metavar="N", help="The number of times that each layout is built, such as 3.")
    ] = None,
    trials: Annotated[
        Text,
        Option(
            metavar="N", help="The number of trials per build of a cell, such as 3; with --until also a range: 2..6."
        ),
    ] = None,
    calibrate: Annotated[
        bool, Option("--calibrate", help="First measure each disk alone, to get an upper limit for the layouts.")
    ] = False,
    quick: Annotated[
        bool, Option("--quick", help="Run the campaign's shorter form, as defined in its `quick` section.")
    ] = False,
    seed: Annotated[int | None, Option(metavar="N", help="The random seed for the order of trials.")] = None,
    out: options.Out = None,
    work: options.Work = "/var/tmp",
    wipe: Annotated[
        Texts, Option(metavar="IDENTITY", help="Allow this real, empty disk to be overwritten; repeatable.")
    ] = None,
    on: options.On = options.LOCAL,
    lab: Annotated[bool, Option("--lab", help="Run in a new lab, which is removed when the run ends.")] = False,
    zfs: options.Zfs = options.ZFS,
    ram: options.LabRam = options.LAB_RAM,
    cpus: options.Cpus = options.CPUS,
    accel: options.Accel = options.ACCEL,
    keep_lab: Annotated[bool, Option("--keep-lab", help="Like --lab, but keep the lab running after the run.")] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print every step and change nothing. With --lab, a lab is started.")
    ] = False,
    save: Annotated[Path | None, Option(metavar="FILE", help="Also write the campaign to this YAML file.")] = None,
    external_engine: options.ExternalEngine = None,
    share_host: options.ShareHost = False,
    plain: options.Plain = False,
    as_json: options.Json = False,
) -> None:
    """Measure a campaign.

    Build each layout, run each workload on it, check each result, and remove the layouts. Without a campaign file, use
    --layout, --device and --workload:

    poolproof run --layout 'btrfs raid1 a b' --device a=file:8G --device b=emulate:hdd-7200,8G --workload etcd

    With --lab, the devices are disks of a virtual machine with ZFS and all other supported storage systems. --zfs,
    --ram, --cpus and --accel configure the virtual machine.
    """
    from poolproof.campaign.external_engine import with_engines
    from poolproof.campaign.flags import Flags, Overrides, campaign_of, check_wipe, save_campaign, split_words

    if (lab or keep_lab) and on != options.LOCAL:
        raise UsageError("--on and --lab can't be combined", "remove one of them")
    path, more = split_words(campaign or [])
    flags = Flags(layout, device, [*(workload or ()), *more], baseline)
    overrides = Overrides(
        time, trials, seed, quick, until, confidence, least, most, steady, budget, goal, calibrate, builds
    )
    chosen, text = campaign_of(path, flags, overrides)
    if wipe:
        check_wipe(chosen, wipe)
    chosen = with_engines(chosen, external_engine or ())
    if save is not None:
        save_campaign(chosen, save)
    own_lab = None
    if lab or keep_lab:
        from poolproof.lab.boot import check_acceleration
        from poolproof.lab.recipe import check_series
        from poolproof.lab.start import check_processors, parse_ram
        from poolproof.results.runs.model import RunLab

        own_lab = RunLab(check_series(zfs), parse_ram(ram), check_processors(cpus), check_acceleration(accel))
    elif on == options.LOCAL:
        _query_fio_ahead()
    from poolproof.cli.start_run import print_plan, start
    from poolproof.measure.session import RunRequest

    request = RunRequest(chosen, text, out, work, frozenset(wipe or ()), on, own_lab, keep_lab, share_host)
    if dry_run:
        print_plan(request, as_json=as_json)
    else:
        start(request, as_json=as_json, plain=plain)


def _query_fio_ahead() -> None:
    """While modules are imported, query this machine's fio in a background thread.

    Planning a run always needs the answers.
    """
    from poolproof.campaign.generator_option import DEFAULT_GENERATOR
    from poolproof.hosts.local import HERE
    from poolproof.load.generator import all_generators

    all_generators()[DEFAULT_GENERATOR].ask_ahead(HERE)
