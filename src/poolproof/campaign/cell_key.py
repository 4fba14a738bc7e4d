"""A cell's key: the layout, its state, and the workload."""

from typing import NamedTuple

HEALTHY = "healthy"
"""The state of a layout without failed disks, and the only state that a campaign can request."""


class CellKey(NamedTuple):
    """The layout, workload and state that identify a cell within its run."""

    layout: str
    workload: str
    state: str = HEALTHY

    @property
    def layout_in_state(self) -> str:
        """Return the layout's name, followed by its state unless it is `healthy`: `pair (degraded)`."""
        return self.layout if self.state == HEALTHY else f"{self.layout} ({self.state})".lstrip()

    def __str__(self) -> str:
        if self.layout:
            return f"{self.workload} on {self.layout_in_state}"
        return f"{self.workload}{self.layout_in_state and ' '}{self.layout_in_state}"
