"""Audits of fragments, tables, logs and other sources. No input may cause an exception."""

import contextlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from poolproof.cli.main import app_for
from poolproof.errors import FioError
from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.model import audited_object
from poolproof.foreign.audit.sources import audit_sources, read_text
from poolproof.foreign.audit.texts import audit_text
from poolproof.presentation.terminal.audited import audited_lines, summary_line
from tests.golden import Message

CASES = Path(__file__).parent / "cases"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(CASES.glob("*.*")) if path.suffix != ".toml"]
KEYS = {"source", "line", "job", "command", "figures", "verdict", "findings"}


def _none() -> bytes:
    raise AssertionError("standard input was not asked for")


def test_a_single_latency_line_is_a_result() -> None:
    (audited,) = audit_text("chat", "it was\n     lat (usec): min=12, max=900, avg=301.50, stdev=9.10\n", Context())
    assert audited.verdict == "unproven"
    assert audited_object(audited)["figures"]["mixed"] == {
        "io_bytes": None, "ios": None, "runtime_s": None, "bandwidth_bytes": None, "iops": None,
        "latency_ns": {"mean": 301_500.0, "p50": None, "p99": None, "p999": None},
    }  # fmt: skip
    assert "rates and bytes" in audited.missing
    assert audited.rerun is None


def _rules(text: str) -> tuple[str, set[str]]:
    (audited,) = audit_text("chat", text, Context())
    return audited.verdict, {finding.rule for finding in audited.findings}


_COMMAND = "fio --name=a --rw=read --bs=1m --size=1g\n"


def test_missing_bytes_are_not_zero_bytes() -> None:
    latency = "lat (usec): min=12, max=900, avg=51596.52, stdev=9.10\n"
    verdict, rules = _rules(_COMMAND + latency)
    assert verdict == "unproven"
    assert "work-done" not in rules


def test_one_direction_of_a_mixed_job_is_not_all_of_its_work() -> None:
    line = "  read: IOPS=100, BW=100MiB/s (105MB/s)(512MiB/5120msec)\n"
    assert "work-done" not in _rules(_COMMAND.replace("=read", "=rw") + line)[1]


def test_reported_zero_bytes_are_a_failure() -> None:
    line = "  read: IOPS=0, BW=0B/s (0B/s)(0B/10000msec)\n"
    verdict, rules = _rules(_COMMAND + line)
    assert verdict == "failed"
    assert "work-done" in rules


def test_a_rate_that_contradicts_its_own_line_is_suspect() -> None:
    line = "  read: IOPS=200, BW={}(800GiB/33516msec)\n"
    assert "figures-disagree" in _rules(line.format("200MiB/s (210MB/s)"))[1]
    assert "figures-disagree" not in _rules(line.format("23.9GiB/s (25.6GB/s)"))[1]
    lost_carry = "  write: IOPS=273, BW={}(9.00MiB/16695msec)\n"  # fio prints 9.996 MiB as 9.00MiB
    assert "figures-disagree" not in _rules(lost_carry.format("613KiB/s (628kB/s)"))[1]
    assert "figures-disagree" in _rules(lost_carry.format("713KiB/s (730kB/s)"))[1]


def test_truncated_output_is_reported() -> None:
    whole = (CASES / "cold-reads.json").read_text(encoding="utf-8")
    (audited,) = audit_text("cut", whole[: int(len(whole) * 0.6)], Context())
    assert any("cut off" in gap for gap in audited.missing)


def test_the_arithmetic_is_shown() -> None:
    text = (CASES / "zvol-post.md").read_text(encoding="utf-8")
    shown = "\n".join(line for audited in audit_text("post", text, Context()) for line in audited_lines(audited, 500))
    for part in (
        "3 × 3.20 GB/s = 9.60 GB/s",
        "800 GiB from one file; 101 GiB came from the disks",
        "25.6 GB/s / 8 jobs = 3.20 GB/s",
    ):
        assert part in shown


