"""All storage technologies that poolproof knows: each module of this folder that defines `LAYER`."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from poolproof import layers
from poolproof.layers.base import Layer


@functools.cache
def all_layers() -> Mapping[str, Layer[Any]]:
    """Return every layer by its word, in alphabetical order."""
    modules = (
        importlib.import_module(f"{layers.__name__}.{entry.name}") for entry in pkgutil.iter_modules(layers.__path__)
    )
    found = [module.LAYER for module in modules if hasattr(module, "LAYER")]
    return MappingProxyType({layer.word: layer for layer in sorted(found, key=lambda layer: layer.word)})


def recorded_settings() -> Mapping[str, str]:
    """Return the kernel settings that the layers record with each run, as names by path."""
    return {path: name for layer in all_layers().values() for path, name in layer.settings.items()}
