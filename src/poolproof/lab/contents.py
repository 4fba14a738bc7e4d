"""The packages that layers and load generators need in the lab's image, and those that an existing image lacks.

Each layer and generator declares its own packages, so this module need not change for a new one.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec

from poolproof.campaign.model import Campaign
from poolproof.errors import CampaignError, HostError
from poolproof.files.reading import NOT_THE_JSON
from poolproof.lab.labs import Image
from poolproof.layers.base import Layer
from poolproof.layers.layer_catalogue import all_layers
from poolproof.layers.resolve import resolve
from poolproof.layers.tree import layer_nodes
from poolproof.load.generator import all_generators

ABOUT = "about.json"
"""The name of the file in an image's folder that describes the image's recipe and packages."""


def _packages_of(layer: Layer[Any]) -> tuple[str, ...]:
    return (*layer.packages, *layer.image_packages, *(layer.module_packages if layer.dkms_modules else ()))


def layer_packages() -> tuple[str, ...]:
    """Return the Debian packages that layers need in the image, without duplicates."""
    return tuple(dict.fromkeys(package for layer in _layers() for package in _packages_of(layer)))


def generator_packages() -> tuple[str, ...]:
    """Return the Debian packages that load generators need in the image, without duplicates."""
    return tuple(dict.fromkeys(package for generator in all_generators().values() for package in generator.packages))


def dkms_modules() -> tuple[str, ...]:
    """Return the kernel modules that must be compiled for the image."""
    return tuple(module for layer in _layers() for module in layer.dkms_modules)


def backported() -> tuple[str, ...]:
    """Return the packages that the image takes from Debian's backports suite."""
    return tuple(package for layer in _layers() for package in layer.backported)


def components() -> tuple[str, ...]:
    """Return the components of the Debian archive that the image needs. `main` comes first."""
    return tuple(dict.fromkeys(("main", *(component for layer in _layers() for component in layer.components))))


def lacking(image: Image) -> tuple[str, ...]:
    """Return the packages that layers and load generators need but the image lacks.

    Empty if the contents of the image are unknown, because it was built before November 2026.
    """
    known = _packages_in(image)
    wanted = dict.fromkeys((*layer_packages(), *generator_packages()))
    return () if known is None else tuple(package for package in wanted if package not in known)


def check_image(image: Image, campaign: Campaign, hint: str) -> None:
    """Check that the image contains all packages that the campaign's layers and load generators need.

    If not, raises a HostError with `hint`. The missing packages can't be installed in a running lab, because it has no
    network.
    """
    devices = {device.name for device in campaign.devices}
    used: dict[Layer[Any], None] = {}
    known = all_generators()
    for layout in campaign.layouts:
        with contextlib.suppress(CampaignError):  # reported with its position when the layout is planned
            used |= dict.fromkeys(node.layer for node in layer_nodes(resolve(layout.expression, devices)))
    generators = (each for workload in campaign.workloads for each in workload.generators)
    wanted = {layer.word: _packages_of(layer) for layer in used}
    wanted |= {name: known[name].packages for name in generators if name in known}
    missing = lacking(image)
    poor = {name: found for name, needed in wanted.items() if (found := [each for each in needed if each in missing])}
    if poor:
        rows = "; ".join(f"{word} needs {', '.join(packages)}" for word, packages in poor.items())
        message = f"the lab's image {image.folder.name} does not have all packages that the campaign needs: {rows}"
        raise HostError(message, hint)


def _layers() -> Iterator[Layer[Any]]:
    yield from all_layers().values()


class _About(msgspec.Struct):
    """The part of an image's `ABOUT` file that this module reads."""

    packages: frozenset[str] | None = None


def _packages_in(image: Image) -> frozenset[str] | None:
    try:
        return msgspec.json.decode((image.folder / ABOUT).read_bytes(), type=_About).packages
    except (OSError, *NOT_THE_JSON):
        return None
