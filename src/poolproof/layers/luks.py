"""LUKS encryption of one block device: `nvme1 | luks`, `nvme1 | luks cipher=aes-xts-plain64 sector-size=4096`.

Options are cryptsetup's own, by their long names: those of `luksFormat` with a value, those of `open` as bare words
(`allow-discards`, `perf-no_read_workqueue`). The key is random and never stands on a command line (key_file.py).

Unless the layout names a pbkdf or an iter-time, the passphrase is stretched as little as cryptsetup allows. That is
done once when the device is opened, and has no part in its throughput; by default it takes seconds and up to 1 GiB.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.layers import arguments
from poolproof.layers.arguments import words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.layers.kernel_names import kernel_name
from poolproof.layers.key_file import key_path, make_key
from poolproof.layers.options import Vocabulary, choose
from poolproof.layers.signatures import wipe
from poolproof.steps import LET_GO_S, Holds, Step, UndoCommand
from poolproof.units import format_size

_WORDS = Vocabulary(
    "luks",
    make_keys=words(
        "type cipher key-size hash sector-size pbkdf pbkdf-force-iterations pbkdf-memory pbkdf-parallel iter-time "
        "integrity integrity-key-size luks2-metadata-size luks2-keyslots-size offset"
    ),
    open_keys=frozenset(),
    open_flags=words(
        "allow-discards perf-same_cpu_crypt perf-submit_from_crypt_cpus perf-no_read_workqueue perf-no_write_workqueue "
        "integrity-no-journal integrity-no-wipe"
    ),
)
_CHECKED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "type": words("luks1 luks2"),
        "sector-size": words("512 1024 2048 4096"),
        "pbkdf": words("pbkdf2 argon2i argon2id"),
    }
)
_STRETCHING = words("pbkdf pbkdf-force-iterations pbkdf-memory pbkdf-parallel iter-time")
_LEAST_STRETCHING = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")
_HEADER_BYTES = 16 * 1024**2
_LONGEST_NAME = 127  # DM_NAME_LEN of the kernel, less its final 0
_SLOWEST_WIPE_BYTES_PER_S = 10e6


@dataclass(frozen=True)
class Luks:
    """Options with a value for luksFormat, and bare ones for open."""

    format: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    @property
    def has_integrity(self) -> bool:
        return "integrity" in dict(self.format)

    @property
    def writes_twice(self) -> bool:
        """With integrity, dm-integrity writes each block to its journal first, unless told not to."""
        return self.has_integrity and "integrity-no-journal" not in self.flags


class LuksLayer(Layer[Luks]):
    """Encryption below everything else."""

    word = "luks"
    summary = "LUKS encryption of one device: `nvme1 | luks cipher=aes-xts-plain64 key-size=512`"
    programs = ("cryptsetup",)
    packages = ("cryptsetup-bin",)
    module_packages = ("linux-image-amd64",)
    offers_block = True

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = arguments.one_block(reading, self.word)
        arguments.check_values(reading, rest, _CHECKED)
        chosen = choose(reading, rest, _WORDS)
        return LayerNode(self, Luks(chosen.make, chosen.open), (device,))

    def modules(self, spec: Luks) -> tuple[str, ...]:
        return ("dm_crypt", "dm_integrity") if spec.has_integrity else ("dm_crypt",)

    def plan(self, spec: Luks, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        _check_size(device)
        mapping, key = kernel_name(site, name, longest=_LONGEST_NAME), key_path(site, name)
        size = None if device.size_bytes is None else self.capacity_bytes(spec, [device.size_bytes])
        return LayerPlan(
            make=(make_key(key), wipe([device.path]), _format(spec, device, key)),
            open=(_open(spec, device.path, key, mapping),),
            close=(Step(f"close {mapping}", ("cryptsetup", "close", mapping), patience_s=LET_GO_S),),
            volume=Volume(f"/dev/mapper/{mapping}", True, device.leaves, size),
        )

    def write_factor(self, spec: Luks, inputs: Sequence[float]) -> float:
        return inputs[0] * (2 if spec.writes_twice else 1)

    def capacity_bytes(self, spec: Luks, inputs: Sequence[int]) -> int:
        """Less the LUKS2 header of 16 MiB, and a tenth where integrity tags and their journal are kept."""
        device = inputs[0] - _HEADER_BYTES
        return max(0, device * 9 // 10 if spec.has_integrity else device)


def _check_size(device: Volume) -> None:
    if device.size_bytes is not None and device.size_bytes <= _HEADER_BYTES:
        raise HostError(
            f"{device.path} has {format_size(device.size_bytes)}, and the header of LUKS2 alone takes 16 MiB",
            "give the device a size of 32M or more in the campaign",
        )


def _format(spec: Luks, device: Volume, key: str) -> Step:
    """With integrity, cryptsetup writes the whole device once, so that every block has a tag."""
    chosen = {"type": "luks2", **dict(spec.format)}
    named = [part for option, value in chosen.items() for part in (f"--{option}", value)]
    stretching = () if _STRETCHING & chosen.keys() else _LEAST_STRETCHING
    no_wipe = ("--integrity-no-wipe",) if "integrity-no-wipe" in spec.flags else ()
    wiping_s = (device.size_bytes or 0) / _SLOWEST_WIPE_BYTES_PER_S if spec.has_integrity and not no_wipe else 0.0
    return Step(
        f"encrypt {device.path}",
        ("cryptsetup", "luksFormat", "--batch-mode", "--key-file", key, *named, *stretching, *no_wipe, device.path),
        timeout_s=300 + wiping_s,
        overwrites=(device.path,),
    )


def _open(spec: Luks, device: str, key: str, mapping: str) -> Step:
    flags = [f"--{flag}" for flag in spec.flags if flag != "integrity-no-wipe"]
    return Step(
        f"open {device} as {mapping}",
        ("cryptsetup", "open", "--key-file", key, *flags, device, mapping),
        undo=UndoCommand(("cryptsetup", "close", mapping), Holds(f"/dev/mapper/{mapping}", "")),
        timeout_s=120,
    )


LAYER = LuksLayer()
