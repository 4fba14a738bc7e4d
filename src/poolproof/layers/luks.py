"""LUKS encryption of one block device: `nvme1 | luks`, `nvme1 | luks cipher=aes-xts-plain64 sector-size=4096`.

Options are cryptsetup's own, by their long names: those of `luksFormat` with a value, those of `open` as bare words
(`allow-discards`, `perf-no_read_workqueue`). The key is random and never stands on a command line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.layers import arguments
from poolproof.layers.arguments import words
from poolproof.layers.base import LayerNode, Reading
from poolproof.layers.options import Vocabulary, choose
from poolproof.layers.unbuilt import UnbuiltLayer

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
_HEADER_BYTES = 16 * 1024**2


@dataclass(frozen=True)
class Luks:
    """Options with a value for luksFormat, and bare ones for open."""

    format: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    @property
    def writes_twice(self) -> bool:
        """With integrity, dm-integrity writes each block to its journal first, unless told not to."""
        return "integrity" in dict(self.format) and "integrity-no-journal" not in self.flags


class LuksLayer(UnbuiltLayer[Luks]):
    """Encryption below everything else."""

    word = "luks"
    summary = "LUKS encryption of one device: `nvme1 | luks cipher=aes-xts-plain64 key-size=512`"
    programs = ("cryptsetup",)
    packages = ("cryptsetup-bin",)
    offers_block = True
    not_built = "the kernel module dm_crypt and the program cryptsetup"

    def read(self, reading: Reading) -> LayerNode:
        device, rest = arguments.one_block(reading, self.word)
        arguments.check_values(reading, rest, _CHECKED)
        chosen = choose(reading, rest, _WORDS)
        return LayerNode(self, Luks(chosen.make, chosen.open), (device,))

    def write_factor(self, spec: Luks, inputs: Sequence[float]) -> float:
        return inputs[0] * (2 if spec.writes_twice else 1)

    def capacity_bytes(self, spec: Luks, inputs: Sequence[int]) -> int:
        """Less the LUKS2 header of 16 MiB, and a tenth where integrity tags and their journal are kept."""
        device = inputs[0] - _HEADER_BYTES
        return max(0, device * 9 // 10 if "integrity" in dict(spec.format) else device)


LAYER = LuksLayer()
