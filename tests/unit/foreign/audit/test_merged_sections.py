"""Results that fio merged over several sections (group_reporting): no section is judged by the options of another."""

import json

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from poolproof.load.fio.find import find_results

_JOB = """\
[global]
size=16m
runtime=1
time_based=1
group_reporting=1
ioengine=psync
[log]
rw=randread
bs=4k
direct=1
[data]
rw=write
bs=64k
numjobs=2
"""
_TEXT = """\
log: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
data: (g=0): rw=write, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=psync, iodepth=1
...
fio-3.33
Starting 3 processes

log: (groupid=0, jobs=3): err= 0: pid=12090: Mon Nov 30 11:21:07 2026
  read: IOPS=6265, BW=24.5MiB/s (25.7MB/s)(24.6MiB/1004msec)
    clat (usec): min=26, max=11215, avg=159.17, stdev=637.70
  write: IOPS=60.6k, BW=3786MiB/s (3970MB/s)(3820MiB/1009msec); 0 zone resets
    clat (usec): min=2, max=1215, avg=19.17, stdev=37.70
"""
_GLOBAL = {"size": "16m", "runtime": "1", "time_based": "1", "group_reporting": "1", "ioengine": "psync"}
_LAST = {"rw": "write", "bs": "64k", "numjobs": "2"}
_READ = {"io_bytes": 27594752, "bw_bytes": 27484812, "iops": 6710.2, "runtime": 1004, "total_ios": 6737}
_WRITE = {"io_bytes": 4040622080, "bw_bytes": 4004580852, "iops": 61105.1, "runtime": 1009, "total_ios": 61655}


def _json(common: dict[str, str] = _GLOBAL, own: dict[str, str] = _LAST, **job: object) -> str:
    """Return the JSON of fio 3.33: the name of the first section, and the options of the last one."""
    entry = {"jobname": "log", "groupid": 0, "job options": own, **({"read": _READ, "write": _WRITE} | job)}
    return json.dumps({"fio version": "fio-3.33", "global options": common, "jobs": [entry]}, indent=1)


def _audit(text: str) -> Audited:
    (audited,) = audit_text("x", text, Context())
    return audited


def _rules(audited: Audited) -> set[str]:
    return {finding.rule for finding in audited.findings if finding.effect != "notes"}


def test_the_options_of_the_last_section_do_not_describe_the_first_one() -> None:
    audited = _audit(_json(job_runtime=3011))
    assert audited.command is None and audited.verdict == "unproven", audited.findings
    assert not _rules(audited) & {"verify-cost", "write-without-sync"}


def test_the_total_run_time_shows_that_there_are_other_sections() -> None:
    alone, merged = (_audit(_json(read=None, job_runtime=ms)) for ms in (2018, 3011))
    assert "write-without-sync" in _rules(alone) and alone.command is not None
    assert "write-without-sync" not in _rules(merged) and merged.command is None


def test_without_the_total_run_time_the_directions_show_it() -> None:
    assert _audit(_json()).command is None
    assert _audit(_json(read=None)).command is not None


def test_common_options_remain_known_if_the_sections_differ_only_in_their_files() -> None:
    common = {**_GLOBAL, "rw": "write", "bs": "64k"}
    audited = _audit(_json(common, {"filename": "/mnt/b/x"}, read=None, job_runtime=3027))
    assert "write-without-sync" in _rules(audited)
    assert "numjobs=3" in (audited.command or "") and "/mnt/b/x" not in (audited.command or "")


def test_reads_that_verify_do_not_come_from_another_section() -> None:
    audited = _audit(_json(own={**_LAST, "verify": "crc32c"}, job_runtime=4018))
    assert "verify-cost" in _rules(audited)


def test_each_section_is_judged_by_its_own_options() -> None:
    audited = _audit(f"{_JOB}\n{_TEXT}")
    assert audited.job == "log, data"
    of_writes = [each for each in audited.findings if each.rule == "write-without-sync"]
    assert of_writes and all("`data`" in finding.message for finding in of_writes)
    assert "verify-cost" not in _rules(audited)