def test_the_command_to_run_again_is_fixed() -> None:
    text = (CASES / "zvol-post.md").read_text(encoding="utf-8")
    again = audit_text("post", text, Context())[0].rerun
    assert again is not None
    assert {"--size=12800m", "--offset_increment=12800m", "--numjobs=8"} <= set(again.split())


def test_quoted_counters_do_not_prove_that_writes_reached_every_disk(message: Message) -> None:
    text = (CASES / "zvol-post.md").read_text(encoding="utf-8")
    write = audit_text("post", text, Context())[4]
    (finding,) = write.findings
    assert write.verdict == "unproven" and "bandwidth" in finding.metrics
    assert "every disk" in message(finding.message)
    assert "poolproof run" in finding.fix and "bandwidth" not in finding.fix


def test_the_devices_flag_replaces_statements_in_the_text() -> None:
    text = (CASES / "zvol-post.md").read_text(encoding="utf-8")
    plenty = read_context(devices=["20x nvme 3.2GB/s"])
    assert [audited.verdict for audited in audit_text("post", text, plenty)][:3] == ["suspect", "suspect", "refuted"]


def test_iops_determine_the_unit_of_a_table() -> None:
    rows = (
        "config\tbs\tread-iops\tread-bw_MB\nbinary\t16k\t100\t1.5625\ndecimal\t16k\t100\t1.6384\nneither\t16k\t100\t9\n"
    )
    rates = [audited.figures.directions["read"].bandwidth_bytes for audited in audit_text("t", rows, Context())]
    assert rates == [1_638_400.0, 1_638_400.0, None]


def test_logs_of_one_run_are_one_result(tmp_path: Path) -> None:
    (tmp_path / "x_bw.1.log").write_text("".join(f"{at * 1000}, {1000 + at % 2}, 0, 0, 0\n" for at in range(20)))
    (tmp_path / "x_clat.1.log").write_text("".join(f"{at}, {1000 * at}, 0, 4096, 0\n" for at in range(1, 101)))
    audit = audit_sources([str(tmp_path)], Context(), _none)
    (audited,) = audit.results
    figures = audited_object(audited)["figures"]["read"]
    assert figures["bandwidth_bytes"] == pytest.approx(1000.5 * 1024)
    assert figures["latency_ns"]["p99"] == pytest.approx(99_000, rel=0.01)


def _read_of_logs(folder: Path) -> dict[str, Any]:
    (audited,) = audit_sources([str(folder)], Context(), _none).results
    figures: dict[str, Any] = audited_object(audited)["figures"]["read"]
    return figures


def test_per_io_logs_give_the_rates_of_the_job(tmp_path: Path) -> None:
    """By default, fio logs every I/O. Here, 32 are in flight, one completes every 0.5 ms, and each takes 16 ms."""
    for kind, value in (("bw", 250), ("iops", 1), ("clat", 16_000_000)):
        rows = (f"{at // 2}, {value}, 0, 4096, 0\n" for at in range(20_001))
        (tmp_path / f"x_{kind}.1.log").write_text("".join(rows))
    figures = _read_of_logs(tmp_path)
    assert figures["iops"] == pytest.approx(2000, rel=0.001)
    assert figures["bandwidth_bytes"] == pytest.approx(2000 * 4096, rel=0.001)
    assert figures["latency_ns"]["mean"] == 16_000_000


def test_the_rate_shows_nanoseconds_if_there_are_no_priorities(tmp_path: Path) -> None:
    """fio 3.0 to 3.19 write four columns, because they do not log priorities."""
    (tmp_path / "x_clat.1.log").write_text("".join(f"{at // 10}, 100000, 0, 4096\n" for at in range(20_000)))
    (tmp_path / "x_iops.1.log").write_text("".join(f"{at // 10}, 1, 0, 4096\n" for at in range(20_000)))
    assert _read_of_logs(tmp_path)["latency_ns"]["mean"] == 100_000


