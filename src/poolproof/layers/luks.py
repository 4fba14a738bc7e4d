"""LUKS encryption of one block device: `nvme1 | luks`, `nvme1 | luks cipher=aes-xts-plain64 sector-size=4096`.

Options have cryptsetup's long names. Options for `luksFormat` have a value. Options for `open` are bare words
(`allow-discards`, `perf-no_read_workqueue`). The key is random and never appears on a command line. Unless the layout
sets a pbkdf option or iter-time, key stretching has the lowest cost that cryptsetup allows, because with cryptsetup's
default it would take seconds and up to 1 GiB of RAM. Key stretching happens only when the device is formatted or
opened, so it does not affect throughput.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from poolproof.devices.model import Site, Volume
from poolproof.evidence.target_facts import Target
from poolproof.facts.machine import ProgramVersion
from poolproof.layers.arguments import Chosen, Vocabulary, check_values, choose, one_block, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, OpenLayer, StageReader
from poolproof.layers.option_values import values
from poolproof.layers.shared_steps import kernel_name, key_path, long_options, make_key, signature_uuid, wipe
from poolproof.steps import LET_GO_S, Step
from poolproof.undos import COMMAND_LIMIT_S, CommandUndo, Holds, OwnName, Removal

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
_CHECKED: Mapping[str, frozenset[str]] = {
    "type": words("luks1 luks2"),
    "sector-size": words("512 1024 2048 4096"),
    "pbkdf": words("pbkdf2 argon2i argon2id"),
}
_STRETCHING = words("pbkdf pbkdf-force-iterations pbkdf-memory pbkdf-parallel iter-time")
_LEAST_STRETCHING = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")
_HEADER_BYTES = 16 * 1024**2
_LONGEST_NAME = 127  # DM_NAME_LEN of the kernel without the final NUL
_SLOWEST_WIPE_BYTES_PER_S = 10e6


class UndoMapping(CommandUndo, frozen=True, tag="mapping"):
    """Close the LUKS mapping /dev/mapper/`name`."""

    name: OwnName

    def removal(self) -> Removal:
        """Return the command that closes the mapping with cryptsetup. It runs only if the mapping exists."""
        return Removal(("cryptsetup", "close", self.name), Holds(f"/dev/mapper/{self.name}", ""), COMMAND_LIMIT_S)


class LuksLayer(Layer[Chosen]):
    """A block device that dm-crypt encrypts."""

    word = "luks"
    summary = "LUKS encryption of one device: `nvme1 | luks cipher=aes-xts-plain64 key-size=512`"
    programs = ("cryptsetup",)
    packages = ("cryptsetup-bin",)
    module_packages = ("linux-image-amd64",)
    image_packages = ("dmsetup",)
    version = ProgramVersion("cryptsetup", ("cryptsetup", "--version"))
    undos = (UndoMapping,)
    offers_block = True
    smallest_device_bytes = _HEADER_BYTES + 1024**2
    values = MappingProxyType({"cipher": values(r"[a-z0-9][a-z0-9:(),_-]*", "a cipher such as aes-xts-plain64")})

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = one_block(reading, self.word)
        check_values(reading, rest, _CHECKED)
        return LayerNode(self, choose(reading, rest, _WORDS), (device,))

    def modules(self, spec: Chosen) -> tuple[str, ...]:
        return ("dm_crypt", "dm_integrity") if _has_integrity(spec) else ("dm_crypt",)

    def plan(self, spec: Chosen, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        mapping, key = kernel_name(site, name, longest=_LONGEST_NAME), key_path(site, name)
        return LayerPlan(
            make=(make_key(key), wipe([device.path]), _format(spec, device, key, signature_uuid(site, name))),
            open=(_open(spec, device.path, key, mapping),),
            close=(Step(f"close {mapping}", ("cryptsetup", "close", mapping), patience_s=LET_GO_S),),
            volume=self.volume(spec, f"/dev/mapper/{mapping}", inputs),
        )

    def writes_everything(self, spec: Chosen) -> bool:
        """True if cryptsetup writes every block once, because with integrity each block needs a tag."""
        return _has_integrity(spec) and "integrity-no-wipe" not in spec.open

    def write_factor(self, spec: Chosen, inputs: Sequence[float]) -> float:
        """Return the write amplification of the input.

        dm-integrity's journal is not included. It makes blocks durable, but they may be written to their own places
        long after the load.
        """
        return inputs[0]

    def capacity_bytes(self, spec: Chosen, inputs: Sequence[int]) -> int:
        """Return the device's size minus 16 MiB for the LUKS2 header and, with integrity, 10% for tags and journal."""
        device = inputs[0] - _HEADER_BYTES
        return max(0, device * 9 // 10 if _has_integrity(spec) else device)

    def describe(self, built: OpenLayer[Chosen], target: Target) -> Target:
        return replace(target, journals_in_ram=target.journals_in_ram or _has_journal(built.spec))


def _has_journal(spec: Chosen) -> bool:
    return _has_integrity(spec) and "integrity-no-journal" not in spec.open


def _has_integrity(spec: Chosen) -> bool:
    return "integrity" in dict(spec.make)


def _format(spec: Chosen, device: Volume, key: str, uuid: str) -> Step:
    """Return the step that formats the device.

    With integrity, cryptsetup also writes every block once, because each block needs a tag. `integrity-no-wipe` skips
    this.
    """
    chosen = {"type": "luks2", "uuid": uuid, **dict(spec.make)}
    named = long_options(chosen.items())
    stretching = () if _STRETCHING & chosen.keys() else _LEAST_STRETCHING
    no_wipe = ("--integrity-no-wipe",) if "integrity-no-wipe" in spec.open else ()
    wiping_s = (device.size_bytes or 0) / _SLOWEST_WIPE_BYTES_PER_S if _has_integrity(spec) and not no_wipe else 0.0
    return Step(
        f"encrypt {device.path}",
        ("cryptsetup", "luksFormat", "--batch-mode", "--key-file", key, *named, *stretching, *no_wipe, device.path),
        timeout_s=300 + wiping_s,
        overwrites=(device.path,),
    )


def _open(spec: Chosen, device: str, key: str, mapping: str) -> Step:
    flags = [f"--{flag}" for flag in spec.open if flag != "integrity-no-wipe"]
    return Step(
        f"open {device} as {mapping}",
        ("cryptsetup", "open", "--key-file", key, *flags, device, mapping),
        undo=UndoMapping(mapping),
        timeout_s=120,
    )


LAYER = LuksLayer()
