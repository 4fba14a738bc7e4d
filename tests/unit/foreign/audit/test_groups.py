"""With `stonewall`, each group of jobs is a separate result, which is compared with what the disks can do."""

import json

from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.texts import audit_text
from tests.unit.load.fio.test_merge_groups import _ONE_AFTER_THE_OTHER, _SIDE_BY_SIDE

_COMMAND = (
    "$ fio --size=50m --direct=1 --name=a --rw=randread --bs=4k --iodepth=64 --ioengine=libaio"
    " --name=b --stonewall --rw=read --bs=64k\n"
)
_BLOCK = """\
{name}: (groupid={group}, jobs=1): err= 0: pid=1: Thu Aug 13 17:56:57 2020
  read: IOPS={iops}, BW={bw}/s ({decimal}/s)(5120MiB/{ms}msec)
"""
_DISKS = "\nDisk stats (read/write):\n  nvme0n1: ios={reads}/0, merge=0/0, ticks=1/1, in_queue=3, util=95.84%\n"


def _two(reads: int = 1_400_000) -> str:
    first = _BLOCK.format(name="a", group=0, iops="243k", bw="949MiB", decimal="995MB", ms=5393)
    second = _BLOCK.format(name="b", group=1, iops="26.1k", bw="1633MiB", decimal="1713MB", ms=3135)
    return f"{_COMMAND}fio-3.7\n{first}{second}{_DISKS.format(reads=reads)}"


def test_groups_of_a_stonewalled_run_are_results_with_lines_and_jobs_of_their_own() -> None:
    first, second = audit_text("x", _two(), Context())
    assert [each.figures.directions["read"].iops for each in (first, second)] == [243e3, 26.1e3]
    assert [(each.line, each.job) for each in (first, second)] == [(3, "a"), (5, "b")]
    assert first.rerun is not None and "--bs=64k" not in first.rerun


def test_groups_in_json_are_results_of_their_own() -> None:
    jobs = [
        {
            "jobname": name,
            "groupid": group,
            "read": {"io_bytes": 2**20, "bw_bytes": 10 * group + 1, "iops": group + 1.0},
        }
        for group, name in enumerate(("a", "b"))
    ]
    text = "$ fio x.fio\n" + json.dumps({"fio version": "fio-3.33", "jobs": jobs}, indent=1)
    found = audit_text("x", text, Context())
    assert [(each.job, each.line, each.figures.directions["read"].iops) for each in found] == [
        ("a", text[: text.index('"a"')].count("\n") + 1, 1.0),
        ("b", text[: text.index('"b"')].count("\n") + 1, 2.0),
    ]


def test_the_rates_of_groups_that_ran_one_after_the_other_are_not_added() -> None:
    found = audit_text("x", _ONE_AFTER_THE_OTHER, read_context(devices=["1x 80MB/s"]))
    assert len(found) == 2
    assert not {finding.rule for each in found for finding in each.findings} & {"physical-ceiling"}


def test_the_rates_of_jobs_are_not_added_beyond_fios_own_sum() -> None:
    (audited,) = audit_text("x", _SIDE_BY_SIDE, read_context(devices=["1x 80MB/s"]))
    assert "physical-ceiling" not in {finding.rule for finding in audited.findings}


def test_fios_own_sum_above_the_disks_is_refuted() -> None:
    (audited,) = audit_text("x", _SIDE_BY_SIDE, read_context(devices=["1x 70MB/s"]))
    assert audited.verdict == "refuted"
    assert "79.4 MB/s" in audited.findings[0].message


def test_quoted_counters_cover_all_groups() -> None:
    """iostat shows 53 MB/s read during both groups, which agrees with fio's result for each group."""
    block = "Device  tps  MB_read/s  MB_wrtn/s  MB_read  MB_wrtn\nsda  50.00  50.60  0.00  51  0\n"
    found = audit_text("x", f"{_ONE_AFTER_THE_OTHER}\n$ iostat -m 1\n{block}", Context())
    assert not {finding.rule for each in found for finding in each.findings} & {"read-from-cache"}


def _merged(**more: object) -> str:
    options = {
        "iodepth": "1",
        "ioengine": "libaio",
        "direct": "1",
        "bs": "8k",
        "rw": "randread",
        "group_reporting": "1",
    }
    read = {"io_bytes": 8192 * 120_000, "bw_bytes": 8192 * 4000, "iops": 4000.0, "runtime": 30_000}
    job = {"jobname": "a", "job options": {"filename": "/mnt/a"}, "read": read | {"lat_ns": {"mean": 900_000.0}}}
    return json.dumps({"fio version": "fio-3.16", "global options": options, "jobs": [job | more]}, indent=1)


def test_a_group_in_json_may_consist_of_more_jobs_than_its_options_show() -> None:
    """4,000 IOPS × 900 µs are 3.6 I/Os in flight: too many for one job, but not for four."""

    def is_refuted(text: str) -> bool:
        (audited,) = audit_text("x", text, Context())
        return any(finding.rule == "littles-law" and finding.effect == "refutes" for finding in audited.findings)

    assert is_refuted(_merged(job_runtime=30_000))
    assert not is_refuted(_merged(job_runtime=4 * 30_000))
    assert not is_refuted(_merged())
    assert is_refuted(_merged().replace('"group_reporting": "1"', '"thread": "1"'))


_TOTALS = """\
Run status group 0 (all jobs):
   READ: bw=1957MiB/s (2052MB/s), 1957MiB/s-1957MiB/s (2052MB/s-2052MB/s), io=19.1GiB (20.5GB), run=10001-10001msec
{between}
Run status group {second} (all jobs):
  WRITE: bw=13.6MiB/s (14.3MB/s), 13.6MiB/s-13.6MiB/s (14.3MB/s-14.3MB/s), io=136MiB (143MB), run=10001-10001msec

Disk stats (read/write):
  sda: ios=0/89533, sectors=0/2311280, merge=0/135425, ticks=0/11244, in_queue=11245, util=31.31%
"""


def test_the_disk_statistics_below_totals_cover_all_groups_of_the_run() -> None:
    read, write = audit_text("x", _TOTALS.format(between="", second=1), Context())
    assert [(each.line, each.verdict) for each in (read, write)] == [(1, "refuted"), (4, "unproven")]


def test_totals_of_other_runs_do_not_share_disk_statistics() -> None:
    for between, second in (("", 0), ("And with writes:", 1)):
        read, _ = audit_text("x", _TOTALS.format(between=between, second=second), Context())
        assert read.verdict == "unproven"