@pytest.mark.parametrize("with_rates", [True, False], ids=["a rate tells the unit", "nothing tells it"])
def test_microseconds_of_fio_2_are_not_read_as_nanoseconds(tmp_path: Path, with_rates: bool) -> None:
    (tmp_path / "x_clat.1.log").write_text("".join(f"{10 * at}, 120, 0, 4096\n" for at in range(100)))
    if with_rates:
        (tmp_path / "x_iops.1.log").write_text("".join(f"{1000 * at}, 8000, 0, 0\n" for at in range(20)))
    (audited,) = audit_sources([str(tmp_path)], Context(), _none).results
    assert audited.verdict == "unproven"  # if interpreted as ns, it would be typical of RAM, and suspect
    assert any("fio 3" in missing and "fio 2" in missing for missing in audited.missing) != with_rates
    if with_rates:
        assert audited_object(audited)["figures"]["read"]["latency_ns"]["mean"] == 120_000


def test_a_damaged_log_is_reported_and_the_rest_is_judged(tmp_path: Path) -> None:
    (tmp_path / "a_iops.1.log").write_text("1000, 90, 0, 0, 0\n1700000000000000, 90, 0, 0, 0\n")
    (tmp_path / "b_iops.1.log").write_text(f"1000, 90, 0, 0, 0\n{1 << 63}, 90, 0, 0, 0\n2000, 90, 0, 0, 0\n")
    audit = audit_sources([str(tmp_path)], Context(), _none)
    assert [unread.source for unread in audit.unread] == [str(tmp_path / "a")]
    assert [audited.figures.directions["read"].iops for audited in audit.results] == [90.0]


def test_unreadable_sources_are_reported_and_the_rest_is_judged(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text((CASES / "cold-reads.txt").read_text(encoding="utf-8"))
    (tmp_path / "b.bin").write_bytes(b"\0\1\2")
    missing = str(tmp_path / "none")
    audit = audit_sources([str(tmp_path), missing], Context(), _none)
    assert [audited.verdict for audited in audit.results] == ["unproven"]
    assert [unread.source for unread in audit.unread] == [missing]


@pytest.mark.parametrize(("name", "code"), [("zvol-post.md", 1), ("mirror-post.md", 0), ("killed.txt", 1)])
def test_the_exit_code(name: str, code: int) -> None:
    assert CliRunner().invoke(app_for(), ["audit", str(CASES / name)]).exit_code == code


@pytest.mark.parametrize("content", [None, '{"a": 1}'])
def test_sources_without_a_result_are_an_error_with_a_hint(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "x.json").write_text(content)
    done = CliRunner().invoke(app_for(), ["audit", str(tmp_path / "x.json")])
    assert isinstance(done.exception, FioError)
    assert done.exception.exit_code == 8
    assert "no result in" in done.exception.message
    assert "fio --output-format=json+" in done.exception.hint
    assert ("cannot read" in done.stderr) == (content is None)


def test_the_page_shows_what_audit_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[4] / "docs" / "audit.md").read_text(encoding="utf-8")
    shown = page.partition("$ poolproof audit zvol-post.md\n…\n")[2].partition("…\n")[0]
    monkeypatch.chdir(CASES)
    done = CliRunner().invoke(app_for(), ["audit", "zvol-post.md"])
    assert shown and " ".join(shown.split()) in " ".join(done.output.split())


