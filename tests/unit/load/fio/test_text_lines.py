"""Lines that contain text where a number is expected are ignored, and the rest of the run is read."""

import pytest

from poolproof.load.fio.text import read_text

_RUN = """\
a: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 23:44:51 2026
  read: IOPS=50, BW=50.5MiB/s (52.9MB/s)(100MiB/1981msec)
  cpu          : usr={user}%, sys=0.00%, ctx=102, majf=0, minf=9
  IO depths    : 1={depth}%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued rwts: total=100,0,0,0 short=0,0,0,0 dropped=0,0,0,0

Disk stats (read/write):
  sda: ios=1/2, merge=0/0, ticks=3/4, in_queue=7, util={util}%
"""


@pytest.mark.parametrize("odd", [".0.0", "1..2", ".", "1.2.3"])
@pytest.mark.parametrize("place", ["user", "depth", "util"])
def test_a_line_with_an_invalid_number_is_ignored(place: str, odd: str) -> None:
    (result,) = read_text(_RUN.format(**{"user": "0.20", "depth": "100.0", "util": "97.5", place: odd}))
    (job,) = result.parts
    assert job.read is not None and job.read.runtime_ms == 1981
    assert job.user_cpu_percent == (None if place == "user" else 0.2)
    assert result.disks[0].utilisation_percent == (None if place == "util" else 97.5)
