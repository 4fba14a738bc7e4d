"""Parse devices, which are written as `{file: 16G}` in YAML or as `a=emulate:nvme,16G` on the command line."""

import re

from poolproof.campaign.document import Node, Scalar, Spot, YamlMapping, check_keys, describe, expect_scalar
from poolproof.campaign.model import Device, DeviceSource, Disk, Emulated, LoopFile, Qcow2
from poolproof.campaign.names import NAME_RULE, did_you_mean, is_name, listed
from poolproof.units import parse_size

KINDS = ("disk", "file", "qcow2", "emulate")
_SHORT = "write one of file:16G, qcow2:16G, emulate:nvme,16G or disk:ata-MODEL_SERIAL"
_LONG = "write one of {file: 16G}, {qcow2: 16G}, {emulate: nvme, size: 16G} or {disk: ata-MODEL_SERIAL}"
_IDENTITY = re.compile(r"[A-Za-z0-9._:@+/-]+")
_MOST_BYTES = 1 << 60


def read_device(name: Scalar, value: Node) -> Device:
    """Read a device from a campaign file. Raises a CampaignError if the name, the kind or the size is invalid."""
    if not is_name(name.text):
        raise name.spot.mistake(f"`{name.text}` is not a valid device name", f"use {NAME_RULE}")
    if isinstance(value, YamlMapping):
        return Device(name.text, _from_table(name.text, value), str(name.spot))
    if isinstance(value, Scalar) and not value.is_nothing:
        return Device(name.text, _from_text(value.text, value.spot), str(name.spot))
    raise value.spot.mistake(f"expected the source of device `{name.text}`, found {describe(value)}", _LONG)


def parse_device_flag(text: str, option: str = "--device") -> Device:
    """Parse the value of a command-line option, such as `a=file:8G` or `b=emulate:hdd-7200,8G`.

    `option`: the name of the option, for error messages.

    Raises a CampaignError if the value is not a valid device.
    """
    spot = Spot(f"{option} {text}")
    name, equals, source = text.partition("=")
    if not equals:
        raise spot.mistake("expected NAME=SOURCE", f"write {option} NAME=file:16G or NAME=emulate:nvme,16G")
    return read_device(Scalar(name, True, spot), Scalar(source, False, spot))


def _from_text(text: str, spot: Spot) -> DeviceSource:
    kind, colon, rest = text.partition(":")
    if kind in KINDS and not colon:
        raise spot.mistake(f"`{kind}` needs a `:` and a value", _SHORT)
    if kind not in KINDS:
        guess = did_you_mean(kind, KINDS)
        raise spot.mistake(f"expected {listed(KINDS)} before a `:`, found `{text}`{guess}", _SHORT)
    if kind == "emulate":
        model, _, size = rest.partition(",")
        return _emulated(model, size, spot, f"emulate:{model.strip()},16G")
    return _source(kind, rest.strip(), spot)


def _from_table(name: str, table: YamlMapping) -> DeviceSource:
    check_keys(table, (*KINDS, "size"), f"device `{name}`")
    kinds = [key for key, _ in table.entries if key.text != "size"]
    if len(kinds) != 1:
        found = " and ".join(f"`{key.text}`" for key in kinds) or "none of them"
        raise table.spot.mistake(f"device `{name}` needs exactly one of {listed(KINDS)}, found {found}", _LONG)
    kind = kinds[0].text
    value = _text_of(table, kind)
    if kind == "emulate":
        size = _text_of(table, "size") if table.get("size") else ""
        return _emulated(value, size, table.spot, f"{{emulate: {value}, size: 16G}}")
    if table.get("size"):
        raise table.spot_of("size").mistake(f"`size` can only be combined with `emulate`, not with `{kind}`", _LONG)
    return _source(kind, value, table.spot_of(kind))


def _text_of(table: YamlMapping, key: str) -> str:
    node = table.get(key)
    assert node is not None
    return expect_scalar(node, f"one value after `{key}`", _LONG).text


def _source(kind: str, value: str, spot: Spot) -> DeviceSource:
    if kind == "disk":
        if not _IDENTITY.fullmatch(value):
            raise spot.mistake(
                f"expected the by-id name, serial number or WWN of a disk, found `{value}`",
                "to list the disks: poolproof devices",
            )
        return Disk(value)
    return LoopFile(_size(value, spot)) if kind == "file" else Qcow2(_size(value, spot))


def _emulated(model: str, size: str, spot: Spot, example: str) -> Emulated:
    if not is_name(model.strip()):
        raise spot.mistake(f"expected a disk model to emulate, found `{model}`", _LONG)
    if not size:
        raise spot.mistake(f"an emulated disk needs a size as well as the model `{model}`", f"write {example}")
    return Emulated(model.strip(), _size(size, spot))


def _size(text: str, spot: Spot) -> int:
    try:
        size = parse_size(text)
    except (ValueError, OverflowError):
        size = 0
    if not 0 < size <= _MOST_BYTES:
        raise spot.mistake(
            f"expected a size from 1 byte to 1024P, found `{text[:60]}`", "use a size such as 16G, 512M or 4096"
        )
    return size
