"""dd's command and last line in the forms in which mail programs and Android print them."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_OUTPUT = "64+0 records in\n64+0 records out\n67108864 bytes (67 MB, 64 MiB) copied, 2.1 s, 32.0 MB/s\n"


@pytest.mark.parametrize(
    ("below", "command", "verdict"),
    [
        ("oflag=dsync && sync\n", "dd if=/dev/urandom of=/data/x bs=1M count=64 oflag=dsync", "unproven"),
        ("  conv=fdatasync status=none\n", "dd if=/dev/urandom of=/data/x bs=1M count=64 conv=fdatasync", "unproven"),
        ("off=dsync\n", "dd if=/dev/urandom of=/data/x bs=1M count=64", "suspect"),
        ("", "dd if=/dev/urandom of=/data/x bs=1M count=64", "suspect"),
    ],
    ids=["oflag", "conv", "no argument of dd", "not broken"],
)
@pytest.mark.parametrize("quote", ["", "> ", "> > "])
def test_a_command_is_broken_between_two_arguments(quote: str, below: str, command: str, verdict: str) -> None:
    text = f"$ dd if=/dev/urandom of=/data/x bs=1M count=64\n{below}{_OUTPUT}"

    (found,) = audit_text("post", "".join(f"{quote}{line}\n" for line in text.splitlines()), Context())

    assert found.command is not None and found.command.removesuffix(" status=none") == command
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("program", "command"), [("gdd", True), ("/opt/bin/gdd", True), ("add", False), ("xgdd", False)]
)
def test_homebrew_installs_dd_as_gdd(program: str, command: bool) -> None:
    (found,) = audit_text("post", f"$ {program} if=/dev/zero of=/Volumes/a/x bs=1m count=64\n{_OUTPUT}", Context())

    assert (found.command == "dd if=/dev/zero of=/Volumes/a/x bs=1m count=64") is command


def test_arguments_after_an_ended_command_are_not_joined() -> None:
    text = f"$ dd if=/dev/urandom of=/data/x bs=1M count=64; date\nconv=fsync is missing above\n{_OUTPUT}"

    (found,) = audit_text("post", text, Context())

    assert found.command == "dd if=/dev/urandom of=/data/x bs=1M count=64"


@pytest.mark.parametrize("rate", ["31 M/s", "31 MB/s"])
def test_the_dd_of_android_prints_units_without_b(rate: str) -> None:
    records = "1000+0 records in\n1000+0 records out\n"
    text = f"# dd if=/storage/a.img of=/dev/null\n{records}512000 bytes (500 K) copied, 0.016 s, {rate}\n"

    (found,) = audit_text("post", text, Context())

    assert found.figures.directions["read"].bandwidth_bytes == pytest.approx(32e6)


_ERROR = "dd: error reading '/dev/sdz': Input/output error\n"
_FULL = "dd: error writing '/data/x': No space left on device\n"


@pytest.mark.parametrize(
    ("above", "verdict"), [(_ERROR, "failed"), (_FULL, "unproven"), (f"{_ERROR}retry:\n", "unproven"), ("", "unproven")]
)
def test_a_copy_that_an_io_error_ended_failed(above: str, verdict: str) -> None:
    (found,) = audit_text("post", f"$ dd if=/dev/sdz of=/dev/null bs=1M\n{above}{_OUTPUT}", Context())

    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("mib", "seconds", "verdict"),
    [(200, 0.5, "suspect"), (200, 1.0, "unproven"), (300, 0.6, "unproven"), (50, 1.0, "suspect")],
    ids=["as fast as RAM", "as slow as a disk", "a larger file", "a small file"],
)
def test_reads_of_a_file_just_written(mib: int, seconds: float, verdict: str) -> None:
    size = mib << 20
    output = f"{mib}+0 records in\n{mib}+0 records out\n{size} bytes ({mib} MiB) copied, {{}} s, {{}} MB/s\n"
    write = f"$ dd if=/dev/urandom of=/data/x bs=1M count={mib} conv=fsync\n" + output.format(40, 5)
    read = "$ dd if=/data/x of=/dev/null bs=1M\n" + output.format(seconds, round(size / 1e6 / seconds))

    _, found = audit_text("post", write + read, Context())

    assert found.verdict == verdict


_HOSTS = {
    "parallel-ssh": "[{at}] 10:20:30 [SUCCESS] node{at}\nStderr: ",
    "ansible": "node{at} | CHANGED | rc=0 >>\n",
}


@pytest.mark.parametrize("program", list(_HOSTS))
@pytest.mark.parametrize("is_heading", [False, True])
def test_a_command_runs_on_several_hosts(program: str, *, is_heading: bool) -> None:
    output = "512+0 records in\n512+0 records out\n536870912 bytes (537 MB) copied, 5.1 s, 105 MB/s\n"
    between = "## Something else\n" if is_heading else ""
    runs = [_HOSTS[program].format(at=at) + output for at in range(1, 7)]

    text = f"$ run-on all 'dd if=/net/file of=/dev/null bs=1M'\n\n{runs[0]}{between}{''.join(runs[1:])}"
    found = audit_text("post", text, Context())

    assert [each.command is not None for each in found] == [True, *([not is_heading] * 5)]
