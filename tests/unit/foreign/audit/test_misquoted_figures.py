"""Values that fio rounds wrongly, that a mail program wraps, or that were quoted next to another run's totals."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

MIB = 1024**2


def _all(text: str) -> tuple[Audited, ...]:
    return tuple(audit_text("post", text, Context()))


def _rates(text: str) -> list[tuple[str, float | None, float | None]]:
    return [
        (name, moved.bandwidth_bytes, moved.iops)
        for each in _all(text)
        for name, moved in each.figures.directions.items()
    ]


def test_a_rate_in_parentheses_without_its_carry_is_not_used() -> None:
    ((_, rate, _),) = _rates("  read: IOPS=91, BW=91.5MiB/s (95.0MB/s)(915MiB/10000msec)\n")
    assert rate == 91.5 * MIB
    ((_, rate, _),) = _rates("  READ: bw=91.5MiB/s (95.0MB/s), 91.5MiB/s-91.5MiB/s (95.0MB/s-95.0MB/s), io=915MiB\n")
    assert rate == 91.5 * MIB
    ((_, rate, _),) = _rates("  read: IOPS=90, BW=90.0MiB/s (94.4MB/s)(900MiB/10000msec)\n")
    assert rate == 94.4e6


def test_iops_without_their_carry_are_computed_from_the_issued_ios() -> None:
    block = (
        "old: (groupid=0, jobs=1): err= 0: pid=4417: Mon Feb  5 11:02:13 2024\n"
        "  read: IOPS={iops}, BW=70.3MiB/s (73.7MB/s)(703MiB/10000msec)\n"
        "     issued rwts: total=179990,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    )
    assert _rates(block.format(iops="17.0k")) == [("read", 73.7e6, 17999.0)]
    assert _rates(block.format(iops="18.0k")) == [("read", 73.7e6, 18000.0)]


def test_a_repeated_digit_at_a_line_break_does_not_change_the_size() -> None:
    rate = "52.4MiB/s (54.9MB/s)"
    (each,) = _all(f"  READ: bw={rate}, {rate}-{rate}, io=155\n74MiB (1650MB), run=30001-30001msec\n")
    assert each.figures.directions["read"].io_bytes == 1_650_000_000
    assert not each.findings


JOB = (
    "scan: (groupid=0, jobs=1): err= 0: pid=812: Tue Mar  5 08:00:00 2024\n"
    "  read: IOPS=9600, BW=1200MiB/s (1258MB/s)(23.4GiB/20000msec)\n"
    "    clat (usec): min=61, max=901, avg=101.20, stdev=12.10\n"
)
TOTAL = (
    "Run status group 0 (all jobs):\n"
    "   READ: bw={0}MiB/s ({1}MB/s), {0}MiB/s-{0}MiB/s ({1}MB/s-{1}MB/s), io={2}, run=20001-20001msec\n"
)


def test_totals_of_fewer_bytes_than_the_job_belong_to_another_run() -> None:
    other = TOTAL.format("410", "430", "8201MiB (8599MB)")
    assert _rates(JOB + "\nWith the other kernel:\n" + other) == [("read", 1258e6, 9600.0), ("read", 430e6, None)]


def test_a_single_job_keeps_its_own_rate() -> None:
    assert _rates(JOB + TOTAL.format("1236", "1296", "23.4GiB (25.2GB)")) == [("read", 1258e6, 9600.0)]


def test_an_option_whose_dashes_are_at_the_end_of_a_line_is_read() -> None:
    text = (
        "> $ fio --name=scan --rw=randread --bs=8k --filename=/dev/md5 --direct=1 --iodepth=16 --\n"
        "> invalidate=1\n"
        "> --ioengine=libaio --runtime=20 --time_based\n"
        "> randread: (groupid=0, jobs=1): err= 0: pid=91: Tue Mar  5 08:00:00 2024\n"
        ">   read: IOPS=31.0k, BW=242MiB/s (254MB/s)(4844MiB/20001msec)\n"
        ">     clat (usec): min=61, max=2901, avg=515.20, stdev=12.10\n"
    )
    (each,) = _all(text)
    assert each.command is not None
    assert "--invalidate=1 --ioengine=libaio" in each.command
    assert each.verdict == "unproven"


def test_a_command_wrapped_by_a_mail_program_keeps_its_options_apart() -> None:
    command = "fio --name=scan --rw=randread --bs=8k --filename=/dev/md5 --iodepth=16"
    total = "  READ: bw=242MiB/s (254MB/s), 242MiB/s-242MiB/s (254MB/s-254MB/s),"
    rest = f"{total.ljust(len(command))}\nio=4844MiB (5079MB), run=20001-20001msec\n"
    text = f"{command}\n--direct=1 --ioengine=libaio --runtime=20\n\n{rest}"
    (each,) = _all(text)
    assert each.command is not None
    assert "--iodepth=16 --direct=1" in each.command


def test_the_nearest_command_is_used_if_prose_separates_the_commands() -> None:
    prose = "".join(f"Sentence {number} about the patch.\n" for number in range(12))
    text = (
        "fio --name=a --rw=randwrite --bs=4k --size=1g --direct=0\n"
        f"{prose}"
        "fio --name=b --rw=randwrite --bs=4k --size=100g --direct=1 --filename=/dev/sdq\n"
        "write: IOPS=21.2k, BW=82.8MiB/s (86.8MB/s)(100GiB/1236714msec)\n"
        "The other drive:\n"
        "write: IOPS=51.2k, BW=200MiB/s (210MB/s)(100GiB/512000msec)\n"
    )
    first, second = _all(text)
    assert first.command is not None
    assert second.command is not None
    assert "--name=b" in first.command
    assert "--name=b" in second.command


@pytest.mark.parametrize(("moved", "is_short"), [("9.00MiB", False), ("8.99MiB", True)])
def test_fio_prints_the_bytes_of_a_whole_job_without_the_carry(moved: str, *, is_short: bool) -> None:
    """fio prints 9.996 MiB as 9.00 MiB (lib/num2str.c)."""
    rate = 628 if moved == "9.00MiB" else 565
    text = (
        "$ fio --name=a --rw=write --ioengine=sync --fdatasync=1 --size=10m --bs=2300\n"
        "a: (groupid=0, jobs=1): err= 0: pid=7: Mon Dec 16 12:34:15 2019\n"
        f"  write: IOPS=273, BW={rate / 1.024:.0f}KiB/s ({rate}kB/s)({moved}/16695msec); 0 zone resets\n"
    )

    (audited,) = audit_text("post", text, Context())

    assert any(finding.rule == "work-done" for finding in audited.findings) is is_short