def test_header_lines_name_the_sections_but_not_their_clones() -> None:
    """60.6k IOPS × 33 µs are two writes in flight: too many for one clone of `data`, but not for two."""
    audited = _audit(_TEXT.replace("avg=19.17", "avg=33.00"))
    assert audited.job == "log, data" and audited.verdict == "unproven", audited.findings
    assert _audit(_TEXT.replace("avg=19.17", "avg=73.00")).verdict == "refuted"


def test_a_job_file_describes_merged_json() -> None:
    audited = _audit(f"{_JOB}\n{_json(job_runtime=3011)}")
    assert audited.job == "log, data" and "[log]" in (audited.command or "")
    assert "write-without-sync" in _rules(audited)


def test_sections_that_do_the_same_kind_of_io_are_not_separated() -> None:
    text = _TEXT.replace("rw=write", "rw=randrw").replace("64.0KiB", "4096B")
    assert _audit(text).job == "log"
    single = _TEXT.replace("jobs=3", "jobs=1").replace("Starting 3", "Starting 1")
    assert _audit(single.replace("data: (g=0): rw=write", "log: (g=0): rw=randrw")).job == "log"


_TWO_SECTIONS = """\
with_sync: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1
...
without: (g=1): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1
...
fio-3.1
Starting 48 processes
with_sync: (groupid=0, jobs=24): err= 0: pid=16671: Sun Sep 29 06:07:15 2019
  write: IOPS=89.9k, BW=351MiB/s (368MB/s)(30.9GiB/90001msec)
    slat (usec): min=2, max=23179, avg=17.85, stdev=180.40
    clat (nsec): min=775, max=53443k, avg={clat}, stdev=626958.54
     lat (usec): min=10, max=53498, avg={lat}, stdev=657.74
"""


def test_all_clones_that_fio_counts_may_have_an_io_in_flight_although_the_next_section_is_missing() -> None:
    assert "littles-law" not in _rules(_audit(_TWO_SECTIONS.format(clat="247966.29", lat="265.91")))


def test_more_ios_in_flight_than_these_clones_allow_are_reported() -> None:
    assert "littles-law" in _rules(_audit(_TWO_SECTIONS.format(clat="297966.29", lat="315.91")))


def test_a_report_without_jobs_below_a_command_is_a_result_without_values() -> None:
    command = "fio --name=r --filename=f --rw=randread --size=128m"
    (audited,) = audit_text("post", f'{command}\n{{"fio version": "fio-3.33", "jobs": []}}\n', Context())
    assert audited.command == command and not audited.figures.directions


# fio's own header line is longer than 120 characters
_FOUR_CLONES = """\
first: (g=0): rw=write, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=libaio, iodepth=64
...
second: (g={group}): rw=read, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=libaio, iodepth=64
...
fio-3.7
Starting 8 processes
first: (groupid=0, jobs=4): err= 0: pid=50638: Wed Aug 19 12:12:42 2020
  write: IOPS=1475, BW=92.2MiB/s (96.7MB/s)(2781MiB/30153msec)
     lat (msec): min=5, max=1186, avg={lat}, stdev=28.97
"""  # noqa: E501


@pytest.mark.parametrize(("lat", "is_too_high"), [("173.28", False), ("201.10", True)])
def test_a_section_of_another_group_is_not_a_part_of_the_result(lat: str, *, is_too_high: bool) -> None:
    audited = _audit(_FOUR_CLONES.format(group=1, lat=lat))  # 4 clones × 64 = 256 I/Os in flight
    assert ("littles-law" in _rules(audited)) is is_too_high


def test_a_section_of_the_same_group_may_be_a_part_of_the_result() -> None:
    (found,) = find_results(_FOUR_CLONES.format(group=0, lat="173.28"))
    assert [part.clones for part in found.result.parts] == [3]
    (found,) = find_results(_FOUR_CLONES.format(group=1, lat="173.28"))
    assert [part.clones for part in found.result.parts] == [4]


def test_header_lines_of_other_jobs_only_do_not_describe_a_result() -> None:
    text = _FOUR_CLONES.format(group=1, lat="173.28").replace("first: (groupid", "third: (groupid")
    audited = _audit(text.replace("  write: IOPS", "  read: IOPS"))
    assert _rules(audited) == set()  # a job that only writes would have read only to verify
    (found,) = find_results(text)
    assert found.made is None
