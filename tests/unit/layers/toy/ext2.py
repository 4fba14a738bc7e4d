"""A complete layer outside the package, for ext2, which poolproof itself does not support."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from poolproof.facts.block import Mount
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers.arguments import ANY_MOUNT_FLAGS, Chosen, Vocabulary, words
from poolproof.layers.base import WriteBack
from poolproof.layers.file_system import FileSystemLayer
from poolproof.layers.shared_steps import wipe
from poolproof.steps import Step
from poolproof.undos import CommandUndo, Compared, Holds, OwnFile, Removal

_WORDS = Vocabulary("ext2", words("blocksize"), words("errors"), ANY_MOUNT_FLAGS)


class UndoMark(CommandUndo, frozen=True, tag="ext2-mark"):
    """Remove the mark that the layer has made, if it still contains this text."""

    note: OwnFile
    text: Compared

    def removal(self) -> Removal:
        return Removal(("rm", "--", self.note), Holds(self.note, self.text), timeout_s=1)


class Ext2Layer(FileSystemLayer):
    word = "ext2"
    summary = "the ext2 file system on one device: `hdd1 | ext2 noatime`"
    programs = ("mkfs.ext2",)
    packages = ("toy-progs",)
    module_packages = ("toy-dkms",)
    dkms_modules = ("ext2",)
    image_packages = ("toy-extras",)
    backported = ("toy-progs",)
    components = ("non-free",)
    version = ProgramVersion("toyfs", ("mkfs.ext2", "-V"))
    file_system = "ext2"
    compressed_unit_bytes = 65536
    smallest_device_bytes = 1024**2
    undos = (UndoMark,)
    daemons = ("toy-file-system-daemon",)
    settings: Mapping[str, str] = MappingProxyType({"/proc/sys/vm/swappiness": "toy_swappiness"})

    vocabulary = _WORDS

    def modules(self, spec: Chosen) -> tuple[str, ...]:
        return self.dkms_modules

    def format(self, options: Mapping[str, str], device: str, label: str) -> tuple[Step, ...]:
        sizes = [part for size in options.values() for part in ("-b", size)]
        argv = ("mkfs.ext2", "-q", "-F", "-L", label, *sizes, device)
        return wipe((device,)), Step("make ext2", argv, overwrites=(device,))

    def capacity_bytes(self, spec: Chosen, inputs: Sequence[int]) -> int:
        return inputs[0] * 8 // 10

    def write_back_forecast(self, spec: Chosen) -> WriteBack | None:
        return WriteBack(7.0, is_certain=True)

    def compression(self, mount_options: Sequence[str]) -> str | None:
        return "toy" if "compressed" in mount_options else None

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        return ("toydisk",)

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        return ("toy work",) if "toydisk" in disks else ()


LAYER = Ext2Layer()
