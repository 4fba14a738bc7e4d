"""Parse the listings captured from real machines."""

from dataclasses import replace
from pathlib import Path

from poolproof.facts.block import BlockFacts, parse_lsblk

_FOLDER = Path(__file__).parent

BY_ID = {
    f"sd{letter}": (f"ata-HGST_HUS726T4TALA6L4_V1G0{letter.upper() * 4}", f"wwn-0x5000cca0{letter * 4}0000")
    for letter in "abcdefg"
} | {"nvme0n1": ("nvme-Samsung_SSD_980_500GB_S64DNX0R123456", "nvme-eui.002538d1b1c2d3e4")}


def text(name: str) -> str:
    return (_FOLDER / name).read_text()


def server(*, free: str = "sdd", signatures: tuple[str, ...] = ()) -> tuple[BlockFacts, ...]:
    """Return the server's disks. wipefs was run only on the disk `free`."""
    disks = parse_lsblk(text("lsblk-2.38.1-server.json"), BY_ID)
    return tuple(replace(disk, signatures=signatures) if disk.name == free else disk for disk in disks)


def server_disk(name: str) -> BlockFacts:
    return next(disk for disk in server() if disk.name == name)
