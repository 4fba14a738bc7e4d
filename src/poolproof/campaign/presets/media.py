"""A media server (Plex, Jellyfin, a video site): several streams, each reading one large file from end to end.

Filebench's video server reads its videos in blocks of 256 KiB, one thread for each viewer, and so does this job with
four viewers. Filebench holds each viewer to the rate of a video; here they read as fast as the disks let them, so the
figure divided by the rate of one video is the number of viewers. On a disk with an arm the streams compete for it:
that is the point, and what a single sequential read does not show.
"""

from poolproof.campaign.model import JobSpec
from poolproof.campaign.presets import Preset

PRESET = Preset(
    name="media",
    summary="four viewers of a media server, each reading its own large file in sequence",
    jobs=(
        JobSpec("media", (("rw", "read"), ("bs", "256k"), ("size", "512m"), ("ioengine", "psync"), ("numjobs", "4"))),
    ),
    metric="bandwidth",
    source="filebench, workloads/videoserver.f (https://github.com/filebench/filebench)",
)
