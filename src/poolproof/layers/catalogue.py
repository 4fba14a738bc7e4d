"""All storage technologies that poolproof knows: every file of this folder that defines `LAYER`, found by looking."""

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
    """Every layer by its word, in the order of the words."""
    modules = (
        importlib.import_module(f"{layers.__name__}.{entry.name}") for entry in pkgutil.iter_modules(layers.__path__)
    )
    found = [module.LAYER for module in modules if hasattr(module, "LAYER")]
    return MappingProxyType({layer.word: layer for layer in sorted(found, key=lambda layer: layer.word)})
