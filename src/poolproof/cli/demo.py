"""`poolproof demo`: a complete run on two emulated disks."""

from importlib import resources
from pathlib import Path

from poolproof.cli.options import LOCAL, Json, On, Out, Plain, ShareHost, Work


def command(
    out: Out = None,
    work: Work = "/var/tmp",
    on: On = LOCAL,
    share_host: ShareHost = False,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Measure four layouts on an emulated hard disk and SSD.

    One of the four workloads is misleading, and its results are refuted.
    """
    from poolproof.campaign.yaml import read_campaign
    from poolproof.cli.start_run import start
    from poolproof.measure.session import RunRequest

    with resources.as_file(resources.files("poolproof.campaign") / "demo.yaml") as path:
        campaign, text = read_campaign(Path(path)), Path(path).read_text(encoding="utf-8")
    request = RunRequest(campaign, text, out, work, frozenset(), on, share_host=share_host)
    start(request, as_json=as_json, plain=plain)
