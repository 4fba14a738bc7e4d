"""Start a lab in which ZFS transaction groups last one second.

A trial that writes to ZFS lasts at least three of them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.own_program import poolproof
from poolproof.campaign.model import Campaign, Emulated
from poolproof.campaign.write import format_campaign

TXG_S = 1
_LAB_LIMIT_S = 1800.0
_SET_TXG = f"modprobe zfs && echo {TXG_S} > /sys/module/zfs/parameters/zfs_txg_timeout && cat /sys/module/zfs/version"


def run_in_lab(campaign: Campaign, name: str, zfs: str, out: Path, words: Sequence[str], limit_s: float) -> int:
    """Run the campaign in a lab with short transaction groups, and return the exit code.

    The image is built if it does not exist. The lab is always stopped afterwards.

    `words`: further arguments of `poolproof run`.
    `limit_s`: the time limit for `poolproof run`, in seconds.
    """
    file = out.with_suffix(".yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(format_campaign(campaign), encoding="utf-8")
    code, _ = poolproof(["lab", "build", "--zfs", zfs], _LAB_LIMIT_S)
    if code:
        return code
    try:
        code, _ = poolproof(["lab", "start", name, *_disks(campaign), "--zfs", zfs], _LAB_LIMIT_S)
        if code:
            return code
        code, _ = poolproof(["lab", "run", name, "--", "sh", "-c", _SET_TXG], _LAB_LIMIT_S)
        if code:
            return code
        return poolproof(["run", str(file), "--on", f"lab:{name}", "--out", str(out), *words], limit_s)[0]
    finally:
        poolproof(["lab", "rm", name], _LAB_LIMIT_S)


def _disks(campaign: Campaign) -> Iterator[str]:
    for device in campaign.devices:
        assert isinstance(device.source, Emulated), "this campaign needs a lab"
        yield "--disk"
        yield f"{device.name}=emulate:{device.source.model},{device.source.size_bytes}"
