"""LVM commands that can access only the devices of one layout, and an undo that removes a volume group."""

import re
from collections.abc import Iterator, Sequence

from poolproof.devices.model import Site
from poolproof.layers.shared_steps import signature_uuid
from poolproof.steps import Step
from poolproof.undos import CommandUndo, DevicePath, Holds, OwnName, Removal

# The configuration allows LVM to use all devices, but only the group's physical volumes lose their labels.
_REMOVE_GROUP = """
volumes=$(lvm pvs --noheadings -o pv_name --select "vg_name=$0" "$1") || exit 1
lvm vgremove --yes --force "$1" "$0" && lvm pvremove --yes "$1" $volumes
"""


class UndoGroup(CommandUndo, frozen=True, tag="group"):
    """Remove the LVM volume group `name`, and the labels of its physical volumes.

    `devices`: all physical volumes of the group.
    """

    name: OwnName
    devices: tuple[DevicePath, ...]

    def removal(self) -> Removal:
        """Return a script that removes the volume group. It runs only if the directory of the group exists in /dev."""
        argv = ("sh", "-c", _REMOVE_GROUP, self.name, f"--config={only(self.devices)}")
        return Removal(argv, Holds(f"/dev/{self.name}", ""), 60)


def lvm(command: str, devices: Sequence[str], *arguments: str) -> tuple[str, ...]:
    """Return an LVM command that can access only these devices."""
    return ("lvm", command, "--config", only(devices), *arguments)


def only(devices: Sequence[str]) -> str:
    """Return an LVM configuration that accepts only these devices.

    Special characters of regular expressions in the paths are replaced with `.`, which matches any character.
    """
    accepted = ",".join('"a|^' + re.sub(r"[^\w/-]", ".", path) + '$|"' for path in devices)
    only_ours = f'devices{{filter=[{accepted},"r|.*|"]types=["zvol",16]}}'
    return only_ours + "backup{backup=0 archive=0}activation{monitoring=0}"


def label(paths: Sequence[str], site: Site, name: str) -> Iterator[Step]:
    """Yield the steps that label the devices as physical volumes, with UUIDs that begin with the run's label.

    They have no undo, because the undo of the volume group removes the labels too.
    """
    for number, path in enumerate(paths):
        digits = signature_uuid(site, f"{name} {number}").replace("-", "")
        uuid = re.sub("^(.{6})(.{4})(.{4})(.{4})(.{4})(.{4})", r"\1-\2-\3-\4-\5-\6-", digits)
        yield Step(
            f"create a physical volume on {path}",
            lvm("pvcreate", paths, "--yes", "--quiet", "--norestorefile", "--uuid", uuid, path),
            overwrites=(path,),
        )
