"""The key of a cell: one layout in one state under one workload."""

from typing import NamedTuple

HEALTHY = "healthy"
"""The state of a layout in which nothing has failed. It is the only state that a campaign can ask for."""


class CellKey(NamedTuple):
    """The layout, workload and state that identify a cell within its run."""

    layout: str
    workload: str
    state: str = HEALTHY

    @property
    def layout_in_state(self) -> str:
        """Return the layout's name. A state other than `healthy` is appended in parentheses: `pair (degraded)`."""
        return self.layout if self.state == HEALTHY else f"{self.layout} ({self.state})".lstrip()

    def __str__(self) -> str:
        if self.layout:
            return f"{self.workload} on {self.layout_in_state}"
        return f"{self.workload}{self.layout_in_state and ' '}{self.layout_in_state}"