def test_a_command_from_far_above_is_assumed() -> None:
    line = "  read: IOPS=100, BW=100MiB/s (105MB/s)(1024MiB/10240msec)\n"
    text = f"{_COMMAND}{line}\nand after I changed the pool, later that day:\n\n{line}"
    near, far = audit_text("chat", text, Context())
    assert (near.is_assumed, far.is_assumed) == (False, True)
    assert near.command_line == far.command_line == 1
    assert "made by: fio" in "\n".join(audited_lines(near, 200))
    shown = "\n".join(audited_lines(far, 200))
    assert re.search(r"assumed.* \(line 1\): fio", shown)
    assert re.search(r"run again .*line 1.*: fio", shown)
    assert audited_object(far)["command_assumed"] is True


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--rw=write --filename=/dev/sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=trimwrite --filename=/dev/sdx:/dev/sdy", "run again (this overwrites /dev/sdx, /dev/sdy): fio"),
        ("--rw=write --filename=/srv/../dev//sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=write --directory=/ --filename=dev/sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=write --directory=/srv --filename=/dev/sdx", "run again: fio"),
        ("--rw=write --filename=/proc/self/root/dev/sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=write --filename_format=/dev/sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=write --opendir=/srv/films", "run again (this overwrites /srv/films): fio"),
        ("--rw=read --read_iolog=x --replay_redirect=/dev/sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=read --filename=/srv/a --write_iolog=/dev/sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=read --filename=/srv/a --mem=mmaphuge:/dev/sdx", "run again (this overwrites /dev/sdx): fio"),
        ("--rw=read --filename=/dev/sdx", "run again: fio"),
        ("--rw=write --filename=/mnt/a", "run again: fio"),
        ("--rw=read --exec_prerun=/tmp/x", "run again (this also runs a program or code that the job names): fio"),
        (
            "--rw=read --ioengine=external:/tmp/x",
            "run again (this also runs a program or code that the job names): fio",
        ),
    ],
)
def test_a_command_to_run_again_names_what_it_overwrites_and_runs(options: str, said: str) -> None:
    kind = "read" if "rw=read" in options else "write"
    line = f"  {kind}: IOPS=100, BW=100MiB/s (105MB/s)(1024MiB/10240msec)\n"
    (audited,) = audit_text("chat", f"$ fio --name=a --bs=1m --size=1g {options}\n{line}", Context())
    assert said in "\n".join(audited_lines(audited, 200))
    assert audited_object(audited)["overwrites"] == list(audited.overwrites)


def test_a_command_that_names_a_job_file_may_be_between_it_and_the_result() -> None:
    line = "  read: IOPS=100, BW=100MiB/s (105MB/s)(1024MiB/10240msec)\n"
    (audited,) = audit_text("chat", f"[a]\nrw=read\nbs=1m\nsize=1g\n\n$ fio a.fio\n{line}", Context())
    assert (audited.command_line, audited.is_assumed) == (1, False)


def test_json_is_a_list_with_an_object_for_each_result() -> None:
    done = CliRunner().invoke(app_for(), ["audit", "--json", "-"], input=(CASES / "zvol-post.md").read_bytes())
    objects = json.loads(done.stdout)
    assert [each["source"] for each in objects] == ["stdin"] * 5
    assert all(each.keys() >= KEYS for each in objects)
    assert all({"rule", "message", "fix"} <= finding.keys() for each in objects for finding in each["findings"])


def _audited_whole(text: str) -> None:
    results = audit_text("fuzz", text, Context())
    json.dumps([audited_object(audited) for audited in results])
    assert sum(bool(list(audited_lines(audited, 80))) for audited in results) == len(results)
    assert summary_line(results)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_text_never_raises(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    start = data.draw(st.integers(0, max(len(text) - 1, 0)))
    length = data.draw(st.integers(0, 4000))
    junk = data.draw(st.text(max_size=20))
    _audited_whole(text[:start] + junk + text[start + length :])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_huge_numbers_never_raise(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    numbers = list(re.finditer(r"\d+(?:\.\d+)?", text))
    place = numbers[data.draw(st.integers(0, len(numbers) - 1))]
    digits = "9" * data.draw(st.sampled_from([19, 23, 312, 400, 5000]))
    _audited_whole(text[: place.start()] + digits + text[place.end() :])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 200), st.integers(1, 12)), max_size=6))
def test_mixed_lines_never_raise(pieces: list[tuple[str, int, int]]) -> None:
    lines = [line for text, start, count in pieces for line in text.split("\n")[start : start + count]]
    _audited_whole("\n".join(lines))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='fio-= \n0123456789.kMGTi%B/s:|,;read writepoolDevicegz{}"', max_size=400))
def test_arbitrary_text_never_raises(text: str) -> None:
    _audited_whole(text)


