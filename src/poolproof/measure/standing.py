"""A layout that stands, as the trials see it."""

from dataclasses import dataclass

from poolproof.devices.model import Leaf
from poolproof.evidence.model import Target
from poolproof.steps import Step


@dataclass(frozen=True)
class Standing:
    """A layout that is built and open. `top` is its directory on the host, where test files may be made.

    `found` is the user's own directory under a `dir` layout, for files that are taken as they are. `close` and `open`
    cool it, empty where the layout is not ours to unmount. `scratch` is a directory of the run on the host, for job
    files and fio's output.
    """

    name: str
    top: str
    found: str | None
    leaves: tuple[Leaf, ...]
    close: tuple[Step, ...]
    open: tuple[Step, ...]
    target: Target
    scratch: str
