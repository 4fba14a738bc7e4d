"""A backup or a copy of large files: one long sequential write, durable at its end.

borg writes segments of up to 500 MiB (max_segment_size = 524288000) and restic pack files of 16 MiB, one after the
other, and both sync what they wrote; so do most copies that are followed by `sync`. end_fsync=1 counts that last sync
in the bandwidth. The tools write through the page cache; this job writes past it with eight requests in flight, as
write-back does. Going round a file inside the page cache would overwrite dirty pages, and so measure RAM.
"""

from poolproof.campaign.model import JobSpec
from poolproof.campaign.presets import Preset

PRESET = Preset(
    name="backup",
    summary="a backup: one large sequential write of 1 MiB blocks, synced at its end",
    jobs=(JobSpec("backup", (("rw", "write"), ("bs", "1m"), ("size", "1g"), ("iodepth", "8"), ("end_fsync", "1"))),),
    metric="bandwidth",
    source=(
        "borg, internals, data structures "
        "(https://borgbackup.readthedocs.io/en/stable/internals/data-structures.html) and restic, tuning "
        "(https://restic.readthedocs.io/en/stable/047_tuning_backup_parameters.html)"
    ),
)
