"""Virtual machines on a hypervisor: several guests, mostly reads, small blocks with some larger ones between.

70 % reads, random, about 8 KiB with 8 requests outstanding is what Microsoft's VMFleet calls its general profile and
what StorageReview runs for virtual machines with HCIBench. Guests send more than one size: their page caches write back
4 KiB pages and merged runs of them. The split from 4 to 64 KiB here is poolproof's own choice around those 8 KiB; no
trace backs its exact shares. Four jobs stand for four guests, each with its own file in place of a disk image.
"""

from poolproof.campaign.model import JobSpec
from poolproof.campaign.presets import Preset

PRESET = Preset(
    name="vm",
    summary="four virtual machines: random, 70 % reads, blocks of 4 to 64 KiB, 8 outstanding each",
    jobs=(
        JobSpec(
            "vm",
            (
                ("rw", "randrw"),
                ("rwmixread", "70"),
                ("bssplit", "4k/40:8k/30:16k/15:64k/15"),
                ("size", "256m"),
                ("iodepth", "8"),
                ("numjobs", "4"),
            ),
        ),
    ),
    metric="iops",
    source=(
        "VMFleet's general profile (https://azurelocal.cloud/azurelocal-loadtools/tools/vmfleet/workload-profiles) and "
        "StorageReview's HCIBench profiles "
        "(https://itblog.sandisk.com/vmwares-suggestions-workload-configuration-vsan-performance-testbed/)"
    ),
)
