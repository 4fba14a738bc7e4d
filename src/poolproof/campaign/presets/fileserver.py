"""A file server with home directories: many clients that write whole files, append to them and read them back.

Filebench's file server has threads that each write a whole file (mean 128 KiB), append to one (mean 16 KiB) and read
one whole, over and over: two writes for each read, in blocks of 128 KiB and 16 KiB. This job does the same to places
in large files, with 16 clients instead of 50. Creating, deleting and looking up files is left out: fio measures data,
and a layout that is slow at metadata will not show it here.
"""

from poolproof.campaign.model import JobSpec
from poolproof.campaign.presets import Preset

PRESET = Preset(
    name="fileserver",
    summary="sixteen clients of a file server: 128 KiB reads and writes with 16 KiB appends between",
    jobs=(
        JobSpec(
            "fileserver",
            (
                ("rw", "randrw"),
                ("rwmixread", "33"),
                ("bssplit", "128k/100,128k/50:16k/50"),
                ("size", "64m"),
                ("ioengine", "psync"),
                ("numjobs", "16"),
            ),
        ),
    ),
    metric="iops",
    source="filebench, workloads/fileserver.f (https://github.com/filebench/filebench)",
)