def test_sync_latency_is_not_attributed_to_a_read_only_job() -> None:
    text = (
        "$ fio --name=test --filename=/mnt/tank/f --rw=randread --bs=4k --size=1G\n"
        "  read: IOPS=412k, BW=1611MiB/s (1689MB/s)(1024MiB/643msec)\n\nand etcd:\n"
        "    fsync/fdatasync/sync_file_range:\n"
        "      sync (usec): min=534, max=15766, avg=1273.08, stdev=1084.70\n"
    )
    read, sync = audit_text("post", text, Context())
    assert (read.job, read.command_line) == ("test", 1)
    assert (sync.command, list(sync.figures.directions)) == (None, [])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_text_that_is_too_large(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "result.txt"
    path.write_text("x\n" * (1 << 20) + "x", encoding=encoding)
    with pytest.raises(OSError, match="larger than 2 MiB"):
        read_text(path)
    path.write_text('{"jobs": []}' + "x\n" * (1 << 20), encoding=encoding)
    assert read_text(path)


@pytest.mark.timeout(20)
def test_a_folder_from_a_stranger_neither_leaks_nor_recurses_for_ever(tmp_path: Path, message: Message) -> None:
    result = "  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(4000KiB/1000msec)\n"
    secret, folder = tmp_path / "secret.txt", tmp_path / "folder"
    secret.write_text(result)
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_text(result)
    (folder / "same").symlink_to("sub/a.txt")
    (folder / "loop").symlink_to(".")
    (folder / "gone").symlink_to("nowhere")
    for name, target in (("leak", "../secret.txt"), ("kernel", "/proc/kmsg"), ("x_bw.1.log", "/proc/kmsg")):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "fifo")
    deep = folder
    with contextlib.ExitStack() as opened:
        opened.callback(subprocess.run, ["rm", "-rf", str(folder)], check=True)  # pytest can't remove such a path
        handle = os.open(deep, os.O_RDONLY)
        opened.callback(os.close, handle)
        for _ in range(1200):  # a path of this length can't be created in one step
            os.mkdir("d", dir_fd=handle)
            handle = os.open("d", os.O_RDONLY, dir_fd=handle)
            opened.callback(os.close, handle)
        found = audit_sources([str(folder)], Context(), _none)
        assert [Path(each.source).name for each in found.results] == ["same", "a.txt"]
        skipped = {Path(each.source).name: each.why for each in found.unread}
        assert "50 folders" in message(skipped.pop("d"))
        assert set(skipped) == {"leak", "kernel", "x_bw.1.log"}
        assert all("link" in message(why) for why in skipped.values())


@pytest.mark.timeout(20)
def test_a_log_without_line_ends_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x_bw.1.log"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert "longer than 1 MiB" in audit_sources([str(path)], Context(), _none).unread[0].why


def test_standard_input_has_the_limits_of_a_file() -> None:
    found = audit_sources(["-"], Context(), lambda: b"no result\n" * 300_000)
    assert "larger than 2 MiB" in found.unread[0].why


def test_a_result_with_too_many_jobs_is_named_and_the_others_are_judged(tmp_path: Path) -> None:
    """The jobs of a result are compared with one another, so 100,000 of them would take hours."""
    (tmp_path / "many.json").write_text(json.dumps({"jobs": [_job(f"job{at}") for at in range(1001)]}))
    (tmp_path / "few.json").write_text(json.dumps({"jobs": [_job("alone")]}))
    found = audit_sources([str(tmp_path / "few.json"), str(tmp_path / "many.json")], Context(), lambda: b"")
    assert [result.source for result in found.results] == [str(tmp_path / "few.json")]
    (unread,) = found.unread
    assert "1,001 jobs" in unread.why


def _job(name: str) -> dict[str, object]:
    read = {"io_bytes": 409600, "total_ios": 100, "iops": 100.0, "bw_bytes": 409600, "runtime": 1000}
    return {"jobname": name, "groupid": 0, "error": 0, "job options": {"rw": "randread", "bs": "4k"}, "read": read}
