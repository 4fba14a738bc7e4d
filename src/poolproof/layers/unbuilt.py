"""What the layers share that this version reads, checks and counts, but does not build."""

from collections.abc import Sequence
from typing import NoReturn, TypeVar

from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.layers.base import Layer

Spec = TypeVar("Spec")


class UnbuiltLayer(Layer[Spec]):
    """A layer whose `plan` says what it takes. `not_built` names it."""

    not_built: str

    def plan(self, spec: Spec, inputs: Sequence[Volume], site: Site, name: str) -> NoReturn:
        missing = sorted(set(self.programs) - site.programs)
        there = f"; this host has no {', '.join(missing)}" if missing else ""
        raise HostError(
            f"{self.word} takes {self.not_built}{there}, and this version of poolproof does not build it yet",
            "use layers that it builds here: dir, ext4, xfs, btrfs, mergerfs",
        )
