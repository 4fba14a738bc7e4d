"""Find results and commands in posts, emails and scripts."""

import json
from pathlib import Path

import pytest

from poolproof.errors import FioError
from poolproof.load.fio import find
from poolproof.load.fio.find import LARGEST_PLAIN_TEXT_BYTES, find_results
from poolproof.load.fio.load import load_of, part_of
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.fio.source_commands import find_commands, source_commands

CAPTURED = Path(__file__).parent / "captured"
ETCD = (CAPTURED / "3.33-etcd.json").read_text()

POST = """\
We built a pool and ran this on a fresh volume:

# fio --name=test --rw=read --bs=1m --direct=1 --ioengine=libaio\\
  --size=100G --group_reporting --filename=/dev/pool/vol --numjobs=8
  (...)
    read: IOPS=20.0k, BW=19.5GiB/s (21.0GB/s)(800GiB/40960msec)

Then with `fio --name=w --rw=write --bs=1m --size=1g --filename=/dev/pool/vol` we wrote:

    write: IOPS=1000, BW=1000MiB/s (1049MB/s)(1024MiB/1024msec); 0 zone resets

and read again:

    read: IOPS=9000, BW=9000MiB/s (9437MB/s)(800GiB/91022msec)
"""


def test_each_fragment_is_matched_with_the_nearest_fitting_command() -> None:
    found = find_results(POST)
    assert [(result.line, result.made.line if result.made else None) for result in found] == [(6, 3), (10, 8), (14, 3)]
    assert found[0].made is not None and load_of(found[0].made.jobs).sharers == 8
    assert load_of(found[0].made.jobs).unique_bytes == 100 << 30
    assert found[0].made.origin == "command"


def test_a_command_that_contradicts_the_result_is_not_matched() -> None:
    (result,) = find_results(
        "fio --name=w --rw=write --size=1g\n\n read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n"
    )
    assert result.made is None


@pytest.mark.parametrize(
    ("options", "is_matched"),
    [
        ("--rw=randread --size=100g", True),
        ("--rw=randread --size=2g", False),
        ("--rw=randread --size=2g --time_based --runtime=180", True),
        ("--rw=randread --size=2g --loops=50", True),
        ("--rw=randrw --size=100g", False),
    ],
)
def test_a_command_below_a_result_must_explain_its_size_and_directions(options: str, *, is_matched: bool) -> None:
    block = "j: (groupid=0, jobs=1): err= 0: pid=1: Sat\n  read: IOPS=148k, BW=579MiB/s (607MB/s)(100GiB/176898msec)\n"
    (result,) = find_results(f"{block}\n\n> fio --name=j --filename=/data/test {options}\n")
    assert (result.made is not None) is is_matched


def test_commands_are_distinguished_by_the_number_of_clones() -> None:
    block = "j: (groupid=0, jobs=4): err= 0: pid=1: Sat\n  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n"
    commands = "".join(f"fio --name=j --rw=read --group_reporting --numjobs={clones}\n" for clones in (4, 2))
    (result,) = find_results(commands + block)
    assert result.made is not None and load_of(result.made.jobs).clones == 4


def test_without_a_command_the_header_is_used() -> None:
    text = (CAPTURED / "3.33-client.txt").read_text()
    (result,) = find_results(text)
    assert result.made is not None and result.made.origin == "header"
    assert result.made.jobs[0].rw == "randread"


def test_a_job_file_above_a_result_is_matched() -> None:
    text = "Job:\n\n```\n[global]\nioengine=libaio\nrw=read\n\n[seq]\nbs=1m\nsize=1g\n```\n\n" + (
        "seq: (groupid=0, jobs=1): err= 0: pid=1: Sat\n  read: IOPS=10, BW=10.0MiB/s (10.5MB/s)(1024MiB/102400msec)\n"
    )
    (result,) = find_results(text)
    assert result.made is not None and result.made.origin == "job file" and result.made.line == 4
    assert part_of(result.made.jobs[0]).block_bytes == 1 << 20
    assert [made.line for made in source_commands(plain_lines(text))] == [4]


def test_other_ini_sections_are_not_job_files() -> None:
    assert source_commands(plain_lines("[Tier 1]\nPath = /cache\nQuota = 20 %\n[x]\nname=3\n")) == []


def test_json_in_markdown_has_line_numbers_and_options() -> None:
    text = f"Look:\n\n```json\n{ETCD}```\n\nNice, isn't it?\n"
    (result,) = find_results(text)
    assert (result.format, result.line, result.last_line) == ("json", 4, 3 + ETCD.count("\n"))
    assert result.made is not None and result.made.origin == "printed options"
    assert part_of(result.made.jobs[0]).commits_each_write


def test_json_in_html_is_found() -> None:
    escaped = ETCD.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    (result,) = find_results(f"<html><body><p>See</p>\n<pre><code>{escaped}</code></pre></body></html>")
    assert result.result.parts[0].syncs == 911


def test_json_quoted_in_mail_is_found() -> None:
    (result,) = find_results("> On Sunday:\n" + "".join(f"> {line}\n" for line in ETCD.splitlines()))
    assert result.result.parts[0].syncs == 911


@pytest.mark.parametrize("share", [0.3, 0.5, 0.75, 0.9])
def test_cut_off_json_has_the_values_before_the_cut(share: float) -> None:
    (result,) = find_results("```\n" + ETCD[: int(len(ETCD) * share)] + "\n```\n")
    assert result.is_cut_off
    write = result.result.parts[0].write
    assert write is None or (write.io_bytes, write.ios) == (2095300, 911)


