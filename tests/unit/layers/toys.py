"""Make the catalogue of layers search a folder outside the package."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from poolproof import layers
from poolproof.layers.layer_catalogue import all_layers

TOYS = Path(__file__).parent / "toy"


@contextlib.contextmanager
def toy_layers(folder: Path = TOYS) -> Iterator[None]:
    """While the context is active, the catalogue also finds the layers in the folder, as if the package had them."""
    known = {name for name in sys.modules if name.startswith(f"{layers.__name__}.")}
    layers.__path__.append(str(folder))
    all_layers.cache_clear()
    try:
        yield
    finally:
        layers.__path__.remove(str(folder))
        all_layers.cache_clear()
        for name in {name for name in sys.modules if name.startswith(f"{layers.__name__}.")} - known:
            if hasattr(sys.modules[name], "LAYER") and str(folder) in str(sys.modules[name].__file__):
                del sys.modules[name]
                delattr(layers, name.rpartition(".")[2])
