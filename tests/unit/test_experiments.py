"""Every included campaign can be parsed and resolved, and fio accepts its jobs.

New experiments are tested automatically.
"""

from pathlib import Path

import pytest

from poolproof.campaign.model import Emulated
from poolproof.campaign.yaml import read_campaign
from poolproof.devices.emulated.model import MODELS
from poolproof.hosts.local import LocalHost
from poolproof.layers.resolve import resolve
from poolproof.load.fio.jobs import jobs_of
from poolproof.load.fio.parse_only import check_values

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "experiments").glob("*.yaml"), ROOT / "src" / "poolproof" / "campaign" / "demo.yaml"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_campaign_can_be_planned(path: Path) -> None:
    campaign = read_campaign(path)
    assert campaign.question.endswith("?")
    assert campaign.baseline is not None, "an experiment compares"
    for layout in campaign.layouts:
        resolve(layout.expression, {device.name for device in campaign.devices})
    models = {device.source.model for device in campaign.devices if isinstance(device.source, Emulated)}
    assert models <= set(MODELS)
    host = LocalHost()
    jobs = [job for workload in campaign.workloads for job in jobs_of(workload, campaign.measure.longest_s, host)]
    check_values(tuple(jobs), host)


def test_there_are_experiments() -> None:
    assert len(FILES) >= 4
