"""`poolproof demo`: a complete run on two emulated disks."""

from importlib import resources
from pathlib import Path

from poolproof.cli.options import LOCAL, Json, On, Out, Plain, Work


def command(
    out: Out = None, work: Work = "/var/tmp", on: On = LOCAL, plain: Plain = False, as_json: Json = False
) -> None:
    """Measure four layouts on an emulated hard disk and SSD.

    One of the four workloads is misleading, and its results are refuted.
    """
    from poolproof.campaign.yaml import read_campaign
    from poolproof.cli.start_run import start
    from poolproof.measure.session import RunRequest

    with resources.as_file(resources.files("poolproof.campaign") / "demo.yaml") as path:
        campaign, text = read_campaign(Path(path)), Path(path).read_text(encoding="utf-8")
    start(RunRequest(campaign, text, out, work, frozenset(), on), as_json=as_json, plain=plain)
