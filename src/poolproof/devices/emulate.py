"""`emulate: hdd-7200`: an emulated disk, served by nbdkit through nbdfuse and a loop device."""

import difflib
from pathlib import Path

from poolproof.campaign.model import Device, Emulated
from poolproof.devices.emulated.model import MODELS, ModelKind
from poolproof.devices.loop import attach_export, block_volume, fuse_files, is_attached, set_rotational
from poolproof.devices.model import DevicePlan, Site
from poolproof.devices.site import clear, require, socket_path
from poolproof.errors import CampaignError
from poolproof.steps import Step
from poolproof.undos import UndoDaemon

DAEMONS = ("nbdkit",)
PROGRAMS = ("nbdkit", "nbdfuse", "losetup", "touch", "tee")

PIPELINE_S = 200e-6
"""The time in seconds that a request spends in the loop device, FUSE, nbdfuse, the socket and Python.

The plugin subtracts this time from each service time. It was measured at queue depth 1 on a virtual machine with two
CPUs: 120 to 280 µs, or more if the CPUs slept longer between requests.
"""

PLUGIN = Path(__file__).parent / "emulated" / "plugin.py"
"""The path of the script that nbdkit runs."""

_PACKAGE = ("poolproof", "devices", "emulated")
_COPIED = ("plugin.py", "model.py", "hdd.py", "ssd.py")
_THREADS = 8


def model_named(name: str) -> ModelKind:
    """Return the disk model with this name, or raise a CampaignError that suggests a similar name."""
    if name in MODELS:
        return MODELS[name]
    near = difflib.get_close_matches(name, MODELS, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise CampaignError(f"there is no disk model {name!r}", f"{meant}the models are {', '.join(MODELS)}")


def plan(device: Device, source: Emulated, site: Site, loop: int, in_ram: bool, seed: int = 1) -> DevicePlan:
    """Plan an emulated disk on loop device `loop`.

    `in_ram`: True to store the disk's data in `ram_dir`; False to store it in `state_dir`.

    Raises:
        CampaignError: the model is unknown.
        HostError: commands do not run as root, a program is missing, or the path of the socket is too long.
    """
    name, model = device.name, model_named(source.model)
    require(site, f"{name} (an emulated disk)", *PROGRAMS)
    socket, (file, *leftovers) = socket_path(site, name), fuse_files(site, name)
    pidfile = f"{site.state_dir}/{name}.nbd.pid"
    store = f"{site.ram_dir if in_ram else site.state_dir}/{name}.store"
    program, copies = (str(PLUGIN), ()) if site.is_here else _copied(site)
    argv = (
        *("nbdkit", "-U", socket, "-P", pidfile, "-t", str(_THREADS), "python", program),
        *(f"model={model.name}", f"size={source.size_bytes}", f"store={store}"),
        *(f"seed={seed}", f"pipeline={PIPELINE_S:.6f}"),
    )
    steps = (
        clear(name, store, socket, pidfile, *leftovers),
        *copies,
        Step(f"serve {name} as {model.name}", argv, UndoDaemon(pidfile, socket), await_file=pidfile),
        *attach_export(loop, socket, name, site),
        set_rotational(loop, model.rotational, name),
    )
    volume = block_volume(f"loop{loop}", name, source.size_bytes, None, model.name)
    return DevicePlan(steps, volume, is_attached(loop, file))


def _copied(site: Site) -> tuple[str, tuple[Step, ...]]:
    """Return the path of the plugin on another machine, and the steps that copy it there together with its imports.

    The copies keep the folders of their package, because the plugin finds its imports relative to its own file. They
    work without `__init__.py` files.
    """
    folder = f"{site.state_dir}/model/{'/'.join(_PACKAGE)}"
    write = 'mkdir -p "${0%/*}" && cat >"$0"'
    steps = tuple(
        Step(f"write {name}", ("sh", "-c", write, f"{folder}/{name}"), stdin=(PLUGIN.parent / name).read_text("utf-8"))
        for name in _COPIED
    )
    return f"{folder}/{PLUGIN.name}", steps
