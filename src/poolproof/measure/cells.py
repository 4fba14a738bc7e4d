"""What a cell brings to every layout: a workload and its jobs."""

from dataclasses import dataclass

from poolproof.campaign.model import Workload
from poolproof.load.fio.job import JobFile


@dataclass(frozen=True)
class CellJobs:
    """A workload with its jobs as this host's fio reads them, not placed on a layout yet."""

    workload: Workload
    jobs: JobFile
