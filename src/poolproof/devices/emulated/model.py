"""The disk models that can be emulated.

docs/emulated-disks.md lists the sources of their parameters and compares their results with fio's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Union

from poolproof.devices.emulated.hdd import Hdd, HddParameters
from poolproof.devices.emulated.ssd import Ssd, SsdParameters


class DiskModel(Protocol):
    """A model that computes the service times of a disk.

    Each method takes the arrival time of a request and returns its completion time, both in seconds.
    """

    rotational: bool

    def read(self, now_s: float, offset: int, length: int) -> float: ...

    def write(self, now_s: float, offset: int, length: int, durable: bool = False) -> float: ...

    def flush(self, now_s: float) -> float: ...


Parameters = Union[HddParameters, SsdParameters]  # noqa: UP007 - evaluated by Python 3.9


@dataclass(frozen=True)
class ModelKind:
    """A named disk model that campaigns can use, with its parameters."""

    name: str
    summary: str
    parameters: Parameters

    @property
    def ceiling_bytes_per_s(self) -> float:
        """The highest rate of any real disk of this kind: SATA 3 for hard disks and SATA SSDs, PCIe 3.0 x4 for NVMe."""
        return 3.94e9 if self.name == "nvme" else 600e6

    @property
    def rotational(self) -> bool:
        return isinstance(self.parameters, HddParameters)

    def build(self, size_bytes: int, seed: int = 1, changes: Mapping[str, str] | None = None) -> DiskModel:
        """Create a disk of this model.

        `changes`: the parameters whose values differ from the model's, as strings, keyed by parameter name.

        Raises a ValueError if a name or a value is invalid.
        """
        parameters = _changed(self.parameters, changes or {})
        if isinstance(parameters, HddParameters):
            return Hdd(size_bytes, parameters, seed)
        return Ssd(size_bytes, parameters, seed)


def _changed(parameters: Parameters, changes: Mapping[str, str]) -> Parameters:
    known = {field.name: field.type for field in fields(parameters)}
    values: dict[str, Any] = {}
    for name, text in changes.items():
        if name not in known:
            raise ValueError(f"{name!r} is not a parameter of this model; its parameters are {', '.join(known)}")
        values[name] = int(text) if known[name] == "int" else float(text)
    return replace(parameters, **values)


_KINDS = (
    ModelKind(
        "hdd-7200",
        "a 7200 rpm hard disk: one actuator, distance-dependent seeks, 8.33 ms per revolution, 200 MB/s, write-back "
        "cache",
        HddParameters(),
    ),
    ModelKind(
        "hdd-failing",
        "the same hard disk, but one access in a hundred is retried for 0.3 to 1.5 s",
        HddParameters(retry_share=0.01),
    ),
    ModelKind(
        "sata-ssd",
        "a SATA SSD without power-loss protection, with ten times the latency of a real one: 0.77 ms per read, "
        "530 MB/s",
        SsdParameters(channels=2, read_s=0.77e-3, write_s=0.5e-3, flush_s=2e-3, link_rate=530e6),
    ),
    ModelKind(
        "nvme",
        "an NVMe SSD with power-loss protection, with ten times the latency of a real one: 0.53 ms per read, 700 MB/s",
        SsdParameters(channels=3, read_s=0.53e-3, write_s=0.4e-3, flush_s=0.05e-3, link_rate=700e6),
    ),
)

MODELS: Mapping[str, ModelKind] = {kind.name: kind for kind in _KINDS}
