"""The places on the host that belong to one run alone."""

import secrets

from poolproof.devices.model import Site
from poolproof.facts.machine import Machine
from poolproof.steps import Step, UndoTree

DEFAULT_WORK = "/var/tmp"
RAM_FILES = "/dev/shm"


def new_label() -> str:
    """A short name that no other run has."""
    return secrets.token_hex(4)


def site_of(machine: Machine, label: str, state_dir: str, ram_dir: str, *, is_here: bool) -> Site:
    """The run's places with what the host can do; `is_here`: the host is this machine."""
    return Site(
        label=label,
        state_dir=state_dir,
        ram_dir=ram_dir,
        mount_dir=f"{state_dir}/mnt",
        is_root=machine.is_root,
        programs=machine.programs,
        file_systems=machine.file_systems,
        ram_bytes=machine.ram_bytes,
        ram_free_bytes=machine.ram_free_bytes,
        is_here=is_here,
        modules=machine.modules,
    )


def places(site: Site, *, with_ram: bool) -> tuple[Step, ...]:
    """The steps that make the run's directories, for its user alone."""
    steps = [_directory(site.state_dir)]
    if with_ram:
        steps.append(_directory(site.ram_dir))
    return tuple(steps)


def _directory(path: str) -> Step:
    return Step(f"make {path}", ("mkdir", "-m", "0711", path), UndoTree(path))
