"""A whole layer outside the package: ext2, which no layer of poolproof is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.devices.model import Site, Volume
from poolproof.facts.block import Mount
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers.arguments import ANY_MOUNT_FLAGS, Vocabulary, choose, one_block, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader, WriteBack, WriteBackForecast
from poolproof.layers.shared_steps import close_mount, make_mount_point, mount, mount_point, wipe
from poolproof.steps import Step

_WORDS = Vocabulary("ext2", words("blocksize"), words("errors"), ANY_MOUNT_FLAGS)


@dataclass(frozen=True)
class Ext2:
    format: tuple[tuple[str, str], ...]
    mount: tuple[str, ...]


class Ext2Layer(Layer[Ext2]):
    word = "ext2"
    summary = "the ext2 file system on one device: `hdd1 | ext2 noatime`"
    programs = ("mkfs.ext2",)
    packages = ("toy-progs",)
    module_packages = ("toy-dkms",)
    dkms_modules = ("ext2",)
    image_packages = ("toy-extras",)
    version = ProgramVersion("toyfs", ("mkfs.ext2", "-V"))
    file_system = "ext2"
    compressed_unit_bytes = 65536
    smallest_device_bytes = 1024**2
    settings: Mapping[str, str] = MappingProxyType({"/proc/sys/vm/swappiness": "toy_swappiness"})

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = one_block(reading, self.word)
        chosen = choose(reading, rest, _WORDS)
        return LayerNode(self, Ext2(chosen.make, chosen.open), (device,))

    def modules(self, spec: Ext2) -> tuple[str, ...]:
        return self.dkms_modules

    def plan(self, spec: Ext2, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        point = mount_point(site, name)
        argv = ("mkfs.ext2", "-q", "-F", *(part for _, size in spec.format for part in ("-b", size)), device.path)
        return LayerPlan(
            make=(wipe((device.path,)), Step("make ext2", argv, overwrites=(device.path,)), make_mount_point(point)),
            open=(mount("ext2", device.path, point, spec.mount),),
            close=(close_mount(point),),
            volume=self.volume(spec, point, inputs),
        )

    def capacity_bytes(self, spec: Ext2, inputs: Sequence[int]) -> int:
        return inputs[0] * 8 // 10

    def write_back(self, spec: Ext2, volume: Volume, host: Host) -> WriteBack | None:
        return WriteBack(7.0)

    def write_back_forecast(self, spec: Ext2) -> WriteBackForecast | None:
        return WriteBackForecast(7.0, is_certain=True)

    def compression(self, mount_options: Sequence[str]) -> str | None:
        return "toy" if "compressed" in mount_options else None

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        return ("toydisk",)

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        return ("toy work",) if "toydisk" in disks else ()


LAYER = Ext2Layer()
