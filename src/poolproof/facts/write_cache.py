"""Whether a disk has a volatile write cache, which may be hidden by a setting of its queue.

If someone writes `write through` to queue/write_cache, the kernel stops sending flushes, but the cache stays. Sources:
Linux 6.12, block/blk-sysfs.c, queue_wc_store (leaves FUA as it is); drivers/scsi/sd.c, sd_set_flush_flag (FUA only with
a cache) and cache_type_show; drivers/block/virtio_blk.c, cache_type_show; drivers/block/loop.c, BLK_FEAT_WRITE_CACHE.
"""

import re

from poolproof.facts.disk_link import device_path
from poolproof.hosts.base import Host, text_of

_SCSI = re.compile(r"(?P<disk>/.*/(?P<address>\d+:\d+:\d+:\d+))/block/")
_CACHED = "write back"


def has_write_cache(host: Host, device: str, queue: str) -> bool | None:
    """True if the disk has a volatile write cache, None if unknown.

    `device`: the kernel name of the disk or partition. `queue`: the sysfs directory of the disk's queue.
    """
    setting = text_of(host, f"{queue}/write_cache").strip()
    if setting != "write through":
        return None if not setting else True
    return device.startswith("loop") or text_of(host, f"{queue}/fua").strip() == "1" or _says_disk(host, device, queue)


def _says_disk(host: Host, device: str, queue: str) -> bool:
    """True if the disk's driver knows of a cache. NVMe drivers do not tell."""
    scsi = _SCSI.match(device_path(host, device))
    types = [f"{queue}/../cache_type"] if scsi is None else [f"{scsi['disk']}/scsi_disk/{scsi['address']}/cache_type"]
    return any(text_of(host, path).startswith(_CACHED) for path in types)
