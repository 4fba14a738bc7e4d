"""45Drives' autotier: `autotier (zfs mirror nvme ssd) quota=20% (mergerfs (hdd1 | ext4)) quota=100% tier-period=-1`.

Tiers are directories, the fastest first. `quota=` belongs to the tier before it, a share or a size, 100 % if not given.
The keys of the section [Global] are written with dashes: `log-level`, `tier-period` (seconds), `copy-buffer-size`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Argument, Option
from poolproof.layers import arguments
from poolproof.layers.arguments import words
from poolproof.layers.base import LayerNode, Node, Reading
from poolproof.layers.unbuilt import UnbuiltLayer
from poolproof.units import parse_size

_KEYS = words("log-level tier-period copy-buffer-size")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)%")


@dataclass(frozen=True)
class Quota:
    """How much of a tier may be used: a share of it in per cent, or bytes where `size_bytes` is given."""

    percent: float = 100.0
    size_bytes: int | None = None

    def of(self, tier_bytes: int) -> int:
        if self.size_bytes is not None:
            return min(self.size_bytes, tier_bytes)
        return int(tier_bytes * self.percent / 100)


@dataclass(frozen=True)
class Autotier:
    """The quota of each tier, and the keys of [Global] with dashes for blanks."""

    quotas: tuple[Quota, ...]
    options: tuple[tuple[str, str], ...]


class AutotierLayer(UnbuiltLayer[Autotier]):
    """A FUSE file system that moves files between tiers by how often they are used."""

    word = "autotier"
    summary = "tiers of directories, fastest first: `autotier (nvme | ext4) quota=20% (hdd1 | ext4)`"
    programs = ("autotierfs", "autotier")
    file_system = "fuse"
    not_built = "the programs autotierfs and autotier, which Debian does not package"

    def read(self, reading: Reading) -> LayerNode:
        if reading.below is not None:
            raise reading.mistake(None, "autotier joins tiers; put each in parentheses: autotier (a | ext4) (b | ext4)")
        tiers: list[tuple[Argument | None, Node]] = []
        quotas: list[Quota] = []
        options: dict[str, str] = {}
        for argument in reading.arguments:
            match argument:
                case Option("quota", value):
                    if len(quotas) == len(tiers):
                        raise reading.mistake(argument, "quota= stands after its tier, once")
                    quotas.append(_quota(reading, argument, value))
                case Option(key, value) if key in _KEYS:
                    options[key] = value
                case Option():
                    raise arguments.unknown(reading, argument, "option of autotier", {"quota", *_KEYS})
                case _:
                    quotas += [Quota()] * (len(tiers) - len(quotas))
                    tiers.append((argument, reading.node(argument)))
        quotas += [Quota()] * (len(tiers) - len(quotas))
        if len(tiers) < 2:
            raise reading.mistake(None, f"autotier needs at least 2 tiers, found {len(tiers)}")
        arguments.check_directories(reading, tiers, self.word)
        return LayerNode(self, Autotier(tuple(quotas), tuple(options.items())), tuple(node for _, node in tiers))

    def write_factor(self, spec: Autotier, inputs: Sequence[float]) -> float:
        """Of the first write; moving a file to another tier writes it again."""
        return min(inputs)

    def capacity_bytes(self, spec: Autotier, inputs: Sequence[int]) -> int:
        return sum(quota.of(size) for quota, size in zip(spec.quotas, inputs, strict=True))

    def largest_file_bytes(self, spec: Autotier, inputs: Sequence[int]) -> int:
        """New files land in the first tier, so they must fit there."""
        return inputs[0]


def _quota(reading: Reading, argument: Argument, text: str) -> Quota:
    share = _SHARE.fullmatch(text)
    if share is not None and 0 < float(share[1]) <= 100:
        return Quota(percent=float(share[1]))
    try:
        return Quota(size_bytes=parse_size(text))
    except ValueError:
        raise reading.mistake(argument, f"`{text}` is no quota; write a share or a size: quota=20% quota=5T") from None


LAYER = AutotierLayer()
