"""Every load generator there is: the `GENERATOR` of each package in this folder, found by its module `generator`."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path

from poolproof import load
from poolproof.campaign.model import Workload
from poolproof.errors import CampaignError
from poolproof.load.generator import LoadGenerator
from poolproof.load.model import DEFAULT_GENERATOR, Load, LoadPart

OPTION = "generator"
"""The option by which a workload names its generator."""


@functools.cache
def all_generators() -> dict[str, LoadGenerator]:
    """Return the generators by name."""
    packages = [found.name for found in pkgutil.iter_modules(load.__path__) if found.ispkg]
    modules = [importlib.import_module(f"{load.__name__}.{name}.generator") for name in packages]
    return {module.GENERATOR.name: module.GENERATOR for module in modules}


def generator_for(workload: Workload) -> LoadGenerator:
    """Return the generator that a workload names; fio if it names none.

    Raises:
        CampaignError: there is no such generator, or the workload's parts name several.
    """
    names = {dict(spec.options).get(OPTION, DEFAULT_GENERATOR) for spec in workload.jobs}
    known = all_generators()
    if len(names) > 1 or not names <= known.keys():
        raise CampaignError(
            f"workload {workload.name}: `{OPTION}` must be one of: {', '.join(sorted(known))}",
            f"leave `{OPTION}` out to use {DEFAULT_GENERATOR}",
        ).concerning(OPTION)
    return known[names.pop()]


def described(name: str, options: Mapping[str, str]) -> LoadPart:
    """Return what a workload's options alone say about it; as fio reads them if its generator is not installed."""
    known = all_generators()
    return known.get(options.get(OPTION, ""), known[DEFAULT_GENERATOR]).described(name, options)


def generator_of(load: Load) -> LoadGenerator:
    """Return the generator that prepared a load."""
    return all_generators()[load.generator]


def generator_of_trial(directory: Path) -> LoadGenerator | None:
    """Return the generator whose load and report were saved in the directory of a trial; None if there are none."""
    for generator in all_generators().values():
        if all((directory / name).is_file() for name in (generator.load_file, generator.report_file)):
            return generator
    return None


def generator_versions(versions: Mapping[str, str]) -> list[str]:
    """Return the versions of generators among those that a run recorded by program."""
    return [versions[name] for name in all_generators() if name in versions]
