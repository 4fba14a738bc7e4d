"""Disks that a text or fio's output names, and jobs that a sentence lists."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

_RATES = (
    "read: IOPS={0}, BW=35.2MiB/s (36.9MB/s)(3072MiB/87273msec)\n"
    "write: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(1024MiB/87273msec)\n"
)
_MIXED = "fio --name=mix --ioengine=libaio --direct=1 --bs=4k --iodepth=32 --size=4G --rw=randrw --rwmixread=75\n\n"


def _all(text: str) -> tuple[Audited, ...]:
    return tuple(audit_text("post", text, Context()))


@pytest.mark.parametrize(
    ("heading", "verdict"),
    [
        ("Mirror of 4x WD Red, NVMe 250GB as SLOG", "suspect"),
        ("Mirror of 4x WD Red, SLOG: Optane 118GB", "suspect"),
        ("Mirror of 9x WD Red, NVMe 250GB as SLOG", "unproven"),
        ("Mirror of 4x WD Red, NVMe 250GB as cache", "unproven"),
    ],
)
def test_a_log_device_does_not_explain_fast_reads_from_hard_disks(heading: str, verdict: str) -> None:
    (each,) = _all(_MIXED + f"### {heading}\n" + _RATES.format("9000"))
    assert each.verdict == verdict
    assert [finding.rule for finding in each.findings if finding.effect == "suspects"] == ["named-disk"] * (
        verdict == "suspect"
    )
    assert not any("write" in metric for finding in each.findings for metric in finding.metrics)


@pytest.mark.parametrize(
    ("heading", "verdict"),
    [
        ("NFS share, sync=disabled", "suspect"),
        ("iSCSI, Sync Disabled", "suspect"),
        ("NFS share, sync=disabled\n\nNFS share, sync=always", "unproven"),
        ("dataset with sync=disabled", "unproven"),
    ],
)
def test_a_server_with_sync_disabled_makes_writes_suspect(heading: str, verdict: str) -> None:
    command = "fio --name=a --filename=/mnt/f --rw=randwrite --bs=4k --direct=1 --iodepth=8 --ioengine=libaio\n"
    (each,) = _all(f"{command}\n{heading}\nwrite: IOPS=2304, BW=9216KiB/s (9437kB/s)(900MiB/100001msec)\n")
    assert each.verdict == verdict


@pytest.mark.parametrize(
    ("heading", "verdict"),
    [("On xfs:", "unproven"), ("raw block device:", "unproven"), ("xfs on a zvol:", "suspect"), ("Test 2:", "suspect")],
)
def test_a_heading_names_a_file_system_that_honours_direct(heading: str, verdict: str) -> None:
    command = "fio --name=a --filename=/mnt/f --rw=write --bs=64k --direct=1 --numjobs=6 --time_based --runtime=30\n"
    rate = "bw=480MiB/s (503MB/s), 80.0MiB/s-80.0MiB/s (83.9MB/s-83.9MB/s), io=14.1GiB (15.1GB), run=30001-30001msec"
    (each,) = _all(f"{command}{heading}\n  WRITE: {rate}\n")
    assert each.verdict == verdict


def test_a_path_does_not_name_the_disks() -> None:
    command = "fio --name=a --filename=/mnt/hdd/f --rw=randread --bs=4k --direct=1 --iodepth=32 --ioengine=libaio\n"
    (each,) = _all(command + "read: IOPS=9011, BW=35.2MiB/s (36.9MB/s)(3072MiB/87273msec)\n")
    assert each.verdict == "unproven"


def test_hard_disks_are_counted_on_any_line_above() -> None:
    command = "fio --name=a --filename=/mnt/f --rw=randread --bs=4k --direct=1 --iodepth=32 --ioengine=libaio\n"
    rate = "read: IOPS=9011, BW=35.2MiB/s (36.9MB/s)(3072MiB/87273msec)\n"
    (each,) = _all(f"Three nodes.\nEach has 12x 7200rpm HDD.\n\nThe HDD pool:\n{command}{rate}")
    assert each.verdict == "unproven"
    (each,) = _all(f"Three nodes.\nEach has 2x 7200rpm HDD.\n\nThe HDD pool:\n{command}{rate}")
    assert each.verdict == "suspect"


def test_an_array_of_ram_disks_is_ram() -> None:
    block = (
        "log: (g=0): rw=write, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=4\n"
        "fio-2.21\n"
        "log: (groupid=0, jobs=1): err= 0: pid=77: Mon Feb  5 11:02:13 2018\n"
        "  write: io=400000KB, bw=20000KB/s, iops=5000, runt= 20000msec\n"
        "    clat (usec): min=9, max=147, avg=22.42, stdev=13.57\n"
        "Disk stats (read/write):\n"
        "    md7: ios=0/99436, merge=0/0, ticks=0/0, in_queue=0, util=0.00%, aggrios=0/0, aggrmerge=0/0\n"
        "  {}: ios=0/0, merge=0/0, ticks=0/0, in_queue=0, util=0.00%\n"
    )
    assert [each.verdict for each in _all(block.format("ram3"))] == ["refuted"]
    assert [each.verdict for each in _all(block.format("sdq"))] == ["unproven"]


def test_options_in_a_sentence_are_a_job() -> None:
    text = (
        "Setup: fio ioengine=io_uring, size=20M, bs=2048,\n"
        "    direct=0, rw=randwrite, time_based=1, runtime=120\n\n"
        "  4    write: IOPS=190k, BW=371MiB/s (389MB/s)(43.5GiB/120000msec)\n"
    )
    (each,) = _all(text)
    assert each.command is not None
    assert "--size=20M --bs=2048 --direct=0" in each.command
    assert "write-without-sync" in [finding.rule for finding in each.findings if finding.effect == "suspects"]
    (each,) = _all(text.replace("size=20M", "sized=20M"))
    assert each.command is None
    assert each.verdict == "unproven"


def test_iops_without_their_carry_fit_the_block_size() -> None:
    (each,) = _all(_MIXED + "read: IOPS=19.0k, BW=77.9MiB/s (81.7MB/s)(3072MiB/39435msec)\n")
    assert each.command is not None


_RANDOM = "fio --name=r --filename={path} --rw=randread --bs=4k --direct=1 --ioengine=psync --numjobs=8\n"


@pytest.mark.parametrize(
    ("place", "iops", "verdict"),
    [
        ("/mnt/ds418/photos/f", "6100", "suspect"),
        ("/mnt/ds418/photos/f", "5900", "unproven"),
        ("/mnt/ds1618+/f", "6100", "unproven"),
        ("/mnt/share/f (on our TS-431K)", "6100", "suspect"),
        ("/mnt/share/f (4x SSD in the DS418)", "6100", "unproven"),
        ("/mnt/ads418x/f", "6100", "unproven"),
        ("/mnt/ds4189/f", "6100", "unproven"),
    ],
)
def test_the_model_of_a_nas_gives_the_number_of_its_hard_disks(place: str, iops: str, verdict: str) -> None:
    path, _, remark = place.partition(" ")
    rate = f"  read: IOPS={iops}, BW=23.8MiB/s (25.0MB/s)(1430MiB/60001msec)\n"
    (each,) = _all(f"Next: {path} {remark}\n\n{_RANDOM.format(path=path)}{rate}")
    assert each.verdict == verdict
    assert [finding.rule for finding in each.findings if finding.effect == "suspects"] == ["named-disk"] * (
        verdict == "suspect"
    )
