"""Audits as someone makes them who tries the command for the first time."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from poolproof.cli.main import app_for
from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.sources import audit_sources
from poolproof.foreign.audit.texts import audit_text
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.sources import COMMAND, Source
from poolproof.presentation.terminal.audited import audited_lines, figures_text
from poolproof.rules.rule_catalogue import rules_of
from tests.golden import Message

CASES = Path(__file__).parent / "cases"
BUFFERED = """\
$ fio --name=seq --rw=write --directory=/data/t --bs=1m --size=256m --numjobs=2 --group_reporting
seq: (g=0): rw=write, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=psync, iodepth=1
seq: (groupid=0, jobs=2): err= 0: pid=1234: Sat Nov 28 10:00:00 2026
  write: IOPS=120, BW=120MiB/s (126MB/s)(512MiB/4267msec); 0 zone resets
    clat (usec): min=200, max=90000, avg=8000.00, stdev=1000.00

Disk stats (read/write):
  vda: ios=11/57, merge=0/0, ticks=3/1200, in_queue=1203, util=40.00%
"""


def _only(text: str, context: Context | None = None) -> Audited:
    (audited,) = audit_text("chat", text, context or Context())
    return audited


@pytest.mark.parametrize("text", [BUFFERED, BUFFERED.partition("\n")[2]], ids=["command", "header"])
def test_data_in_the_page_cache_has_not_vanished(text: str, message: Message) -> None:
    audited = _only(text)
    assert audited.verdict == "refuted"
    rules = {finding.rule for finding in audited.findings}
    assert "write-not-on-disk" in rules and "write-vanished" not in rules
    shown = " ".join(" ".join(audited_lines(audited, 120)).split())
    (vanished,) = (finding for finding in audited.findings if finding.rule == "write-not-on-disk")
    assert "228 MiB (45% of 512 MiB)" in message(vanished.message)
    assert "true rate: at most 56.1 MB/s: " in shown
    assert "final flush" not in shown


def test_missing_bytes_of_a_direct_job_have_vanished(message: Message) -> None:
    audited = _only(BUFFERED.replace(" --numjobs=2", " --direct=1 --numjobs=2"))
    (found,) = (finding for finding in audited.findings if finding.rule == "write-vanished")
    assert "228 MiB" in message(found.message)
    assert "directory=" not in found.fix


@pytest.mark.parametrize(
    "case", sorted(path for path in CASES.glob("*.*") if path.suffix != ".toml"), ids=lambda p: p.name
)
@pytest.mark.parametrize("options", [{}, {"fs": "zvol-2.1", "ram": "64G", "devices": ["3x nvme 3.2GB/s"]}])
def test_a_command_to_run_again_has_no_finding_that_its_fixes_remove(case: Path, options: dict[str, Any]) -> None:
    for audited in audit_text("post", case.read_text(encoding="utf-8", errors="replace"), read_context(**options)):
        if audited.rerun is None:
            continue
        fixed = {rule.id for rule in rules_of(audited.findings) if rule.fixed_options}
        left = {each.rule for each in lint(Source(COMMAND, audited.rerun + "\n"))}
        assert not left & fixed, (left & fixed, audited.rerun)


def test_an_empty_log_among_others_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "rr_lat.1.log").write_text("1, 90000, 0, 4096, 0, 0\n2, 95000, 0, 4096, 4096, 0\n")
    (tmp_path / "rr_slat.1.log").write_text("")
    audit = audit_sources([str(tmp_path)], Context(), lambda: b"")
    assert audit.unread == [] and len(audit.results) == 1


def test_a_direction_without_values_is_not_printed() -> None:
    line = "   iops        : min=   52, max=   85, avg=68.50, stdev=23.33, samples=2\n"
    write = "  write: IOPS=19, BW=19.0MiB/s (19.9MB/s)(39.0MiB/2052msec); 0 zone resets\n"
    assert "unknown rate" not in figures_text(_only(line + write).figures)


def test_dbench_measures_latency_in_its_latency_test() -> None:
    for audited in audit_text("chat", "Average Latency (usec) Read/Write: 256.39/301.23\n", Context()):
        assert "gtod-reduce" not in {finding.rule for finding in audited.findings}


def test_fixes_fit_the_audit() -> None:
    dd = (
        "$ dd if=/dev/zero of=/t/f bs=1M count=1024 conv=fdatasync\n1073741824 bytes (1.1 GB) copied, 1.0 s, 1.1 GB/s\n"
    )
    (zeros,) = (found for found in _only(dd).findings if found.rule == "zero-buffers")
    assert "zero_buffers" not in zeros.fix
    reads = BUFFERED.replace("rw=write", "rw=read").replace("  write:", "  read:")
    fixes = [found.fix for found in _only(reads).findings if found.rule == "read-from-cache"]
    assert len(fixes) == 1 and "cold: false" not in fixes[0] and "--warm" in fixes[0]


def test_a_limit_of_the_disks_is_said_once() -> None:
    text = "  read: IOPS=1000, BW=1000MiB/s (1049MB/s)(10.0GiB/10240msec)\n"
    audited = _only(text, read_context(devices=["1x sata"]))
    shown = " ".join(" ".join(audited_lines(audited, 120)).split())
    assert "true rate: at most 600 MB/s: " in shown


def test_disk_statistics_are_counters_too() -> None:
    text = BUFFERED.replace("11/57", "11/68148").replace(" --size", " --time_based --runtime=5 --size")
    shown = " ".join(_only(text).missing)
    assert "disk statistics" in shown


def test_saving_twice_names_no_option_that_audit_lacks(tmp_path: Path) -> None:
    arguments = ["audit", "--save", str(tmp_path / "theirs"), str(CASES / "cold-reads.json")]
    app = app_for(["audit"])
    assert CliRunner().invoke(app, arguments).exit_code == 0
    again = CliRunner().invoke(app, arguments)
    assert again.exception is not None and "--out" not in repr(vars(again.exception))
    assert "resume" not in repr(vars(again.exception))


def test_the_command_above_the_output_of_sysbench_made_it() -> None:
    command = "sysbench fileio --file-total-size=1G --file-test-mode=rndrd --threads=4 run"
    audited = _only(f"$ {command}\nThroughput:\n    read, MiB/s:                  100.00\n    total time:   10.0s\n")
    assert audited.command == command and audited.command_line == 1


def test_a_job_of_unknown_block_size_is_not_guessed() -> None:
    text = "FIO Benchmark Summary\nIOPS (Read/Write)\n    Random:  8,253 / 2,336\n"
    assert _only(text).verdict == "unproven"
    assert _only(text).proof is None
