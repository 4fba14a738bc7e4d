"""`poolproof resume`: continue an interrupted run."""

from typing import Annotated

from typer import Option

from poolproof.cli.options import ExternalEngine, Json, Plain, Run, ShareHost, Text, Texts


def command(
    run: Run,
    on: Annotated[
        Text, Option(metavar="HOST", help="Another address for the run's host. Default: the address in run.json.")
    ] = None,
    wipe: Annotated[
        Texts,
        Option(
            metavar="IDENTITY", help="After a reboot or `clean`: allow this real disk to be overwritten; repeatable."
        ),
    ] = None,
    external_engine: ExternalEngine = None,
    share_host: ShareHost = False,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Continue a run that was interrupted or killed. Only the trials that have not finished are measured.

    Layouts on real disks are built again on the disks that --wipe named when the run was started. If the machine was
    rebooted or the run was cleaned up since then, name these disks with --wipe again, because they may contain
    someone's data by now.
    """
    from poolproof.cli.start_run import resume

    resume(
        run, as_json=as_json, plain=plain, on=on, share_host=share_host, engines=external_engine or (), wipe=wipe or ()
    )
