"""Workloads by name, each the I/O of a piece of real software. A new preset is one new file that defines `PRESET`."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from poolproof.campaign.presets.model import Preset


@functools.cache
def presets() -> Mapping[str, Preset]:
    """Every preset by its name, in alphabetical order."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    found = [module.PRESET for module in modules if hasattr(module, "PRESET")]
    return MappingProxyType({preset.name: preset for preset in sorted(found, key=lambda preset: preset.name)})
