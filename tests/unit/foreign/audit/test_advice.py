"""The commands that an audit prints: where they come from, that lint accepts them, and that they keep the job's I/O."""

import shlex
from pathlib import Path

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.sources import COMMAND, Source

HERE = Path(__file__).parent
TEXTS = sorted([*(HERE / "cases").glob("*.md"), *(HERE / "cases").glob("*.txt"), *(HERE / "posts").glob("*.txt")])
DD = "1073741824 bytes (1.1 GB) copied, 5.16781 s, 208 MB/s\n"
READ = "  read: IOPS=4000, BW=15.6MiB/s (16.4MB/s)(938MiB/60001msec)\n"
WRITE = "  write: IOPS=4000, BW=15.6MiB/s (16.4MB/s)(938MiB/60001msec); 0 zone resets\n"
MIXED = f"{READ}{WRITE}"


def _all(text: str) -> tuple[Audited, ...]:
    return audit_text("post", text, Context())


def _only(text: str) -> Audited:
    (audited,) = _all(text)
    return audited


def _workloads(audited: Audited) -> list[str]:
    words = shlex.split(audited.proof or "")
    return [words[at + 1] for at, word in enumerate(words) if word == "--workload"]


def _alarms(command: str) -> list[str]:
    found = lint(Source(COMMAND, f"{command}\n"))
    return [each.message for each in found if each.severity != "note" and each.rule != "destroys-data"]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_lint_raises_no_alarm_about_a_command_that_audit_prints(path: Path) -> None:
    for audited in _all(path.read_text(encoding="utf-8", errors="replace")):
        if audited.rerun is not None:
            assert _alarms(audited.rerun) == [], audited.rerun
        for workload in _workloads(audited):
            size = "" if "size=" in workload else " --size=64g"
            options = " ".join(f"--{option}" for option in workload.split(","))
            assert _alarms(f"fio --name=proof --directory=/mnt/t {options}{size}") == [], workload


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("for i in `seq 4`; do dd if=/dev/zero of=/mnt/b$i bs=1G count=1 oflag=direct ; done", "oflag=direct"),
        ("I ran dd if=/dev/zero of=/mnt/b bs=1M count=1024 and got this result:", "count=1024"),
        ("$ dd if=/dev/zero of=/mnt/b bs=$((1024*1024)) count=1024; sync", "count=1024"),
        ('$ dd if=/dev/zero of="/mnt/my disk/b" bs=1M count=1024 2>&1 | tail -1', "count=1024"),
    ],
)
def test_the_command_of_dd_ends_with_its_arguments(line: str, command: str) -> None:
    shown = _only(f"{line}\n{DD}").command or ""
    assert shown.startswith("dd if=/dev/zero of=") and shown.endswith(command)


@pytest.mark.parametrize(("between", "commands"), [("...", 3), ("[…]", 3), ("and on the other disk:", 1)])
def test_lines_that_the_author_left_out_do_not_end_a_loop_of_dd(between: str, commands: int) -> None:
    loop = "for i in 1 2 3; do dd if=/dev/zero of=/mnt/b$i bs=1G count=1 oflag=direct; done\n"
    text = loop + f"{between}\n".join([DD, DD, DD])
    assert sum(audited.command is not None for audited in _all(text)) == commands


def test_two_commands_of_dd_on_one_line_have_their_own_results() -> None:
    line = "dd if=/dev/zero of=/mnt/b bs=1M count=1024 oflag=direct; dd if=/mnt/b of=/dev/null bs=1M iflag=direct\n"
    assert [list(audited.figures.directions) for audited in _all(line + DD + DD)] == [["write"], ["read"]]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("--size=10g --runtime=60 --time_based and this is what I get", "--time_based"),
        ("--size=10g --runtime 60 and this is what I get", "--runtime 60"),
        ("--size=10g \\ --runtime=60", "--size=10g --runtime=60"),
        ("--filename=$DISK/f --size=10g", '"--filename=$DISK/f" --size=10g'),
        ("--size=10g --cpus_allowed=$(seq -s, 1 4)", '"--cpus_allowed=$(seq -s, 1 4)"'),
    ],
)
def test_the_command_of_fio_is_shown_as_it_was_given(written: str, shown: str) -> None:
    audited = _only(f"fio --name=a --rw=randread --bs=4k --direct=1 {written}\n{READ}")
    assert (audited.command or "").endswith(shown)


def test_a_command_to_run_again_keeps_variables_and_quotes_everything_else() -> None:
    text = "fio --name=a --rw=randread --bs=4k --direct=1 --size=10g --filename={}\n" + READ
    assert '"--filename=${HOME}/f"' in (_only(text.format("${HOME}/f")).rerun or "")
    assert "'--filename=a b!c'" in (_only(text.format("'a b!c'")).rerun or "")
    assert _only(text.format("$(hostname)")).rerun is None