_TWO_LEVELS = """\
{
  "fio version" : "fio-3.12",
  "time" : "Sat Oct  5 13:17:54 2019",
  "global options" : {
    "direct" : "1",
    "rw" : "randread",
    "iodepth" : "16"
  },
  "jobs" : [
    {
      "jobname" : "vol0",
      "job options" : {
        "filename" : "/data/p3"
      },
      "read" : {
        "io_bytes" : 2153283584,
        "bw" : 7228,
        "iops" : 225.893944,
        "runtime" : 290902,
"""
_ONE_LEVEL = _TWO_LEVELS.replace(_TWO_LEVELS[_TWO_LEVELS.index('  "global') : _TWO_LEVELS.index('  "jobs"')], "")


@pytest.mark.parametrize("first", ['"direct"', '"iodepth"', '"jobs"', "{\n      " + '"jobname"'])
def test_options_are_incomplete_if_the_global_options_were_cut_off(first: str) -> None:
    (result,) = find_results(_TWO_LEVELS[_TWO_LEVELS.index(first) :])
    assert result.made is None
    assert result.result.parts[0].name == "vol0"
    assert result.result.parts[0].directions["read"].iops == 225.893944


def test_a_document_without_its_first_brace_is_read_with_its_options() -> None:
    (result,) = find_results("The result:\n\n" + _TWO_LEVELS.removeprefix("{\n"))
    assert result.line == 3
    assert result.made is not None
    assert result.made.jobs[0].options == {"direct": "1", "rw": "randread", "iodepth": "16", "filename": "/data/p3"}


def test_options_are_complete_if_the_text_shows_that_there_are_no_global_options() -> None:
    (result,) = find_results(_ONE_LEVEL[_ONE_LEVEL.index('"time"') :])
    assert result.made is not None
    assert result.made.jobs[0].options == {"filename": "/data/p3"}
    (result,) = find_results(_ONE_LEVEL[_ONE_LEVEL.index('"jobs"') :])
    assert result.made is None


def test_minified_json_is_found() -> None:
    (result,) = find_results(json.dumps(json.loads(ETCD)))
    assert result.result.parts[0].syncs == 911


def test_several_reports_of_one_run_count_once() -> None:
    (result,) = find_results((CAPTURED / "3.33-status-interval.txt").read_text())
    read = result.result.parts[0].read
    assert read is not None and (read.runtime_ms or 0) > 1900


def test_two_runs_of_the_same_job_count_twice() -> None:
    later = ETCD.replace("1795293301", "1795293401")
    assert len(find_results(ETCD + later)) == 2


def test_colours_and_progress_lines_are_ignored() -> None:
    rate = "  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n"
    (result,) = find_results(f"\x1b[32m$ fio --name=a --rw=read\x1b[0m\r\nJobs: 1 (f=1)\r{rate}")
    assert result.line == 2 and result.made is not None and result.made.line == 1


def test_commands_in_scripts_have_line_numbers() -> None:
    script = "#!/bin/sh\nset -e\nfio --name=a \\\n  --rw=read\n# fio is good\nfio job.fio\n"
    assert [(found.line, found.last_line) for found in find_commands(script)] == [(3, 4), (6, 6)]


def test_a_command_wrapped_by_a_forum_is_joined() -> None:
    (command,) = find_commands("C:> fio.exe --name=a --rw=read\n--bs=4k --size=1G\nand then\n--numjobs=4\n")
    assert dict(command.jobs[0].options) == {"rw": "read", "bs": "4k", "size": "1G"}
    assert (command.line, command.last_line) == (1, 2)


def test_printed_options_are_preferred_to_a_command_for_another_file() -> None:
    (result,) = find_results(f"fio --name=etcd --rw=write --bs=2300 --ioengine=sync --size=8m --fdatasync=1\n{ETCD}")
    assert result.made is not None and result.made.origin == "printed options"
    (result,) = find_results(
        f"fio --name=etcd --rw=write --bs=2300 --ioengine=sync --size=2m --fdatasync=1 --thread\n{ETCD}"
    )
    assert result.made is not None and result.made.origin == "command" and result.made.jobs[0].flag("thread")


def test_text_without_fio_has_no_results() -> None:
    assert find_results("A pool of two disks reads at 24 GB/s, says its owner.\n") == ()
    assert find_commands("You start fio with --numjobs=8 and wait.\n") == ()


def test_a_text_with_more_than_2_mib_outside_its_documents_is_rejected() -> None:
    line = "the pool was idle on that day\n"
    count = LARGEST_PLAIN_TEXT_BYTES // len(line)
    assert len(find_results(ETCD + line * (count - 1))) == 1
    with pytest.raises(FioError, match="more than 2 MiB of text outside fio's JSON"):
        find_results(ETCD + line * (count + 1))


def test_a_text_with_too_many_documents_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "MOST_RESULTS", 3)
    documents = [
        f'{{"fio version":"fio-3.33","jobs":[{{"jobname":"{name}","read":{{"io_bytes":4096,"runtime":1}}}}]}}\n'
        for name in "abcd"
    ]
    assert len(find_results("".join(documents[:3]))) == 3
    with pytest.raises(FioError, match="more than 3 results"):
        find_results("".join(documents))
