"""Output and commands of fio that mail programs, wikis, YAML files or people have changed."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from poolproof.load.fio.source_commands import find_commands

# a raw mail of https://lore.kernel.org (quoted-printable)
QUOTED_PRINTABLE = """\
=C2=A0=C2=A0 read: IOPS=3D3138, BW=3D12.3MiB/s (12.9MB/s)(736MiB/600=
01msec)
=C2=A0=C2=A0=C2=A0 clat (usec): min=3D46, max=3D953, avg=3D317.00, std=
ev=3D27.79
"""

# https://github.com/intel/fiovisualizer/pull/17: a terse line in code marks
TERSE = (
    "`3;fio-3.19;seq-read;0;0;581120;506202;4035;1148;0;164;1.3;5.2;14655;23539;16062.6;1195.9;1.000000%=14745;"
    + "50.000000%=15925;" * 19
    + "14656;23540;16064.0;1195.9;500129;500129;98.8%;500129.0;0.0;0;0;0;0;0;0;0.0;0.0;0;0;0.0;0.0;"
    + "1.000000%=0;" * 20
    + "0;0;0.0;0.0;0;0;0.0%;0.0;0.0;0.9%;0.8%;1156;0;37;0.1%;0.1%;0.2%;25.0%;50.1%;24.6%;0.0%;"
    + ";".join(["0.00%"] * 22)
    + "`\n"
)

# https://github.com/kata-containers/tests/pull/650: a document without its start
JSON_FROM_ITS_OPTIONS_ON = """\
        "size" : "1G",
        "ioengine" : "libaio",
        "iodepth" : "16"
      },
      "read" : {
        "io_bytes" : 1360878336,
        "io_kbytes" : 1328982,
        "bw" : 22149,
        "iops" : 1384.35,
        "runtime" : 60001,
        "total_ios" : 83062
"""

GROUP_IN_A_LINE = (
    "1 - READ: io=11981MB, aggrb=102244KB/s, minb=102244KB/s, maxb=102244KB/s, mint=120008msec, maxt=120008msec\n"
)

RBD = """\
# fio --name=vol --numjobs=1 --ioengine=rbd --rw=write --direct=1 --iodepth=1 --bs=256K --size=1G --pool=p --rbdname=v
vol: (g=0): rw=write, bs=256K-256K/256K-256K/256K-256K, ioengine=rbd, iodepth=1
fio-2.2.10
Starting 1 process
vol: (groupid=0, jobs=1): err= 0: pid=4070481: Mon Mar 29 20:30:07 2021
  write: io=1024.0MB, bw=26099KB/s, iops=101, runt= 40177msec
     issued    : total=r=0/w=4096/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0

Disk stats (read/write):
    dm-0: ios=0/464, merge=0/0, ticks=0/213, in_queue=213, util=0.38%
"""

RANDOM_READS = """\
test: (groupid=0, jobs=1): err= 0: pid=4925
  read: IOPS={iops}, BW={bw}({moved}/{ms}msec)
"""


def _audit(text: str) -> Audited:
    (audited,) = audit_text("post", text, Context())
    return audited


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        (QUOTED_PRINTABLE, 12.9e6),
        (TERSE, 506202 * 1024),
        (JSON_FROM_ITS_OPTIONS_ON, 22149 * 1024),
        (GROUP_IN_A_LINE, 102244 * 1024),
    ],
    ids=["quoted-printable", "terse in code marks", "JSON without its start", "totals in a line"],
)
def test_the_values_of_changed_output_are_read(text: str, rate: float) -> None:
    audited = _audit(text)
    assert audited.figures.directions["read"].bandwidth_bytes == pytest.approx(rate, rel=1e-3)
    assert audited.verdict == "unproven"
    assert audited.proof


def test_disk_statistics_of_a_job_over_the_network_are_those_of_another_disk() -> None:
    assert _audit(RBD).verdict == "unproven"
    local = RBD.replace("rbd", "libaio")
    assert _audit(local).verdict == "refuted"


@pytest.mark.parametrize("path", ["/dev/nullb0", "/dev/rd0"])
def test_devices_without_a_disk_are_refuted(path: str) -> None:
    command = f"fio --name=test --rw=randread --bs=4k --direct=1 --filename={path}\n"
    values = RANDOM_READS.format(iops="310k", bw="1211MiB/s (1270MB/s)", moved="11.8GiB", ms="10000")
    audited = _audit(command + values)
    assert audited.verdict == "refuted"
    assert audited.findings[0].rule == "volatile-target"


def test_the_null_engine_is_refuted() -> None:
    values = RANDOM_READS.format(iops="310k", bw="1211MiB/s (1270MB/s)", moved="11.8GiB", ms="10000")
    audited = _audit(f"fio --name=test --rw=randread --bs=4k --ioengine=null --size=20g\n{values}")
    assert audited.verdict == "refuted"
    assert audited.findings[0].message.startswith("the job uses fio's null engine"), "an engine has no files"


def test_a_command_whose_job_has_another_name_belongs_to_the_result_below_it() -> None:
    """Found in https://github.com/axboe/fio/issues/1212."""
    command = "$ fio -name=NAME -rw=read -bs=1024k -size=1G -direct=1 -filename=iotest\n"
    values = RANDOM_READS.format(iops="346", bw="347MiB/s (364MB/s)", moved="1024MiB", ms="2951")
    audited = _audit(command + values)
    assert audited.command is not None
    assert audited.is_assumed
    other = RANDOM_READS.format(iops="346", bw="1388KiB/s (1421kB/s)", moved="4100KiB", ms="2951")
    assert _audit(command + other).command is None, "the block size differs"


def test_direct_reads_of_a_small_file_on_macos_may_come_from_ram() -> None:
    command = "$ fio --name=test --rw=read --bs=1024k --size=2G --direct=1 --filename=iotest\n"
    values = RANDOM_READS.format(iops="4946", bw="4947MiB/s (5187MB/s)", moved="20.0GiB", ms="4140")
    assert _audit(f"OS: macOS 14.2\n{command}{values}").verdict == "suspect"
    assert "small-file" not in {finding.rule for finding in _audit(command + values).findings}


def test_buffered_writes_of_libaio_have_an_honest_rate_and_wrong_latencies() -> None:
    command = (
        "$ fio --name=test --rw=write --bs=1M --size=5G --refill_buffers --end_fsync=1 --iodepth=32 --ioengine=libaio\n"
    )
    audited = _audit(
        f"{command}test: (groupid=0, jobs=1): err= 0: pid=3996\n"
        "  write: IOPS=138, BW=138MiB/s (145MB/s)(5120MiB/37066msec)\n"
        "    clat (usec): min=7, max=969351, avg=220040.78, stdev=173887.36\n"
        "    clat percentiles (msec):\n     | 50.00th=[  163], 99.00th=[  523]\n"
    )
    assert audited.verdict == "unproven"
    assert audited.verdicts["p99"] == "suspect"


@pytest.mark.parametrize(
    "text",
    [
        'command: ["fio", "--name=a", "--rw=randread", "--bs=4k"]\n',
        "command:\n  - fio\n  - --name=a\n  - --rw=randread\n  - --bs=4k\n",
        "args:\n  - --name=a\n  - --rw=randread\n  - --bs=4k\nname: x\n",
        "cmd = ['fio', '--name=a', '--rw=randread',\n       '--bs=4k']\nsubprocess.run(cmd)\n",
    ],
)
def test_lists_of_arguments_are_commands(text: str) -> None:
    (command,) = find_commands(text)
    assert [(job.name, job.rw, job.text("bs")) for job in command.jobs] == [("a", "randread", "4k")]


def test_options_after_a_substitution_are_read() -> None:
    (command,) = find_commands("# fio --name=a --numjobs=$(nproc) --rw=read --size=$((4 * 1024))m --bs=4k\n")
    (job,) = command.jobs
    assert (job.rw, job.text("bs")) == ("read", "4k")
    assert "$" in (job.text("numjobs") or "")


def test_values_of_crystaldiskmark_in_a_table_of_markdown() -> None:
    """Found in https://github.com/RubenO94/esi-ac."""
    text = (
        "### CrystalDiskMark\n\n| Teste | Leitura (MB/s) | Escrita (MB/s) |\n|---|---|---|\n"
        "| SEQ1M Q8T1 (sequencial) | 441,73         | 413,67         |\n| RND4K Q32T1 | 179,95 | 142,16 |\n"
    )
    found = [
        (name, values.bandwidth_bytes)
        for audited in audit_text("post", text, Context())
        for name, values in audited.figures.directions.items()
    ]
    assert found == [("read", 441.73e6), ("write", 413.67e6), ("read", 179.95e6), ("write", 142.16e6)]


def test_a_hard_disk_below_an_ssd_cache_is_not_the_only_disk() -> None:
    """Found in test_cache/test_bcache.log of https://github.com/geomflash/geomflash."""
    command = "fio --name=test --rw=randread --bs=4k --filename=/dev/bcache0 --direct=1 --runtime=60 --time_based\n"
    values = RANDOM_READS.format(iops="8392", bw="32.8MiB/s (34.4MB/s)", moved="1967MiB", ms="60001")
    disk = "disk: 4 TB, 7200 rpm\n"
    assert _audit(f"{disk}make-bcache -C /dev/sdb -B /dev/sda\n{command}{values}").verdict == "unproven"
    plain = command.replace("bcache0", "sda")
    assert _audit(f"{disk}{plain}{values}").verdict == "suspect"
    statistics = "Disk stats (read/write):\n  bcache0: ios=503520/0, merge=0/0, ticks=1/0, in_queue=0, util=9.1%\n"
    assert _audit(f"{disk}{plain}{values}{statistics}").verdict == "unproven"


def test_totals_of_a_group_that_lacks_clones_are_not_mixed_with_one_clone() -> None:
    """In https://github.com/kastenhq/kubestr/issues/68, the text begins with the last of four clones."""
    audited = _audit(
        "write_seq: (groupid=0, jobs=1): err= 0: pid=332: Tue Apr 27 10:48:09 2021\n"
        "  write: IOPS=250, BW=250MiB/s (262MB/s)(3750MiB/15000msec)\n\n"
        "Run status group 0 (all jobs):\n"
        "  WRITE: bw=1000MiB/s (1049MB/s), 250MiB/s-250MiB/s (262MB/s-262MB/s), io=14.6GiB (15.7GB), "
        "run=15000-15000msec\n"
    )
    write = audited.figures.directions["write"]
    assert write.bandwidth_bytes == pytest.approx(1049e6)
    assert write.iops == pytest.approx(1000, rel=0.01)


def test_a_mean_far_below_any_disk_shows_reads_from_ram() -> None:
    """In https://github.com/axboe/fio/issues/329, only the mean is quoted."""
    text = RANDOM_READS.format(iops="310k", bw="1211MiB/s (1270MB/s)", moved="11.8GiB", ms="10000")
    latency = "    lat (usec): min=0, max=1099, avg= {mean}, stdev= 1.26\n"
    assert _audit(text.replace("test:", "rand-read:") + latency.format(mean="0.90")).verdict == "suspect"
    assert _audit(text + latency.format(mean="0.90")).verdict == "unproven", "readahead may serve sequential reads"
    assert _audit(text.replace("test:", "rand-read:") + latency.format(mean="90.90")).verdict == "unproven"


def test_hdparm_in_a_sentence_is_read() -> None:
    """Found in https://github.com/geerlingguy/raspberry-pi-pcie-devices/issues/565."""
    audited = _audit("hdparm on the 8 GB Pi: Timing O_DIRECT disk reads: 1218 MB in  3.00 seconds = 405.77 MB/sec\n")
    assert audited.figures.directions["read"].bandwidth_bytes == pytest.approx(405.77 * 1024**2)


def test_what_single_quotes_keep_from_the_shell_is_not_shown_in_double_quotes() -> None:
    """Whoever copies the command would otherwise run a program that the author only wrote about."""
    (command,) = find_commands("$ fio --name='a$(reboot)' '--filename=/x/$(id)' --size=$(nproc)g --rw=read --bs=4k\n")
    assert "'--name=a$(reboot)' '--filename=/x/$(id)' \"--size=$(nproc)g\"" in command.text


def test_a_zero_in_place_of_the_letter_in_iops() -> None:
    (found,) = audit_text("p", "write: I0PS=38, BW=608MiB/s (638MB/s)(16.0GiB/26934msec); 0 zone resets\n", Context())
    figures = found.figures.directions["write"]
    assert (figures.iops, figures.bandwidth_bytes) == (38.0, 638e6)
