"""etcd's write-ahead log: small appends, each made durable before the next.

etcd (the store of Kubernetes) appends every proposal to its log and calls fdatasync; its cluster is only as steady as
that call is quick. The job is the one of IBM's article, whose authors traced etcd and found writes of 2300 bytes on
average; they pass a disk whose 99th percentile of fdatasync is below 10 ms, which is why `sync_p99` is the metric.

Two things differ from the command in the article, both on purpose. Its 22 MiB are 10,030 commits, which a good SSD ends
in a second: here the job goes round its file until the time is over. And direct=0 is said aloud: 2300 bytes are no
multiple of a sector, so etcd's writes go through the page cache, and fdatasync brings them to the disk.
"""

from poolproof.campaign.model import JobSpec
from poolproof.campaign.presets import Preset

PRESET = Preset(
    name="etcd",
    summary="etcd's write-ahead log: appends of 2300 bytes, an fdatasync after each",
    jobs=(
        JobSpec(
            "etcd",
            (
                ("rw", "write"),
                ("bs", "2300"),
                ("size", "22m"),
                ("ioengine", "sync"),
                ("direct", "0"),
                ("fdatasync", "1"),
            ),
        ),
    ),
    metric="sync_p99",
    source=(
        "M. Olivi and M. Spreitzer, IBM, 2019: "
        "https://www.ibm.com/cloud/blog/using-fio-to-tell-whether-your-storage-is-fast-enough-for-etcd"
    ),
)