def test_a_command_on_memory_is_not_run_again() -> None:
    text = "fio --name=a --rw=randread --bs=4k --direct=1 --size=1g --filename=/dev/{}\n" + READ
    assert _only(text.format("nullb0")).rerun is None and _only(text.format("shm/a")).rerun is None
    assert _only(text.format("nvme0n1")).rerun is not None


@pytest.mark.parametrize(
    ("job", "workloads"),
    [
        ("a", ["rw=read,bs=4k,direct=1", "rw=randread,bs=4k,direct=1"]),
        ("randread-4k", ["rw=randread,bs=4k,direct=1"]),
        ("seqread", ["rw=read,bs=4k,direct=1"]),
    ],
)
def test_the_proof_of_an_unknown_order_runs_both(job: str, workloads: list[str]) -> None:
    assert (
        _workloads(_only(f"{job}: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 28 10:00:00 2026\n{READ}")) == workloads
    )


@pytest.mark.parametrize(
    ("options", "workload"),
    [
        ("--rw=randrw --rwmixwrite=30 --bs=4k", "rw=randrw,bs=4k,size=10g,direct=1,rwmixwrite=30"),
        ("--rw=randread --bssplit=4k/50:8k/50", "rw=randread,bssplit=4k/50:8k/50,size=10g,direct=1"),
        ("--rw=randread --bs=4k --rate_iops=4000", "rw=randread,bs=4k,size=10g,direct=1,rate_iops=4000"),
    ],
)
def test_the_proof_of_a_job_has_every_option_of_its_io(options: str, workload: str) -> None:
    audited = _only(
        f"fio --name=a {options} --direct=1 --size=10g --runtime=60 --time_based\n{MIXED if 'rw ' in options else READ}"
    )
    assert _workloads(audited) == [workload]


HEADER = (
    "a: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1\n\n"
    "a: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 28 10:00:00 2026\n"
)


@pytest.mark.parametrize(
    ("writes", "syncs", "option"),
    [(3022, 3022, "fsync=1"), (3200, 100, "fsync=32"), (3022, 1, "end_fsync=1"), (3022, 0, "end_fsync=1")],
)
@pytest.mark.parametrize("header", [HEADER, HEADER.partition("\n\n")[2]], ids=["header", "no header"])
def test_the_proof_of_output_without_its_command_syncs_as_often(
    header: str, writes: int, syncs: int, option: str
) -> None:
    issued = f"     issued rwts: total=0,{writes},0,{syncs} short=0,0,0,0 dropped=0,0,0,0\n"
    rate = "  write: IOPS=604, BW=2417KiB/s (2475kB/s)(11.8MiB/5002msec)\n"
    audited = _only(header + rate + issued)
    expected = option if header == HEADER or option != "end_fsync=1" else "direct=1"
    assert all(expected in workload.split(",") for workload in _workloads(audited))
    assert any(each.rule == "sequential-iops" for each in audited.findings) is (
        header == HEADER and option != "fsync=1"
    ), "the kernel cannot merge writes that are synced one by one"


def _run_again(options: str, written: str) -> list[str]:
    command = f"fio --name=a --rw=write --bs=1m --filename=/srv/f {options}"
    rerun = _only(f"{command}\n  write: IOPS=503, BW=503MiB/s (528MB/s)({written}); 0 zone resets\n").rerun or ""
    return shlex.split(rerun)


@pytest.mark.parametrize(
    ("options", "written", "added", "absent"),
    [
        ("--size=64m --direct=1", "64.0MiB/127msec", {"--time_based=1", "--runtime=10"}, {}),
        ("--size=64m --direct=1 --runtime=20 --time_based", "64.0MiB/127msec", {"--runtime=20"}, {}),
        ("--size=64m --fsync=1", "64.0MiB/127msec", {"--time_based=1", "--runtime=10"}, {}),
        ("--size=64m --direct=1 --number_ios=64", "64.0MiB/127msec", {"--time_based=1"}, {"--number_ios=64"}),
        ("--size=64m --end_fsync=1", "64.0MiB/127msec", {"--size=5056M"}, {"--time_based=1"}),
        ("--size=64m --numjobs=2 --offset_increment=64m --end_fsync=1 --group_reporting", "128MiB/127msec",
         {"--size=5056M", "--offset_increment=5056M"}, {"--time_based=1"}),
        ("--size=64m --nrfiles=4 --end_fsync=1", "64.0MiB/127msec", {"--size=64m"}, {"--time_based=1"}),
        ("--size=640m --direct=1", "640MiB/1270msec", {"--size=640m"}, {"--time_based=1"}),
    ],
)  # fmt: skip
def test_the_command_after_a_burst_runs_long_enough(
    options: str, written: str, added: set[str], absent: set[str]
) -> None:
    words = set(_run_again(options, written))
    assert added <= words and not words & set(absent)


