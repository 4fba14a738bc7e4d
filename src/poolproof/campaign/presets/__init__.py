"""Presets: named workloads, each with the I/O of a real program. A new preset is one new file that defines `PRESET`."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.campaign.model import JobSpec
from poolproof.metrics import MetricId


@dataclass(frozen=True)
class Preset:
    """The I/O of a real program as fio jobs. `source` says where the numbers come from."""

    name: str
    summary: str
    jobs: tuple[JobSpec, ...]
    metric: MetricId
    source: str


@functools.cache
def presets() -> Mapping[str, Preset]:
    """Return every preset by name, in alphabetical order."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    found: list[Preset] = [module.PRESET for module in modules]
    return MappingProxyType({preset.name: preset for preset in sorted(found, key=lambda preset: preset.name)})
