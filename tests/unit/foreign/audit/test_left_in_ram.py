"""Other programs' results of files that an earlier test of the same program left in RAM."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

IOZONE = """\
\tCommand line used: iozone -a -s {size} -r 4{options} -f /mnt/sd/scratch
\tOutput is in kBytes/sec
              kB  reclen    write  rewrite    read    reread
{kb:>16}       4     9120     9944    31877    32010
"""

PREPARED = """\
$ sysbench fileio --file-total-size=3G prepare
3221225472 bytes written in 6.25 seconds (491.52 MiB/sec).
{between}
$ sysbench fileio --file-total-size=3G --file-test-mode=rndrd run
Block size 16KiB
Doing random read test

File operations:
    reads/s:                      {reads}

General statistics:
    total time:                          10.0002s
"""

RADOS = """\
# rados bench -p test 30 seq
Total time run:       {seconds}
Total reads made:     60
Read size:            4194304
Bandwidth (MB/sec):   {rate}
Average IOPS:         300
"""


def _rules(each: Audited) -> set[str]:
    return {finding.rule for finding in each.findings if finding.effect in ("suspects", "refutes")}


def _audited(text: str) -> list[Audited]:
    return list(audit_text("post", text, Context()))


@pytest.mark.parametrize(
    ("kb", "options", "is_memory"),
    [(8192, "", True), (8192, " -I", False), (8192, " -U /mnt/sd", False), (4194304, "", False)],
)
def test_a_small_file_that_iozone_has_just_written_is_in_ram(kb: int, options: str, *, is_memory: bool) -> None:
    found = {each.job: each for each in _audited(IOZONE.format(size=f"{kb}k", kb=kb, options=options))}

    assert ("earlier-job" in _rules(found["iozone: read"])) == is_memory
    assert "earlier-job" not in _rules(found["iozone: write"])


@pytest.mark.parametrize(
    ("between", "reads", "is_memory"),
    [
        ("", "81920.00", True),
        ("$ echo 3 | sudo tee /proc/sys/vm/drop_caches", "81920.00", False),
        ("", "819.20", False),
    ],
)
def test_sysbench_reads_the_files_that_it_has_prepared(between: str, reads: str, *, is_memory: bool) -> None:
    prepared, run = _audited(PREPARED.format(between=between, reads=reads))

    assert prepared.figures.directions["write"].bandwidth_bytes == pytest.approx(491.52 * 1024**2)
    assert prepared.figures.directions["write"].io_bytes == 3 << 30
    assert prepared.verdict == "unproven"
    assert ("earlier-job" in _rules(run)) == is_memory


@pytest.mark.parametrize(("seconds", "rate", "is_short"), [("0.2000", "1200", True), ("12.000", "20", False)])
def test_rados_reads_that_ran_out_of_objects_within_a_second_are_suspect(
    seconds: str, rate: str, *, is_short: bool
) -> None:
    (found,) = _audited(RADOS.format(seconds=seconds, rate=rate))

    assert ("work-done" in _rules(found)) == is_short


MIXED = """\
$ sysbench fileio --file-total-size=3G prepare
3221225472 bytes written in 6.25 seconds (491.52 MiB/sec).
$ sysbench fileio --file-total-size=3G --file-test-mode=rndrw run
Block size 16KiB
Doing random r/w test

File operations:
    reads/s:                      3000.00
    writes/s:                     2000.00
    fsyncs/s:                     6400.00

General statistics:
    total time:                          10.0000s
    total number of events:              114000

Latency (ms):
         avg:                                    0.09
         {percentile}
"""


@pytest.mark.parametrize(
    ("percentile", "is_memory"),
    [
        ("95th percentile:                        0.15", True),
        ("approx.  95 percentile:                 0.15ms", True),
        ("95th percentile:                        0.35", False),
        ("95th percentile:                        0.35\n         99th percentile:     0.15", False),
    ],
)
def test_the_percentile_of_all_events_bounds_that_of_the_reads(percentile: str, *, is_memory: bool) -> None:
    _, run = audit_text("post", MIXED.format(percentile=percentile), Context())

    assert ("earlier-job" in _rules(run)) == is_memory
    assert run.figures.directions["read"].iops == 3000.0


def test_two_runs_of_sysbench_without_commands_are_two_results() -> None:
    run = MIXED[MIXED.index("Block size") :].format(percentile="95th percentile: 0.15")
    found = audit_text("post", run + run.replace("3000.00", "2500.00"), Context())

    assert [each.figures.directions["read"].iops for each in found] == [3000.0, 2500.0]
