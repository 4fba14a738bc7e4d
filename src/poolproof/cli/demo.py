"""`poolproof demo`: the main job on two emulated disks."""

from importlib import resources
from pathlib import Path

from poolproof.cli.run import LOCAL, Json, On, Out, Plain, Work


def command(
    out: Out = None, work: Work = "/var/tmp", on: On = LOCAL, plain: Plain = False, as_json: Json = False
) -> None:
    """Run the demo: four layouts over an emulated hard disk and SSD, four workloads, one of them a trap."""
    from poolproof.campaign.yaml import read_campaign
    from poolproof.cli.session import RunRequest, start

    with resources.as_file(resources.files("poolproof.campaign") / "demo.yaml") as path:
        campaign, text = read_campaign(Path(path)), Path(path).read_text(encoding="utf-8")
    start(RunRequest(campaign, text, out, work, frozenset(), as_json, on, plain=plain))
