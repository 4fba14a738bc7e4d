"""What a preset says of itself. One preset is one file in this folder that defines `PRESET`."""

from dataclasses import dataclass

from poolproof.campaign.model import JobSpec
from poolproof.metrics import MetricId


@dataclass(frozen=True)
class Preset:
    """The I/O of a piece of real software as fio jobs. `source` says where the figures come from."""

    name: str
    summary: str
    jobs: tuple[JobSpec, ...]
    metric: MetricId
    source: str
