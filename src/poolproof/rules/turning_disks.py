"""Determines how many rotational disks served a load, and which part of its requests they served."""

from dataclasses import dataclass

from poolproof.rules.model import Case
from poolproof.rules.reported import Kind


@dataclass(frozen=True)
class TurningDisks:
    """The rotational disks that served the reads or writes of a load.

    `share`: the fraction of the requests that they served.
    """

    count: int
    share: float


def turning_disks(case: Case, kind: Kind) -> TurningDisks | None:
    """Return the rotational disks that served the load, or None if there are none or the kind of disk is unknown.

    If only some of the layout's disks are rotational, their counters show which of them served the load. A union such
    as mergerfs, for example, may have stored all files on one disk.
    """
    target = case.target
    if target is None:
        return None
    if target.rotational:
        return TurningDisks(target.disks, 1.0) if target.disks else None
    counts = {leaf.device: leaf.read_ios if kind == "read" else leaf.write_ios for leaf in case.leaves}
    served = [count for name in target.rotational_devices if (count := counts.get(name, 0))]
    return TurningDisks(len(served), sum(served) / sum(counts.values())) if served else None