@pytest.mark.parametrize(("given", "direct"), [("", "direct=0"), ("--direct=1", "direct=1"), ("--buffered=0", None)])
def test_the_proof_of_a_buffered_job_is_buffered(given: str, direct: str | None) -> None:
    command = f"fio --name=a --rw=write --bs=4k --size=938m --ioengine=sync --fsync=1 --filename=/srv/f {given}\n"
    (workload,) = _workloads(_only(command + WRITE))
    assert [word for word in workload.split(",") if word.startswith("direct=")] == ([direct] if direct else [])


def test_the_proof_of_a_buffered_queue_is_one_that_lint_accepts() -> None:
    command = "fio --name=a --rw=randread --bs=4k --size=64g --ioengine=libaio --iodepth=32 --filename=/srv/f "
    command += "--runtime=60 --time_based\n"
    latency = (
        "slat (usec): min=1, max=900, avg=249.00, stdev=9.10\n lat (usec): min=1, max=90000, avg=7990.00, stdev=9.10\n"
    )
    assert "direct=1" in _workloads(_only(f"{command}{READ}    {latency}"))[0]


@pytest.mark.parametrize(
    ("flags", "syncs"),
    [
        ("oflag=dsync", "sync=dsync"),
        ("conv=fsync", "end_fsync=1"),
        ("oflag=direct conv=fsync", "direct=1,end_fsync=1"),
        ("oflag=direct", "direct=1"),
    ],
)
def test_the_proof_of_a_program_syncs_as_the_program_did(flags: str, syncs: str) -> None:
    audited = _only(f"dd if=/dev/zero of=/mnt/b bs=1M count=1024 {flags}\n{DD}")
    assert _workloads(audited) == [f"rw=write,bs=1m,size=1g,{syncs}"]


OLD_WRITE = " write: io={0}KB, bw=5869.9KB/s, iops=1467, runt= 60002msec\n"
OLD_SUM = "WRITE: io={0}KB, aggrb=5869KB/s, minb=5869KB/s, maxb=5869KB/s, mint=60002msec, maxt=60002msec\n"
OLD_READ = " read: io=881524KB, bw=14692KB/s, iops=3672, runt= 60001msec\n"


@pytest.mark.parametrize(("kib", "is_unfilled"), [(352_204, True), (10_485_760, False)])
def test_the_sum_of_a_run_tells_how_much_of_its_file_it_wrote(kib: int, is_unfilled: bool) -> None:
    command = "fio --name={0} --rw={0} --filename=f --bs=4k --size=10g --direct=1 --ioengine=libaio\n"
    *_, audited = _all(
        command.format("randwrite") + (OLD_WRITE + OLD_SUM).format(kib) + command.format("randread") + OLD_READ
    )
    assert ("earlier-job" in {finding.rule for finding in audited.findings}) == is_unfilled


SYSBENCH = """\
2GiB total file size
Block size 16KiB
Periodic FSYNC enabled, calling fsync() each 100 requests.
Doing random r/w test
    reads/s:                      600.00
    writes/s:                     400.00
    read, MiB/s:                  9.38
    written, MiB/s:               6.25
    total time:                          30.0s
"""


def test_the_proof_of_sysbench_has_its_mix_and_its_syncs() -> None:
    (workload,) = _workloads(_only(SYSBENCH))
    assert "rwmixread=60" in workload and "fsync=100" in workload and "end_fsync=1" in workload


def test_only_fio_is_told_about_invalidate() -> None:
    text = "sysbench\n" + SYSBENCH + "$ zfs get compression tank\ntank  compression  lz4  local\n"
    for command in ("", "fio --name=a --filename=/tank/f --rw=randread --bs=4k --size=2g\n"):
        (audited,) = _all((command + READ if command else "") + (text if not command else text.split("time:")[1]))
        (found,) = (each for each in audited.findings if each.rule == "invalidate-is-not-cold")
        assert ("invalidate" in found.message) == bool(command)
        assert "invalidate" not in found.fix and "export" in found.fix


def test_the_fix_of_a_failed_job_does_not_name_a_file_of_poolproof() -> None:
    heading = "verify: (groupid=0, jobs=1): err=28 (file:io_u.c:1889, func=io_u error): pid=7: Mon Nov  6 12:00:00 2023"
    audited = _only(f"{heading}\n{WRITE}")
    assert audited.verdict == "failed"
    fixes = [finding.fix for finding in audited.findings if finding.rule == "work-done"]
    assert len(fixes) == 1
    assert "job.fio" not in fixes[0]
